//! Machines that share their cores evenly among the tasks on them: who finishes next, and when.
//!
//! A machine with c cores, owner load λ and n tasks runs each of them at share(n) = min(1, c·(1−λ)/n) seconds of
//! service per second. Nothing is kept up to date task by task. Each machine has a *virtual clock* that advances at
//! share(n); a task that arrives when the clock shows V and needs s seconds of service finishes when it shows
//! V + s, whatever happens to the machine in between. So an event touches one machine and one task.
//!
//! # Invariants
//! - **Only `+ − × ÷` on floats**, so that runs agree to the bit on every machine.
//! - **A task may have several runs on machines at a time**, each by itself.
//! - **A completion is known by its rounded nanosecond**, and what follows from it starts at its exact moment, so
//!   that rounding does not add up. Among all tasks whose finish rounds to the earliest one,
//!   on all machines, [`Sharing::next_completion`] names the lowest.
//! - **The virtual clock of an empty machine shows 0**, so that a long run does not lose precision.
//! - **Equal calls give equal states**: a copy, or what was saved and loaded again, continues identically. A format
//!   that saves it must keep every bit of a float (`serde_json` does with its feature `float_roundtrip`).
//!
//! # Costs
//! With n tasks on the machine and M machines, an operation costs O(log n + log M): a search over the runs that the
//! tasks are cut into (at most 128 in one), a shift or a scan inside one of them, and a path in a tournament over the
//! machines. A task number costs 16 bytes as long as the state lives, and a task 16 more while it is on a machine;
//! with the room that growing tables keep and the machines themselves, 40 to 50 bytes a task were measured.

mod closed_loop;
mod completion;
mod finish_order;
mod machine;

pub use closed_loop::{ClosedLoop, LoopOutcome};

use completion::Completion;
use finish_order::Finish;
use gleaner_policy::Tournament;
use gleaner_units::{MachineId, RunId, Time};
use machine::{Instant, Machine};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All machines of a grid, and the tasks on them.
///
/// Time never goes back: no call may name an earlier `now` than a previous call for the same machine.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Sharing {
    machines: Vec<Machine>,
    /// The next completion of each machine.
    earliest: Tournament<Completion>,
    /// By task: where a run of it is.
    places: Vec<Place>,
    /// Where further runs of the same tasks are.
    more_places: BTreeMap<RunId, Place>,
    /// When the latest completion really came.
    latest: Instant,
}

/// Where a run is, and when it finishes on the virtual clock there.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Place {
    /// Its number; 0 where no run is.
    number: u32,
    machine: MachineId,
    finish: f64,
}

impl Sharing {
    /// No machine, no task.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an idle machine without owner load.
    ///
    /// # Panics
    /// Without a core.
    pub fn add_machine(&mut self, cores: u32) -> MachineId {
        let id = MachineId::new(self.machines.len());
        self.machines.push(Machine::new(cores));
        self.earliest.push(Completion::never());
        id
    }

    /// The owner takes the part `load` of the machine's cores from now on.
    ///
    /// # Panics
    /// If `load` is not from 0 to 1.
    pub fn set_load(&mut self, now: Time, machine: MachineId, load: f64) {
        self.machines[machine.index()].set_load(self.latest.or_exactly(now), load);
        self.reschedule(machine);
    }

    /// Puts a run on a machine, where it needs `service_seconds` if it has a core to itself.
    ///
    /// # Panics
    /// If the run is on a machine already, or the service is negative or not finite.
    pub fn insert(&mut self, now: Time, machine: MachineId, run: RunId, service_seconds: f64) {
        assert!(self.find_place(run).is_none(), "{run} is on a machine already");
        let finish = self.machines[machine.index()].insert(self.latest.or_exactly(now), run, service_seconds);
        let place = Place { number: run.number, machine, finish };
        if self.places.len() <= run.task.index() {
            let nowhere = Place { number: 0, machine, finish: 0.0 };
            self.places.resize(run.task.index() + 1, nowhere);
        }
        let first = &mut self.places[run.task.index()];
        if first.number == 0 {
            *first = place;
        } else {
            self.more_places.insert(run, place);
        }
        self.reschedule(machine);
    }

    /// Takes a run off its machine and returns the seconds of service that it still needs there.
    ///
    /// # Panics
    /// If the run is on no machine.
    pub fn remove(&mut self, now: Time, run: RunId) -> f64 {
        let Place { machine, finish, .. } = self.place(run);
        self.take_off(self.latest.or_exactly(now), machine, Finish { at: finish, run })
    }

