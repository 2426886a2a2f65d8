//! What the agent writes to its disk about runs, to report them after a restart. Of a run that has ended: its results. Of a run with
//! a checkpoint: that it is running, in case the agent is killed.
//!
//! **Only what lasts is written down**: most runs and most ends are settled before that, and cost no write.

use super::held::{Held, Left, Stage};
use super::ruling::{abandoned, can_go_on, unfinished};
use super::{Action, Duties};
use gleaner_units::{RunId, Span, Time};
use gleaner_wire::session::{End, Run, Stream, Usage};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What waits or runs for so long is written down.
pub(super) const WAITS: Span = Span::from_nanos(3_000_000_000);

/// When what could not be written down is tried again.
const AGAIN: Span = Span::from_nanos(60_000_000_000);

/// How a run ended that was under way as its agent was killed.
const KILLED: &str = "its agent was killed while it ran";

/// A run that is to be handed in.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Kept {
    /// What was ordered.
    pub(crate) run: Arc<Run>,
    /// What is to be handed in.
    left: ToHandIn,
    /// Of standard output and standard error.
    wrote: [Wrote; 2],
}

/// How far it has come.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ToHandIn {
    /// Its folder has something that is yet to be stored at the coordinator.
    Folder(Left),
    /// Its end only.
    End(Box<End>),
    /// What its folder has to go on from: its program ran.
    Checkpoint,
}

/// How much a program wrote, into a file of its own.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Wrote {
    kept: u64,
    dropped: u64,
}

impl Kept {
    fn of(held: &Held) -> Option<Self> {
        let left = match &held.stage {
            Stage::Uncollected { left, .. } | Stage::Collecting { left } => ToHandIn::Folder(left.clone()),
            Stage::Over { end, .. } => ToHandIn::End(end.clone()),
            Stage::Running if can_go_on(&held.run.checkpoint) => ToHandIn::Checkpoint,
            Stage::Queued
            | Stage::Unprepared { .. }
            | Stage::Preparing
            | Stage::Ready
            | Stage::Launched
            | Stage::Running => return None,
        };
        let wrote = match left {
            // It writes on: how much that is shows when the record is taken up.
            ToHandIn::Checkpoint => Default::default(),
            ToHandIn::Folder(_) | ToHandIn::End(_) => {
                held.logs.each_ref().map(|log| Wrote { kept: log.written(), dropped: log.dropped() })
            }
        };
        Some(Self { run: held.run.clone(), left, wrote })
    }

    fn held(self, now: Time) -> Held {
        let mut held = Held::new(self.run);
        held.stage = match self.left {
            ToHandIn::Folder(left) => Stage::Uncollected { left, retry_at: now },
            ToHandIn::End(end) => Stage::Over { end, is_sent: false },
            ToHandIn::Checkpoint => {
                // It has ended now: the machine may go down in order before it is handed in.
                held.keep_at = Some(now);
                let (usage, notes) = (Usage::default(), Vec::new());
                let left = Left { ruling: unfinished(abandoned(KILLED), true), usage, notes };
                Stage::Uncollected { left, retry_at: now }
            }
        };
        for (log, wrote) in held.logs.iter_mut().zip(self.wrote) {
            log.wrote(now, wrote.kept, wrote.dropped);
        }
        held
    }

    /// Which run it is.
    pub(crate) fn id(&self) -> RunId {
        self.run.id
    }

    /// Whether its folder is needed yet.
    pub(crate) fn needs_its_folder(&self) -> bool {
        matches!(self.left, ToHandIn::Folder(_) | ToHandIn::Checkpoint)
    }

    /// Whether its program ran: a machine that goes down may tear what it has on the disk.
    pub(crate) fn is_under_way(&self) -> bool {
        matches!(self.left, ToHandIn::Checkpoint)
    }

    /// Of one that was under way: so much is in the files for what it wrote. The coordinator may have had no room for it, and skips what
    /// it has.
    pub(crate) fn found(&mut self, bytes: [u64; 2]) {
        self.wrote = bytes.map(|kept| Wrote { kept, dropped: 0 });
    }

    /// How many bytes of a stream are kept in its file.
    pub(crate) fn bytes(&self, stream: Stream) -> u64 {
        self.wrote[stream as usize].kept
    }
}

impl Duties {
    /// These runs ended with or under an agent before this one, which could not hand them in.
    pub(crate) fn take_up(&mut self, now: Time, kept: Vec<Kept>) {
        self.runs.extend(kept.into_iter().map(|kept| (kept.id(), kept.held(now))));
    }

    /// Has written down what waits or runs for long enough.
    pub(super) fn keep_what_waits(&mut self, now: Time) {
        self.keep(|at| at <= now);
    }

    /// This agent ends: nothing waits any longer.
    pub(super) fn keep_all(&mut self) {
        self.keep(|_| true);
    }

    /// The disk may take it later.
    pub(super) fn not_kept(&mut self, now: Time, runs: &BTreeSet<RunId>) {
        for run in runs {
            if let Some(held) = self.runs.get_mut(run) {
                held.keep_at.get_or_insert(now + AGAIN);
            }
        }
    }

    fn keep(&mut self, is_due: impl Fn(Time) -> bool) {
        let due = self.runs.values_mut().filter(|held| held.keep_at.is_some_and(&is_due));
        let kept: Vec<Kept> = due
            .filter_map(|held| {
                held.keep_at = None;
                Kept::of(held)
            })
            .collect();
        if !kept.is_empty() {
            self.actions.push_back(Action::Keep(kept));
        }
    }
}
