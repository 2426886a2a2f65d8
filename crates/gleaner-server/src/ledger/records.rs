//! All tasks' records. A task that never left the queue has none of its own, nor has one that is retired: an array of a
//! million of either costs next to nothing here.

use super::record::{RETIRED, Record, UNTOUCHED};
use crate::store::TaskRange;
use gleaner_units::TaskId;
use gleaner_wire::api::TaskPhase;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

const PAGE: usize = 512;

/// What is known of a task without a record of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum Brief {
    /// It never left the queue.
    Untouched,
    /// It is over, and retired, like this. The place in [`RETIRED`].
    Retired(u8),
}

impl Brief {
    fn retired(phase: TaskPhase) -> Self {
        let place = RETIRED.iter().position(|record| record.phase == phase);
        Self::Retired(place.expect("only what is over is retired") as u8)
    }

    fn of(record: &Record) -> Option<Self> {
        if *record == UNTOUCHED {
            return Some(Self::Untouched);
        }
        let place = RETIRED.iter().position(|retired| retired == record)?;
        Some(Self::Retired(place as u8))
    }

    fn record(self) -> &'static Record {
        const NONE: &Record = &UNTOUCHED;
        const GONE: &[Record; 3] = &RETIRED;
        match self {
            Self::Untouched => NONE,
            Self::Retired(place) => &GONE[usize::from(place)],
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Page {
    /// [`PAGE`] that have none of their own, and are alike.
    Brief(Brief),
    /// [`PAGE`] times the same.
    Alike(Arc<Record>),
    /// [`PAGE`] of them.
    Each(Arc<Each>),
}

/// Serialised as it is: what stands in the maps follows from the facts alone.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Each {
    /// What is known of those without a record of their own, by place.
    brief: Vec<Brief>,
    own: BTreeMap<u16, Record>,
}

impl Each {
    fn of(brief: Brief) -> Self {
        Self { brief: vec![brief; PAGE], own: BTreeMap::new() }
    }

    fn get(&self, place: usize) -> &Record {
        self.own.get(&(place as u16)).unwrap_or_else(|| self.brief[place].record())
    }

    fn own(&mut self, place: usize) -> &mut Record {
        let brief = self.brief[place];
        self.own.entry(place as u16).or_insert_with(|| brief.record().clone())
    }

    /// All of them, if they have none of their own and are alike.
    fn alike(&self) -> Option<Brief> {
        let first = self.brief[0];
        (self.own.is_empty() && self.brief.iter().all(|brief| *brief == first)).then_some(first)
    }
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
        self.pages.get(task.index() / PAGE).map_or(Brief::Untouched.record(), |page| match page {
            Page::Brief(brief) => brief.record(),
            Page::Alike(record) => record,
            Page::Each(each) => each.get(task.index() % PAGE),
        })
    }

