//! What is known of each task beyond what the scheduler needs. A task that never left the queue has no record of its
//! own: an array of a million waiting tasks costs nothing here.

use super::Tries;
use gleaner_units::{MachineId, TaskId, Time};
use gleaner_wire::api::TaskPhase;
use gleaner_wire::session::{Outcome, Stored, Usage};
use serde::{Deserialize, Serialize};

const PAGE: usize = 512;

/// A run that an agent has, or may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Live {
    /// The attempt's number.
    pub attempt: u32,
    /// Where.
    pub on: MachineId,
}

/// What a user wants of a task that runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Wish {
    /// That it end for good.
    Cancel,
    /// That it wait to be released.
    Hold,
}

/// How a run ended, as far as people ask for it later.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Last {
    /// What came of it.
    pub outcome: Outcome,
    /// What it used.
    pub usage: Usage,
    /// Its output files.
    pub files: Option<Stored>,
}

/// A task's own record.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Where it is in its life.
    pub phase: TaskPhase,
    /// The run that an agent has or may have. **While there is one, no other is sent out.**
    pub live: Option<Live>,
    /// The last run that was given up without a word of its end: its result still counts until the task runs again.
    pub lost: Option<Live>,
    /// What happens when the live run ends.
    pub wish: Option<Wish>,
    /// How often it was tried.
    pub tries: Tries,
    /// Where it is or was last.
    pub machine: Option<MachineId>,
    /// When its last run began.
    pub started: Option<Time>,
    /// When it was over.
    pub ended: Option<Time>,
    /// What it goes on from.
    pub checkpoint: Option<Stored>,
    /// How its last run ended.
    pub last: Option<Box<Last>>,
    /// The last run of which an end was reported, and whether it counted.
    pub settled: Option<(u32, bool)>,
}

const UNTOUCHED: Record = Record {
    phase: TaskPhase::Waiting,
    live: None,
    lost: None,
    wish: None,
    tries: Tries::NONE,
    machine: None,
    started: None,
    ended: None,
    checkpoint: None,
    last: None,
    settled: None,
};

impl Default for Record {
    fn default() -> Self {
        UNTOUCHED
    }
}

/// All records, by task.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Records {
    pages: Vec<Option<Vec<Record>>>,
}

impl Records {
    /// The record of a task, whether or not it has one of its own.
    pub(crate) fn get(&self, task: TaskId) -> &Record {
        const NONE: &Record = &UNTOUCHED;
        let page = self.pages.get(task.index() / PAGE).and_then(Option::as_ref);
        page.map_or(NONE, |page| &page[task.index() % PAGE])
    }

    /// The task's own record.
    pub(crate) fn own(&mut self, task: TaskId) -> &mut Record {
        let number = task.index() / PAGE;
        if self.pages.len() <= number {
            self.pages.resize(number + 1, None);
        }
        let page = self.pages[number].get_or_insert_with(|| vec![UNTOUCHED; PAGE]);
        &mut page[task.index() % PAGE]
    }
}
