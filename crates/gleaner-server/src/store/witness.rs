//! What the journal's last row was, written down outside of it: so that it shows when its log was lost or damaged, or an
//! older copy was put in its place.
//!
//! It is written after each commit and not synced: after a loss of power it may name an earlier row, and never a later
//! one. What is no such file says nothing.

use super::Seq;
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Beside the journal.
pub(crate) const WITNESS: &str = "journal.last";
/// Number, checksum, and a checksum of both.
const BYTES: usize = 24;

/// A row that was committed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Known {
    pub(super) seq: Seq,
    pub(super) checksum: i64,
}

#[derive(Debug)]
pub(super) struct Witness {
    file: File,
}

pub(super) fn path(folder: &Path) -> PathBuf {
    folder.join(WITNESS)
}

/// What was written down last.
pub(super) fn read(folder: &Path) -> io::Result<Option<Known>> {
    let bytes = match std::fs::read(path(folder)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read?,
    };
    let Ok(bytes) = <[u8; BYTES]>::try_from(bytes) else { return Ok(None) };
    let number = |at: usize| i64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let known = Known { seq: Seq::new(number(0).cast_unsigned()), checksum: number(8) };
    Ok((encode(known) == bytes).then_some(known))
}

impl Witness {
    pub(super) fn open(folder: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(false).mode(0o600).open(path(folder))?;
        Ok(Self { file })
    }

    /// Where that fails, what was known before stays known.
    pub(super) fn note(&self, known: Known) {
        drop(self.file.write_all_at(&encode(known), 0));
    }
}

fn encode(Known { seq, checksum }: Known) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    bytes[..8].copy_from_slice(&seq.number().to_le_bytes());
    bytes[8..16].copy_from_slice(&checksum.to_le_bytes());
    let check = blake3::hash(&bytes[..16]);
    bytes[16..].copy_from_slice(&check.as_bytes()[..8]);
    bytes
}
