//! In which order lists stand. What is equal stays as the coordinator has it.

use gleaner_wire::api::{JobView, MachineState, MachineView, TaskPhase, TaskView};
use std::cmp::Reverse;

/// Of jobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum JobsBy {
    #[default]
    Newest,
    Waiting,
    User,
    Name,
}

/// Of machines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum MachinesBy {
    #[default]
    Joining,
    Name,
    State,
    Tasks,
    Owner,
}

/// Of a job's tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum TasksBy {
    #[default]
    Number,
    Phase,
    Took,
}

impl JobsBy {
    pub(super) fn next(self) -> Self {
        match self {
            Self::Newest => Self::Waiting,
            Self::Waiting => Self::User,
            Self::User => Self::Name,
            Self::Name => Self::Newest,
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Newest => "newest first",
            Self::Waiting => "most waiting first",
            Self::User => "by user",
            Self::Name => "by name",
        }
    }

    pub(super) fn sorted(self, jobs: &[JobView]) -> Vec<&JobView> {
        let mut sorted: Vec<&JobView> = jobs.iter().collect();
        match self {
            Self::Newest => {}
            Self::Waiting => sorted.sort_by_key(|job| Reverse(job.tasks.waiting)),
            Self::User => sorted.sort_by_key(|job| &job.user),
            Self::Name => sorted.sort_by_key(|job| &job.name),
        }
        sorted
    }
}

impl MachinesBy {
    pub(super) fn next(self) -> Self {
        match self {
            Self::Joining => Self::Name,
            Self::Name => Self::State,
            Self::State => Self::Tasks,
            Self::Tasks => Self::Owner,
            Self::Owner => Self::Joining,
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Joining => "as they joined",
            Self::Name => "by name",
            Self::State => "by state",
            Self::Tasks => "most tasks first",
            Self::Owner => "busiest owner first",
        }
    }

    pub(super) fn sorted(self, machines: &[MachineView]) -> Vec<&MachineView> {
        let mut sorted: Vec<&MachineView> = machines.iter().collect();
        match self {
            Self::Joining => {}
            Self::Name => sorted.sort_by_key(|machine| &machine.machine),
            Self::State => sorted.sort_by_key(|machine| trouble(machine.state)),
            Self::Tasks => sorted.sort_by_key(|machine| Reverse(machine.tasks)),
            Self::Owner => sorted.sort_by(|one, other| other.owner_load.total_cmp(&one.owner_load)),
        }
        sorted
    }
}

impl TasksBy {
    pub(super) fn next(self) -> Self {
        match self {
            Self::Number => Self::Phase,
            Self::Phase => Self::Took,
            Self::Took => Self::Number,
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Number => "by number",
            Self::Phase => "failed and running first",
            Self::Took => "longest first",
        }
    }

    pub(super) fn sorted(self, tasks: &[TaskView]) -> Vec<&TaskView> {
        let took_s = |task: &TaskView| task.usage.as_ref().map_or(0.0, |usage| usage.elapsed_s);
        let mut sorted: Vec<&TaskView> = tasks.iter().collect();
        match self {
            Self::Number => {}
            Self::Phase => sorted.sort_by_key(|task| interest(task.phase)),
            Self::Took => sorted.sort_by(|one, other| took_s(other).total_cmp(&took_s(one))),
        }
        sorted
    }
}

/// What needs somebody stands first.
fn trouble(state: MachineState) -> u8 {
    match state {
        MachineState::Lost => 0,
        MachineState::Away => 1,
        MachineState::Closed => 2,
        MachineState::Open => 3,
        MachineState::Revoked => 4,
    }
}

fn interest(phase: TaskPhase) -> u8 {
    match phase {
        TaskPhase::Failed => 0,
        TaskPhase::Running => 1,
        TaskPhase::Suspended => 2,
        TaskPhase::Waiting => 3,
        TaskPhase::Held => 4,
        TaskPhase::Done => 5,
        TaskPhase::Cancelled => 6,
    }
}