    /// All that tasks have of their own, those that are alike once.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Record> {
        self.pages.iter().flat_map(|page| {
            let (alike, each) = match page {
                Page::Brief(_) => (None, None),
                Page::Alike(record) => (Some(&**record), None),
                Page::Each(each) => (None, Some(each.own.values())),
            };
            alike.into_iter().chain(each.into_iter().flatten())
        })
    }

    /// The task's own record.
    pub(crate) fn own(&mut self, task: TaskId) -> &mut Record {
        self.each(task.index() / PAGE).own(task.index() % PAGE)
    }

    /// The tasks from the first of a range on that have the same record: one with a record of its own, neighbours without on
    /// one page, or those on pages that are alike.
    pub(crate) fn alike_from(&self, range: TaskRange) -> TaskRange {
        let (first, last) = (range.first(), range.last());
        let number = first.index() / PAGE;
        let end = match self.pages.get(number) {
            Some(Page::Each(each)) => {
                let place = first.index() % PAGE;
                let is_alike = |other: &usize| {
                    !each.own.contains_key(&(*other as u16)) && each.brief[*other] == each.brief[place]
                };
                let alike = (place..PAGE).take_while(is_alike).count().max(1);
                TaskId::new(first.index() + alike - 1)
            }
            page => {
                let is_alike = |other: &usize| match (page, self.pages.get(*other)) {
                    (Some(Page::Alike(record)), Some(Page::Alike(other))) => {
                        Arc::ptr_eq(record, other) || record == other
                    }
                    (Some(Page::Brief(brief)), Some(Page::Brief(other))) => brief == other,
                    (Some(Page::Brief(brief)), None) => *brief == Brief::Untouched,
                    (None, None) => true,
                    _ => false,
                };
                let other = (number + 1..=last.index() / PAGE).find(|page| !is_alike(page));
                other.map_or(last, |page| TaskId::new(page * PAGE - 1))
            }
        };
        TaskRange::between(first, end.min(last)).expect("it has its first task")
    }

    /// Gives tasks the same record. Costs O(tasks / 512), and O(512).
    pub(crate) fn fill(&mut self, range: TaskRange, record: Record) {
        match Brief::of(&record) {
            Some(brief) => self.fill_brief(range, brief),
            None => self.fill_alike(range, &Arc::new(record)),
        }
    }

    /// Forgets all of tasks that are over but how they are. Costs the same.
    pub(crate) fn retire(&mut self, range: TaskRange, phase: TaskPhase) {
        self.fill_brief(range, Brief::retired(phase));
    }

    fn fill_brief(&mut self, range: TaskRange, brief: Brief) {
        self.fill_pages(range, &Page::Brief(brief), |each, place| {
            each.own.remove(&(place as u16));
            each.brief[place] = brief;
        });
    }

    fn fill_alike(&mut self, range: TaskRange, record: &Arc<Record>) {
        self.fill_pages(range, &Page::Alike(Arc::clone(record)), |each, place| {
            each.own.insert(place as u16, (**record).clone());
        });
    }

    fn fill_pages(&mut self, range: TaskRange, whole: &Page, fill: impl Fn(&mut Each, usize)) {
        let (mut next, end) = (range.first().index(), range.last().index() + 1);
        while next < end {
            let (page, place) = (next / PAGE, next % PAGE);
            let now = (end - next).min(PAGE - place);
            if now == PAGE {
                self.make_room(page);
                self.pages[page] = whole.clone();
            } else {
                let each = self.each(page);
                (place..place + now).for_each(|place| fill(each, place));
                if let Some(brief) = each.alike() {
                    self.pages[page] = Page::Brief(brief);
                }
            }
            next += now;
        }
    }

    fn make_room(&mut self, page: usize) {
        if self.pages.len() <= page {
            self.pages.resize(page + 1, Page::Brief(Brief::Untouched));
        }
    }

    fn each(&mut self, number: usize) -> &mut Each {
        self.make_room(number);
        let page = &mut self.pages[number];
        match page {
            Page::Brief(brief) => *page = Page::Each(Arc::new(Each::of(*brief))),
            Page::Alike(record) => {
                let own = (0..PAGE as u16).map(|place| (place, (**record).clone())).collect();
                *page = Page::Each(Arc::new(Each { own, ..Each::of(Brief::Untouched) }));
            }
            Page::Each(_) => {}
        }
        match page {
            Page::Each(each) => Arc::make_mut(each),
            Page::Brief(_) | Page::Alike(_) => unreachable!("it was just replaced"),
        }
    }

    /// How many records tasks have of their own.
    pub(crate) fn count(&self) -> usize {
        self.all().count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            records.count(),
            apart + 9_999_999 / PAGE - 1 - 10 - (PAGE - 1 - 9_999_999 % PAGE),
            "those on the first and the last page, and one for each other"
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

    #[test]
    fn what_is_retired_has_no_record() {
        let mut records = Records::default();
        for task in (0..2 * PAGE).map(TaskId::new) {
            records.own(task).phase = if task.index() == 7 { TaskPhase::Failed } else { TaskPhase::Done };
        }
        assert_eq!(records.count(), 2 * PAGE);
        for task in (0..2 * PAGE).map(TaskId::new) {
            let phase = records.get(task).phase;
            records.retire(TaskRange::one(task), phase);
        }
        assert_eq!(records.count(), 0);
        assert!(matches!(records.pages[..], [Page::Each(_), Page::Brief(Brief::Retired(_))]));
        let phases = [6, 7, 8, 2 * PAGE].map(|task| records.get(TaskId::new(task)).phase);
        assert_eq!(phases, [TaskPhase::Done, TaskPhase::Failed, TaskPhase::Done, TaskPhase::Waiting]);
        assert_eq!(records.alike_from(range(0, 5_000)), range(0, 6));
        assert_eq!(records.alike_from(range(8, 5_000)), range(8, PAGE - 1));
        assert_eq!(records.alike_from(range(PAGE, 5_000)), range(PAGE, 2 * PAGE - 1));
        assert!((0..2 * PAGE).all(|task| records.get(TaskId::new(task)).is_retired()));
    }
}
