//! The forms in which a job can be described, each read into a [`JobDescription`].
//!
//! - [`read_job_file`]: a `job.toml`.
//! - [`TaskList`](gleaner_wire::job::TaskList)s for a command: [`array()`], [`each_line`], [`from_json`],
//!   [`from_csv`], [`sweep`].
//! - [`condor::read`]: an `HTCondor` submit file.
//! - [`jdf::translate`]: an OurGrid job description.
//!
//! Nothing here reaches a grid. **Files that are to be sent are only named**: whoever submits reads them, and puts
//! their hashes where a [`JobSpec`] wants them. Bad input is an [`InputError`](crate::InputError), with file, line and
//! key wherever there are some.

pub mod condor;
mod csv;
mod fold;
pub mod jdf;
mod job_file;
mod pattern;
mod quantity;
mod source;
mod submission;
mod tasks;

pub use csv::from_csv;
pub use job_file::{JobFile, TaskSource, read_job_file};
pub use pattern::{is_pattern, matching};
pub use quantity::{InvalidQuantity, duration_s, operations, size_bytes};
pub use source::Source;
pub use submission::{Note, SentFile, Submission, SubmitFileError, UnsupportedKey};
pub use tasks::{ITEM, LINE, array, each_line, from_json, sweep};

use gleaner_wire::job::JobSpec;
use gleaner_wire::limits::ORDER_BYTES_MAX;
use std::path::PathBuf;
use thiserror::Error;

/// A job whose inputs still lie with the user.
#[derive(Clone, PartialEq, Debug)]
pub struct JobDescription {
    /// All of it but what its files hold: `inputs` and `stdin` are empty.
    pub spec: JobSpec,
    /// What is to lie in each task's folder.
    pub inputs: Vec<LocalFile>,
    /// The file that each task reads from standard input.
    pub stdin: Option<LocalFile>,
    /// Where the user wants each task's standard output in the end.
    pub stdout: Option<String>,
    /// Where the user wants each task's error output in the end.
    pub stderr: Option<String>,
    /// Which number each task has in the description, where that became several jobs and this one counts its tasks from 0
    /// itself; else empty.
    pub processes: Vec<u32>,
}

/// A file, a folder or a pattern of files that is sent along. `{NAME}` stands for the task's value of that parameter,
/// as everywhere in a job.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LocalFile {
    /// The folder of the description that names it, where it is not relative to the one in which the job is submitted. Nothing
    /// is filled in there, and nothing is a pattern.
    pub folder: PathBuf,
    /// Where it lies, from there.
    pub source: String,
    /// What the task finds it as; by its own name if nothing is said.
    pub target: Option<String>,
    /// Whether the task may run it, even if the user may not.
    pub executable: bool,
    /// Where a description names it, as errors about it begin; empty where none does, or several places do.
    pub at: String,
}

impl LocalFile {
    /// What lies there, under its own name.
    pub fn new(source: impl Into<String>) -> Self {
        Self {
            folder: PathBuf::new(),
            source: source.into(),
            target: None,
            executable: false,
            at: String::new(),
        }
    }
}

impl JobDescription {
    /// A job without inputs.
    pub fn new(spec: JobSpec) -> Self {
        Self { spec, inputs: Vec::new(), stdin: None, stdout: None, stderr: None, processes: Vec::new() }
    }

    /// Refuses what a task's parameters make too long, before anything is filled in.
    pub fn check_size(&self) -> Result<(), TooLong> {
        let bytes = self.spec.order_bytes_max();
        if bytes > ORDER_BYTES_MAX {
            return Err(TooLong { what: "a task's command, variables and file names", bytes });
        }
        let files = self.inputs.iter().chain(&self.stdin).map(|file| &file.source);
        for name in files.chain(&self.stdout).chain(&self.stderr) {
            let bytes = self.spec.tasks.filled_bytes_max(name);
            if bytes > FILE_NAME_BYTES_MAX {
                return Err(TooLong { what: "the name of a file", bytes });
            }
        }
        Ok(())
    }
}

/// As long as a path can be, and somewhat more, as sizes are counted.
const FILE_NAME_BYTES_MAX: u64 = 4_096 + 256;

/// A job whose parameters make more of its texts than anyone takes.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error(
    "with its parameters filled in, {what} would have {bytes} bytes, which is too much: put what is long into an \
     input file"
)]
pub struct TooLong {
    what: &'static str,
    bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_wire::job::TaskList;

    #[test]
    fn what_parameters_make_too_long_is_refused_before_it_is_filled_in() {
        let value = "x".repeat(100 << 10);
        let spec = |word: &str| JobSpec {
            tasks: TaskList::Sweep { axes: vec![("a".to_owned(), vec![value.clone()])] },
            ..JobSpec::new(["run", word])
        };
        let endless = "{a}".repeat(1_000_000);
        for (job, expected) in [
            (JobDescription::new(spec("{a}")), ""),
            (JobDescription::new(spec(&endless)), "variables and file names would have 1024"),
            (
                JobDescription { inputs: vec![LocalFile::new(&endless)], ..JobDescription::new(spec("")) },
                "the name of a file",
            ),
            (
                JobDescription { stdout: Some(endless.clone()), ..JobDescription::new(spec("")) },
                "the name of a file",
            ),
            (JobDescription { stdin: Some(LocalFile::new("{b}")), ..JobDescription::new(spec("")) }, ""),
        ] {
            let refused = job.check_size().err().map_or(String::new(), |error| error.to_string());
            assert!(refused.contains(expected) && refused.is_empty() == expected.is_empty(), "{refused}");
        }
    }
}
