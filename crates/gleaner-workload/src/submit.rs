//! The forms in which a job can be described, each read into a [`JobDescription`].
//!
//! - [`read_job_file`]: a `job.toml`.
//! - [`TaskList`](gleaner_wire::job::TaskList)s for a command: [`array()`], [`each_line`], [`from_json`],
//!   [`sweep`].
//! - [`condor::read`]: an `HTCondor` submit file.
//!
//! Nothing here reaches a grid. **Files that are to be sent are only named**: whoever submits reads them, and puts
//! their hashes where a [`JobSpec`] wants them. Bad input is an [`InputError`](crate::InputError), with file, line and
//! key wherever there are some.

pub mod condor;
mod job_file;
mod pattern;
mod quantity;
mod source;
mod tasks;

pub use job_file::{JobFile, TaskSource, read_job_file};
pub use pattern::{is_pattern, matching};
pub use quantity::{InvalidQuantity, duration_s, operations, size_bytes};
pub use source::Source;
pub use tasks::{ITEM, LINE, array, each_line, from_json, sweep};

use gleaner_wire::job::JobSpec;

/// A job whose inputs still lie with the user.
#[derive(Clone, PartialEq, Debug)]
pub struct JobDescription {
    /// All of it but what its files hold: `inputs` and `stdin` are empty.
    pub spec: JobSpec,
    /// What is to lie in each task's folder.
    pub inputs: Vec<LocalFile>,
    /// The file that each task reads from standard input.
    pub stdin: Option<String>,
    /// Where the user wants each task's standard output in the end.
    pub stdout: Option<String>,
    /// Where the user wants each task's error output in the end.
    pub stderr: Option<String>,
}

/// A file, a folder or a pattern of files that is sent along. `{NAME}` stands for the task's value of that parameter,
/// as everywhere in a job.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LocalFile {
    /// Where it lies; relative to the folder in which the job is submitted.
    pub source: String,
    /// What the task finds it as; by its own name if nothing is said.
    pub target: Option<String>,
    /// Whether the task may run it, even if the user may not.
    pub executable: bool,
}

impl JobDescription {
    /// A job without inputs.
    pub fn new(spec: JobSpec) -> Self {
        Self { spec, inputs: Vec::new(), stdin: None, stdout: None, stderr: None }
    }
}
