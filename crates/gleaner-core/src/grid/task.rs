use gleaner_units::{MachineId, TaskClassId, Time};
use serde::{Deserialize, Serialize};

/// Where a task is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum TaskState {
    /// To be run: submitted, or back from a machine.
    Waiting,
    /// It has runs that are not over, of which [`runs_of`](crate::Grid::runs_of) tells.
    Placed,
    /// Done; here it ended.
    Finished(MachineId),
    /// Cancelled or held.
    Withdrawn,
}

/// What users hand in: a program that is to come to its end once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Task {
    pub(super) class: TaskClassId,
    pub(super) state: TaskState,
    pub(super) runs: u32,
    /// Where the slab has the newest of the runs that are not over.
    pub(super) newest: Option<u32>,
    pub(super) started: Time,
}

impl Task {
    pub(super) fn new(class: TaskClassId) -> Self {
        Self { class, state: TaskState::Waiting, runs: 0, newest: None, started: Time::NEVER }
    }

    /// What kind of task it is.
    #[inline]
    pub fn class(&self) -> TaskClassId {
        self.class
    }

    /// Where it is in its life.
    #[inline]
    pub fn state(&self) -> TaskState {
        self.state
    }

    /// How many runs it was ever given, which is the number of the last.
    pub fn runs(&self) -> u32 {
        self.runs
    }

    /// The seconds since it began to run, moves included; 0 if it does not run.
    #[inline]
    pub fn seconds_run(&self, now: Time) -> f64 {
        now.since(self.started).seconds()
    }

    pub(super) fn wait(&mut self) {
        self.state = TaskState::Waiting;
        self.started = Time::NEVER;
    }
}
