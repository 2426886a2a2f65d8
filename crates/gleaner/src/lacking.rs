//! Tasks of a job whose results are not there any more, while those of others are asked for too.

use crate::Outcome;
use crate::columns::plural;
use crate::failure::Failure;
use gleaner_net::ClientError;
use gleaner_wire::JobId;

/// So many tasks are named.
const NAMED: usize = 20;

const REMOVED: &str = "removed and not there";
const DAMAGED: &str = "damaged and not there";
const MISSING: &str = "missing";

/// Those of one job.
#[derive(Default)]
pub(crate) struct Lacking(Vec<Kind>);

/// Those for which the same is the matter.
struct Kind {
    matter: &'static str,
    /// Why the first is.
    why: Failure,
    tasks: Vec<u32>,
}

impl Kind {
    /// Where the same is the matter with all: why the first is, and of which others that is so.
    fn of_all(self) -> Failure {
        let others = self.tasks.get(1..).filter(|others| !others.is_empty());
        match (self.why, others) {
            (Failure::Grid(ClientError::Refused { status, code, message }), Some(others)) => {
                let message = format!("{message}; likewise {}", counted(others, "other task"));
                Failure::Grid(ClientError::Refused { status, code, message })
            }
            (why, _) => why,
        }
    }
}

/// How many there are, with the numbers of the first.
fn counted(tasks: &[u32], what: &str) -> String {
    let named: Vec<String> = tasks.iter().take(NAMED).map(ToString::to_string).collect();
    let more = if tasks.len() > NAMED { ", …" } else { "" };
    format!("{} ({}{more})", plural(tasks.len() as u64, what), named.join(", "))
}

/// Whether the results of a task were removed as they were due.
pub(crate) fn is_removed(why: &Failure) -> bool {
    matches!(why, Failure::Grid(ClientError::Refused { code, .. }) if code == "removed")
}

/// Whether they are not what the task left, here or on the coordinator's disk, or cannot be read there.
pub(crate) fn is_damaged(why: &Failure) -> bool {
    let is_refused = matches!(why, Failure::Grid(ClientError::Refused { code, .. }) if code == "damaged");
    is_refused || matches!(why, Failure::Difference(_))
}

/// What is the matter with the results of a task, where that says nothing of other tasks.
fn matter(why: &Failure) -> Option<&'static str> {
    // As of a task that has not had the run that is asked for.
    let is_missing = matches!(why, Failure::Grid(ClientError::Refused { code, .. }) if code == "not_found");
    match (is_removed(why), is_damaged(why), is_missing) {
        (true, _, _) => Some(REMOVED),
        (_, true, _) => Some(DAMAGED),
        (_, _, true) => Some(MISSING),
        (false, false, false) => None,
    }
}

impl Lacking {
    /// Notes that the results of a task are not there, where that says nothing of other tasks.
    pub(crate) fn note(&mut self, task: u32, why: Failure) -> Outcome {
        let Some(matter) = matter(&why) else { return Err(why) };
        if let Some(kind) = self.0.iter_mut().find(|kind| kind.matter == matter) {
            kind.tasks.push(task);
        } else {
            self.0.push(Kind { matter, why, tasks: vec![task] });
        }
        Ok(())
    }

    /// Fails if there are some; `others` says where the results of the other tasks are.
    pub(crate) fn expect_none(self, tasks: usize, others: &str) -> Outcome {
        let mut kinds = self.0;
        if kinds.is_empty() {
            return Ok(());
        }
        let lacking: usize = kinds.iter().map(|kind| kind.tasks.len()).sum();
        if kinds.len() == 1 && lacking == tasks && kinds[0].matter != DAMAGED {
            return Err(kinds.remove(0).of_all());
        }
        let parts = kinds.iter().map(|Kind { matter, why, tasks }| {
            format!("those of {} are {matter}: {why}", counted(tasks, "task"))
        });
        let parts = parts.collect::<Vec<_>>().join("; ");
        let others =
            if lacking == tasks { "of what was asked for, ".to_owned() } else { format!("{others}; ") };
        Err(Failure::Difference(others + &parts))
    }
}

/// What came of the jobs that were asked for: of several, all that is lacking is told, with the job that it is lacking in.
pub(crate) fn of_jobs(mut ended: Vec<(JobId, Outcome)>) -> Outcome {
    if ended.len() == 1 {
        return ended.remove(0).1;
    }
    let told = ended.into_iter().filter_map(|(job, outcome)| Some(format!("job {job}: {}", outcome.err()?)));
    let told: Vec<String> = told.collect();
    if told.is_empty() { Ok(()) } else { Err(Failure::Difference(told.join("; "))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: &str) -> Failure {
        let (code, message) = (code.to_owned(), format!("it is {code}"));
        Failure::Grid(ClientError::Refused { status: 410, code, message })
    }

    #[test]
    fn what_is_not_there_is_told_by_task_and_reason() {
        let told = |codes: &[(u32, &str)], tasks| {
            let mut lacking = Lacking::default();
            codes.iter().try_for_each(|&(task, code)| lacking.note(task, refused(code)))?;
            lacking.expect_none(tasks, "the others are here")
        };
        assert!(told(&[], 3).is_ok());
        let all = told(&[(0, "removed"), (1, "removed"), (7, "removed")], 3).unwrap_err();
        assert!(matches!(all, Failure::Grid(_)), "as if one task was asked for");
        let message = all.to_string();
        assert!(message.ends_with("it is removed; likewise 2 other tasks (1, 7)"), "{message}");
        let one = told(&[(0, "removed")], 1).unwrap_err().to_string();
        assert!(one.ends_with("it is removed"), "{one}");
        let some = told(&[(0, "removed"), (2, "damaged"), (3, "removed")], 4).unwrap_err().to_string();
        assert_eq!(
            some,
            "the others are here; those of 2 tasks (0, 3) are removed and not there: it is removed; \
             those of 1 task (2) are damaged and not there: it is damaged"
        );
        let only = told(&[(0, "damaged")], 1).unwrap_err().to_string();
        assert_eq!(
            only,
            "of what was asked for, those of 1 task (0) are damaged and not there: it is damaged"
        );
        let missing = told(&[(1, "not_found")], 2).unwrap_err().to_string();
        assert_eq!(missing, "the others are here; those of 1 task (1) are missing: it is not_found");
        let other = told(&[(0, "removed"), (1, "stopped")], 2);
        assert!(matches!(other, Err(Failure::Grid(ClientError::Refused { code, .. })) if code == "stopped"));
    }

    #[test]
    fn what_is_lacking_in_several_jobs_is_told_of_each() {
        let removed = || Err(refused("removed"));
        let all = of_jobs(vec![(JobId(7), removed()), (JobId(8), Ok(())), (JobId(9), removed())]);
        assert_eq!(all.unwrap_err().to_string(), "job 7: it is removed; job 9: it is removed");
        assert!(of_jobs(vec![(JobId(7), Ok(())), (JobId(8), Ok(()))]).is_ok());
        let only = of_jobs(vec![(JobId(7), removed())]);
        assert!(matches!(only, Err(Failure::Grid(_))), "as it is");
    }
}
