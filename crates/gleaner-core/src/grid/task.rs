use gleaner_units::{MachineId, TaskClassId, Time};
use serde::{Deserialize, Serialize};

/// Where a task is in its life.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum TaskState {
    /// To be run: submitted, or back from a machine.
    Waiting,
    /// Ordered to a machine; not yet reported running there.
    Sent(MachineId),
    /// Running.
    Running(MachineId),
    /// Done; here it ended.
    Finished(MachineId),
    /// Cancelled or held.
    Withdrawn,
}

/// One program run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Task {
    pub(super) class: TaskClassId,
    pub(super) state: TaskState,
    pub(super) attempt: u32,
    pub(super) missing_on: Option<MachineId>,
    pub(super) started: Time,
}

impl Task {
    pub(super) fn new(class: TaskClassId) -> Self {
        Self { class, state: TaskState::Waiting, attempt: 0, missing_on: None, started: Time::NEVER }
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

    /// The number that a reply must bear to count; 0 before the first order.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The machine it is on or on its way to.
    #[inline]
    pub fn placed_on(&self) -> Option<MachineId> {
        match self.state {
            TaskState::Sent(on) | TaskState::Running(on) => Some(on),
            TaskState::Waiting | TaskState::Finished(_) | TaskState::Withdrawn => None,
        }
    }

    /// For a task that waits: the machine out of reach on which its latest attempt may still be running. If that hands
    /// in a result before the task is given to another, it counts.
    pub fn missing_on(&self) -> Option<MachineId> {
        self.missing_on
    }

    /// The seconds since its present run began, moves included; 0 if it does not run.
    #[inline]
    pub fn seconds_run(&self, now: Time) -> f64 {
        now.since(self.started).seconds()
    }

    /// What it had done so far is gone, as far as is known; replies about its latest attempt count only if that may be
    /// running on `missing_on`.
    pub(super) fn wait(&mut self, missing_on: Option<MachineId>) {
        self.state = TaskState::Waiting;
        self.missing_on = missing_on;
        self.started = Time::NEVER;
    }

    pub(super) fn send(&mut self, on: MachineId) {
        self.state = TaskState::Sent(on);
        self.missing_on = None;
        self.attempt += 1;
    }
}
