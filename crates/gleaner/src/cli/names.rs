//! How jobs and tasks are named on the command line.

use gleaner_wire::JobId;
use std::str::FromStr;

/// A task: `JOB/TASK`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TaskName {
    pub(crate) job: JobId,
    pub(crate) task: u32,
}

impl FromStr for TaskName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || "expected a job and the number of its task, as 7/42".to_owned();
        let (job, task) = text.split_once('/').ok_or_else(expected)?;
        Ok(Self { job: job_id(job)?, task: task.parse().map_err(|_| expected())? })
    }
}

/// A job, or one of its tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct JobOrTask {
    pub(crate) job: JobId,
    pub(crate) task: Option<u32>,
}

impl FromStr for JobOrTask {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains('/') {
            let TaskName { job, task } = text.parse()?;
            return Ok(Self { job, task: Some(task) });
        }
        let job = job_id(text).map_err(|expected| format!("{expected}, or JOB/TASK for one of its tasks"))?;
        Ok(Self { job, task: None })
    }
}

/// Jobs or a task, as a user names them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Which {
    /// By number.
    One(JobOrTask),
    /// `1-4`: those that are there.
    Range(JobId, JobId),
    /// `last`: the newest of one's own; as `last/3` a task of it.
    Last(Option<u32>),
    /// All of one's own that were given this name; as `render/3` a task of each.
    Name(String, Option<u32>),
}

impl FromStr for Which {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let with_task = text.rsplit_once('/').and_then(|(job, task)| Some((job, Some(task.parse().ok()?))));
        let (job, task) = with_task.unwrap_or((text, None));
        if job == "last" {
            return Ok(Self::Last(task));
        }
        let range =
            text.split_once('-').and_then(|(first, last)| Some((job_id(first).ok()?, job_id(last).ok()?)));
        if let Some((first, last)) = range {
            let is_one = first <= last;
            return is_one
                .then_some(Self::Range(first, last))
                .ok_or_else(|| "expected the lower number of a range first, as 1-4".to_owned());
        }
        let is_number = job.starts_with(|c: char| c.is_ascii_digit()) || job.is_empty() || job.contains('/');
        if is_number { text.parse().map(Self::One) } else { Ok(Self::Name(job.to_owned(), task)) }
    }
}

fn job_id(text: &str) -> Result<JobId, String> {
    text.parse()
        .map(JobId)
        .map_err(|_| "expected the number of a job, as `gleaner submit` printed it".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_and_tasks_are_named() {
        let task = TaskName { job: JobId(7), task: 42 };
        assert_eq!("7/42".parse(), Ok(task));
        assert_eq!("7/42".parse(), Ok(JobOrTask { job: JobId(7), task: Some(42) }));
        assert_eq!("7".parse(), Ok(JobOrTask { job: JobId(7), task: None }));
        for (text, which) in [
            ("last", Which::Last(None)),
            ("last/0", Which::Last(Some(0))),
            ("render/3", Which::Name("render".to_owned(), Some(3))),
            ("1-4", Which::Range(JobId(1), JobId(4))),
            ("render", Which::Name("render".to_owned(), None)),
            ("render-2", Which::Name("render-2".to_owned(), None)),
            ("7", Which::One(JobOrTask { job: JobId(7), task: None })),
            ("7/42", Which::One(JobOrTask { job: JobId(7), task: Some(42) })),
        ] {
            assert_eq!(text.parse(), Ok(which), "{text}");
        }
        for wrong in ["4-1", "7/", "7x", "x/y", "x/1/2", "/1", ""] {
            assert!(wrong.parse::<Which>().is_err(), "{wrong}");
        }
        // As HTCondor and Slurm write a task.
        for other in ["5.2", "5:2", "5_2"] {
            let expected = other.parse::<Which>().expect_err(other);
            assert!(expected.ends_with("or JOB/TASK for one of its tasks"), "{expected}");
        }
        for wrong in ["", "/", "7/", "/42", "x", "7/42/1", "-1"] {
            assert!(wrong.parse::<JobOrTask>().is_err(), "{wrong}");
            assert!(wrong.parse::<TaskName>().is_err(), "{wrong}");
        }
    }
}
