//! The journal's port: what the coordinator asks of whatever keeps its facts.
//!
//! The journal is the truth. The coordinator's one thread collects facts, commits them, and only then lets anything
//! out that rests on them. What a store promises, and the conformance suite (`tests/records/store`) asks of every form:
//!
//! - **A commit is all or nothing, and durable once it returned.** Rows are numbered from 1 without a gap.
//! - **A commit that failed stops the store.** What became of it shows on reopening: all of it is there or nothing;
//!   all that was committed before is there. A commit refused for its contents ([`CommitError::TooLarge`]) wrote
//!   nothing and stops nothing.
//! - **A row reads back as it was written, or is named as damaged.** Never as something else.
//! - **Readers see committed rows only**, and never hold up the writer.
//! - **A snapshot never stands on a row that is not in the journal**, and the older one stays until the new is safe.
//!
//! - **What left memory is kept with the rows that sent it out** ([`Past`]), in the same commit; it can be made of the rows again.
//!
//! A store knows no meaning: a body and its steps are text to it, and the tasks of a row are where its history lists it.

mod base;
mod checksum;
mod error;
mod home;
mod limits;
#[cfg(any(test, feature = "memory-store"))]
mod memory;
mod past;
mod replace;
mod reserve;
mod room;
mod saving;
mod span_tree;
mod sqlite;
mod verify;
mod witness;

pub use base::{Beginning, Compaction};
pub use error::{
    CommitError, CopyError, Damage, HomeError, OpenError, ReadError, SnapshotError, Source, TornTail,
};
pub(crate) use home::make_folder;
pub use home::{AUTHORITY_FOLDER, CERTIFICATE_FILE, Home, NetworkFolder, TOKEN_FILE};
pub use limits::{BODY_LIMIT, PAGE_BYTES, RANGES_LIMIT};
#[cfg(any(test, feature = "memory-store"))]
pub use memory::{Failure, MemoryDisk, MemoryStore};
pub(crate) use past::base_pages;
pub use past::{
    Amount, FoundJob, Past, PastJob, PastReader, PastTask, Removal, Results, Wanted, WithResults,
};
pub use replace::{Readable, ReplaceError, readable, replace};
pub(crate) use room::Promise;
pub use room::{Lack, Room};
pub use sqlite::{DATABASE, FORMAT, SqliteReader, SqliteStore, expect_journal};
pub use verify::{NAMED_DAMAGES, Verified, verify};
pub(crate) use witness::WITNESS;

use gleaner_units::{TaskId, Time};
use gleaner_wire::ChainHash;
use serde::{Deserialize, Serialize};
use std::fmt;
use thiserror::Error;

/// Rows, tasks or jobs that are read at once.
pub(crate) const ROWS_AT_ONCE: usize = 10_000;

/// The number of a row of the journal: 1 for the first, 0 for "before all rows".
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Seq(u64);

impl Seq {
    /// Before the first row.
    pub const NONE: Seq = Seq(0);
    /// The first row.
    pub const FIRST: Seq = Seq(1);

    /// The row of this number; [`Seq::NONE`] for 0.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number itself.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The row after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        self.plus(1)
    }

    /// The row `rows` after this one.
    #[must_use]
    pub const fn plus(self, rows: u64) -> Self {
        Self(self.0 + rows)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A row of tasks, both ends included: an array of a million tasks is one range.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(try_from = "(TaskId, TaskId)", into = "(TaskId, TaskId)")]
pub struct TaskRange {
    first: TaskId,
    last: TaskId,
}

impl TaskRange {
    /// `task` alone.
    pub fn one(task: TaskId) -> Self {
        Self { first: task, last: task }
    }

    /// From `first` to `last`; `None` if `last` comes before `first`.
    pub fn between(first: TaskId, last: TaskId) -> Option<Self> {
        (first <= last).then_some(Self { first, last })
    }

    /// The lowest task.
    pub fn first(self) -> TaskId {
        self.first
    }

    /// The highest task.
    pub fn last(self) -> TaskId {
        self.last
    }

    /// How many.
    pub fn count(self) -> u32 {
        (self.last.index() - self.first.index() + 1) as u32
    }

    /// What of a range comes after this one.
    pub fn behind_within(self, range: Self) -> Option<Self> {
        let first = (self.last < range.last).then(|| TaskId::new(self.last.index() + 1))?;
        Self::between(first, range.last)
    }

    /// The same tasks in as few ranges as there can be, in order.
    pub fn merged(mut ranges: Vec<Self>) -> Vec<Self> {
        ranges.sort_unstable();
        let mut merged: Vec<Self> = Vec::new();
        for range in ranges {
            match merged.last_mut() {
                Some(last) if range.first.index() <= last.last.index() + 1 => {
                    last.last = last.last.max(range.last);
                }
                Some(_) | None => merged.push(range),
            }
        }
        merged
    }

    /// Each of them.
    pub fn tasks(self) -> impl Iterator<Item = TaskId> {
        (self.first.index()..=self.last.index()).map(TaskId::new)
    }

