//! The index that finds the machine with the best score without scoring each machine.
//!
//! The machines of one class differ only in their owner's load and their tasks. For each class there is a
//! [`Tournament`] over its machines, in order of id: each node holds, for the machines below it, the extremes
//! ([`Summary`]) from which any score can be bounded. A search looks into a node only where the bound could still
//! win.
//!
//! - A change to one machine costs O(log machines of its class).
//! - A search costs O(machine classes) bounds and, where the bound is sharp (GREEDY, MIN-NUM), O(log machines) more;
//!   where it is not, what it must look into and no more than all machines.
//! - **A bound is never below the score of a machine under it.**

mod summary;
mod tournament;

pub use summary::{OWN_BOUNDS, Size, Summary};
pub use tournament::Tournament;

use gleaner_core::{Availability, Grid};
use gleaner_units::{MachineClassId, MachineId, TaskClassId};

/// What a search looks for: the machine with the highest score.
pub trait Objective {
    /// At least the score of every machine of `class` that `summary` covers; −∞ where none will do.
    fn bound(&self, class: MachineClassId, summary: &Summary) -> f64;

    /// The score of one machine; −∞ where it will not do.
    fn score(&self, machine: MachineId) -> f64;
}

/// All machines, by class.
#[derive(Clone, Debug, Default)]
pub struct Fleet {
    classes: Vec<OneClass>,
    /// By machine: its place among those of its class.
    seats: Vec<usize>,
}

#[derive(Clone, Debug, Default)]
struct OneClass {
    machines: Vec<MachineId>,
    tournament: Tournament,
    /// By seat: whether the machine takes tasks when it has room, and how many do.
    open: Vec<bool>,
    open_count: usize,
}

impl OneClass {
    fn set_open(&mut self, seat: usize, is_open: bool) {
        let was_open = std::mem::replace(&mut self.open[seat], is_open);
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
        let seat = class.machines.len();
        self.seats.push(seat);
        class.machines.push(machine);
        class.tournament.push(Summary::of(grid, machine));
        class.open.push(false);
        class.set_open(seat, is_open(grid, machine));
    }

    /// Takes note that a machine's load or tasks changed, or whether it takes any.
    #[inline]
    pub fn update(&mut self, grid: &Grid, machine: MachineId) {
        let class = &mut self.classes[grid.machine(machine).class().index()];
        let seat = self.seats[machine.index()];
        class.tournament.set(seat, Summary::of(grid, machine));
        class.set_open(seat, is_open(grid, machine));
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
        let size = Size::from(grid.classes().task_class(task).needs);
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

    /// The highest score above `floor`, or `floor`.
    pub fn best(&self, objective: &impl Objective, floor: f64) -> f64 {
        let mut best = floor;
        for (index, OneClass { machines, tournament, .. }) in self.classes.iter().enumerate() {
            let class = MachineClassId::new(index);
            best = tournament.best(
                best,
                |summary| objective.bound(class, summary),
                |leaf| objective.score(machines[leaf]),
            );
        }
        best
    }

    /// The lowest machine whose score is at least `threshold`.
    pub fn lowest(&self, objective: &impl Objective, threshold: f64) -> Option<MachineId> {
        let mut lowest = None;
        for (index, OneClass { machines, tournament, .. }) in self.classes.iter().enumerate() {
            // Machines are in order of id: a class that begins after the lowest so far has none lower.
            if machines.first().is_none_or(|first| lowest.is_some_and(|lowest| lowest < *first)) {
                continue;
            }
            let class = MachineClassId::new(index);
            let leaf = tournament.first(
                threshold,
                |summary| objective.bound(class, summary),
                |leaf| objective.score(machines[leaf]),
            );
            let found = leaf.map(|leaf| machines[leaf]);
            lowest = lowest.into_iter().chain(found).min();
        }
        lowest
    }

    /// The highest machine whose score is at least `threshold`. Costs as [`lowest`](Self::lowest) does.
    pub fn highest(&self, objective: &impl Objective, threshold: f64) -> Option<MachineId> {
        let mut highest = None;
        for (index, OneClass { machines, tournament, .. }) in self.classes.iter().enumerate() {
            if machines.last().is_none_or(|last| highest.is_some_and(|highest| highest > *last)) {
                continue;
            }
            let class = MachineClassId::new(index);
            let leaf = tournament.last(
                threshold,
                |summary| objective.bound(class, summary),
                |leaf| objective.score(machines[leaf]),
            );
            highest = highest.into_iter().chain(leaf.map(|leaf| machines[leaf])).max();
        }
        highest
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
        if self.seats == fresh.seats { Ok(()) } else { Err("the seats of the index are wrong".into()) }
    }
}
