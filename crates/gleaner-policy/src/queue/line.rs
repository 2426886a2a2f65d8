//! The tasks that wait, in one line: by priority, and of equals in order of submission.
//!
//! Tasks that fit into the same machines, are equally fast there and have the same priority are of one *kind*; those of one user,
//! where some user's may have to wait for that user's others: a line is made anew when that [changes](Grid::has_caps). Each kind has
//! a shelf in order of length, so that the first, or the shortest, that may start is found with a look at each kind, not at
//! each task.

use super::members::Members;
use crate::backlog::{Place, Shelf, Size, Waiting};
use crate::forecast::KNOWN_MAX;
use crate::parts::queue::Fill;
use gleaner_core::{Grid, Needs};
use gleaner_units::{MachineClassId, Ops, TaskClassId, TaskId, UserId};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

/// What tasks of a kind have in common.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Like {
    needs: Needs,
    priority: i32,
    /// The bits of the time per operation, by machine class.
    seconds_per_op: Vec<u64>,
    /// Whose they are, where users may have so many cores and no more.
    user: Option<UserId>,
}

#[derive(Clone, Debug)]
pub(crate) struct Kind {
    pub(crate) needs: Needs,
    priority: i32,
    /// One of that kind.
    pub(crate) class: TaskClassId,
    shelf: Shelf,
}

/// A kind of which somebody waits: what a search for a filler reads of all of them, side by side in memory.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Waits {
    pub(crate) cores: u32,
    /// How long its shortest is.
    pub(crate) shortest: Size,
    /// Whose turn comes first.
    first: Turn,
    kind: usize,
}

/// A place in the line: the least is the first.
pub(crate) type Turn = (Reverse<i32>, TaskId);

/// Whoever waits.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    kinds: Vec<Kind>,
    /// By class of tasks.
    of_class: Vec<u32>,
    known: BTreeMap<Like, usize>,
    /// Kinds of which there is no class any more.
    spare: Vec<usize>,
    /// Those with anybody, by cores, the fewest first.
    waiting: Vec<Waits>,
    /// By priority, in order; of one at most there is nobody, so that its memory is soon used again.
    turns: Vec<(Reverse<i32>, Members)>,
    /// By machine class: the fewest seconds that an operation takes there, or took before a class was replaced; infinite where nobody
    /// can run.
    fastest: Vec<f64>,
}

impl Line {
    /// A class of tasks was met. Costs O(machine classes + kinds).
    pub(crate) fn add_class(&mut self, grid: &Grid, id: TaskClassId) {
        let kind = self.kind_for(grid, id);
        self.of_class.push(u32::try_from(kind).expect("fewer kinds than classes"));
    }

    /// A class of which nobody waits is another from now on. Costs O(classes + kinds).
    pub(crate) fn replace_class(&mut self, grid: &Grid, id: TaskClassId) {
        let left = self.of_class[id.index()] as usize;
        // It is of none for now.
        self.of_class[id.index()] = u32::MAX;
        let other = self.of_class.iter().position(|&kind| kind as usize == left);
        match other.map(TaskClassId::new) {
            Some(other) if self.kinds[left].class == id => self.kinds[left].class = other,
            Some(_) => {}
            None => {
                self.known.retain(|_, kind| *kind != left);
                self.spare.push(left);
            }
        }
        self.of_class[id.index()] = u32::try_from(self.kind_for(grid, id)).expect("fewer kinds than classes");
    }

    /// The kind that tasks of a class are of.
    fn kind_for(&mut self, grid: &Grid, id: TaskClassId) -> usize {
        let class = grid.classes().task_class(id);
        let row = grid.classes().seconds_per_op_row(id);
        self.fastest.resize(row.len().max(self.fastest.len()), f64::INFINITY);
        row.iter().zip(&mut self.fastest).for_each(|(seconds, fastest)| *fastest = fastest.min(*seconds));
        let seconds_per_op = row.iter().map(|seconds| seconds.to_bits()).collect();
        let (needs, priority) = (class.needs, class.priority);
        let user = grid.has_caps().then_some(class.payer);
        let like = Like { needs, priority, seconds_per_op, user };
        if let Some(&known) = self.known.get(&like) {
            return known;
        }
        let kind = Kind { needs, priority, class: id, shelf: Shelf::default() };
        let number = self.spare.pop().unwrap_or(self.kinds.len());
        if number == self.kinds.len() {
            self.kinds.push(kind);
        } else {
            self.kinds[number] = kind;
        }
        self.known.insert(like, number);
        number
    }

