//! What an onlooker sees of the simulated world: what ran where, what was told to whom, what was stored, what is in the
//! journal. The checker judges by this alone.

use super::flaw::Flaw;
use gleaner_server::store::StoredRow;
use gleaner_units::{RunId, TaskId, Time};
use gleaner_wire::api::TaskPhase;
use gleaner_wire::session::Outcome;
use gleaner_wire::{BlobHash, JobId, Lineage};

/// One thing that was seen.
#[derive(Clone, Debug)]
pub(crate) enum Seen {
    /// A user was told so.
    Submitted { user: String, key: Option<String>, job: JobId, tasks: u32 },
    /// A user was told that an order applied to tasks of a job.
    Ordered { what: &'static str, job: JobId },
    /// An administrator was told that it is done.
    Administered { what: &'static str },
    /// An agent took on a run, which takes so much of its machine until the agent lets go of it.
    Took { run: RunId, on: u32, cores: u32, memory: u64 },
    /// Nothing of a run is left on a machine.
    LetGo { run: RunId, on: u32 },
    /// A program began to run.
    Began { run: RunId, lineage: Lineage, on: u32, from: Option<BlobHash>, copies: usize },
    /// It could not.
    NotStarted { run: RunId, lineage: Lineage, on: u32 },
    /// A program is gone.
    Over { run: RunId, lineage: Lineage, on: u32, outcome: Outcome, flaw: Flaw },
    /// A machine stands still, with all that is on it.
    Slept { on: u32 },
    /// It goes on.
    Woke { on: u32 },
    /// A checkpoint is safe at the coordinator.
    Stored { blob: BlobHash, task: TaskId },
    /// An agent was told what its result led to; with the start under which it was ordered, where the agent still has it.
    Settled { run: RunId, lineage: Option<Lineage>, on: u32, accepted: bool },
    /// Output is safe at the coordinator.
    Kept { run: RunId, offset: u64, bytes: u64 },
    /// Rows up to this number, counted from 1, are on the disk.
    Committed { rows: u64 },
    /// The journal was put back, by order, to what it was earlier.
    PutBack {
        /// When the first row was committed that is lost.
        since: Time,
        /// What was drawn by the starts until then.
        starts: Vec<Lineage>,
    },
}

/// A history and where it led.
#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) seen: Vec<(Time, Seen)>,
    pub(crate) rows: Vec<StoredRow>,
    /// What users would be told of each task in the end.
    pub(crate) phases: Vec<TaskPhase>,
    /// What happened in all, heartbeats and the like aside.
    pub(crate) events: u64,
    pub(crate) faults: u64,
}

impl History {
    /// The journal is put back to what it was when it had so many rows: what was told since counts for nothing, but what
    /// runs goes on to run.
    pub(crate) fn put_back(&mut self, now: Time, rows: u64, starts: Vec<Lineage>) {
        let is_lost =
            |(_, seen): &&(Time, Seen)| matches!(seen, Seen::Committed { rows: more } if *more > rows);
        let since = self.seen.iter().find(is_lost).map_or(now, |(at, _)| *at);
        // Of a commit that is lost in part, the output is there.
        let before = self.seen.iter().filter(|(at, _)| *at < since).filter_map(|(_, seen)| match seen {
            Seen::Committed { rows } => Some(*rows),
            _ => None,
        });
        let is_torn = before.max().is_some_and(|before| before < rows);
        self.seen.retain(|(at, seen)| {
            let is_there = is_torn && *at == since && matches!(seen, Seen::Kept { .. });
            *at < since || is_there || !seen.is_told()
        });
        for (_, seen) in &mut self.seen {
            if let Seen::Committed { rows: more } = seen {
                *more = rows.min(*more);
            }
        }
        self.seen.push((now, Seen::PutBack { since, starts }));
    }

    /// Whether a run that began then, and was ordered under that start, may be of a past that is no more.
    pub(crate) fn may_be_lost(&self, at: Time, lineage: Lineage) -> bool {
        self.seen.iter().any(|(_, seen)| match seen {
            Seen::PutBack { since, starts } => at >= *since && starts.contains(&lineage),
            _ => false,
        })
    }
}

impl Seen {
    /// Whether somebody was told something, or it was kept, on the strength of the journal.
    fn is_told(&self) -> bool {
        match self {
            Self::Submitted { .. }
            | Self::Ordered { .. }
            | Self::Administered { .. }
            | Self::Settled { .. }
            | Self::Kept { .. } => true,
            Self::Took { .. }
            | Self::LetGo { .. }
            | Self::Began { .. }
            | Self::NotStarted { .. }
            | Self::Over { .. }
            | Self::Slept { .. }
            | Self::Woke { .. }
            | Self::Stored { .. }
            | Self::Committed { .. }
            | Self::PutBack { .. } => false,
        }
    }
}
