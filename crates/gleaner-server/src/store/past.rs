//! What left memory, to be asked for: a projection of the journal's rows, which can be made of them again.
//!
//! A store knows no meaning here either: bodies are bytes to it, and what it finds by is beside them.

use super::{ROWS_AT_ONCE, ReadError, Seq, TaskRange};
use gleaner_units::{Span, TaskId, Time};
use gleaner_wire::api::TaskPhase;
use gleaner_wire::{BlobHash, JobId};
use serde::{Deserialize, Serialize};

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
    pub revived: Vec<JobId>,
    /// Tasks that are back.
    pub revived_tasks: Vec<TaskRange>,
    /// Jobs whose results are to be kept from now on, or are not any more.
    pub results: Vec<(JobId, Results)>,
    /// Jobs whose results, of these tasks, are removed.
    pub removed: Vec<(JobId, TaskRange, Removal)>,
    /// Jobs of which nothing is to be known any more, and their tasks.
    pub forgotten: Vec<(JobId, TaskRange)>,
}

/// How things stand with what a job read, left and wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Results {
    /// They are there until they are due to be removed.
    #[default]
    There,
    /// They are there, and somebody wants them kept.
    Kept,
    /// They are removed, and files of theirs may still be on the disk.
    Going,
    /// They are removed.
    Gone,
}

impl Results {
    /// As a store writes it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::There => "there",
            Self::Kept => "kept",
            Self::Going => "going",
            Self::Gone => "gone",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        [Self::There, Self::Kept, Self::Going, Self::Gone].into_iter().find(|results| results.name() == name)
    }
}

/// When results were removed, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Removal {
    /// When.
    pub at: Time,
    /// How long after the end of their job results were kept.
    pub kept_for: Span,
}

/// A task.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PastTask {
    /// The task's number.
    pub task: TaskId,
    /// The files that it left.
    pub files: Vec<BlobHash>,
    /// All else.
    pub body: Vec<u8>,
}

/// A job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PastJob {
    /// The job's number.
    pub job: JobId,
    /// Whose.
    pub user: String,
    /// What its user calls its submission; no other of this user's is called so.
    pub key: Option<String>,
    /// What came of it.
    pub state: TaskPhase,
    /// When it was over.
    pub ended: Time,
    /// The files that it reads.
    pub files: Vec<BlobHash>,
    /// How things stand with its results.
    pub results: Results,
    /// How many bytes of its user's are its.
    pub bytes: u64,
    /// When results of its earlier runs were removed.
    pub removed: Option<Removal>,
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
    pub state: Option<TaskPhase>,
    /// Those that were handed in before this one, or all.
    pub before: Option<JobId>,
    /// How many at most, the newest first.
    pub limit: usize,
}

/// Which jobs are asked for by their results.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WithResults {
    /// Those whose results stand so.
    pub results: Results,
    /// One user's, or all.
    pub user: Option<String>,
    /// Those that were over between these moments, both included.
    pub ended: (Time, Time),
}

/// How many they are.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Amount {
    /// Jobs.
    pub jobs: u64,
    /// Bytes of their users'.
    pub bytes: u64,
}

/// A job of the past as it is read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FoundJob {
    /// The job's number.
    pub job: JobId,
    /// How things stand with its results.
    pub results: Results,
    /// How many bytes of its user's are its.
    pub bytes: u64,
    /// When results of it were removed last.
    pub removed: Option<Removal>,
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

    /// A job, with what is long.
    fn past_job(&self, job: JobId) -> Result<Option<FoundJob>, ReadError>;

    /// A job, without what is long.
    fn past_job_listed(&self, job: JobId) -> Result<Option<FoundJob>, ReadError>;

    /// The job that a user submitted under a key, without what is long.
    fn past_job_with_key(&self, user: &str, key: &str) -> Result<Option<FoundJob>, ReadError>;

    /// Hands over the newest jobs of some, without what is long, one after the other: their commands may be long all the same.
    fn past_jobs(&self, wanted: &Wanted, each: &mut dyn FnMut(FoundJob)) -> Result<(), ReadError>;

    /// Likewise some jobs, those first that were over first.
    fn past_with(
        &self,
        wanted: &WithResults,
        limit: usize,
        each: &mut dyn FnMut(FoundJob),
    ) -> Result<(), ReadError>;

    /// How many they are. Costs O(these).
    fn past_amount(&self, wanted: &WithResults) -> Result<Amount, ReadError>;

    /// What was kept of tasks from one on where the journal begins, in order, `at_most` of them.
    fn base_tasks(&self, from: TaskId, at_most: usize) -> Result<Vec<PastTask>, ReadError>;

    /// Likewise of jobs.
    fn base_jobs(&self, from: JobId, at_most: usize) -> Result<Vec<PastJob>, ReadError>;

    /// Whether a job or task of the past reads or left a file.
    fn names_file(&self, file: &BlobHash) -> Result<bool, ReadError>;
}

/// What was kept of tasks and jobs where the journal begins, a page at a time. What could not be read is read again next.
pub(crate) fn base_pages(reader: &dyn PastReader) -> impl Iterator<Item = Result<Past, ReadError>> {
    let (mut task, mut job) = (TaskId::new(0), JobId(0));
    let mut page = move || -> Result<Option<Past>, ReadError> {
        let tasks = reader.base_tasks(task, ROWS_AT_ONCE)?;
        let jobs = reader.base_jobs(job, ROWS_AT_ONCE)?;
        task = tasks.last().map_or(task, |last| TaskId::new(last.task.index() + 1));
        job = jobs.last().map_or(job, |last| JobId(last.job.0 + 1));
        let is_end = tasks.is_empty() && jobs.is_empty();
        Ok((!is_end).then(|| Past { tasks, jobs, ..Past::default() }))
    };
    std::iter::from_fn(move || page().transpose())
}

impl Past {
    /// Both, one after the other.
    #[must_use]
    pub fn and(mut self, later: Self) -> Self {
        let Self { upto, tasks, jobs, revived, revived_tasks, results, removed, forgotten } = later;
        // What comes back is not what left a moment before.
        self.jobs.retain(|job| !revived.contains(&job.job));
        self.tasks.retain(|task| !revived_tasks.iter().any(|range| range.contains(task.task)));
        self.upto = upto;
        self.tasks.extend(tasks);
        self.jobs.extend(jobs);
        self.revived.extend(revived);
        self.revived_tasks.extend(revived_tasks);
        self.results.extend(results);
        self.removed.extend(removed);
        self.forgotten.extend(forgotten);
        self
    }
}
