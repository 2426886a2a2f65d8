use gleaner_units::{MachineId, TaskClassId, Time};
use serde::{Deserialize, Serialize};

/// Where a task is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum TaskState {
    /// Submitted; no machine could take it yet.
    Waiting,
    /// Ordered to a machine; not yet reported running there.
    Sent(MachineId),
    /// Running.
    Running(MachineId),
    /// Done; here it ended.
    Finished(MachineId),
}

/// One program run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    pub(super) class: TaskClassId,
    pub(super) state: TaskState,
    pub(super) attempt: u32,
    pub(super) started: Time,
}

impl Task {
    pub(super) fn new(class: TaskClassId) -> Self {
        Self { class, state: TaskState::Waiting, attempt: 0, started: Time::NEVER }
    }

    /// What kind of task it is.
    pub fn class(&self) -> TaskClassId {
        self.class
    }

    /// Where it is in its life.
    pub fn state(&self) -> TaskState {
        self.state
    }

    /// The number that a reply must bear to count; 0 before the first order.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The machine it is on or on its way to.
    pub fn placed_on(&self) -> Option<MachineId> {
        match self.state {
            TaskState::Sent(on) | TaskState::Running(on) => Some(on),
            TaskState::Waiting | TaskState::Finished(_) => None,
        }
    }

    /// The seconds since it first began to run; 0 if it did not yet.
    pub fn seconds_run(&self, now: Time) -> f64 {
        now.since(self.started).seconds()
    }
}
