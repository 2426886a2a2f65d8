//! What is written down of a run whose program has ended, so that an agent that is started again hands it in.
//!
//! **Only what waits is written down**: the end of most runs is settled within milliseconds, and costs no write.

use super::held::{Held, Left, Stage};
use super::{Action, Duties};
use gleaner_units::{RunId, Span, Time};
use gleaner_wire::session::{End, Run, Stream};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What waits for so long is written down.
pub(super) const WAITS: Span = Span::from_nanos(3_000_000_000);

/// A run whose program has ended.
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
}

/// How much a program wrote, into a file of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Wrote {
    kept: u64,
    dropped: u64,
}

impl Kept {
    fn of(held: &Held) -> Option<Self> {
        let left = match &held.stage {
            Stage::Uncollected { left, .. } | Stage::Collecting { left } => ToHandIn::Folder(left.clone()),
            Stage::Over { end, .. } => ToHandIn::End(end.clone()),
            Stage::Queued
            | Stage::Unprepared { .. }
            | Stage::Preparing
            | Stage::Ready
            | Stage::Launched
            | Stage::Running => return None,
        };
        let wrote = held.logs.each_ref().map(|log| Wrote { kept: log.written(), dropped: log.dropped() });
        Some(Self { run: held.run.clone(), left, wrote })
    }

    fn held(self, now: Time) -> Held {
        let mut held = Held::new(self.run);
        held.stage = match self.left {
            ToHandIn::Folder(left) => Stage::Uncollected { left, retry_at: now },
            ToHandIn::End(end) => Stage::Over { end, is_sent: false },
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
        matches!(self.left, ToHandIn::Folder(_))
    }

    /// How many bytes of a stream are kept in its file.
    pub(crate) fn bytes(&self, stream: Stream) -> u64 {
        self.wrote[stream as usize].kept
    }
}

impl Duties {
    /// These runs ended under an agent before this one, which could not hand them in.
    pub(crate) fn take_up(&mut self, now: Time, kept: Vec<Kept>) {
        self.runs.extend(kept.into_iter().map(|kept| (kept.id(), kept.held(now))));
    }

    /// Has written down what waits for long enough.
    pub(super) fn keep_what_waits(&mut self, now: Time) {
        self.keep(|at| at <= now);
    }

    /// This agent ends: nothing waits any longer.
    pub(super) fn keep_all(&mut self) {
        self.keep(|_| true);
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