    /// The next run that comes to a machine, or leaves it, has so many shares more than one, which come or leave with it.
    #[inline]
    pub(crate) fn widen(&mut self, machine: MachineId, shares: i64) {
        self.machines[machine.index()].widen(shares);
    }

    /// What is on a machine has so many shares more, or fewer, than one each.
    pub fn crowd(&mut self, now: Time, machine: MachineId, shares: i64) {
        self.machines[machine.index()].crowd(self.latest.or_exactly(now), shares);
        self.reschedule(machine);
    }

    /// The seconds of service that each share of a machine gets in a second; 0 where nothing is.
    pub fn share(&self, machine: MachineId) -> f64 {
        self.machines[machine.index()].share()
    }

    /// The earliest finish if nothing changes before, and the lowest task's run that has it. `None` if nothing is running.
    #[inline]
    pub fn next_completion(&self) -> Option<(Time, RunId)> {
        self.next().map(|next| (next.at, next.run))
    }

    /// Takes the next completion off its machine.
    ///
    /// # Panics
    /// If (`now`, `run`) is not what [`next_completion`](Self::next_completion) says: runs complete in one order.
    pub fn complete(&mut self, now: Time, run: RunId) {
        let next = self.next().filter(|next| (next.at, next.run) == (now, run));
        let Some(next) = next else { panic!("{run} at {now} is not the next completion") };
        let finish = self.place(run).finish;
        self.latest = self.machines[next.machine.index()].instant_of(now, finish);
        self.take_off(self.latest, next.machine, Finish { at: finish, run });
    }

    /// The machine that a run is on.
    pub fn machine_of(&self, run: RunId) -> Option<MachineId> {
        self.find_place(run).map(|place| place.machine)
    }

    /// The seconds of service that a run still needs on its machine, at or after the last change there.
    ///
    /// # Panics
    /// If the run is on no machine.
    pub fn service_left(&self, now: Time, run: RunId) -> f64 {
        let Place { machine, finish, .. } = self.place(run);
        self.machines[machine.index()].service_left(self.latest.or_exactly(now), finish)
    }

    /// How many tasks are on a machine.
    pub fn residents(&self, machine: MachineId) -> usize {
        self.machines[machine.index()].residents()
    }

    /// The part of a machine's cores that its owner takes.
    pub fn load(&self, machine: MachineId) -> f64 {
        self.machines[machine.index()].load()
    }

    /// How long, at or after the last change there, at least one task has been running on a machine.
    pub fn busy_seconds(&self, machine: MachineId, now: Time) -> f64 {
        self.machines[machine.index()].busy(Instant::exactly(now)).seconds()
    }

    /// Compares every index with what it was made from, in O(tasks · log tasks).
    ///
    /// # Panics
    /// If an invariant does not hold.
    pub fn check(&self) {
        let mut on_machines = 0;
        for (index, machine) in self.machines.iter().enumerate() {
            let id = MachineId::new(index);
            machine.check();
            for (run, finish) in machine.tasks() {
                let place = self.place(run);
                assert_eq!((place.machine, place.finish), (id, finish), "{run} is elsewhere");
                on_machines += 1;
            }
        }
        let placed = self.places.iter().filter(|place| place.number > 0).count();
        assert_eq!(placed + self.more_places.len(), on_machines, "a run is on no machine's list");
        let next = self.machines.iter().map(Machine::next_completion_by_scan).enumerate();
        self.earliest.check(next.map(|(machine, next)| Completion::new(MachineId::new(machine), next)));
    }

    #[inline]
    fn take_off(&mut self, now: Instant, machine: MachineId, old: Finish) -> f64 {
        let left = self.machines[machine.index()].remove(now, old);
        let first = &mut self.places[old.run.task.index()];
        if first.number == old.run.number {
            first.number = 0;
        } else {
            self.more_places.remove(&old.run);
        }
        self.reschedule(machine);
        left
    }

    #[inline]
    fn reschedule(&mut self, machine: MachineId) {
        let next = Completion::new(machine, self.machines[machine.index()].next_completion());
        self.earliest.set(machine.index(), next);
    }

    #[inline]
    fn next(&self) -> Option<Completion> {
        self.earliest.first().filter(|next| next.at != Time::NEVER)
    }

    #[inline]
    fn find_place(&self, run: RunId) -> Option<Place> {
        let first = self.places.get(run.task.index())?;
        if first.number == run.number { Some(*first) } else { self.more_places.get(&run).copied() }
    }

    #[inline]
    fn place(&self, run: RunId) -> Place {
        self.find_place(run).unwrap_or_else(|| panic!("{run} is on no machine"))
    }
}
