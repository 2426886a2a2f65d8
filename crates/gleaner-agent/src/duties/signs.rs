//! What the owner wants, and what the coordinator is told of it.

use super::held::Stage;
use super::{Action, Duties};
use crate::keeper::Signal;
use crate::owner::{Reason, Sign, Verdict};
use gleaner_units::Time;
use gleaner_wire::limits::REASON_BYTES_MAX;
use gleaner_wire::session::FromAgent;
use gleaner_wire::text::tamed;
use std::borrow::Cow;

/// Why tasks stand still that an administrator suspended, by whose name: in words for owners and users.
pub(crate) fn paused_at(by: &str) -> String {
    let by = if by.is_empty() { "an administrator" } else { by };
    format!("paused at the coordinator by {by}")
}

/// What stands still.
#[derive(Clone, Copy)]
struct Standing {
    is_suspended: bool,
    stores_nothing: bool,
}

impl Duties {
    pub(super) fn judged(&mut self, now: Time, verdict: Verdict) {
        if verdict == self.verdict {
            return;
        }
        let before = self.standing();
        let was = std::mem::replace(&mut self.verdict, verdict);
        self.stand_or_go_on(now, before, why_on(was));
    }

    /// Who reads the name has a terminal, and the coordinator may be somebody else's by now.
    pub(super) fn set_paused(&mut self, now: Time, by: Option<String>) {
        let by = by.map(|by| tamed(&by, REASON_BYTES_MAX));
        if by == self.paused_by {
            return;
        }
        let before = self.standing();
        self.paused_by = by;
        self.stand_or_go_on(now, before, Some("no longer paused at the coordinator"));
    }

    /// By whose order at the coordinator what runs stands still, if it does.
    pub(crate) fn paused_by(&self) -> Option<&str> {
        self.paused_by.as_deref()
    }

    fn standing(&self) -> Standing {
        Standing { is_suspended: self.is_suspended(), stores_nothing: self.stores_nothing() }
    }

    pub(super) fn is_suspended(&self) -> bool {
        self.paused_by.is_some() || matches!(self.verdict, Verdict::Suspend(_))
    }

    /// Whether nothing is to be brought here for guests.
    pub fn brings_nothing(&self) -> bool {
        self.is_suspended()
    }

    /// Whether nothing that guests left is to be stored either: the owner said by hand that all stands still. An agent that leaves has no
    /// other time for it.
    pub fn stores_nothing(&self) -> bool {
        let by_hand = Verdict::Suspend(Reason::OwnerHere(Sign::ByHand));
        self.leaving.is_none()
            && (self.verdict == Verdict::Suspend(Reason::Paused) || self.verdict == by_hand)
    }

    /// Whether the owner's word keeps a run's files where they are. A checkpoint goes: with it goes the guest.
    pub(super) fn is_held_back(&self, stage: &Stage) -> bool {
        match stage {
            Stage::Unprepared { .. } => self.brings_nothing(),
            Stage::Uncollected { left, .. } => self.stores_nothing() && !left.ruling.keeps_checkpoint,
            Stage::Queued
            | Stage::Preparing
            | Stage::Ready
            | Stage::Launched
            | Stage::Running
            | Stage::Collecting { .. }
            | Stage::Over { .. } => false,
        }
    }

    /// Whether neither the owner nor the coordinator wants the machine to stand still for anybody.
    pub(super) fn is_free_for_guests(&self) -> bool {
        self.verdict == Verdict::Run && self.paused_by.is_none()
    }

    /// Stops first, and tells then; `why_on` is why tasks go on, where that is somebody's word.
    fn stand_or_go_on(&mut self, now: Time, before: Standing, why_on: Option<&'static str>) {
        let after = self.standing();
        if before.is_suspended != after.is_suspended {
            self.signal_all(now, if after.is_suspended { Signal::Freeze } else { Signal::Thaw });
        }
        let may_bring = before.is_suspended && !after.is_suspended;
        let may_store = before.stores_nothing && !after.stores_nothing;
        if may_bring || may_store {
            self.hurry(now);
        }
        let goes_on = before.is_suspended && !after.is_suspended;
        self.tell_load_as(why_on.filter(|_| goes_on));
        self.tell_open();
    }

    /// What was broken off goes on at once.
    fn hurry(&mut self, now: Time) {
        for held in self.runs.values_mut() {
            if let Stage::Unprepared { retry_at } | Stage::Uncollected { retry_at, .. } = &mut held.stage {
                *retry_at = (*retry_at).min(now);
            }
        }
    }

    /// What is ending goes on: it has its grace, which nobody can use asleep. What has not begun stands still without a signal.
    fn signal_all(&mut self, now: Time, signal: Signal) {
        let since = (signal == Signal::Freeze).then_some(now);
        for (run, held) in &mut self.runs {
            if held.is_before_its_start() {
                held.suspended_since = since;
            }
            if !matches!(held.stage, Stage::Running) || held.ending.is_some() {
                continue;
            }
            held.suspended_since = since;
            if signal == Signal::Freeze {
                held.active.pause(now);
            } else {
                held.active.go(now);
            }
            self.actions.push_back(Action::Signal(*run, signal));
        }
    }

    pub(super) fn tell_load(&mut self) {
        self.tell_load_as(None);
    }

    fn tell_load_as(&mut self, why_on: Option<&'static str>) {
        let (load, why) = match (self.verdict, &self.paused_by) {
            (Verdict::Suspend(reason), _) => (1.0, reason.to_string()),
            (Verdict::Run | Verdict::NoNewTasks(_), Some(by)) => (1.0, paused_at(by)),
            (Verdict::Run | Verdict::NoNewTasks(_), None) => {
                let (load, why) = self.load.clone();
                (load, why_on.map_or(why, str::to_owned))
            }
        };
        self.send(FromAgent::OwnerLoad { load, why });
    }

    pub(super) fn tell_open(&mut self) {
        let closed = self.why_closed();
        let (open, why) = (closed.is_none(), closed.unwrap_or("the owner's rules allow it".into()));
        self.send(FromAgent::Open { open, why: why.into_owned() });
    }

    /// Why this machine takes nothing new, if that is so.
    pub(super) fn why_closed(&self) -> Option<Cow<'static, str>> {
        match (self.verdict, &self.disk_fault) {
            _ if self.leaving.is_some() => Some("the agent was told to leave".into()),
            (Verdict::Suspend(reason) | Verdict::NoNewTasks(reason), _) => Some(reason.to_string().into()),
            _ if self.paused_by.is_some() => self.paused_by().map(|by| paused_at(by).into()),
            _ if !self.is_opened => Some("closed at the coordinator".into()),
            (Verdict::Run, None) => self.lacking.as_ref().map(|(why, _)| why.clone().into()),
            (Verdict::Run, Some(why)) => {
                let what = "its disk does not keep what is written to it";
                Some(format!("{what} ({why}): free some space, or mend it").into())
            }
        }
    }
}

/// By whose word tasks go on that stood still for this.
fn why_on(was: Verdict) -> Option<&'static str> {
    match was {
        Verdict::Suspend(Reason::Paused) => Some("the owner resumed it"),
        Verdict::Suspend(Reason::OwnerHere(Sign::ByHand)) => Some("the owner says to be away"),
        Verdict::Run | Verdict::Suspend(_) | Verdict::NoNewTasks(_) => None,
    }
}
