use gleaner_units::{MachineClassId, MachineId, Span, TaskClassId, Time};
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

/// How long the run of a task took that came to its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Spent {
    /// With a core to itself, and what earlier runs kept for it as if it had been done there.
    pub(super) service: Span,
    /// The class that its machine was of then.
    pub(super) on: MachineClassId,
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
    pub(super) begun: Time,
    pub(super) ended: Time,
    /// Once it is done, where that is known.
    pub(super) spent: Option<Spent>,
}

impl Task {
    /// Alike for all, so that a page of them is one value.
    pub(super) const RETIRED: Self = Self {
        class: TaskClassId::new(0),
        state: TaskState::Retired,
        runs: u32::MAX,
        newest: None,
        submitted: Time::ZERO,
        begun: Time::NEVER,
        ended: Time::NEVER,
        spent: None,
    };

    pub(super) fn new(class: TaskClassId, submitted: Time) -> Self {
        let (begun, ended) = (Time::NEVER, Time::NEVER);
        Self { class, state: TaskState::Waiting, runs: 0, newest: None, submitted, begun, ended, spent: None }
    }

    /// Of which class it is.
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

    /// When it came to its end; never if it did not.
    #[inline]
    pub fn ended(&self) -> Time {
        self.ended
    }

    /// The seconds since the first of the runs began that it had since it last waited: moves are included. 0 before that.
    #[inline]
    pub fn seconds_run(&self, now: Time) -> f64 {
        now.since(self.begun).seconds()
    }

    pub(super) fn wait(&mut self) {
        self.state = TaskState::Waiting;
        (self.begun, self.ended, self.spent) = (Time::NEVER, Time::NEVER, None);
    }
}
