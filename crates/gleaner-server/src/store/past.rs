//! What left memory, to be asked for: a projection of the journal's rows, which can be made of them again.
//!
//! A store knows no meaning here either: bodies are bytes to it, and what it finds by is beside them.

use super::{ReadError, Seq, TaskRange};
use gleaner_units::{TaskId, Time};
use gleaner_wire::api::JobState;
use gleaner_wire::{BlobHash, JobId};

/// What rows up to one of them sent out of memory, or had back.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Past {
    /// The last of the rows that did.
    pub upto: Seq,
    /// Tasks.
    pub tasks: Vec<PastTask>,
    /// Jobs all of whose tasks are gone.
    pub jobs: Vec<PastJob>,
    /// Jobs that are back.
    pub recalled: Vec<JobId>,
    /// Tasks that are back.
    pub recalled_tasks: Vec<TaskRange>,
}

/// A task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PastTask {
    /// Which.
    pub task: TaskId,
    /// The files that it left.
    pub files: Vec<BlobHash>,
    /// All else.
    pub body: Vec<u8>,
}

/// A job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PastJob {
    /// Which.
    pub job: JobId,
    /// Whose.
    pub user: String,
    /// What its user calls its submission; no other of this user's is called so.
    pub key: Option<String>,
    /// What came of it.
    pub state: JobState,
    /// When it was over.
    pub ended: Time,
    /// The files that it reads.
    pub files: Vec<BlobHash>,
    /// What lists of jobs say of it.
    pub body: Vec<u8>,
    /// All else, which may be long.
    pub spec: Vec<u8>,
}

/// Which jobs of the past are asked for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    /// One user's, or all.
    pub user: Option<String>,
    /// Those in this state, or all.
    pub state: Option<JobState>,
    /// How many at most, the newest first.
    pub limit: usize,
}

/// A job of the past as it is read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundJob {
    /// Which.
    pub job: JobId,
    /// What lists of jobs say of it.
    pub body: Vec<u8>,
    /// All else; nothing in a list.
    pub spec: Vec<u8>,
}

/// Reads what left memory.
pub trait PastReader {
    /// The last row that sent anything out of memory, or had it back.
    fn past_at(&self) -> Result<Seq, ReadError>;

    /// What is kept of a task.
    fn past_task(&self, task: TaskId) -> Result<Option<Vec<u8>>, ReadError>;

    /// What is kept of some tasks, in order, `at_most` of them.
    fn past_tasks(&self, range: TaskRange, at_most: usize) -> Result<Vec<(TaskId, Vec<u8>)>, ReadError>;

    /// A job.
    fn past_job(&self, job: JobId) -> Result<Option<FoundJob>, ReadError>;

    /// The job that a user submitted under a key.
    fn past_job_with_key(&self, user: &str, key: &str) -> Result<Option<FoundJob>, ReadError>;

    /// The newest jobs of some.
    fn past_jobs(&self, wanted: &Wanted) -> Result<Vec<FoundJob>, ReadError>;

    /// Whether a job or task of the past reads or left a file.
    fn names_file(&self, file: &BlobHash) -> Result<bool, ReadError>;
}

impl Past {
    /// Both, one after the other.
    #[must_use]
    pub fn and(mut self, later: Self) -> Self {
        let Self { upto, tasks, jobs, recalled, recalled_tasks } = later;
        // What comes back is not what left a moment before.
        self.jobs.retain(|job| !recalled.contains(&job.job));
        self.tasks.retain(|task| !recalled_tasks.iter().any(|range| range.contains(task.task)));
        self.upto = upto;
        self.tasks.extend(tasks);
        self.jobs.extend(jobs);
        self.recalled.extend(recalled);
        self.recalled_tasks.extend(recalled_tasks);
        self
    }
}
