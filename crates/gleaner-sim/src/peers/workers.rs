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

/// So many runs of the beginning are kept, to be drawn; of all, what they add up to.
pub const RUNS_KEPT_MAX: usize = 20_000;

/// How a run came to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Ended {
    /// It did what it was to do.
    Done,
    /// It failed.
    Failed,
    /// It was stopped: its worker was taken back or lost, or another run was faster.
    Stopped,
}

/// A run that is over.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Ran {
    /// Whose task it was.
    pub party: PartyId,
    /// Of that party's tasks.
    pub run: RunId,
    /// Where, of all workers, peer after peer.
    pub worker: usize,
    /// Whether its worker was lent.
    pub is_lent: bool,
    /// From when.
    pub from: Time,
    /// Until when.
    pub until: Time,
    /// How it ended.
    pub ended: Ended,
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
    /// The first [`RUNS_KEPT_MAX`] that were over.
    pub(super) ran: Vec<Ran>,
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
        let fails = self.slots[slot as usize].is_some_and(|running| running.fails);
        self.take_off(now, slot, if fails { Ended::Failed } else { Ended::Done })
    }

    fn take_off(&mut self, now: Time, slot: u32, ended: Ended) -> Option<Running> {
        let running = self.slots[slot as usize].take()?;
        let Running { party, run, worker, loan, began: from, .. } = running;
        let ran_s = now.since(from).seconds();
        if ended != Ended::Done {
            self.lost_s += ran_s;
        }
        if self.ran.len() < RUNS_KEPT_MAX {
            self.ran.push(Ran { party, run, worker, is_lent: loan.is_some(), from, until: now, ended });
        }
        let worker = &mut self.all[worker];
        worker.runs.retain(|other| *other != slot);
        worker.busy_s += ran_s;
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
        self.take_off(now, slot, Ended::Stopped).is_some()
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
