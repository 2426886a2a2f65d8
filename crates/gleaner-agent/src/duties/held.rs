//! One run that this agent has: from the order to run it until its end is settled.

use super::log::Log;
use super::ruling::{Reason, Ruling};
use crate::owner::Bounds;
use gleaner_units::{Span, Time};
use gleaner_wire::session::{End, Outcome, Run, Usage};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A run and how far it has come.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) run: Arc<Run>,
    pub(crate) stage: Stage,
    /// Why and until when its program is to end, once it is.
    pub(crate) ending: Option<Ending>,
    pub(crate) active: Active,
    /// Since when its program is suspended, or is not started for the same reason, if it is.
    pub(crate) suspended_since: Option<Time>,
    /// Standard output and standard error.
    pub(crate) logs: [Log; 2],
    /// How often in a row the coordinator could not give or take its files.
    pub(crate) rests: u32,
    /// Why output of it is missing.
    pub(crate) lost_output: Option<String>,
    /// Whether there was no room on the disk at some time while its program ran.
    pub(crate) had_full_disk: bool,
    /// When to write down what it keeps or left, if it still runs or waits then.
    pub(crate) keep_at: Option<Time>,
}

/// How far a run has come.
#[derive(Debug)]
pub(crate) enum Stage {
    /// An older run of the same task has still to end here.
    Queued,
    /// What it needs could not be fetched; that is tried again at that time, if there is a connection.
    Unprepared { retry_at: Time },
    /// Its folder is being made.
    Preparing,
    /// Its folder is made; nothing starts while the owner wants the machine, nor before the run that it follows is over.
    Ready,
    /// A minder was told to start it.
    Launched,
    /// Its program runs, or is suspended.
    Running,
    /// Its program has ended; what it left waits for a connection, or for another try at that time.
    Uncollected { left: Left, retry_at: Time },
    /// What it left is being stored at the coordinator.
    Collecting { left: Left },
    /// It has ended; the coordinator has not answered yet.
    Over { end: Box<End>, is_sent: bool },
}

/// What is known of a run whose program has ended.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct Left {
    pub(crate) ruling: Ruling,
    pub(crate) usage: Usage,
    /// For its user: what of it was not kept, and why.
    #[serde(default)]
    pub(crate) notes: Vec<String>,
}

/// A program that is to end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ending {
    pub(crate) reason: Reason,
    /// None once it was killed.
    pub(crate) kill_at: Option<Time>,
}

/// How long a program has run, without the time it was suspended.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Active {
    before: Span,
    since: Option<Time>,
}

impl Held {
    pub(crate) fn new(run: Arc<Run>) -> Self {
        Self {
            run,
            stage: Stage::Queued,
            ending: None,
            active: Active::default(),
            suspended_since: None,
            logs: [Log::default(), Log::default()],
            rests: 0,
            lost_output: None,
            had_full_disk: false,
            keep_at: None,
        }
    }

    /// Whether there is a program that can get signals.
    pub(crate) fn is_alive(&self) -> bool {
        matches!(self.stage, Stage::Launched | Stage::Running)
    }

    /// How it ended, once it has.
    pub(crate) fn outcome(&self) -> Option<&Outcome> {
        match &self.stage {
            Stage::Uncollected { left, .. } | Stage::Collecting { left } => Some(&left.ruling.outcome),
            Stage::Over { end, .. } => Some(&end.outcome),
            Stage::Queued
            | Stage::Unprepared { .. }
            | Stage::Preparing
            | Stage::Ready
            | Stage::Launched
            | Stage::Running => None,
        }
    }

    /// Whether nobody waits for its end.
    pub(crate) fn is_disowned(&self) -> bool {
        self.ending.is_some_and(|ending| ending.reason == Reason::Disowned)
    }

    /// Whether a program may yet be started.
    pub(crate) fn is_before_its_start(&self) -> bool {
        matches!(self.stage, Stage::Queued | Stage::Unprepared { .. } | Stage::Preparing | Stage::Ready)
    }

    /// Whether nothing can be done about it without a connection.
    pub(crate) fn waits_for_the_coordinator(&self) -> bool {
        matches!(self.stage, Stage::Unprepared { .. } | Stage::Uncollected { .. })
    }

    /// When its time is up, if it runs, has a limit, and is not ending already.
    pub(crate) fn time_limit(&self, bounds: Bounds) -> Option<Time> {
        let limit = bounds.time(&self.run).filter(|_| self.ending.is_none())?;
        self.active.reaches(limit)
    }

    /// When it was suspended, or kept from its start, for as long as it may be.
    pub(crate) fn eviction(&self, bounds: Bounds) -> Option<Time> {
        let may_leave = self.ending.is_none() && (self.is_alive() || self.is_before_its_start());
        let since = self.suspended_since.filter(|_| may_leave)?;
        bounds.suspended_max.map(|most| since + most)
    }

    /// When something has to be done about it, but for its [eviction](Self::eviction).
    pub(crate) fn due(&self, bounds: Bounds) -> Option<Time> {
        match &self.stage {
            Stage::Launched | Stage::Running => {
                let kill_at = self.ending.and_then(|ending| ending.kill_at);
                [kill_at, self.time_limit(bounds)].into_iter().flatten().min()
            }
            Stage::Unprepared { retry_at } | Stage::Uncollected { retry_at, .. } => Some(*retry_at),
            Stage::Queued
            | Stage::Preparing
            | Stage::Ready
            | Stage::Collecting { .. }
            | Stage::Over { .. } => None,
        }
    }
}

impl Active {
    pub(crate) fn go(&mut self, now: Time) {
        self.since.get_or_insert(now);
    }

    pub(crate) fn pause(&mut self, now: Time) {
        if let Some(since) = self.since.take() {
            self.before = Span::from_nanos(self.before.nanos().saturating_add(now.since(since).nanos()));
        }
    }

    pub(crate) fn total(&self) -> Span {
        self.before
    }

    fn reaches(&self, limit: Span) -> Option<Time> {
        let left = Span::from_nanos(limit.nanos().saturating_sub(self.before.nanos()));
        self.since.map(|since| since + left)
    }
}
