//! The port for what is too large for the journal: inputs, outputs and checkpoints, under the hash of their content.
//!
//! What a form promises, and the suite in `tests/records/blobs` asks of the one on disk:
//!
//! - **A blob is there as a whole or not at all**, and outlasts the loss of power once `put` returned.
//! - **A blob reads back as its name says, or its reader fails** at the end. Putting it again heals it.
//! - **Nothing young is removed.** What was put but is not yet in a committed fact looks unreferenced; so a removal
//!   takes only what was last put or renewed before a time that the caller chooses.
//!
//! Time is an argument, as it is in the core: a form reads no clock.

mod folder;
mod verifying;

pub(crate) use folder::{FOLDER, INCOMING};
pub use folder::{FolderBlobs, open_blob, place};
pub use verifying::DamagedBlob;

use crate::store::Lack;
use gleaner_units::Time;
use gleaner_wire::BlobHash;
use std::fmt;
use std::io::Read;
use std::path::PathBuf;
use thiserror::Error;

/// On which terms a blob is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Terms {
    /// When it is put.
    pub at: Time,
    /// The most bytes it may have.
    pub at_most: u64,
    /// What its sender says it is.
    pub claimed: Option<BlobHash>,
    /// How long its sender says it is.
    pub announced: Option<u64>,
}

/// A blob that is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Put {
    /// The hash of its content.
    pub id: BlobHash,
    /// How long it is.
    pub bytes: u64,
}

/// A blob to be read.
pub struct Blob {
    /// How long it is.
    pub bytes: u64,
    /// Its content. The read that finds its end fails with [`DamagedBlob`] if the content is not what the name says.
    pub body: Box<dyn Read + Send>,
}

impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blob").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

/// What a removal did.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Removed {
    /// How many blobs are gone.
    pub blobs: u64,
    /// How long they were together.
    pub bytes: u64,
}

/// Where blobs are kept. Threads share it.
pub trait Blobs: Send + Sync {
    /// Keeps what `body` holds, in place of an older copy.
    fn put(&self, body: &mut dyn Read, terms: Terms) -> Result<Put, PutError>;

    /// The blob `id`, if it is there.
    fn get(&self, id: BlobHash) -> Result<Option<Blob>, BlobError>;

    /// How long the blob `id` is, if it is there.
    fn size(&self, id: BlobHash) -> Result<Option<u64>, BlobError>;

    /// As [`Blobs::size`]; and if it is there, it counts as put at `at`. So whoever is told "no need to send it" finds it
    /// there a little later.
    fn renew(&self, id: BlobHash, at: Time) -> Result<Option<u64>, BlobError>;

    /// Looks at the blob `id` again, of which a read failed, and puts it aside if it is damaged: then it is not there, and whoever
    /// sends it again stores it anew. Whether it was.
    fn put_aside(&self, id: BlobHash) -> Result<bool, BlobError>;

    /// Removes all that was last put or renewed before `before` and of which `keep` does not say that somebody needs it.
    fn remove_unreferenced(
        &self,
        keep: &dyn Fn(BlobHash) -> bool,
        before: Time,
    ) -> Result<Removed, BlobError>;
}

/// Why a blob was not kept. Nothing is left of it.
#[derive(Debug, Error)]
pub enum PutError {
    /// Longer than its sender may send.
    #[error("it is larger than the {at_most} bytes that are taken; nothing of it was kept")]
    TooLarge {
        /// The most bytes that were to be taken.
        at_most: u64,
    },
    /// Not what its sender says it is.
    #[error(
        "its content has the BLAKE3 hash {found}, not {claimed}: it was changed on the way and has to be sent again, or that is \
         no BLAKE3 hash"
    )]
    OtherContent {
        /// What it was said to be.
        claimed: BlobHash,
        /// What it is.
        found: BlobHash,
    },
    /// It stopped coming.
    #[error("it did not come to its end ({source}); nothing of it was kept")]
    Body {
        /// What its reader said.
        source: std::io::Error,
    },
    /// No space will ever be left for it.
    #[error(
        "it has {bytes} bytes, and the coordinator's disk holds {disk} beside what it keeps for the journal; nothing of it was kept"
    )]
    LargerThanDisk {
        /// How long it is.
        bytes: u64,
        /// How much an empty disk would take.
        disk: u64,
    },
    /// Nothing is left but what the journal needs.
    #[error("{} on the coordinator's disk for it; nothing of it was kept: {} and send it again", .0, .0.remedy())]
    DiskFull(Lack),
    /// Anything else.
    #[error(transparent)]
    Io(#[from] BlobError),
}

/// Why the blobs cannot be got at.
#[derive(Debug, Error)]
#[error("{}: {source}", path.display())]
pub struct BlobError {
    /// The file or folder.
    pub path: PathBuf,
    /// What the system said.
    pub source: std::io::Error,
}