    /// A task of that length waits.
    pub(crate) fn add(&mut self, grid: &Grid, id: TaskId, length: Ops) {
        let number = self.number_of(grid, id);
        let at = self.place_of(number);
        let kind = &mut self.kinds[number];
        let turn = (Reverse(kind.priority), id);
        let turns = match self.turns.binary_search_by_key(&turn.0, |turns| turns.0) {
            Ok(at) => at,
            Err(at) => {
                self.turns.insert(at, (turn.0, Members::default()));
                at
            }
        };
        self.turns[turns].1.insert(id);
        let task = Waiting { length, id };
        kind.shelf.insert(task);
        match at {
            Ok(at) => {
                let waits = &mut self.waiting[at];
                (waits.shortest, waits.first) = (waits.shortest.min(task.size()), waits.first.min(turn));
            }
            Err(at) => {
                let cores = kind.needs.cores;
                self.waiting.insert(at, Waits { cores, shortest: task.size(), first: turn, kind: number });
            }
        }
    }

    /// A task, of the length with which it came, waits no more. Whether it did.
    pub(crate) fn remove(&mut self, grid: &Grid, id: TaskId, length: impl Fn() -> Ops) -> bool {
        // Mostly there is one priority: who does not wait is found to without a look at its kind.
        let turns = match self.turns.len() {
            0 => return false,
            1 => 0,
            _ => {
                let priority = self.turn_of(grid, id).0;
                let Ok(turns) = self.turns.binary_search_by_key(&priority, |turns| turns.0) else {
                    return false;
                };
                turns
            }
        };
        if !self.turns[turns].1.remove(id) {
            return false;
        }
        // Nobody is asked for ever about priorities that there were once.
        if self.turns.len() > 1 && self.turns[turns].1.first_from(0).is_none() {
            self.turns.remove(turns);
        }
        let number = self.number_of(grid, id);
        let kind = &mut self.kinds[number];
        kind.shelf.remove(Waiting { length: length(), id });
        let at = self.place_of(number).expect("it waited");
        let shelf = &self.kinds[number].shelf;
        let Some(shortest) = shelf.at(Place::FIRST) else {
            self.waiting.remove(at);
            return true;
        };
        let waits = &mut self.waiting[at];
        waits.shortest = shortest.size();
        if waits.first.1 == id {
            waits.first.1 = shelf.lowest().unwrap_or(id);
        }
        true
    }

    /// Whether a task waits.
    pub(crate) fn has(&self, grid: &Grid, id: TaskId) -> bool {
        let priority = self.turn_of(grid, id).0;
        let turns = self.turns.binary_search_by_key(&priority, |turns| turns.0);
        turns.is_ok_and(|turns| self.turns[turns].1.contains(id))
    }

    fn place_of(&self, number: usize) -> Result<usize, usize> {
        let entry = (self.kinds[number].needs.cores, number);
        self.waiting.binary_search_by_key(&entry, |other| (other.cores, other.kind))
    }

    /// The fewest seconds that an operation of any task takes on a machine of that class.
    pub(crate) fn fastest(&self, class: MachineClassId) -> f64 {
        self.fastest[class.index()]
    }

    /// The fewest cores that anybody who waits needs.
    pub(crate) fn fewest_cores(&self) -> Option<u32> {
        self.waiting.first().map(|waits| waits.cores)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The first whose kind will do. Costs O(kinds that wait), where the very first is another.
    pub(crate) fn first(&self, grid: &Grid, will_do: impl Fn(&Kind) -> bool) -> Option<TaskId> {
        let first = self.in_order().next()?;
        if will_do(self.kind_of(grid, first)) {
            return Some(first);
        }
        let able = self.waiting.iter().filter(|waits| will_do(&self.kinds[waits.kind]));
        able.map(|waits| waits.first).min().map(|(_, task)| task)
    }

    /// One after the other.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.turns.iter().flat_map(|(_, turns)| turns.from(0))
    }

    pub(crate) fn turn_of(&self, grid: &Grid, id: TaskId) -> Turn {
        (Reverse(self.kind_of(grid, id).priority), id)
    }

    pub(crate) fn kind_of(&self, grid: &Grid, id: TaskId) -> &Kind {
        &self.kinds[self.number_of(grid, id)]
    }

    fn number_of(&self, grid: &Grid, id: TaskId) -> usize {
        self.of_class[grid.task(id).class().index()] as usize
    }

    /// The task to fill a gap with: of those behind the head that are no longer than their kind may be, the first by that
    /// order. Only kinds that `may` are looked at, and of these it is asked how long one may be. Costs O(kinds that wait and
    /// need no more cores than that), and O(√tasks) at most for each that may start.
    pub(crate) fn filler(
        &self,
        (fill, cores_max): (Fill, u32),
        head: TaskId,
        may: impl Fn(&Waits) -> bool,
        mut longest: impl FnMut(&Kind) -> Option<Size>,
    ) -> Option<TaskId> {
        let mut best: Option<(Rank, TaskId)> = None;
        for waits in self.waiting.iter().take_while(|waits| waits.cores <= cores_max) {
            if !may(waits) {
                continue;
            }
            let is_later = |best: (Rank, TaskId)| (best.0.0, best.1) < waits.first;
            if fill == Fill::Arrival && best.is_some_and(is_later) {
                continue;
            }
            let kind = &self.kinds[waits.kind];
            let Some(longest) = longest(kind).filter(|longest| waits.shortest <= *longest) else { continue };
            if let Some(first) = kind.first((fill, longest), head, waits.first.1, best) {
                best = Some(first);
            }
        }
        best.map(|(_, task)| task)
    }

