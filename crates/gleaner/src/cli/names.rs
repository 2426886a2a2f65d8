//! How jobs and tasks are named on the command line.

use gleaner_wire::JobId;
use std::fmt;
use std::str::FromStr;

/// A task: `JOB/TASK`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TaskName {
    pub(crate) job: JobId,
    pub(crate) task: u32,
}

/// A job, or one of its tasks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct JobOrTask {
    pub(crate) job: JobId,
    pub(crate) task: Option<u32>,
}

impl fmt::Display for JobOrTask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.task {
            Some(task) => write!(f, "{}/{task}", self.job),
            None => write!(f, "{}", self.job),
        }
    }
}

/// Jobs or tasks, as a user names them: `JOBS`, or `JOBS/TASKS`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Which {
    pub(crate) jobs: Jobs,
    /// None: the jobs as a whole.
    pub(crate) tasks: Option<TaskNumbers>,
}

/// Jobs, as a user names them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Jobs {
    /// By number.
    One(JobId),
    /// `1-4`: those that are there.
    Range(JobId, JobId),
    /// `last`: those of one's own that were submitted last.
    Last,
    /// All of one's own that were given this name.
    Name(String),
}

/// Tasks of a job by their numbers: `42`, `150-160`, or several such as `1,3,7-9`. In rising order, and none twice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TaskNumbers(Vec<(u32, u32)>);

impl Which {
    /// Whether it names a single task by its number.
    pub(crate) fn is_one_task(&self) -> bool {
        self.tasks.as_ref().is_some_and(|tasks| matches!(tasks.spans(), [(first, last)] if first == last))
    }
}

impl TaskNumbers {
    /// From one number to another, both included; a number alone is both.
    pub(crate) fn spans(&self) -> &[(u32, u32)] {
        &self.0
    }
}

impl fmt::Display for TaskNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (first, last)) in self.0.iter().enumerate() {
            let comma = if position > 0 { "," } else { "" };
            write!(f, "{comma}{first}")?;
            if first != last {
                write!(f, "-{last}")?;
            }
        }
        Ok(())
    }
}

impl FromStr for Which {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let Some((jobs, tasks)) = text.rsplit_once('/') else {
            return Ok(Self { jobs: text.parse()?, tasks: None });
        };
        Ok(Self { jobs: jobs.parse()?, tasks: Some(tasks.parse()?) })
    }
}

impl FromStr for Jobs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "last" {
            return Ok(Self::Last);
        }
        if let Some((first, last)) = range(text) {
            return if first <= last {
                Ok(Self::Range(JobId(first), JobId(last)))
            } else {
                Err("expected the lower number of a range first, as 1-4".to_owned())
            };
        }
        let is_number = text.starts_with(|c: char| c.is_ascii_digit());
        if !is_number && !text.is_empty() && !text.contains('/') {
            return Ok(Self::Name(text.to_owned()));
        }
        let expected = "expected a job: its number, as `gleaner submit` printed it, its name, or `last`; several as 1-4, or with blanks between; or JOB/TASK for one of its tasks";
        text.parse().map(|number| Self::One(JobId(number))).map_err(|_| expected.to_owned())
    }
}

impl FromStr for TaskNumbers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = "expected numbers of tasks behind the job, as 7/42, 7/150-160 or 7/1,3,5";
        let spans = text.split(',').map(|part| {
            let one = || part.parse::<u32>().ok().map(|number| (number, number));
            let (first, last) = range(part).or_else(one).ok_or_else(|| expected.to_owned())?;
            if first > last {
                return Err("expected the lower number of a range first, as 7/150-160".to_owned());
            }
            Ok((first, last))
        });
        let mut spans = spans.collect::<Result<Vec<(u32, u32)>, String>>()?;
        spans.sort_unstable();
        // What overlaps is one. What only adjoins is not: a number alone is meant also where there is no such task.
        spans.dedup_by(|next, before| {
            let overlaps = next.0 <= before.1;
            if overlaps {
                before.1 = before.1.max(next.1);
            }
            overlaps
        });
        Ok(Self(spans))
    }
}

/// Two numbers with a hyphen between.
fn range(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once('-')?;
    Some((first.parse().ok()?, last.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_and_tasks_are_named() {
        let jobs = |jobs| Which { jobs, tasks: None };
        let tasks = |jobs, spans: &[(u32, u32)]| Which { jobs, tasks: Some(TaskNumbers(spans.to_vec())) };
        let name = |name: &str| Jobs::Name(name.to_owned());
        for (text, which) in [
            ("last", jobs(Jobs::Last)),
            ("last/0", tasks(Jobs::Last, &[(0, 0)])),
            ("render/3", tasks(name("render"), &[(3, 3)])),
            ("1-4", jobs(Jobs::Range(JobId(1), JobId(4)))),
            ("render", jobs(name("render"))),
            ("render-2", jobs(name("render-2"))),
            ("7", jobs(Jobs::One(JobId(7)))),
            ("7/42", tasks(Jobs::One(JobId(7)), &[(42, 42)])),
            ("big/150-160", tasks(name("big"), &[(150, 160)])),
            ("7/1,3,7-9", tasks(Jobs::One(JobId(7)), &[(1, 1), (3, 3), (7, 9)])),
            ("1-4/0", tasks(Jobs::Range(JobId(1), JobId(4)), &[(0, 0)])),
        ] {
            let is_one = text.ends_with("/0") || text.ends_with("/3") || text.ends_with("/42");
            assert_eq!(which.is_one_task(), is_one, "{text}");
            assert_eq!(text.parse(), Ok(which), "{text}");
        }
        for (wrong, expected) in [
            ("4-1", "as 1-4"),
            ("7/9-1", "as 7/150-160"),
            ("7/", "numbers of tasks behind the job"),
            ("7/x", "numbers of tasks behind the job"),
            ("7/1,", "numbers of tasks behind the job"),
            ("last/-1", "numbers of tasks behind the job"),
            ("x/y", "numbers of tasks behind the job"),
            ("7x", "a job: its number"),
            ("4,5", "several as 1-4, or with blanks between"),
            // As HTCondor and Slurm write a task.
            ("5.2", "or JOB/TASK for one of its tasks"),
            ("5:2", "or JOB/TASK for one of its tasks"),
            ("5_2", "or JOB/TASK for one of its tasks"),
            ("x/1/2", "a job: its number"),
            ("/1", "a job: its number"),
            ("", "a job: its number"),
        ] {
            let error = wrong.parse::<Which>().expect_err(wrong);
            assert!(error.contains(expected), "{wrong}: {error}");
        }
        for (text, once) in [
            ("1,3,7-9", "1,3,7-9"),
            ("3,3", "3"),
            ("1-5,3", "1-5"),
            ("8-9,2,1-5,4-6", "1-6,8-9"),
            ("3,2,1", "1,2,3"),
        ] {
            let told = text.parse::<TaskNumbers>().map(|tasks| tasks.to_string());
            assert_eq!(told, Ok(once.to_owned()), "{text}");
        }
    }
}
