//! What is known of each task beyond what the scheduler needs. A task that never left the queue has no record of its
//! own: an array of a million waiting tasks costs nothing here.

use super::Tries;
use gleaner_units::{MachineId, TaskId, Time};
use gleaner_wire::api::TaskPhase;
use gleaner_wire::session::{Outcome, Stored, Usage};
use serde::{Deserialize, Serialize};

const PAGE: usize = 512;
/// Ended runs of a task that are remembered, in case their agents did not hear what came of them.
const SETTLED_MAX: usize = 16;

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

impl Wish {
    /// Where a task is once the wish is fulfilled.
    pub(super) fn phase(self) -> TaskPhase {
        match self {
            Self::Cancel => TaskPhase::Cancelled,
            Self::Hold => TaskPhase::Held,
        }
    }
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
    /// Until when it rests after a failure; the scheduler does not know of it meanwhile.
    pub(super) rests_until: Option<Time>,
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
    /// What the agents of the latest runs that ended were told.
    pub(super) settled: Vec<Settlement>,
}

/// What an agent is told of the end of a run, each time it reports it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Settlement {
    run: Live,
    counted: bool,
}

const UNTOUCHED: Record = Record {
    phase: TaskPhase::Waiting,
    live: None,
    lost: None,
    wish: None,
    rests_until: None,
    tries: Tries::NONE,
    machine: None,
    started: None,
    ended: None,
    checkpoint: None,
    last: None,
    settled: Vec::new(),
};

impl Default for Record {
    fn default() -> Self {
        UNTOUCHED
    }
}

impl Record {
    /// Whether the end of a run counted; none if none was reported, or so long ago that nobody asks any more.
    pub fn counted(&self, run: Live) -> Option<bool> {
        self.settled.iter().find(|settlement| settlement.run == run).map(|settlement| settlement.counted)
    }

    /// The latest run of which anything is known.
    pub fn last_run(&self) -> Option<u32> {
        let ended = self.settled.iter().map(|settlement| settlement.run.attempt).max();
        self.live.or(self.lost).map(|run| run.attempt).max(ended)
    }

    /// Whether a user's wish changes anything about the task. What is to end for good cannot be held.
    pub(crate) fn can_wish(&self, wish: Wish) -> bool {
        let is_late = self.phase.is_over() || self.phase == wish.phase();
        !is_late && self.wish != Some(Wish::Cancel) && self.wish != Some(wish)
    }

    /// Whether it is held, or will be once its run ends.
    pub(crate) fn can_release(&self) -> bool {
        self.phase == TaskPhase::Held || self.wish == Some(Wish::Hold)
    }

    /// Until when it rests after a failure.
    pub fn rests_until(&self) -> Option<Time> {
        self.rests_until
    }

    pub(super) fn settle(&mut self, run: Live, counted: bool) {
        if self.settled.len() == SETTLED_MAX {
            self.settled.remove(0);
        }
        // Most tasks run once.
        self.settled.reserve_exact(1);
        self.settled.push(Settlement { run, counted });
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

    /// All that tasks have of their own, and some that are untouched.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Record> {
        self.pages.iter().flatten().flatten()
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
