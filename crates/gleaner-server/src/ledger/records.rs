//! All tasks' records. A task that never left the queue has none of its own: an array of a million waiting tasks costs
//! nothing here.

use super::record::{Record, UNTOUCHED};
use crate::store::TaskRange;
use gleaner_units::TaskId;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const PAGE: usize = 512;

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Page {
    /// [`PAGE`] times the same.
    Alike(Arc<Record>),
    /// [`PAGE`] of them.
    Each(Arc<Vec<Record>>),
}

/// All records, by task. A copy shares every page until one of the two writes there.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Records {
    /// As far as any task has a record of its own.
    pages: Vec<Page>,
}

impl Records {
    /// The record of a task, whether or not it has one of its own.
    pub(crate) fn get(&self, task: TaskId) -> &Record {
        const NONE: &Record = &UNTOUCHED;
        self.pages.get(task.index() / PAGE).map_or(NONE, |page| match page {
            Page::Alike(record) => record,
            Page::Each(records) => &records[task.index() % PAGE],
        })
    }

    /// All that tasks have of their own, those that are alike once, and some that are untouched.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Record> {
        self.pages.iter().flat_map(|page| match page {
            Page::Alike(record) => std::slice::from_ref(&**record),
            Page::Each(records) => records,
        })
    }

    /// The task's own record.
    pub(crate) fn own(&mut self, task: TaskId) -> &mut Record {
        &mut self.each(task.index() / PAGE)[task.index() % PAGE]
    }

    /// The tasks from the first of a range on that have the same record: one, or those on pages that are alike.
    pub(crate) fn alike_from(&self, range: TaskRange) -> TaskRange {
        let (first, last) = (range.first(), range.last());
        let number = first.index() / PAGE;
        let end = match self.pages.get(number) {
            None => last,
            Some(Page::Each(_)) => first,
            Some(Page::Alike(record)) => {
                let is_alike = |page: &usize| match self.pages.get(*page) {
                    Some(Page::Alike(other)) => Arc::ptr_eq(record, other) || record == other,
                    Some(Page::Each(_)) => false,
                    None => **record == UNTOUCHED,
                };
                let other = (number + 1..=last.index() / PAGE).find(|page| !is_alike(page));
                other.map_or(last, |page| TaskId::new(page * PAGE - 1))
            }
        };
        TaskRange::between(first, end.min(last)).expect("it has its first task")
    }

    /// Gives tasks the same record. Costs O(tasks / 512), and O(512).
    pub(crate) fn fill(&mut self, range: TaskRange, record: Record) {
        let record = Arc::new(record);
        let (mut next, end) = (range.first().index(), range.last().index() + 1);
        while next < end {
            let (page, place) = (next / PAGE, next % PAGE);
            let now = (end - next).min(PAGE - place);
            if now == PAGE {
                self.make_room(page);
                self.pages[page] = Page::Alike(Arc::clone(&record));
            } else {
                self.each(page)[place..place + now].fill((*record).clone());
            }
            next += now;
        }
    }

    fn make_room(&mut self, page: usize) {
        if self.pages.len() <= page {
            self.pages.resize(page + 1, Page::Alike(Arc::new(UNTOUCHED)));
        }
    }

    fn each(&mut self, number: usize) -> &mut Vec<Record> {
        self.make_room(number);
        let page = &mut self.pages[number];
        if let Page::Alike(record) = page {
            *page = Page::Each(Arc::new(vec![(**record).clone(); PAGE]));
        }
        match page {
            Page::Each(records) => Arc::make_mut(records),
            Page::Alike(_) => unreachable!("it was just replaced"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_wire::api::TaskPhase;

    fn range(first: usize, last: usize) -> TaskRange {
        TaskRange::between(TaskId::new(first), TaskId::new(last)).expect("a range")
    }

    #[test]
    fn what_is_alike_is_one_record() {
        let mut records = Records::default();
        assert_eq!(records.alike_from(range(3, 9_999_999)), range(3, 9_999_999), "all untouched");
        records.fill(range(10, 9_999_999), Record { phase: TaskPhase::Held, ..UNTOUCHED });
        let apart = 2 * PAGE;
        assert_eq!(
            records.all().count(),
            apart + 9_999_999 / PAGE - 1,
            "the first and the last page, and one for each other"
        );
        assert_eq!(records.alike_from(range(20, 9_999_999)), range(20, 20));
        assert_eq!(
            records.alike_from(range(PAGE + 1, 9_999_999)),
            range(PAGE + 1, 9_999_999 / PAGE * PAGE - 1)
        );
        let before = records.clone();
        records.own(TaskId::new(5_000)).phase = TaskPhase::Done;
        assert_eq!(records.alike_from(range(PAGE, 9_000)), range(PAGE, 5_000 / PAGE * PAGE - 1));
        assert_eq!(before.get(TaskId::new(5_000)).phase, TaskPhase::Held, "a copy keeps what it has");
        assert_eq!(records.get(TaskId::new(5_001)).phase, TaskPhase::Held);
        assert_eq!(records.get(TaskId::new(9)).phase, TaskPhase::Waiting);
        assert_eq!(records.get(TaskId::new(10_000_000)).phase, TaskPhase::Waiting);
    }
}