    /// Whether `task` is one of them.
    pub fn contains(self, task: TaskId) -> bool {
        (self.first..=self.last).contains(&task)
    }
}

/// A range that ends before it begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("a range of tasks from {0} to {1}")]
pub struct InvalidRange(TaskId, TaskId);

impl TryFrom<(TaskId, TaskId)> for TaskRange {
    type Error = InvalidRange;

    fn try_from((first, last): (TaskId, TaskId)) -> Result<Self, InvalidRange> {
        Self::between(first, last).ok_or(InvalidRange(first, last))
    }
}

impl From<TaskRange> for (TaskId, TaskId) {
    fn from(range: TaskRange) -> Self {
        (range.first, range.last)
    }
}

/// A fact to be kept.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Row {
    /// When it became known.
    pub at: Time,
    /// Whose history lists it.
    pub tasks: Vec<TaskRange>,
    /// What it was for each of them, as JSON text; empty where nothing is said.
    pub steps: String,
    /// The fact itself, as JSON text.
    pub body: String,
}

/// A fact that is kept, and its number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredRow {
    /// Its number.
    pub seq: Seq,
    /// What was committed.
    pub row: Row,
}

/// All that the rows up to one of them add up to, so that a start need not read them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Snapshot {
    /// The last row that is in it.
    pub at: Seq,
    /// How to read the body: only who wrote it knows.
    pub format: u32,
    /// The state.
    pub body: Vec<u8>,
}

/// Where the facts are committed. One at a time writes to a journal; who opened it makes sure of that.
pub trait Store: Send {
    /// Keeps `rows`, in this order and behind all others, and returns the number of the last row of the journal.
    /// When it returns `Ok`, they outlast the loss of power. No rows are no commit.
    fn commit(&mut self, rows: &[Row]) -> Result<Seq, CommitError> {
        self.commit_with(rows, None)
    }

    /// The same, with what the rows sent out of memory: both are kept, or neither.
    fn commit_with(&mut self, rows: &[Row], past: Option<&Past>) -> Result<Seq, CommitError>;

    /// Begins what is kept of the past anew, from what it was where the journal begins.
    fn forget_past(&mut self) -> Result<(), CommitError>;

    /// What removed results and forgotten jobs left in what is kept of the past goes a little at a time, since a commit with millions of
    /// tasks takes long: has some more of it go. Whether anything is left.
    fn sweep(&mut self) -> Result<bool, CommitError>;

    /// Drops rows, and keeps what they add up to instead. All of it is done when it returns, or nothing. Returns the row that
    /// says so.
    fn compact(&mut self, compaction: Compaction<'_>) -> Result<Seq, CommitError>;

    /// The last row that is surely kept.
    fn last(&self) -> Seq;

    /// What all rows up to it add up to.
    fn chain(&self) -> ChainHash;

    /// A handle of its own for another thread: cheap enough to have several, none of which waits for a commit.
    fn reader(&self) -> Result<Box<dyn Reader>, ReadError>;

    /// The snapshots of this journal, to be saved by another thread while this one commits.
    fn snapshots(&self) -> Result<Box<dyn Snapshots>, ReadError>;
}

/// Reads what is committed.
///
/// A page of rows ends early once its texts hold [`PAGE_BYTES`]; it is empty only behind the last row.
pub trait Reader: PastReader + Send {
    /// The last row there is by now.
    fn last(&self) -> Result<Seq, ReadError>;

    /// What the rows up to `at` add up to, as it was written down with it; `None` if it is not there.
    fn chain(&self, at: Seq) -> Result<Option<ChainHash>, ReadError>;

    /// Where the journal begins, if it was compacted.
    fn beginning(&self) -> Result<Option<Beginning>, ReadError>;

    /// What the rows up to its beginning add up to.
    fn base(&self) -> Result<Option<Snapshot>, ReadError>;

    /// Whether all that is kept of what was before its beginning is what was sealed. Costs O(that).
    fn is_sealed(&self) -> Result<bool, ReadError>;

    /// The rows from `from` on, `at_most` of them. Each follows from the row before it, or is damaged; up to the journal's
    /// beginning, rows may be missing.
    fn read(&self, from: Seq, at_most: usize) -> Result<Vec<StoredRow>, ReadError>;

    /// The rows from `from` on that list `task`, `at_most` of them.
    fn history(&self, task: TaskId, from: Seq, at_most: usize) -> Result<Vec<StoredRow>, ReadError>;
}

/// Keeps the snapshots of a journal: the newest and the one before it.
pub trait Snapshots: Send {
    /// Keeps `snapshot`. When it returns `Ok`, it outlasts the loss of power; until then the older ones stay.
    fn save(&mut self, snapshot: &Snapshot) -> Result<(), SnapshotError>;

    /// The newest that is intact, of this format, and not ahead of the journal.
    fn latest(&self, format: u32) -> Result<Option<Snapshot>, SnapshotError>;
}
