//! What goes out: output to keep, facts to commit, and the effects that follow them.

use super::{Answer, OrderId, Rejection, RunOrder, SessionId};
use crate::journal::Entry;
use crate::ledger::Told;
use crate::store::{Past, RANGES_LIMIT, Row, TaskRange};
use gleaner_units::RunId;
use gleaner_wire::session::{End, Stream, ToAgent};

/// What goes out, once the facts are committed.
#[derive(Clone, PartialEq, Debug)]
pub enum Effect {
    /// Answer a request.
    Reply(OrderId, Result<Answer, Rejection>),
    /// Tell an agent.
    Send(SessionId, ToAgent),
    /// Tell an agent to run a task. Whoever sends it fills the texts in, one order at a time.
    Run(SessionId, Box<RunOrder>),
    /// Find out what a run answered that ended so, from what is stored of it, and [say so](super::Input::Answered).
    Compare(SessionId, RunId, Box<End>),
    /// End a connection.
    Close(SessionId),
}

/// Something that a program wrote; to be kept before the facts are committed, since the end of a run says that its
/// output is complete.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    /// By which run.
    pub run: RunId,
    /// Where.
    pub stream: Stream,
    /// How much came before.
    pub offset: u64,
    /// What.
    pub bytes: Vec<u8>,
}

/// A fact, and what it was for tasks.
#[derive(Clone, PartialEq, Debug)]
pub struct Recorded {
    /// The fact.
    pub entry: Entry,
    /// The step that it was in the life of each task to whose history it belongs.
    pub steps: Vec<Told>,
}

impl Recorded {
    /// A fact that is no step of any task.
    pub fn without_steps(entry: Entry) -> Self {
        Self { entry, steps: Vec::new() }
    }

    /// As the journal keeps it.
    ///
    /// # Panics
    /// Never: facts and their steps are plain data.
    pub fn row(&self) -> Row {
        let said = |steps| serde_json::to_string(steps).expect("steps are plain data");
        let steps = if self.steps.is_empty() { String::new() } else { said(&self.steps) };
        let body = serde_json::to_string(&self.entry.fact).expect("facts are plain data");
        Row { at: self.entry.at, tasks: self.tasks(), steps, body }
    }

    /// The tasks to whose history it belongs, neighbours as one range each. Where that is too many for the index, one range
    /// around them all: the history of a task between them passes over it, since none of the steps is that task's.
    pub fn tasks(&self) -> Vec<TaskRange> {
        let ranges = TaskRange::merged(self.steps.iter().map(|told| told.tasks).collect());
        match ranges[..] {
            [first, .., last] if ranges.len() > RANGES_LIMIT => {
                TaskRange::between(first.first(), last.last()).into_iter().collect()
            }
            _ => ranges,
        }
    }
}

/// What came of some inputs.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Runs that are ordered: nothing is kept of them so far.
    pub ordered: Vec<RunId>,
    /// To be kept first.
    pub written: Vec<Written>,
    /// To be committed next.
    pub recorded: Vec<Recorded>,
    /// To be kept with that: what left memory.
    pub past: Option<Past>,
    /// To be let out last, in order.
    pub effects: Vec<Effect>,
}
