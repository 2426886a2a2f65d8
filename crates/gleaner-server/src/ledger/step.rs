//! The steps of tasks' lives: what each fact was for the tasks that it is about.
//!
//! **Whatever tells of a task's life tells these**: `gleaner watch` and `gleaner replay` as the ledger says them, and
//! `gleaner history` as the journal keeps them, each with the fact that it is told of.

use super::{Verdict, Wish};
use crate::store::TaskRange;
use gleaner_units::{MachineId, RunId};
use gleaner_wire::api::TaskPhase;
use serde::{Deserialize, Serialize};

/// What a fact was for a task. Who ordered it, and how a run ended, is in the fact.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// A user handed it in.
    Submitted,
    /// It was given to a machine.
    Placed,
    /// It is to go on elsewhere; the run is the one that it has.
    Moves {
        /// To there.
        to: MachineId,
    },
    /// It is to run on another machine too.
    Copied,
    /// It had not begun on the machine that it was given to, and is to go to another.
    TakenBack,
    /// Its program started.
    Started,
    /// A run of it ended, and that counts.
    Ended(Verdict),
    /// A run of it ended after another had: what it did was for nothing.
    Wasted,
    /// A run ended that did not count any more.
    Refused,
    /// A run is out of reach, or vanished.
    Lost(Loss),
    /// The machine that it was to go to is out of reach.
    TargetLost,
    /// The owner's use of its machine changed.
    OwnerCame,
    /// A user wants it gone or held, and its runs are being stopped.
    ToBe(Wish),
    /// A user has it gone or held.
    Is(Wish),
    /// It is not to be held after all.
    NotToBeHeld,
    /// It waits again since a user said so.
    Released,
    /// It waits again after a failure.
    Rested,
    /// The machine of a run that was given up is back: what it brings is heard before another gets the task.
    Awaited,
    /// It waits to run again from its beginning.
    Rerun,
}

/// Why nothing more is heard of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// Its machine was not heard of.
    Silence,
    /// Its agent was started afresh.
    Restart,
}

/// A step, and what things were like with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct Told {
    /// For which tasks: several only where all that is said holds for each.
    pub tasks: TaskRange,
    /// What happened.
    pub step: Step,
    /// The phase since.
    pub phase: TaskPhase,
    /// The run that it is about, and where that is; else one that the task has.
    pub run: Option<(RunId, MachineId)>,
}

impl Told {
    /// Both as one, where the same is said of neighbours.
    pub(super) fn joined_by(&self, next: &Self) -> Option<Self> {
        let tasks = TaskRange::between(self.tasks.first(), next.tasks.last())?;
        let both = Self { tasks, ..*self };
        let are_neighbours = self.tasks.last().index() + 1 == next.tasks.first().index();
        (are_neighbours && self.run.is_none() && Self { tasks, ..*next } == both).then_some(both)
    }
}

/// As the journal has it. A fact may have a million of them, so nothing in it is named: the tasks, the step, the phase, and the
/// number and the machine of the run.
#[derive(Serialize, Deserialize)]
struct Written(TaskRange, Step, TaskPhase, Option<(u32, MachineId)>);

impl From<Told> for Written {
    fn from(told: Told) -> Self {
        Self(told.tasks, told.step, told.phase, told.run.map(|(run, on)| (run.number, on)))
    }
}

impl From<Written> for Told {
    /// What is said of several tasks is about no run.
    fn from(Written(tasks, step, phase, run): Written) -> Self {
        Self { tasks, step, phase, run: run.map(|(number, on)| (RunId::new(tasks.first(), number), on)) }
    }
}
