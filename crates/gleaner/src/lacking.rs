//! Tasks of a job whose results are not there any more, while those of others are asked for too.

use crate::Outcome;
use crate::columns::plural;
use crate::failure::Failure;
use gleaner_net::ClientError;

/// So many tasks are named.
const NAMED: usize = 20;

/// Those of one job.
#[derive(Default)]
pub(crate) struct Lacking {
    /// Why the first was, and which they are.
    removed: Option<(Failure, Vec<u32>)>,
    damaged: Option<(Failure, Vec<u32>)>,
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

impl Lacking {
    /// Notes that the results of a task are not there, where that says nothing of other tasks.
    pub(crate) fn note(&mut self, task: u32, why: Failure) -> Outcome {
        let kind = if is_removed(&why) {
            &mut self.removed
        } else if is_damaged(&why) {
            &mut self.damaged
        } else {
            return Err(why);
        };
        kind.get_or_insert_with(|| (why, Vec::new())).1.push(task);
        Ok(())
    }

    /// Fails if there are some; `others` says where the results of the other tasks are.
    pub(crate) fn expect_none(self, tasks: usize, others: &str) -> Outcome {
        let kinds = match (self.removed, self.damaged) {
            (None, None) => return Ok(()),
            // There is nothing else to say.
            (Some((why, removed)), None) if removed.len() == tasks => return Err(why),
            (removed, damaged) => [(removed, "removed"), (damaged, "damaged")],
        };
        let kinds: Vec<_> = kinds.into_iter().filter_map(|(kind, word)| Some((kind?, word))).collect();
        let lacking: usize = kinds.iter().map(|((_, lacking), _)| lacking.len()).sum();
        let parts = kinds.iter().map(|((why, lacking), word)| {
            let named: Vec<String> = lacking.iter().take(NAMED).map(ToString::to_string).collect();
            let more = if lacking.len() > NAMED { ", …" } else { "" };
            let (count, named) = (plural(lacking.len() as u64, "task"), named.join(", "));
            format!("those of {count} ({named}{more}) are {word} and not there: {why}")
        });
        let parts = parts.collect::<Vec<_>>().join("; ");
        let others =
            if lacking == tasks { "of what was asked for, ".to_owned() } else { format!("{others}; ") };
        Err(Failure::Difference(others + &parts))
    }
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
        let all = told(&[(0, "removed"), (1, "removed")], 2);
        assert!(matches!(all, Err(Failure::Grid(_))), "as if one task was asked for");
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
        let other = told(&[(0, "removed"), (1, "stopped")], 2);
        assert!(matches!(other, Err(Failure::Grid(ClientError::Refused { code, .. })) if code == "stopped"));
    }
}
