//! The machines by class: when each is free, and which would be done first with a task of some length.

#![expect(clippy::inline_always, reason = "what runs in vectors has to be inlined: see `scan`")]

use super::MachineClass;
use crate::level::level;
use crate::mapping::highest_tie;
use crate::scan::{LANES, any_within, lesser};
use crate::tournament::Tournament;
use fearless_simd::{Level, dispatch};

/// More than a tie's 1e-12 and what multiplying by the inverse differs from dividing: a few units in 2⁻⁵².
const CLOSE: f64 = 1.0 + 2e-12;

pub(super) struct Pool {
    speeds: Vec<f64>,
    /// The classes, padded with such as are never free.
    by_lane: Vec<ByLane>,
    /// When each machine is free, by class.
    machines: Vec<Tournament>,
    /// The number of each class's first machine.
    numbers: Vec<u32>,
    /// The classes that came close to the best of the last look, in order.
    close: Vec<u32>,
    /// Which vector instructions there are.
    level: Level,
}

/// What a look reads of a few classes, side by side: two cache lines.
#[repr(align(64))]
struct ByLane {
    /// When each class's first machine is free.
    free: [f64; LANES],
    inverses: [f64; LANES],
}

impl ByLane {
    fn new(classes: &[MachineClass], machines: &[Tournament]) -> Self {
        let mut lanes = Self { free: [f64::INFINITY; LANES], inverses: [0.0; LANES] };
        for (lane, (class, machines)) in classes.iter().zip(machines).enumerate() {
            lanes.free[lane] = machines.least();
            lanes.inverses[lane] = 1.0 / class.speed;
        }
        lanes
    }
}

/// Where a task goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    /// When the best machine would be done; the chosen one ties with it.
    pub(super) end: f64,
    /// The largest end that ties with that.
    pub(super) limit: f64,
    /// The lowest class that has a machine within the limit.
    pub(super) class: usize,
    length: f64,
}

impl Pool {
    pub(super) fn new(classes: &[MachineClass], ready: &[f64]) -> Self {
        let starts =
            classes.iter().scan(0, |next, class| Some(std::mem::replace(next, *next + class.machines)));
        let starts: Vec<usize> = starts.collect();
        let machines = starts.iter().zip(classes);
        let machines = machines.map(|(&start, class)| ready[start..start + class.machines].iter().copied());
        let machines: Vec<Tournament> = machines.map(Tournament::new).collect();
        let by_lane = classes.chunks(LANES).zip(machines.chunks(LANES));
        Self {
            speeds: classes.iter().map(|class| class.speed).collect(),
            by_lane: by_lane.map(|(classes, machines)| ByLane::new(classes, machines)).collect(),
            machines,
            numbers: starts.into_iter().map(|start| start as u32).collect(),
            close: Vec::new(),
            level: level(),
        }
    }

    /// Which class would be done first with a task of that length.
    pub(super) fn look(&mut self, length: f64) -> Target {
        dispatch!(self.level, _ => self.find_close(length));
        self.target(length)
    }

    #[inline(always)]
    fn find_close(&mut self, length: f64) {
        let about = |class: &ByLane| -> [f64; LANES] {
            std::array::from_fn(|lane| class.free[lane] + length * class.inverses[lane])
        };
        let mut least = [f64::INFINITY; LANES];
        for classes in &self.by_lane {
            let ends = about(classes);
            least = std::array::from_fn(|lane| lesser(least[lane], ends[lane]));
        }
        let close = least.into_iter().fold(f64::INFINITY, lesser) * CLOSE + f64::MIN_POSITIVE;
        self.close.clear();
        // Once more: that takes less than to store them all.
        for (start, classes) in (0..).step_by(LANES).zip(&self.by_lane) {
            let ends = about(classes);
            // Mostly none: one branch for all.
            if any_within(&ends, close) {
                let lanes = (start..).zip(ends).filter(|(_, end)| *end <= close);
                self.close.extend(lanes.map(|(class, _)| class));
            }
        }
    }

    /// The same, if the last look was for this length.
    pub(super) fn target(&self, length: f64) -> Target {
        let ends = || self.close.iter().map(|&class| (class as usize, self.end(class as usize, length)));
        let end = ends().fold(f64::INFINITY, |least, (_, end)| lesser(least, end));
        let limit = highest_tie(end);
        let (class, _) = ends().find(|(_, end)| *end <= limit).expect("the least ties with itself");
        Target { end, limit, class, length }
    }

    /// Whether a class that came close in the last look would be done with a longer task by `limit`.
    pub(super) fn reaches(&self, length: f64, limit: f64) -> bool {
        self.close.iter().any(|class| self.end(*class as usize, length) <= limit)
    }

    /// When a class's first machine would be done.
    #[inline]
    pub(super) fn end(&self, class: usize, length: f64) -> f64 {
        self.by_lane[class / LANES].free[class % LANES] + length / self.speeds[class]
    }

    /// Gives the task to the lowest machine within the limit, and says which.
    pub(super) fn assign(&mut self, target: Target) -> u32 {
        let time = target.length / self.speeds[target.class];
        let machines = &mut self.machines[target.class];
        let machine =
            machines.first(|free| free + time <= target.limit).expect("the class is within the limit");
        machines.set(machine, machines.value(machine) + time);
        self.by_lane[target.class / LANES].free[target.class % LANES] = machines.least();
        self.numbers[target.class] + machine as u32
    }

    pub(super) fn makespan(&self) -> f64 {
        self.machines.iter().map(Tournament::greatest).fold(0.0, f64::max)
    }
}
