//! What runs hold, by run: found by their tasks' numbers, on pages of which only those are there with any.

use gleaner_units::{MachineId, RunId, TaskId, Time};
use std::collections::BTreeMap;

const PAGE: usize = 64;

/// What a run holds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Hold {
    pub(crate) run: RunId,
    pub(crate) on: MachineId,
    pub(crate) cores: u32,
    pub(crate) since: Time,
    pub(crate) until: Time,
}

#[derive(Clone, Debug)]
struct Page {
    count: u32,
    holds: [Option<Hold>; PAGE],
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Held {
    pages: Vec<Option<Box<Page>>>,
    /// Of tasks of which another run holds something too.
    more: BTreeMap<RunId, Hold>,
}

fn place_of(task: TaskId) -> (usize, usize) {
    (task.index() / PAGE, task.index() % PAGE)
}

impl Held {
    /// It is not there yet.
    pub(crate) fn insert(&mut self, hold: Hold) {
        let (page, place) = place_of(hold.run.task);
        if self.pages.len() <= page {
            self.pages.resize(page + 1, None);
        }
        let page = self.pages[page].get_or_insert_with(|| Box::new(Page { count: 0, holds: [None; PAGE] }));
        if page.holds[place].is_some() {
            self.more.insert(hold.run, hold);
            return;
        }
        page.count += 1;
        page.holds[place] = Some(hold);
    }

    pub(crate) fn remove(&mut self, run: RunId) -> Option<Hold> {
        let (number, place) = place_of(run.task);
        let Some(page) = self.pages.get_mut(number)?.as_mut().filter(|page| is_of(page, place, run)) else {
            return self.more.remove(&run);
        };
        let hold = page.holds[place].take();
        page.count -= 1;
        if page.count == 0 {
            self.pages[number] = None;
        }
        hold
    }

    pub(crate) fn get_mut(&mut self, run: RunId) -> Option<&mut Hold> {
        let (page, place) = place_of(run.task);
        match self.pages.get_mut(page)?.as_mut().filter(|page| is_of(page, place, run)) {
            Some(page) => page.holds[place].as_mut(),
            None => self.more.get_mut(&run),
        }
    }

    fn all(&self) -> BTreeMap<RunId, Hold> {
        let holds = self.pages.iter().flatten().flat_map(|page| page.holds).flatten();
        holds.chain(self.more.values().copied()).map(|hold| (hold.run, hold)).collect()
    }
}

fn is_of(page: &Page, place: usize, run: RunId) -> bool {
    page.holds[place].is_some_and(|hold| hold.run == run)
}

/// They are equal if the same runs hold the same.
impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.all() == other.all()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_map() {
        let mut random = 9_u64;
        let mut draw = move |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        let (mut held, mut map) = (Held::default(), BTreeMap::new());
        for step in 0..4_000 {
            let run = RunId::new(TaskId::new(draw(300) as usize), 1 + draw(3) as u32);
            let (since, until) = (Time::from_nanos(step), Time::from_nanos(draw(99)));
            let hold = Hold { run, on: MachineId::FIRST, cores: 1, since, until };
            assert_eq!(held.get_mut(run).copied(), map.get(&run).copied());
            if draw(4) < if step < 2_000 { 3 } else { 1 } {
                if map.insert(run, hold).is_none() {
                    held.insert(hold);
                } else {
                    *held.get_mut(run).expect("it is there") = hold;
                }
            } else {
                assert_eq!(held.remove(run), map.remove(&run));
            }
            assert_eq!(held.all(), map);
        }
        let mut other = Held::default();
        for hold in map.values().rev() {
            other.insert(*hold);
        }
        assert!(!map.is_empty() && held == other);
        for run in map.keys() {
            assert!(held.remove(*run).is_some());
        }
        assert!(held.pages.iter().all(Option::is_none), "nothing is left");
    }
}
