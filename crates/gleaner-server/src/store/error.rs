//! What can go wrong with a store, one enum per operation. Each message says what was kept and what to do.

use super::Seq;
use gleaner_net::FolderError;
use std::fmt;
use std::path::PathBuf;
use thiserror::Error;

/// What the file system or the database said. Which database it was is nobody's business above the port.
pub type Source = Box<dyn std::error::Error + Send + Sync>;

/// Why a folder cannot be the home of a coordinator.
#[derive(Debug, Error)]
pub enum HomeError {
    /// Another coordinator works in it.
    #[error(
        "{} is in use by {}: stop that coordinator first, or choose another folder",
        folder.display(), holder(*pid)
    )]
    Locked {
        /// The folder.
        folder: PathBuf,
        /// The process that holds it, where it said so.
        pid: Option<u32>,
    },
    /// It is not the coordinator's alone: whoever can write there says what it reads and where it writes.
    #[error(transparent)]
    NotOurs(#[from] FolderError),
    /// Locks and syncs cannot be relied on there.
    #[error(
        "{} is on {kind}, where locks and synced writes cannot be relied on, so facts could be lost: choose a folder \
         on a local disk, or, where you know better, allow this one with --network-folder",
        folder.display()
    )]
    Network {
        /// The folder.
        folder: PathBuf,
        /// The file system's name.
        kind: &'static str,
    },
    /// It is a file, or lies below one.
    #[error("{} is no folder, and none can be made there: name another", folder.display())]
    NoFolder {
        /// What was named.
        folder: PathBuf,
    },
    /// Nothing can be written there.
    #[error("{} cannot be written to: make it writable for this user, or choose another folder", folder.display())]
    ReadOnly {
        /// The folder.
        folder: PathBuf,
    },
    /// Anything else.
    #[error("{}: {source}", path.display())]
    Io {
        /// What was to be made or opened.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

fn holder(pid: Option<u32>) -> String {
    pid.map_or_else(|| "another process".to_owned(), |pid| format!("process {pid}"))
}

/// Why a journal cannot be opened. Nothing in it was changed.
#[derive(Debug, Error)]
pub enum OpenError {
    /// A later version wrote it.
    #[error(
        "{} has format {found}, and this version reads format {known} only: start the newer version that wrote it; \
         nothing was changed",
        file.display()
    )]
    Newer {
        /// The file.
        file: PathBuf,
        /// Its format.
        found: u32,
        /// The only format known here.
        known: u32,
    },
    /// An earlier version wrote it.
    #[error(
        "{} was written by {program} in format {found}, and this version reads format {known} only: go on with that \
         program (`gleaner --version` prints its format), or choose another folder to start a new grid; nothing was changed",
        file.display()
    )]
    Older {
        /// The file.
        file: PathBuf,
        /// Its format.
        found: u32,
        /// The only format known here.
        known: u32,
        /// Which program it was.
        program: String,
    },
    /// Something else lies under the journal's name.
    #[error("{} is not a journal of Gleaner: move it away, or choose another folder", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
    },
    /// Not readable as a whole.
    #[error(
        "{} is damaged ({source}): keep a copy of the folder, then put back a backup with `gleaner journal restore FILE`",
        file.display()
    )]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        source: Source,
    },
    /// Whole commits lie behind a damaged part of its log.
    #[error(
        "{} was altered: {commits} commits lie behind a damaged part of it, so rows that were acknowledged would be lost. \
         Nothing was changed. Save what can be saved with `gleaner journal restore`, or put back a backup with \
         `gleaner journal restore FILE`",
        file.display()
    )]
    Log {
        /// The log.
        file: PathBuf,
        /// How many.
        commits: usize,
    },
    /// It ends before a row that was committed, or has another row in its place.
    #[error(
        "{} is not what was written: row {known} was committed, and {}. Its log was removed or altered, or another file \
         was put in its place. Nothing was changed. Save what can be saved with `gleaner journal restore`, or put back a \
         backup with `gleaner journal restore FILE`",
        file.display(),
        ends(*last, *known)
    )]
    Behind {
        /// The file.
        file: PathBuf,
        /// Its last row.
        last: Seq,
        /// The last row that was committed, as far as that is known.
        known: Seq,
    },
    /// There is no journal.
    #[error("{} is not there; expected a journal, as a coordinator's folder has one in the file gleaner.db", file.display())]
    None {
        /// Where it would be.
        file: PathBuf,
    },
    /// There is no journal beside what one left.
    #[error(
        "{} is not there or has no row, but {} is there, so this is not a new grid. Put the journal back with `gleaner journal restore FILE`, \
         or move the whole folder away to begin a new grid",
        file.display(),
        beside.display()
    )]
    Gone {
        /// The file.
        file: PathBuf,
        /// What it left.
        beside: PathBuf,
    },
    /// No space to open it.
    #[error(
        "no space, or no inode, is left on the disk of {}: all that was committed is kept; free some space (or inodes: `df -i`) and \
         start again",
        file.display()
    )]
    DiskFull {
        /// The file.
        file: PathBuf,
    },
    /// Nothing can be written there.
    #[error("{} cannot be written to: make it writable for this user", file.display())]
    ReadOnly {
        /// The file.
        file: PathBuf,
    },
    /// Anything else.
    #[error("{} cannot be opened: {source}", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: Source,
    },
}

