//! A load for measurements: a grid in which each task that completes comes back at once as a new one elsewhere.

use super::Sharing;
use gleaner_units::{MachineId, RunId, TaskId, Time};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// The most cores that a machine of the load has; the others have from 1 on, in turn.
const CORES_MAX: usize = 4;

/// A closed loop: the number of tasks on the grid never changes.
#[derive(Clone, Debug)]
pub struct ClosedLoop {
    sharing: Sharing,
    machines: u64,
    random: Pcg64Mcg,
}

/// What some events led to. The same seed leads to the same outcome on every computer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LoopOutcome {
    /// Arrivals and completions.
    pub events: u64,
    /// Depends on every completion and on the order in which they came.
    pub checksum: u64,
    /// When the last event was.
    pub ended: Time,
}

impl ClosedLoop {
    /// A grid of `machines` with `tasks_per_machine` tasks each, to begin with.
    ///
    /// # Panics
    /// Without a machine or a task.
    pub fn new(machines: usize, tasks_per_machine: usize, seed: u64) -> Self {
        assert!(machines > 0 && tasks_per_machine > 0, "a closed loop of nothing");
        let mut sharing = Sharing::new();
        for index in 0..machines {
            sharing.add_machine(1 + (index % CORES_MAX) as u32);
        }
        let mut looped = Self { sharing, machines: machines as u64, random: Pcg64Mcg::seed_from_u64(seed) };
        for index in 0..machines * tasks_per_machine {
            let service = looped.service_seconds();
            let machine = MachineId::new(index % machines);
            looped.sharing.insert(Time::ZERO, machine, RunId::new(TaskId::new(index), 1), service);
        }
        looped
    }

    /// Lets `completions` tasks complete and come back, each on a random machine.
    pub fn run(&mut self, completions: u64) -> LoopOutcome {
        let mut outcome = LoopOutcome { events: 2 * completions, checksum: 0, ended: Time::ZERO };
        for _ in 0..completions {
            let (now, run) = self.sharing.next_completion().expect("no machine has a full owner load");
            self.sharing.complete(now, run);
            let machine = MachineId::new(self.random_below(self.machines) as usize);
            let service = self.service_seconds();
            self.sharing.insert(now, machine, run, service);
            outcome.checksum = outcome.checksum.rotate_left(5) ^ now.nanos() ^ run.task.index() as u64;
            outcome.ended = now;
        }
        outcome
    }

    fn random_below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.random.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Uniform between 0 and 2 s.
    fn service_seconds(&mut self) -> f64 {
        (self.random.next_u64() >> 11) as f64 / (1_u64 << 52) as f64
    }
}
