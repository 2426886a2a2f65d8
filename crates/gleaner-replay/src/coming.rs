//! When tasks came: for tasks that came together, once.
//!
//! An array of millions that waits, is held and released is one range here, whatever its user orders.

use gleaner_server::store::TaskRange;
use gleaner_units::{TaskId, Time};
use std::collections::BTreeMap;

/// By the first task of each range, its last one and the moment. Ranges do not overlap.
#[derive(Debug, Default)]
pub(crate) struct Coming(BTreeMap<TaskId, (TaskId, Time)>);

impl Coming {
    /// When a task came last.
    pub(crate) fn find(&self, task: TaskId) -> Option<Time> {
        let (_, &(last, came)) = self.0.range(..=task).next_back()?;
        (task <= last).then_some(came)
    }

    /// They come now, whenever they came before. Costs O(ranges that they were in).
    pub(crate) fn put(&mut self, tasks: TaskRange, now: Time) {
        self.forget(tasks, |_| true);
        self.0.insert(tasks.first(), (tasks.last(), now));
    }

    /// Forgets those of some tasks that came at a moment that is meant. Costs O(ranges that they were in).
    pub(crate) fn forget(&mut self, tasks: TaskRange, is_meant: impl Fn(Time) -> bool) {
        let start = self.0.range(..=tasks.first()).next_back().map_or(tasks.first(), |(&first, _)| first);
        let touched = self.0.range(start..=tasks.last()).map(|(&first, &(last, came))| (first, last, came));
        let touched = touched.filter(|&(_, last, came)| last >= tasks.first() && is_meant(came));
        for (first, last, came) in touched.collect::<Vec<_>>() {
            self.0.remove(&first);
            if first < tasks.first() {
                self.0.insert(first, (TaskId::new(tasks.first().index() - 1), came));
            }
            if last > tasks.last() {
                self.0.insert(TaskId::new(tasks.last().index() + 1), (last, came));
            }
        }
    }

    /// All of them, in order, with the moment when they came.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (TaskRange, Time)> {
        self.0.iter().filter_map(|(&first, &(last, came))| Some((TaskRange::between(first, last)?, came)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tasks(first: usize, last: usize) -> TaskRange {
        TaskRange::between(TaskId::new(first), TaskId::new(last)).expect("in order")
    }

    fn said(coming: &Coming) -> Vec<(usize, usize, u64)> {
        let ranges = coming.ranges();
        ranges.map(|(tasks, at)| (tasks.first().index(), tasks.last().index(), at.nanos())).collect()
    }

    #[test]
    fn what_comes_again_divides_what_came_before() {
        let mut coming = Coming::default();
        coming.put(tasks(10, 29), Time::from_nanos(1));
        coming.put(tasks(15, 19), Time::from_nanos(2));
        coming.put(tasks(40, 40), Time::from_nanos(3));
        assert_eq!(said(&coming), [(10, 14, 1), (15, 19, 2), (20, 29, 1), (40, 40, 3)]);
        let find = |coming: &Coming, task| coming.find(TaskId::new(task)).map(Time::nanos);
        let found = [9, 10, 14, 15, 20, 29, 30, 40, 41].map(|task| find(&coming, task));
        assert_eq!(found, [None, Some(1), Some(1), Some(2), Some(1), Some(1), None, Some(3), None]);
        coming.forget(tasks(12, 22), |came| came == Time::from_nanos(1));
        assert_eq!(said(&coming), [(10, 11, 1), (15, 19, 2), (23, 29, 1), (40, 40, 3)]);
        coming.put(tasks(0, 99), Time::from_nanos(4));
        assert_eq!(said(&coming), [(0, 99, 4)]);
    }
}
