//! What tests write down over and over: ids, empty grids, events without anything special, and states in a word.

use gleaner_core::{Event, Grid, GridConfig, Migration, Stage, TaskState};
use gleaner_units::{MachineClassId, MachineId, TaskClassId, TaskId};

pub(crate) fn machine(index: usize) -> MachineId {
    MachineId::new(index)
}

pub(crate) fn task(index: usize) -> TaskId {
    TaskId::new(index)
}

/// Nothing is there yet; speeds are of one kind.
pub(crate) fn empty() -> Grid {
    Grid::new(GridConfig { weights: vec![1.0], migration: Migration::default() })
}

pub(crate) fn joined(index: usize, class: usize) -> Event {
    Event::MachineJoined { machine: machine(index), class: MachineClassId::new(class) }
}

/// Nobody knows how long they are.
pub(crate) fn submitted(first: usize, count: u32, class: usize) -> Event {
    Event::TasksSubmitted { first: task(first), count, class: TaskClassId::new(class), length: None }
}

/// Where a task is in its life.
pub(crate) fn life(grid: &Grid, task: TaskId) -> String {
    match grid.task(task).state() {
        TaskState::Waiting => "waits".to_owned(),
        TaskState::Placed => "placed".to_owned(),
        TaskState::Finished(on) => format!("done@{on}"),
        TaskState::Withdrawn => "withdrawn".to_owned(),
        TaskState::Retired => "retired".to_owned(),
    }
}

pub(crate) fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Held => "held",
        Stage::Next => "next",
        Stage::Asked => "asked",
        Stage::Sent => "sent",
        Stage::Running => "runs",
        Stage::Stopping => "stops",
        Stage::Missing => "missing",
    }
}
