//! All tasks' records. A task that never left the queue has none of its own, nor has one that is held and never ran, nor one that is
//! retired: an array of a million of these costs next to nothing here, **however they lie among each other**.

use super::record::{BRIEF, Record};
use crate::store::TaskRange;
use gleaner_units::TaskId;
use gleaner_wire::api::TaskPhase;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

const PAGE: usize = 512;

/// What is known of a task without a record of its own: the place in [`BRIEF`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Brief(u8);

impl Brief {
    /// It never left the queue.
    const UNTOUCHED: Self = Self(0);

    fn of(record: &Record) -> Option<Self> {
        let place = BRIEF.iter().position(|brief| brief == record)?;
        Some(Self(place as u8))
    }

    fn record(self) -> &'static Record {
        const ALL: &[Record; 5] = &BRIEF;
        &ALL[usize::from(self.0)]
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
    /// Those that were written together are one.
    own: BTreeMap<u16, Arc<Record>>,
}

impl Each {
    fn of(brief: Brief) -> Self {
        Self { brief: vec![brief; PAGE], own: BTreeMap::new() }
    }

    fn get(&self, place: usize) -> &Record {
        match self.own.get(&(place as u16)) {
            Some(own) => own,
            None => self.brief[place].record(),
        }
    }

    fn own(&mut self, place: usize) -> &mut Record {
        let brief = self.brief[place];
        Arc::make_mut(self.own.entry(place as u16).or_insert_with(|| Arc::new(brief.record().clone())))
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
    /// What was written last to tasks that were alike: mostly it is written again.
    #[serde(skip)]
    last: Option<Arc<Record>>,
}

impl Records {
    /// The record of a task, whether or not it has one of its own.
    pub(crate) fn get(&self, task: TaskId) -> &Record {
        self.pages.get(task.index() / PAGE).map_or(Brief::UNTOUCHED.record(), |page| match page {
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
            alike.into_iter().chain(each.into_iter().flatten().map(|own| &**own))
        })
    }

    /// The task's own record.
    pub(crate) fn own(&mut self, task: TaskId) -> &mut Record {
        self.each(task.index() / PAGE).own(task.index() % PAGE)
    }

    /// Whether a task has a record that is no other's.
    pub(crate) fn has_own(&self, task: TaskId) -> bool {
        let Some(Page::Each(each)) = self.pages.get(task.index() / PAGE) else { return false };
        each.own.contains_key(&((task.index() % PAGE) as u16))
    }

