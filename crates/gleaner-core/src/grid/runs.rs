//! The runs of all tasks: which there are, where, and how far each is.
//!
//! The runs of one task are a chain, newest first, whose head the task has; what waits has none, or such as its machine
//! took out of reach. **A run is known from when its room is taken until its end is reported**, or until nothing that
//! is said of it could count any more. What speaks of a run that is not known is stale.

use crate::Part;
use gleaner_units::{MachineId, RunId, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How far a run is. One that is over is no more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Stage {
    /// Its room is taken; it is sent as soon as the run before it is over.
    Held,
    /// Ordered to its machine, which brings there what it needs; not yet reported running.
    Sent,
    /// Running.
    Running,
    /// Ordered to stop: its room is taken until its end is reported, but the machine's other tasks are not slowed.
    Stopping,
    /// Its machine is out of reach. It takes no room, and its end counts unless the task is given to another before.
    Missing,
    /// Ordered to its machine, which begins it when the run before it there is over: until then it takes no room.
    Next,
    /// Its sites are asked to hold their parts, which are taken as far as is known here; it is sent when all of them do.
    Asked,
}

/// One execution of a task.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Run {
    pub(super) id: RunId,
    pub(super) on: MachineId,
    pub(super) stage: Stage,
    pub(super) since: Time,
    /// Once it is stopping or missing: the operations that the next run need not do if what it did is kept.
    pub(super) done: f64,
    /// Another run of its task came to its end first: this one's does not count any more.
    pub(super) is_superseded: bool,
    /// It has several parts, which [`Runs`] has.
    pub(super) is_wide: bool,
    pub(super) older: Option<u32>,
}

impl Run {
    /// Its name.
    #[inline]
    pub fn id(&self) -> RunId {
        self.id
    }

    /// Where it is, or the first of its parts.
    #[inline]
    pub fn on(&self) -> MachineId {
        self.on
    }

    /// Since when it takes its machine's room.
    #[inline]
    pub fn since(&self) -> Time {
        self.since
    }

    /// How far it is.
    #[inline]
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Whether another run of its task came to its end first, so that this one's counts no more.
    pub fn is_superseded(&self) -> bool {
        self.is_superseded
    }

    /// Whether it has [parts](crate::Grid::parts_of) on several machines.
    #[inline]
    pub fn is_wide(&self) -> bool {
        self.is_wide
    }

    /// Whether it counts among those that share its machine.
    #[inline]
    pub fn counts(&self) -> bool {
        matches!(self.stage, Stage::Held | Stage::Asked | Stage::Sent | Stage::Running)
    }

    /// Whether its machine may be at it.
    pub fn goes_on(&self) -> bool {
        matches!(self.stage, Stage::Next | Stage::Asked | Stage::Sent | Stage::Running | Stage::Stopping)
    }
}

/// A slab: places are used again, the last that became free first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Runs {
    pub(super) slots: Vec<Run>,
    pub(super) free: Vec<u32>,
    /// Of the runs of several parts those that are left, in order of machine: one whose machine is out of reach is not.
    pub(super) wide: BTreeMap<RunId, Vec<Part>>,
    /// Of the runs that are asked for, who has not answered.
    pub(super) silent: BTreeMap<RunId, BTreeSet<MachineId>>,
}

impl Runs {
    #[inline]
    pub(super) fn insert(&mut self, run: Run) -> u32 {
        if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = run;
            return slot;
        }
        self.slots.push(run);
        u32::try_from(self.slots.len() - 1).expect("fewer runs than 2^32 at a time")
    }

    #[inline]
    pub(super) fn chain(&self, newest: Option<u32>) -> impl Iterator<Item = &Run> + '_ {
        let at = |slot: u32| &self.slots[slot as usize];
        std::iter::successors(newest.map(at), move |run| run.older.map(at))
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}
