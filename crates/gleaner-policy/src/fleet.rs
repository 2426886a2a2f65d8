//! The index that finds the machine with the best score without scoring each machine.
//!
//! The machines of one class differ only in their owner's load and their tasks. For each class there is a
//! [`Tournament`] over its machines, in order of id: each node holds, for the machines below it, the extremes
//! ([`Summary`]) from which any score can be bounded. A search looks into a node only where the bound could still
//! win.
//!
//! - A change to one machine costs O(log machines of its class).
//! - A search costs O(machine classes) bounds and, where the bound is sharp (GREEDY, MIN-NUM), O(log machines) more;
//!   where it is not, what it must look into and no more than all machines. The class with the highest bound is searched
//!   first, so that most others need no more than their bound.
//! - **A bound is never below the score of a machine under it.**

mod summary;
mod tournament;

pub use summary::{OWN_BOUNDS, Size, Summary};
pub use tournament::Tournament;

use gleaner_core::{Availability, Grid};
use gleaner_units::{MachineClassId, MachineId, TaskClassId};
use smallvec::SmallVec;

/// What a search looks for: the machine with the highest score.
pub trait Objective {
    /// At least the score of every machine of `class` that `summary` covers; −∞ where none will do.
    fn bound(&self, class: MachineClassId, summary: &Summary) -> f64;

    /// The score of one machine; −∞ where it will not do.
    fn score(&self, machine: MachineId) -> f64;
}

/// A search over all machines, for one objective or for several at a time.
pub struct Search<'a, O> {
    fleet: &'a Fleet,
    wanted: &'a [O],
    /// Where anything may be found, objective by objective.
    open: SmallVec<[Open; USUALLY_OPEN]>,
    /// The place of the highest bound among them.
    likeliest: usize,
}

/// A machine class in which an objective may find something.
#[derive(Clone, Copy)]
struct Open {
    /// What its best machine could score at most.
    bound: f64,
    class: u32,
    /// The place of the objective.
    wanted: u32,
}

/// So much is open without memory from the heap.
const USUALLY_OPEN: usize = 32;

impl<O: Objective> Search<'_, O> {
    /// The highest score of all objectives above `floor`, or `floor`.
    #[inline]
    pub fn best(&self, floor: f64) -> f64 {
        let Some(&likeliest) = self.open.get(self.likeliest) else { return floor };
        if likeliest.bound <= floor {
            return floor;
        }
        // Where that comes first, most of the others end at their root.
        let mut best = self.best_of(likeliest, floor);
        for (place, &open) in self.open.iter().enumerate() {
            if open.bound > best && place != self.likeliest {
                best = self.best_of(open, best);
            }
        }
        best
    }

    fn best_of(&self, Open { class, wanted, .. }: Open, floor: f64) -> f64 {
        let OneClass { machines, tournament, .. } = &self.fleet.classes[class as usize];
        let (class, wanted) = (MachineClassId::new(class as usize), &self.wanted[wanted as usize]);
        tournament.best_below_root(
            floor,
            |summary| wanted.bound(class, summary),
            |leaf| wanted.score(machines[leaf]),
        )
    }

    /// Of each objective for which one scores at least `threshold`: its place, and the lowest such machine.
    pub fn lowest(&self, threshold: f64) -> impl Iterator<Item = (usize, MachineId)> {
        self.each(move |wanted, open| self.lowest_of(wanted, open, threshold))
    }

    /// Likewise the highest machine. Costs as [`lowest`](Self::lowest) does.
    pub fn highest(&self, threshold: f64) -> impl Iterator<Item = (usize, MachineId)> {
        self.each(move |wanted, open| self.highest_of(wanted, open, threshold))
    }

    /// What is found for each objective where it may be.
    fn each(
        &self,
        find: impl Fn(&O, &[Open]) -> Option<MachineId>,
    ) -> impl Iterator<Item = (usize, MachineId)> {
        self.open.chunk_by(|one, other| one.wanted == other.wanted).filter_map(move |open| {
            let place = open[0].wanted as usize;
            Some((place, find(&self.wanted[place], open)?))
        })
    }

    fn lowest_of(&self, wanted: &O, open: &[Open], threshold: f64) -> Option<MachineId> {
        let mut lowest: Option<MachineId> = None;
        for (class, OneClass { machines, tournament, .. }) in self.reaching(open, threshold) {
            // Machines are in order of id: a class that begins after the lowest so far has none lower.
            if machines.first().is_none_or(|first| lowest.is_some_and(|lowest| lowest < *first)) {
                continue;
            }
            let leaf = tournament.first(
                threshold,
                |summary| wanted.bound(class, summary),
                |leaf| wanted.score(machines[leaf]),
            );
            if let Some(found) = leaf.map(|leaf| machines[leaf]) {
                lowest = Some(lowest.map_or(found, |lowest| lowest.min(found)));
            }
        }
        lowest
    }

    fn highest_of(&self, wanted: &O, open: &[Open], threshold: f64) -> Option<MachineId> {
        let mut highest: Option<MachineId> = None;
        for (class, OneClass { machines, tournament, .. }) in self.reaching(open, threshold) {
            if machines.last().is_none_or(|last| highest.is_some_and(|highest| highest > *last)) {
                continue;
            }
            let leaf = tournament.last(
                threshold,
                |summary| wanted.bound(class, summary),
                |leaf| wanted.score(machines[leaf]),
            );
            if let Some(found) = leaf.map(|leaf| machines[leaf]) {
                highest = Some(highest.map_or(found, |highest| highest.max(found)));
            }
        }
        highest
    }

    /// The classes with a machine that may score so much.
    fn reaching(&self, open: &[Open], threshold: f64) -> impl Iterator<Item = (MachineClassId, &OneClass)> {
        open.iter()
            .filter(move |open| open.bound >= threshold)
            .map(|open| (MachineClassId::new(open.class as usize), &self.fleet.classes[open.class as usize]))
    }
}