    /// The tasks from the first of a range on that have the same record: one with a record of its own, neighbours without on
    /// one page, or those on pages that are alike.
    pub(crate) fn alike_from(&self, range: TaskRange) -> TaskRange {
        let (first, last) = (range.first(), range.last());
        let number = first.index() / PAGE;
        let end = match self.pages.get(number) {
            Some(Page::Each(each)) => {
                let place = first.index() % PAGE;
                let own = each.own.range(place as u16..).next().map_or(PAGE, |(own, _)| usize::from(*own));
                let end = own.min(place + last.index() - first.index() + 1);
                let brief = each.brief[place..end.max(place)].iter();
                let alike = brief.take_while(|brief| **brief == each.brief[place]).count();
                TaskId::new(first.index() + alike.max(1) - 1)
            }
            page => {
                let is_alike = |other: &usize| match (page, self.pages.get(*other)) {
                    (Some(Page::Alike(record)), Some(Page::Alike(other))) => {
                        Arc::ptr_eq(record, other) || record == other
                    }
                    (Some(Page::Brief(brief)), Some(Page::Brief(other))) => brief == other,
                    (Some(Page::Brief(brief)), None) => *brief == Brief::UNTOUCHED,
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
        if let Some(brief) = Brief::of(&record) {
            self.fill_brief(range, brief);
            return;
        }
        let last = self.last.take().filter(|last| **last == record);
        let record = last.unwrap_or_else(|| Arc::new(record));
        self.fill_alike(range, &record);
        self.last = Some(record);
    }

    /// Forgets all of tasks that are over but how they are. Costs the same.
    pub(crate) fn retire(&mut self, range: TaskRange, phase: TaskPhase) {
        let retired = BRIEF.iter().position(|record| record.is_retired() && record.phase == phase);
        self.fill_brief(range, Brief(retired.expect("only what is over is retired") as u8));
    }

    fn fill_brief(&mut self, range: TaskRange, brief: Brief) {
        self.fill_pages(range, &Page::Brief(brief), |each, place| {
            each.own.remove(&(place as u16));
            each.brief[place] = brief;
        });
    }

    fn fill_alike(&mut self, range: TaskRange, record: &Arc<Record>) {
        self.fill_pages(range, &Page::Alike(Arc::clone(record)), |each, place| {
            each.own.insert(place as u16, Arc::clone(record));
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
            self.pages.resize(page + 1, Page::Brief(Brief::UNTOUCHED));
        }
    }

    fn each(&mut self, number: usize) -> &mut Each {
        self.make_room(number);
        let page = &mut self.pages[number];
        match page {
            Page::Brief(brief) => *page = Page::Each(Arc::new(Each::of(*brief))),
            Page::Alike(record) => {
                let own = (0..PAGE as u16).map(|place| (place, Arc::clone(record))).collect();
                *page = Page::Each(Arc::new(Each { own, ..Each::of(Brief::UNTOUCHED) }));
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
    use super::super::record::UNTOUCHED;
    use super::*;
    use gleaner_units::Time;

    fn range(first: usize, last: usize) -> TaskRange {
        TaskRange::between(TaskId::new(first), TaskId::new(last)).expect("a range")
    }

    #[test]
    fn what_is_alike_is_one_record() {
        let mut records = Records::default();
        assert_eq!(records.alike_from(range(3, 9_999_999)), range(3, 9_999_999), "all untouched");
        let ended = Some(Time::from_nanos(1));
        records.fill(range(10, 9_999_999), Record { phase: TaskPhase::Cancelled, ended, ..UNTOUCHED });
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
        assert_eq!(before.get(TaskId::new(5_000)).phase, TaskPhase::Cancelled, "a copy keeps what it has");
        assert_eq!(records.get(TaskId::new(5_001)).phase, TaskPhase::Cancelled);
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
        assert!(matches!(records.pages[..], [Page::Each(_), Page::Brief(_)]));
        let phases = [6, 7, 8, 2 * PAGE].map(|task| records.get(TaskId::new(task)).phase);
        assert_eq!(phases, [TaskPhase::Done, TaskPhase::Failed, TaskPhase::Done, TaskPhase::Waiting]);
        assert_eq!(records.alike_from(range(0, 5_000)), range(0, 6));
        assert_eq!(records.alike_from(range(8, 5_000)), range(8, PAGE - 1));
        assert_eq!(records.alike_from(range(PAGE, 5_000)), range(PAGE, 2 * PAGE - 1));
        assert!((0..2 * PAGE).all(|task| records.get(TaskId::new(task)).is_retired()));
    }

    /// Every second task of a job that is held, which costs most where each is written down.
    #[test]
    fn what_is_held_and_what_is_retired_may_lie_among_each_other() {
        let mut records = Records::default();
        let held = Record { phase: TaskPhase::Held, ..UNTOUCHED };
        records.fill(range(0, 8 * PAGE - 1), held.clone());
        assert_eq!(records.count(), 0);
        let over = |place: &usize| place % 2 == 1;
        let cancelled = Record { phase: TaskPhase::Cancelled, ended: Some(Time::from_nanos(5)), ..UNTOUCHED };
        for task in (0..8 * PAGE).filter(over).map(TaskId::new) {
            records.fill(TaskRange::one(task), cancelled.clone());
        }
        let shared: Vec<*const Record> = records.all().map(std::ptr::from_ref).collect();
        assert_eq!(shared.len(), 4 * PAGE);
        assert!(shared.iter().all(|record| *record == shared[0]), "they are one record");
        for task in (0..8 * PAGE).filter(over).map(TaskId::new) {
            records.retire(TaskRange::one(task), TaskPhase::Cancelled);
        }
        assert_eq!(records.count(), 0);
        assert_eq!(*records.get(TaskId::new(6)), held);
        assert!(records.get(TaskId::new(7)).is_retired());
    }
}
