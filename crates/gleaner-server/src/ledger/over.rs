//! Which tasks are over, by when that was.

use crate::store::TaskRange;
use gleaner_units::{TaskId, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Tasks that are over and not retired, in order of their ends: the first of those that ended together, with the last.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Over {
    ends: BTreeMap<(Time, TaskId), TaskId>,
    count: u64,
}

impl Over {
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Those that ended before a moment, those first that ended first.
    pub(super) fn before(&self, moment: Time) -> impl Iterator<Item = (Time, TaskRange)> {
        let ends = self.ends.iter().take_while(move |((ended, _), _)| *ended < moment);
        ends.map(|(&(ended, first), &last)| (ended, TaskRange::between(first, last).expect("in order")))
    }

    pub(super) fn has(&self, ended: Time, task: TaskId) -> bool {
        let before = self.ends.range(..=(ended, task)).next_back();
        before.is_some_and(|((at, _), last)| *at == ended && task <= *last)
    }

    pub(super) fn add(&mut self, ended: Time, tasks: TaskRange) {
        self.ends.insert((ended, tasks.first()), tasks.last());
        self.count += u64::from(tasks.count());
    }

    /// All of them ended then, and are neighbours there.
    pub(super) fn remove(&mut self, ended: Time, tasks: TaskRange) {
        let mut rest = Some(tasks);
        while let Some(wanted) = rest {
            let before = self.ends.range(..=(ended, wanted.first())).next_back();
            let (&(at, first), &last) = before.expect("what is over is listed");
            let listed = TaskRange::between(first, last)
                .filter(|listed| at == ended && listed.contains(wanted.first()));
            let listed = listed.expect("what is over is listed under its end");
            self.ends.remove(&(at, first));
            let gone =
                TaskRange::between(wanted.first(), wanted.last().min(last)).expect("it has its first task");
            if first < gone.first() {
                self.ends.insert((at, first), TaskId::new(gone.first().index() - 1));
            }
            if let Some(behind) = gone.behind_within(listed) {
                self.ends.insert((at, behind.first()), behind.last());
            }
            self.count -= u64::from(gone.count());
            rest = gone.behind_within(wanted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_out_of_the_middle_leaves_both_ends() {
        let range = |first, last| TaskRange::between(TaskId::new(first), TaskId::new(last)).expect("a range");
        let at = Time::from_nanos;
        let mut over = Over::default();
        over.add(at(5), range(10, 19));
        over.add(at(5), range(20, 29));
        over.add(at(4), range(0, 3));
        over.remove(at(5), range(15, 24));
        let left: Vec<_> = over.before(Time::NEVER).collect();
        assert_eq!(left, [(at(4), range(0, 3)), (at(5), range(10, 14)), (at(5), range(25, 29))]);
        assert_eq!((over.count(), over.before(at(5)).count()), (14, 1));
        let has = |task: usize| over.has(at(5), TaskId::new(task));
        assert_eq!(
            [9, 10, 14, 15, 24, 25, 29, 30].map(has),
            [false, true, true, false, false, true, true, false]
        );
    }
}