/// All machines, by class.
#[derive(Clone, Debug, Default)]
pub struct Fleet {
    classes: Vec<OneClass>,
    /// By machine: its place among those of its class.
    places_in_class: Vec<usize>,
}

#[derive(Clone, Debug, Default)]
struct OneClass {
    machines: Vec<MachineId>,
    tournament: Tournament,
    /// By place in the class: whether the machine takes tasks when it has room, and how many do.
    open: Vec<bool>,
    open_count: usize,
}

impl OneClass {
    fn set_open(&mut self, place_in_class: usize, is_open: bool) {
        let was_open = std::mem::replace(&mut self.open[place_in_class], is_open);
        self.open_count = self.open_count + usize::from(is_open) - usize::from(was_open);
    }
}

/// Whether a machine takes tasks when it has room: it is open, and its owner leaves some of it.
fn is_open(grid: &Grid, machine: MachineId) -> bool {
    let machine = grid.machine(machine);
    machine.availability() == Availability::Open && machine.capacity() > 0.0
}

impl Fleet {
    /// The index of a whole grid. Costs O(machines).
    pub fn of(grid: &Grid) -> Self {
        let mut fleet = Self::default();
        for index in 0..grid.machines().len() {
            fleet.join(grid, MachineId::new(index));
        }
        fleet
    }

    /// Takes in a machine; ids come in order.
    pub fn join(&mut self, grid: &Grid, machine: MachineId) {
        let class = grid.machine(machine).class().index();
        if self.classes.len() <= class {
            self.classes.resize_with(class + 1, OneClass::default);
        }
        let class = &mut self.classes[class];
        let place_in_class = class.machines.len();
        self.places_in_class.push(place_in_class);
        class.machines.push(machine);
        class.tournament.push(Summary::of(grid, machine));
        class.open.push(false);
        class.set_open(place_in_class, is_open(grid, machine));
    }

    /// Takes note that a machine's load or tasks changed, or whether it takes any.
    #[inline]
    pub fn update(&mut self, grid: &Grid, machine: MachineId) {
        let class = &mut self.classes[grid.machine(machine).class().index()];
        let place_in_class = self.places_in_class[machine.index()];
        class.tournament.set(place_in_class, Summary::of(grid, machine));
        class.set_open(place_in_class, is_open(grid, machine));
    }

    /// The machine classes of which some machine takes tasks when it has room, busy or not.
    pub fn open_classes(&self) -> impl Iterator<Item = MachineClassId> + '_ {
        let classes = self.classes.iter().enumerate();
        classes.filter(|(_, class)| class.open_count > 0).map(|(index, _)| MachineClassId::new(index))
    }

    /// The machine classes of which some machine, but for those of `apart`, can take a task of `task` now.
    pub fn classes_that_take<'a>(
        &'a self,
        grid: &'a Grid,
        task: TaskClassId,
        apart: &'a [MachineId],
    ) -> impl Iterator<Item = MachineClassId> + 'a {
        let size = Size::from(grid.classes().demand(task).needs);
        let takes = move |class: &OneClass| {
            let able = |yes: bool| if yes { 0.0 } else { f64::NEG_INFINITY };
            let found = class.tournament.first(
                0.0,
                |summary| able(summary.may_take(size)),
                |leaf| {
                    able(
                        grid.can_run(task, class.machines[leaf])
                            && apart.binary_search(&class.machines[leaf]).is_err(),
                    )
                },
            );
            found.is_some()
        };
        let classes = self.classes.iter().enumerate();
        classes.filter(move |(_, class)| takes(class)).map(|(index, _)| MachineClassId::new(index))
    }

    /// Begins to look for machines. Costs a bound for each machine class and each objective.
    #[inline]
    pub fn search<'a, O: Objective>(&'a self, wanted: &'a [O]) -> Search<'a, O> {
        // Filled in place, since it is large.
        let mut search = Search { fleet: self, wanted, open: SmallVec::new(), likeliest: 0 };
        let mut highest = f64::NEG_INFINITY;
        for (place, objective) in wanted.iter().enumerate() {
            for (index, class) in self.classes.iter().enumerate() {
                let Some(root) = class.tournament.root() else { continue };
                let bound = objective.bound(MachineClassId::new(index), root);
                if bound > highest {
                    (search.likeliest, highest) = (search.open.len(), bound);
                }
                if bound > f64::NEG_INFINITY {
                    search.open.push(Open { bound, class: index as u32, wanted: place as u32 });
                }
            }
        }
        search
    }

    /// What differs from the index of the grid as it is.
    pub fn check(&self, grid: &Grid) -> Result<(), String> {
        let fresh = Self::of(grid);
        for (index, (kept, derived)) in self.classes.iter().zip(&fresh.classes).enumerate() {
            let same_open = (&kept.open, kept.open_count) == (&derived.open, derived.open_count);
            if kept.machines != derived.machines || kept.tournament != derived.tournament || !same_open {
                return Err(format!("the index of machine class {index} is not what the grid says"));
            }
        }
        if self.places_in_class == fresh.places_in_class {
            Ok(())
        } else {
            Err("the places of machines in the index are wrong".into())
        }
    }
}