fn ends(last: Seq, known: Seq) -> String {
    if last < known { format!("its last row is {last}") } else { "another row is in its place".to_owned() }
}

/// Why facts were not committed. All but [`CommitError::TooLarge`] stop the store.
#[derive(Debug, Error)]
pub enum CommitError {
    /// The rows were refused; nothing was written, and the store goes on.
    #[error(
        "row {index} of the commit has {found} {what}, and at most {limit} can be kept; nothing was committed"
    )]
    TooLarge {
        /// Which of the rows, from 0.
        index: usize,
        /// What there is too much of.
        what: &'static str,
        /// How much of it there is.
        found: usize,
        /// How much there may be.
        limit: usize,
    },
    /// No space is left.
    #[error(
        "no space, or no inode, is left on the disk: {}; free some space (or inodes: `df -i`) and start again",
        kept(*last)
    )]
    DiskFull {
        /// The last row that is surely kept.
        last: Seq,
    },
    /// The disk went read-only.
    #[error("the journal has become read-only: {}; look at the disk and start again", kept(*last))]
    ReadOnly {
        /// The last row that is surely kept.
        last: Seq,
    },
    /// The journal is no longer what it was.
    #[error("the journal is damaged ({source}): {}; verify it before starting again", kept(*last))]
    Damaged {
        /// The last row that was committed.
        last: Seq,
        /// What is wrong with it.
        source: Source,
    },
    /// An earlier commit failed.
    #[error("the journal takes nothing more since a commit failed: {}; start again", kept(*last))]
    Stopped {
        /// The last row that is surely kept.
        last: Seq,
    },
    /// Anything else.
    #[error("the journal could not be written ({source}): {}; look at the disk and start again", kept(*last))]
    Io {
        /// The last row that is surely kept.
        last: Seq,
        /// What the system said.
        source: Source,
    },
}

fn kept(last: Seq) -> String {
    format!("all rows up to {last} are kept, and of the commit that failed either all or nothing")
}

/// What a loss of power or a kill in the middle of a commit left behind the last one that is whole. No error: a start goes
/// on without it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TornTail {
    /// The last row that was kept.
    pub last: Seq,
    /// How much was left of the commit after it.
    pub bytes: u64,
}

impl fmt::Display for TornTail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { last, bytes } = self;
        write!(
            f,
            "the journal ended in the middle of a commit: all rows up to {last} are kept, and {bytes} bytes behind them are \
             not. Nothing that was acknowledged is lost, since nothing is acknowledged before the disk says that it has it; \
             what was under way is done again. There is nothing to do"
        )
    }
}

/// Why a journal cannot be copied.
#[derive(Debug, Error)]
pub enum CopyError {
    /// There is no space where the copy was to be.
    #[error("no space is left there")]
    DiskFull,
    /// Anything else.
    #[error(transparent)]
    Read(ReadError),
}

/// Why rows cannot be read.
#[derive(Debug, Error)]
pub enum ReadError {
    /// One row is not what was written. All rows of the page before it are intact.
    #[error("row {seq} of the journal {damage}: keep a copy of the folder, then restore it from a backup")]
    Damaged {
        /// The row.
        seq: Seq,
        /// What is wrong with it.
        damage: Damage,
    },
    /// What is kept of a job or task that is over is not what was written.
    #[error(
        "what is kept of a job that is over cannot be read ({why}); stop the coordinator, run `gleaner journal rebuild` \
         and start it again: all of that is made anew from the journal's rows. If the journal was compacted \
         after that job was over, restore a backup instead"
    )]
    Past {
        /// What does not fit.
        why: String,
    },
    /// A part of the file that belongs to no row in particular makes no sense.
    #[error(
        "gleaner.db in the coordinator's folder is damaged ({source}): stop the coordinator and keep a copy of its folder; then \
         save what can be read with `gleaner journal restore`, or put back a backup with `gleaner journal restore FILE`"
    )]
    File {
        /// What the database said.
        source: Source,
    },
    /// Anything else.
    #[error("the journal cannot be read: {source}")]
    Io {
        /// What the system said.
        source: Source,
    },
}

/// What is wrong with a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Damage {
    /// Its checksum does not fit.
    #[error("was altered")]
    Altered,
    /// Later rows are there, it is not.
    #[error("is missing")]
    Missing,
    /// It is sound by itself, but not what was written behind the row before it.
    #[error(
        "does not follow from the row before it: one of the two was changed, or rows between them were taken away"
    )]
    Unchained,
    /// The part of the file it lies in makes no sense.
    #[error("lies in a damaged part of the file")]
    Unreadable,
    /// The journal begins there, and what it has of what was before is not what was written.
    #[error(
        "is where the journal was compacted, and what it keeps of the rows up to there is not what was written then"
    )]
    Base,
}

/// Why a snapshot was not kept or not found. The journal holds all the same.
#[derive(Debug, Error)]
pub enum SnapshotError {
    /// It would stand on nothing.
    #[error("a snapshot at row {at} was refused: that row is not committed")]
    NotCommitted {
        /// Where it was to stand.
        at: Seq,
    },
    /// No space is left.
    #[error(
        "beside what is kept free for the journal, no space, or no inode, is left on the disk for a snapshot: the journal and the older \
         snapshots are kept"
    )]
    DiskFull,
    /// Anything else.
    #[error("{}: {source}; the journal and the older snapshots are kept", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The row it stands on cannot be read.
    #[error(transparent)]
    Journal(#[from] ReadError),
}
