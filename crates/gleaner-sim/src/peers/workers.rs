//! The true workers: what runs there, for whom, and when it ends.

use gleaner_units::{MachineClassId, MachineId, PartyId, RunId, Time};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::believed::Shown;
use super::letters::Loan;

/// A run on a worker.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Running {
    /// Whose scheduler named it.
    pub(super) party: PartyId,
    pub(super) run: RunId,
    pub(super) worker: usize,
    /// Where it is not the owner's own.
    pub(super) loan: Option<Loan>,
    pub(super) began: Time,
    /// The same without what its inputs took.
    pub(super) computes_from: Time,
    /// Its end is a failure.
    pub(super) fails: bool,
}

/// A worker of a peer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Worker {
    pub(super) owner: PartyId,
    /// Its owner's name for it.
    pub(super) machine: MachineId,
    /// What it is.
    pub(super) class: MachineClassId,
    /// What its owner takes it for, and says to others that it is.
    pub(super) taken_for: MachineClassId,
    /// What it did so far.
    pub(super) shown: Shown,
    pub(super) cores: u32,
    /// For how many reasons it is out of reach.
    pub(super) downs: u32,
    /// Who has it.
    pub(super) loan: Option<(PartyId, Loan)>,
    /// Slots of what runs here.
    runs: Vec<u32>,
    /// What its owner sent that found no core free.
    pub(super) queue: VecDeque<RunId>,
    pub(super) busy_s: f64,
}

/// All of them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Workers {
    pub(super) all: Vec<Worker>,
    /// How long what was stopped or failed had run.
    pub(super) lost_s: f64,
    /// Nothing where it was stopped.
    slots: Vec<Option<Running>>,
    free: Vec<u32>,
    /// When what ends; of one instant the lowest party's lowest task first. What was stopped stays until its moment.
    ends: BinaryHeap<Reverse<(Time, PartyId, RunId, u32)>>,
}

impl Worker {
    pub(super) fn new(
        (owner, machine): (PartyId, MachineId),
        (class, taken_for): (MachineClassId, MachineClassId),
        cores: u32,
    ) -> Self {
        let (runs, queue, shown) = (Vec::new(), VecDeque::new(), Shown::default());
        Self {
            owner,
            machine,
            class,
            taken_for,
            shown,
            cores,
            downs: 0,
            loan: None,
            runs,
            queue,
            busy_s: 0.0,
        }
    }

    pub(super) fn has_free_core(&self) -> bool {
        self.downs == 0 && (self.runs.len() as u32) < self.cores
    }
}

impl Workers {
    #[inline]
    pub(super) fn next_end(&self) -> Option<(Time, u32)> {
        self.ends.peek().map(|Reverse((time, .., slot))| (*time, *slot))
    }

    pub(super) fn begin(&mut self, running: Running, ends: Time) {
        let slot = if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = Some(running);
            slot
        } else {
            self.slots.push(Some(running));
            u32::try_from(self.slots.len() - 1).expect("fewer runs than 2^32 at a time")
        };
        self.all[running.worker].runs.push(slot);
        self.ends.push(Reverse((ends, running.party, running.run, slot)));
    }

    /// The moment of a run came; nothing if it was stopped before.
    pub(super) fn end(&mut self, now: Time, slot: u32) -> Option<Running> {
        self.ends.pop();
        self.free.push(slot);
        let ended = self.take_off(now, slot);
        self.lost_s +=
            ended.filter(|ended| ended.fails).map_or(0.0, |ended| now.since(ended.began).seconds());
        ended
    }

    fn take_off(&mut self, now: Time, slot: u32) -> Option<Running> {
        let running = self.slots[slot as usize].take()?;
        let worker = &mut self.all[running.worker];
        worker.runs.retain(|other| *other != slot);
        worker.busy_s += now.since(running.began).seconds();
        Some(running)
    }

    /// Whatever runs there is over, and not done: how many that are.
    pub(super) fn stop_all(&mut self, now: Time, worker: usize) -> usize {
        let slots = self.all[worker].runs.clone();
        slots.iter().filter(|slot| self.stop_slot(now, **slot)).count()
    }

    /// One run there is over, and not done; whether it was there.
    pub(super) fn stop(&mut self, now: Time, worker: usize, (party, run): (PartyId, RunId)) -> bool {
        let is_it = |slot: &&u32| {
            let running = self.slots[**slot as usize];
            running.is_some_and(|running| running.party == party && running.run == run)
        };
        let slot = self.all[worker].runs.iter().find(is_it).copied();
        slot.is_some_and(|slot| self.stop_slot(now, slot))
    }

    fn stop_slot(&mut self, now: Time, slot: u32) -> bool {
        let stopped = self.take_off(now, slot);
        self.lost_s += stopped.map_or(0.0, |running| now.since(running.began).seconds());
        stopped.is_some()
    }

    /// What runs on a worker.
    pub(super) fn on(&self, worker: usize) -> impl Iterator<Item = &Running> + '_ {
        self.all[worker].runs.iter().filter_map(|slot| self.slots[*slot as usize].as_ref())
    }

    /// Whether a worker runs no more than it can, and only for whoever has it.
    pub(super) fn is_whole(&self, worker: usize) -> bool {
        let there = &self.all[worker];
        let fits = there.runs.len() as u32 <= there.cores && (there.downs == 0 || there.runs.is_empty());
        let loan = there.loan.map(|(_, loan)| loan);
        fits && self.on(worker).all(|running| running.loan == loan && running.worker == worker)
    }
}

impl Running {
    pub(super) fn new(
        (party, run): (PartyId, RunId),
        (worker, loan): (usize, Option<Loan>),
        (began, computes_from): (Time, Time),
        fails: bool,
    ) -> Self {
        Self { party, run, worker, loan, began, computes_from, fails }
    }
}
