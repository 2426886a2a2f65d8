//! What each group notes of tasks: whose they are, where they are, and what it handed over.

use super::letters::Ticket;
use gleaner_core::RunEnd;
use gleaner_units::{MachineId, PartyId, RunId, TaskClassId, TaskId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How many tasks of each class; no class without any.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Residents(BTreeMap<TaskClassId, u32>);

impl Residents {
    pub(super) fn add(&mut self, class: TaskClassId) {
        *self.0.entry(class).or_default() += 1;
    }

    pub(super) fn take(&mut self, class: TaskClassId) {
        let count = self.0.get_mut(&class).expect("what goes was there");
        *count -= 1;
        if *count == 0 {
            self.0.remove(&class);
        }
    }

    pub(super) fn count(&self) -> u32 {
        self.0.values().sum()
    }

    /// Without those, as far as they are here.
    pub(super) fn without(&self, others: Option<&Self>) -> Vec<(TaskClassId, u32)> {
        let less = |class| others.and_then(|others| others.0.get(&class)).copied().unwrap_or(0);
        let left = self.0.iter().map(|(&class, &count)| (class, count.saturating_sub(less(class))));
        left.filter(|(_, count)| *count > 0).collect()
    }
}

/// Where a task is, as far as whoever has it in hands knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Place {
    /// It waits, or is over.
    Nowhere,
    /// This run of it is on a machine of the group's own.
    Here(RunId, usize),
    /// It was handed to a neighbour.
    Away(PartyId, Ticket),
}

/// A task that a neighbour handed over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Guest {
    /// By whom.
    pub(super) from: PartyId,
    /// Its number there.
    pub(super) ticket: Ticket,
    /// On which of the group's machines it is counted there.
    pub(super) counted_on: MachineId,
    /// Whether it is to be given back.
    pub(super) is_asked_back: bool,
    /// What became of it.
    pub(super) over: Option<RunEnd>,
}

/// A task in a group's hands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Entry {
    pub(super) task: TaskId,
    /// How often it was handed on until it was here.
    pub(super) hops: u32,
    pub(super) place: Place,
    /// None for one that was handed in here.
    pub(super) guest: Option<Guest>,
}

/// How far what was handed over is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Stage {
    /// Nobody said yet that it came.
    Offered,
    Taken,
    /// It is to be given back.
    AskedBack,
}

/// What was handed over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Sent {
    /// As the group's own scheduler calls it.
    pub(super) run: RunId,
    /// On which of the neighbour's machines it is counted here.
    pub(super) on: MachineId,
    pub(super) stage: Stage,
}

/// What is said again until it is answered: by whom and to whom, about which ticket of theirs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub(super) enum Unanswered {
    /// What was handed over, or is to be given back.
    Sent(PartyId, PartyId, Ticket),
    /// The end of what a neighbour handed over.
    Over(PartyId, PartyId, Ticket),
}

/// A group's notes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Book {
    /// By the ids of the group's own scheduler.
    pub(super) tasks: Vec<Entry>,
    /// To whom, and what is not known to be over.
    pub(super) sent: BTreeMap<(PartyId, Ticket), Sent>,
    /// From whom, until it is noted there that it is over.
    pub(super) guests: BTreeMap<(PartyId, Ticket), TaskId>,
    /// By who sent them, and on which machine they are counted there.
    pub(super) counted: BTreeMap<(PartyId, MachineId), Residents>,
    tickets: u64,
}

impl Book {
    pub(super) fn next_ticket(&mut self) -> Ticket {
        self.tickets += 1;
        Ticket(self.tickets)
    }

    pub(super) fn next_task(&self) -> TaskId {
        TaskId::new(self.tasks.len())
    }
}
