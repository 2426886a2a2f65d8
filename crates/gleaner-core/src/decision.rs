use crate::parts::PARTS_MAX;
use crate::{Alarm, Lending, LendingRefusal, Needs, Part, Room};
use gleaner_units::{Credits, MachineClassId, MachineId, RunId, TaskId, Time};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Where planned tasks wait for their turn.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Queue {
    /// For this machine.
    Machine(MachineId),
    /// For whichever machine of the class is free first.
    Class(MachineClassId),
}

/// What a policy wishes. The grid admits it, and an order goes out, or refuses it with the fact that stands in
/// its way.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Decision {
    /// Run a waiting task on a machine.
    Start {
        /// A task that waits.
        task: TaskId,
        /// A machine that can run it now.
        on: MachineId,
    },
    /// Send a waiting task to a machine that begins it when a run there is over.
    Follow {
        /// A task that waits.
        task: TaskId,
        /// Where the run is.
        on: MachineId,
        /// A run of a task of the same class, which has one part, is not to stop, and is followed by none.
        after: RunId,
    },
    /// Take a task back whose run follows another and has not begun: it waits again when its machine says so.
    #[serde(alias = "Recall")]
    TakeBack {
        /// A task whose run has not begun.
        task: TaskId,
    },
    /// Run a waiting task on several machines at a time, all or none: room is taken on each until the run is over. A part
    /// that makes up the whole task is a [start](Self::Start).
    StartWide {
        /// A task that waits.
        task: TaskId,
        /// Machines that can run these now, in order; their cores add up to what the task needs.
        parts: Box<[Part]>,
    },
    /// Move a running task to another machine: room is held there, and it goes on as soon as its run here is over.
    Relocate {
        /// A task with one run, which runs.
        task: TaskId,
        /// Another machine that can run it now.
        to: MachineId,
    },
    /// Run a task once more at the same time; the first result counts, and the other runs are stopped.
    Replicate {
        /// A task that is on a machine, or on its way to one, and not being moved; or one whose answers so far do not decide.
        task: TaskId,
        /// Another machine that can run it now, and has not answered it.
        on: MachineId,
    },
    /// The same on several machines at a time, all or none. The task's other runs may have several parts too.
    ReplicateWide {
        /// A task that is on a machine, or on its way to one, and not being moved.
        task: TaskId,
        /// Machines that can run these now, in order; their cores add up to what the task needs.
        parts: Box<[Part]>,
    },
    /// Ask sites to hold room for one more run of a task, all or none, by a deadline: the run is sent as soon as all of them
    /// said that they do, and given up if one refuses or is silent.
    Ask {
        /// A task that waits; or one with runs, which are not being moved: then it is a copy.
        task: TaskId,
        /// Machines that can run these now as far as is known, in order; their cores add up to what the task needs.
        parts: Box<[Part]>,
        /// Who has not answered by then is not waited for; not before now.
        until: Time,
    },
    /// Ask all sites that take tasks how things are there. When all have answered, or at the deadline, the policy is
    /// [asked](Alarm::Survey) again; who has not answered by then is dropped until it is asked the next time.
    Survey {
        /// Not before now.
        until: Time,
    },
    /// Begin a batch: whatever is planned and has not begun is planned no more, and its credits are given back.
    Collect,
    /// Put a waiting task at the end of a queue.
    Plan {
        /// A task that waits and is not planned.
        task: TaskId,
        /// For which it could run, and be paid.
        on: Queue,
    },
    /// Something among peers.
    Lending(Lending),
    /// Ask the policy again at this moment, and not when that alarm was to come before. That of now is over when all of it
    /// was told, and then it is asked.
    Wake {
        /// Which alarm.
        alarm: Alarm,
        /// Not before now.
        at: Time,
    },
}

/// Why the grid refused a decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error, Serialize, Deserialize)]
pub enum Refusal {
    /// Only a waiting task can be started.
    #[error("{0} does not wait")]
    NotWaiting(TaskId),
    /// Only a task that runs can be moved; one on its way to a machine cannot.
    #[error("{0} does not run")]
    NotRunning(TaskId),
    /// What is to begin when another run is over has that run's room.
    #[error(
        "{0} cannot begin when {1} is over: that is no run of its class there, is to stop, or another follows it already"
    )]
    CannotFollow(TaskId, RunId),
    /// Only what has not begun can be taken back.
    #[error("{0} has no run that waits for the end of another")]
    NotAhead(TaskId),
    /// It is being moved, or has several runs: which of them is meant?
    #[error("{0} has more than one run")]
    SeveralRuns(TaskId),
    /// Runs of several parts are neither moved nor replicated.
    #[error("{0} runs in several parts")]
    SeveralParts(TaskId),
    /// All or none.
    #[error("{task} needs {cores} cores, on at most {PARTS_MAX} machines in order; its parts are others")]
    Parts {
        /// What was to be started.
        task: TaskId,
        /// What it needs together.
        cores: u32,
    },
    /// The task is there already.
    #[error("{0} is on {1} already")]
    AlreadyThere(TaskId, MachineId),
    /// What it has to say of the task is known, or another machine of its owner was asked.
    #[error("{1}, or another machine of its owner, gave its answer to {0} already, or is at it")]
    Answered(TaskId, MachineId),
    /// The machine lacks a speed or a tag that the task needs, or its owner uses all of it.
    #[error("{0} cannot run on {1} now")]
    CannotRun(TaskId, MachineId),
    /// The machine is paused, drained or out of reach.
    #[error("{0} takes no tasks now")]
    Closed(MachineId),
    /// What is there already leaves too little.
    #[error("{task} needs {needs} where {on} has {free} free")]
    NoRoom {
        /// What was to go there.
        task: TaskId,
        /// Where.
        on: MachineId,
        /// What it takes.
        needs: Needs,
        /// What is left.
        free: Room,
    },
    /// The task has its place in a queue.
    #[error("{0} is planned already")]
    AlreadyPlanned(TaskId),
    /// No machine of the class could ever run the task.
    #[error("{0} cannot run on {1}")]
    WrongClass(TaskId, MachineClassId),
    /// One batch an instant.
    #[error("a batch began at {0} already")]
    AlreadyCollected(Time),
    /// More than is left.
    #[error("{task} costs {cost} credits there, where {left} are left")]
    TooDear {
        /// What was to be planned or started.
        task: TaskId,
        /// What it costs.
        cost: Credits,
        /// What may still be spent.
        left: Credits,
    },
    /// Its user has too few cores left to start it.
    #[error("{task} has to wait: the runs of its user take {taken} of {most} cores")]
    CoresOfUser {
        /// What was to be started.
        task: TaskId,
        /// Cores that the user's runs take.
        taken: u64,
        /// Cores that they may take.
        most: u32,
    },
    /// What it costs depends on its length.
    #[error("no length was declared for {0}, and so nobody knows what it costs")]
    NoLength(TaskId),
    /// One survey at a time.
    #[error("sites are being asked already")]
    Surveying,
    /// Of a wish among peers.
    #[error(transparent)]
    Lending(#[from] LendingRefusal),
    /// A wake-up does not lie behind.
    #[error("{0} has passed")]
    Passed(Time),
}
