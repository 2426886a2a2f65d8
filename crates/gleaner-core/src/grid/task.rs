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
    /// Over for so long that nothing else is known of it here.
    Retired,
}

/// What users hand in: a program that is to come to its end once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Task {
    pub(super) class: TaskClassId,
    pub(super) state: TaskState,
    pub(super) runs: u32,
    /// Where the slab has the newest of the runs that are not over.
    pub(super) newest: Option<u32>,
    pub(super) submitted: Time,
    pub(super) started: Time,
    pub(super) ended: Time,
}

impl Task {
    /// Alike for all, so that a page of them is one value.
    pub(super) const RETIRED: Self = Self {
        class: TaskClassId::new(0),
        state: TaskState::Retired,
        runs: u32::MAX,
        newest: None,
        submitted: Time::ZERO,
        started: Time::NEVER,
        ended: Time::NEVER,
    };

    pub(super) fn new(class: TaskClassId, submitted: Time) -> Self {
        let (started, ended) = (Time::NEVER, Time::NEVER);
        Self { class, state: TaskState::Waiting, runs: 0, newest: None, submitted, started, ended }
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

    /// How many runs it was ever given, which is the number of the last; of one that is retired as many as can be.
    pub fn runs(&self) -> u32 {
        self.runs
    }

    /// When it was handed in.
    #[inline]
    pub fn submitted(&self) -> Time {
        self.submitted
    }

    /// When it began to run, for the run that counts; never if it did not.
    #[inline]
    pub fn started(&self) -> Time {
        self.started
    }

    /// When it came to its end; never if it did not.
    #[inline]
    pub fn ended(&self) -> Time {
        self.ended
    }

    /// The seconds since it began to run, moves included; 0 if it does not run.
    #[inline]
    pub fn seconds_run(&self, now: Time) -> f64 {
        now.since(self.started).seconds()
    }

    pub(super) fn wait(&mut self) {
        self.state = TaskState::Waiting;
        (self.started, self.ended) = (Time::NEVER, Time::NEVER);
    }
}