    /// What differs from another line of the same tasks.
    pub(crate) fn check(&self, fresh: &Self) -> Result<(), String> {
        if !self.in_order().eq(fresh.in_order()) || self.waiting != fresh.waiting {
            return Err("the line is not who waits".to_owned());
        }
        let shelves =
            |line: &Self| line.of_class.iter().map(|&kind| line.kinds[kind as usize].shelf.clone()).collect();
        let (kept, derived): (Vec<Shelf>, Vec<Shelf>) = (shelves(self), shelves(fresh));
        let same = kept.iter().zip(&derived).all(|(kept, derived)| kept.tasks().eq(derived.tasks()));
        if same && kept.len() == derived.len() { Ok(()) } else { Err("a shelf is not who waits".to_owned()) }
    }
}

/// What is shorter stands for no time at all, and what is longer for one that nobody knows.
const SOME_TIME: Range<f64> = 1e-300..KNOWN_MAX;

/// What takes no time takes no room, however many cores it has; and of what takes nobody knows how long, the first goes first.
fn area(length: f64, cores: f64) -> f64 {
    if SOME_TIME.contains(&length) { length * cores } else { length }
}

/// Who goes first when a gap is filled; the lowest.
type Rank = (Reverse<i32>, u64);

impl Kind {
    /// The first of its tasks that are no longer than that, if it comes before the best so far.
    fn first(
        &self,
        (fill, longest): (Fill, Size),
        head: TaskId,
        oldest: TaskId,
        best: Option<(Rank, TaskId)>,
    ) -> Option<(Rank, TaskId)> {
        let priority = Reverse(self.priority);
        let is_better = |first: &(Rank, TaskId)| best.is_none_or(|best| *first < best);
        match fill {
            Fill::Arrival => {
                let rank = (priority, 0);
                let bound = best.filter(|best| best.0 == rank).map(|best| best.1);
                let first = if longest.next() == Size::BEYOND {
                    oldest
                } else {
                    let until = self.shelf.place_of(longest.next());
                    self.shelf.lowest_between(Place::FIRST, until, bound)?.id
                };
                // The head would start if it could, and is no filler.
                Some((rank, first)).filter(|first| first.1 != head && is_better(first))
            }
            Fill::Shortest | Fill::SmallestArea => {
                let mut place = Place::FIRST;
                let mut first = self.shelf.at(place)?;
                if first.id == head {
                    place = self.shelf.next(place);
                    first = self.shelf.at(place)?;
                }
                if first.size() > longest {
                    return None;
                }
                let cores = if fill == Fill::Shortest { 1.0 } else { f64::from(self.needs.cores) };
                let size = Size::of(area(first.length.amount(), cores));
                Some(((priority, size.bits()), first.id)).filter(is_better)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Recipe, Score};
    use gleaner_core::{Event, GridConfig, Migration, Scheduler, TaskClass};
    use gleaner_units::Time;

    #[test]
    fn priorities_of_which_nobody_waits_are_forgotten() {
        let grid = Grid::new(GridConfig { weights: vec![1.0], migration: Migration::default() });
        let mut scheduler = Scheduler::new(grid, Recipe::by(Score::Greedy).build());
        let length = Ops::new(10.0).expect("a length");
        let mut line = Line::default();
        for number in 0..100 {
            let priority = i32::try_from(number % 50).expect("a small number");
            let met = TaskClass { priority, ..TaskClass::plain(vec![1.0]) };
            scheduler.apply(Time::ZERO, &Event::TaskClassMet(Box::new(met)));
            let (first, class) = (TaskId::new(number), TaskClassId::new(number));
            let submitted = Event::TasksSubmitted { first, count: 1, class, length: Some(length) };
            scheduler.apply(Time::ZERO, &submitted);
            line.add_class(scheduler.grid(), class);
            line.add(scheduler.grid(), first, length);
        }
        assert_eq!(line.turns.len(), 50);
        for number in 0..100 {
            let waits = TaskId::new(number);
            assert!(line.has(scheduler.grid(), waits));
            assert!(line.remove(scheduler.grid(), waits, || length), "{waits} waits");
            assert!(!line.remove(scheduler.grid(), waits, || length), "{waits} waits no more");
        }
        assert!(line.is_empty());
        assert_eq!(line.turns.len(), 1);
    }
}
