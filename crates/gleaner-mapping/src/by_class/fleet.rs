//! The machines by speed, from the slowest on: when those of a speed are free, and which of them is offered.
//!
//! Classes of equal speed are one here. **Machines of a speed that tie for being free first are one offer**: the lowest
//! of them.

use super::{ClassedGrid, MachineClass};
use crate::mapping::highest_tie;
use crate::tournament::Tournament;

pub(super) struct Fleet {
    speeds: Vec<Alike>,
}

/// All machines of a speed.
struct Alike {
    speed: f64,
    /// When each is free, in the order of their numbers.
    machines: Tournament,
    /// For each class: where its machines start among these, and the number of its first.
    starts: Vec<(u32, u32)>,
}

/// What the machines of a speed have to offer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Offer {
    /// When the first is free.
    pub(super) free: f64,
    /// By how much later the second is; 0 if they tie, infinite if there is none.
    pub(super) gap: f64,
}

/// How much later `second` is than `first`: nothing if they tie.
pub(super) fn lateness(first: f64, second: f64) -> f64 {
    if second <= highest_tie(first) { 0.0 } else { second - first }
}

impl Fleet {
    pub(super) fn new(grid: &ClassedGrid, ready: &[f64]) -> Self {
        let starts =
            grid.classes.iter().scan(0, |next, class| Some(std::mem::replace(next, *next + class.machines)));
        let mut classes: Vec<(usize, &MachineClass)> = starts.zip(&grid.classes).collect();
        classes.sort_by(|(_, left), (_, right)| left.speed.total_cmp(&right.speed));
        let speeds = classes.chunk_by(|(_, left), (_, right)| left.speed == right.speed);
        Self { speeds: speeds.map(|classes| Alike::new(classes, ready)).collect() }
    }

    /// How many speeds there are.
    pub(super) fn len(&self) -> usize {
        self.speeds.len()
    }

    pub(super) fn speed(&self, at: usize) -> f64 {
        self.speeds[at].speed
    }

    pub(super) fn offer(&self, at: usize) -> Offer {
        let (free, second) = self.speeds[at].machines.two_least();
        Offer { free, gap: lateness(free, second) }
    }

    /// The number of the machine that is offered.
    pub(super) fn number(&self, at: usize) -> u32 {
        let speed = &self.speeds[at];
        speed.number(speed.offered())
    }

    /// Gives a task of that length to the machine that is offered, and says which it is.
    pub(super) fn assign(&mut self, at: usize, length: f64) -> u32 {
        let speed = &mut self.speeds[at];
        let machine = speed.offered();
        speed.machines.set(machine, speed.machines.value(machine) + length / speed.speed);
        speed.number(machine)
    }

    pub(super) fn makespan(&self) -> f64 {
        self.speeds.iter().map(|speed| speed.machines.greatest()).fold(0.0, f64::max)
    }
}

impl Alike {
    /// Of classes, which come with the number of their first machine.
    fn new(classes: &[(usize, &MachineClass)], ready: &[f64]) -> Self {
        let moments = classes.iter().flat_map(|&(start, class)| &ready[start..start + class.machines]);
        let starts = classes.iter().scan(0, |next, &(start, class)| {
            Some((std::mem::replace(next, *next + class.machines as u32), start as u32))
        });
        Self {
            speed: classes[0].1.speed,
            machines: Tournament::new(moments.copied()),
            starts: starts.collect(),
        }
    }

    fn offered(&self) -> usize {
        let limit = highest_tie(self.machines.least());
        self.machines.first(|free| free <= limit).expect("the least ties with itself")
    }

    fn number(&self, machine: usize) -> u32 {
        let class = self.starts.partition_point(|(start, _)| *start as usize <= machine) - 1;
        let (start, number) = self.starts[class];
        number + (machine as u32 - start)
    }
}
