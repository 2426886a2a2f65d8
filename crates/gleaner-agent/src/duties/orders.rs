//! What the coordinator says, and how a run comes to its start.

use super::held::{Held, Stage};
use super::kept::WAITS;
use super::link::Start;
use super::rests::rest;
use super::ruling::{Reason, abandoned, can_go_on};
use super::window::Window;
use super::{Action, Duties, RUNS_MAX, SETTLED_MAX, TransferError};
use crate::keeper::Signal;
use crate::owner::{self, Verdict};
use gleaner_units::{RunId, Span, Time};
use gleaner_wire::Had;
use gleaner_wire::limits::REASON_BYTES_MAX;
use gleaner_wire::session::{End, FromAgent, Obstacle, Outcome, Run, StopCause, ToAgent};
use gleaner_wire::text::tamed;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Duties {
    pub(super) fn receive(&mut self, now: Time, message: ToAgent) {
        match message {
            ToAgent::Challenge { nonce } if self.link.is_greeting() => {
                self.actions.push_back(Action::Prove(nonce));
            }
            ToAgent::Proven if self.link.is_greeting() => self.introduce(),
            ToAgent::Welcome {
                epoch,
                lineage,
                restored,
                forget,
                lease_s,
                heartbeat_s,
                token,
                paused,
                is_full,
            } => {
                let start = Start { epoch, lineage, restored };
                match self.link.welcomed(now, start, lease_s, heartbeat_s) {
                    Ok(was_put_back) => {
                        for run in forget {
                            self.leave_to_the_past(now, run);
                        }
                        if was_put_back {
                            // What it vouched for may be lost.
                            let logs = self.runs.values_mut().flat_map(|held| &mut held.logs);
                            logs.for_each(super::log::Log::forget_what_arrived);
                        }
                        self.set_paused(now, paused);
                        self.resume_session(now, token);
                        self.window = Window::new(is_full);
                    }
                    Err(why) => self.close(why),
                }
            }
            ToAgent::Refused { why, for_good: true } => {
                self.actions.push_back(Action::GiveUp(tamed(&why, REASON_BYTES_MAX)));
            }
            ToAgent::Refused { why, for_good: false } => {
                let why = tamed(&why, REASON_BYTES_MAX);
                self.close(format!("the coordinator refuses this agent for now: {why}"));
            }
            other if self.link.is_up() => self.obey(now, other),
            other => self.close(format!("it said {} before its welcome", name_of(&other))),
        }
    }

    fn obey(&mut self, now: Time, message: ToAgent) {
        match message {
            ToAgent::Beat { number, row, hash, is_full } => {
                let news = self.link.beat(now, number, row, hash);
                self.actions.extend(news.map(Action::Remember));
                for held in self.runs.values_mut() {
                    held.logs.iter_mut().for_each(|log| log.beat(number));
                }
                self.window.answered(now, number);
                self.window.set_closed(is_full);
            }
            ToAgent::Yours { runs } => self.keep_only(now, &runs.into_iter().collect()),
            ToAgent::Run(run) => self.take_on(now, Arc::new(*run)),
            ToAgent::Stop { run, cause } => self.stop(now, run, cause),
            ToAgent::Settled { run, .. } => self.settled(now, run),
            ToAgent::StoreAgain { run } => self.store_again(now, run),
            ToAgent::Measure => self.measuring.want(),
            ToAgent::SetOpen { open } => {
                self.is_opened = open;
                self.tell_open();
            }
            ToAgent::SetPaused { paused, by } => self.set_paused(now, paused.then_some(by)),
            ToAgent::Challenge { .. }
            | ToAgent::Proven
            | ToAgent::Welcome { .. }
            | ToAgent::Refused { .. } => {
                self.close("it greets twice");
            }
        }
    }

    /// Everything that may have been lost with the last connection is said again.
    fn resume_session(&mut self, now: Time, token: String) {
        self.actions.push_back(Action::UseToken(token));
        self.actions.extend(self.link.met().cloned().map(Action::Remember));
        self.tell_load();
        self.tell_open();
        for held in self.runs.values_mut() {
            held.logs.iter_mut().for_each(|log| log.reconnected(now));
            let disowned = held.is_disowned();
            match &mut held.stage {
                Stage::Over { is_sent, .. } => *is_sent = false,
                Stage::Unprepared { retry_at } | Stage::Uncollected { retry_at, .. } => *retry_at = now,
                Stage::Running if !disowned => {
                    self.actions.push_back(Action::Send(FromAgent::Started(held.run.id)));
                }
                // Another run may have its number by now.
                Stage::Running
                | Stage::Queued
                | Stage::Preparing
                | Stage::Ready
                | Stage::Launched
                | Stage::Collecting { .. } => {}
            }
        }
    }

    /// The coordinator's past is another than the one in which this run was ordered: it ends, and nobody hears of it.
    fn leave_to_the_past(&mut self, now: Time, run: RunId) {
        let Some(held) = self.runs.get(&run) else { return };
        if held.is_alive() || held.is_before_its_start() {
            self.end(now, run, Reason::Disowned, Span::ZERO);
        } else {
            self.forget(run);
        }
    }

    fn keep_only(&mut self, now: Time, ours: &BTreeSet<RunId>) {
        let others: Vec<_> = self.runs().filter(|run| !ours.contains(run)).collect();
        for run in others {
            self.end(now, run, Reason::Disowned, Span::ZERO);
        }
    }

    fn take_on(&mut self, now: Time, run: Arc<Run>) {
        let id = run.id;
        let has = |held: &Held| held.run.lineage == run.lineage && !held.is_disowned();
        if self.runs.get(&id).is_some_and(has) {
            return;
        }
        let latest = self.runs_of(id.task).last().map(|(latest, _)| latest.number);
        let is_stale = latest.is_some_and(|latest| latest >= id.number);
        let is_over =
            |old: &Had| old.lineage == run.lineage && old.run.task == id.task && old.run.number >= id.number;
        if is_stale || self.settled.iter().any(is_over) {
            // Someone waits for it.
            let why = "its machine has had this run of the task already, or a later one";
            self.send(FromAgent::Ended { run: id, end: End::of(abandoned(why)) });
            return;
        }
        if self.runs.len() >= RUNS_MAX {
            self.close(format!("it wants more than {RUNS_MAX} runs of one agent"));
            return;
        }
        if run.after.is_none()
            && let Some(why) = self.why_not_taken(&run)
        {
            self.send(FromAgent::Ended { run: id, end: End::of(abandoned(&why)) });
            return;
        }
        let older: Vec<_> = self.runs_of(id.task).map(|(older, _)| *older).collect();
        for older in older {
            self.end(now, older, Reason::Disowned, Span::ZERO);
        }
        let suspended_since = self.is_suspended().then_some(now);
        self.runs.insert(id, Held { suspended_since, ..Held::new(run) });
        self.prepare_if_alone(id);
        if self.leaving.is_some() {
            self.end(now, id, Reason::Leaving, Span::ZERO);
        }
    }

    pub(super) fn prepare_if_alone(&mut self, run: RunId) {
        let goes_on = |held: &Held| held.is_alive() || held.is_before_its_start();
        let is_alone = !self.runs_of(run.task).any(|(other, held)| *other < run && goes_on(held));
        if let Some(held) = self.runs.get_mut(&run)
            && is_alone
            && matches!(held.stage, Stage::Queued)
        {
            held.stage = Stage::Preparing;
            self.actions.push_back(Action::Prepare(held.run.clone()));
        }
    }

    pub(super) fn prepare_what_is_due(&mut self, now: Time) {
        if !self.link.is_up() {
            return;
        }
        let is_due = |held: &Held| matches!(held.stage, Stage::Unprepared { retry_at } if retry_at <= now);
        for run in self.runs_where(|held| is_due(held) && !self.is_held_back(&held.stage)) {
            if let Some(held) = self.runs.get_mut(&run) {
                held.stage = Stage::Preparing;
                self.actions.push_back(Action::Prepare(held.run.clone()));
            }
        }
    }

    pub(super) fn prepared(&mut self, now: Time, run: RunId, result: Result<(), TransferError>) {
        let Some(held) = self.runs.get_mut(&run).filter(|held| matches!(held.stage, Stage::Preparing)) else {
            // It was ended meanwhile; what was just made must not stay.
            self.actions.push_back(Action::Clear(run));
            return;
        };
        match result {
            Ok(()) => {
                held.rests = 0;
                held.stage = Stage::Ready;
            }
            Err(TransferError::Later(_)) => {
                held.rests += 1;
                let retry_at = now + rest(self.agent, run, held.rests);
                held.stage = Stage::Unprepared { retry_at };
            }
            Err(error) => {
                let why = format!("its files could not be brought here: {error}");
                let is_full = matches!(error, TransferError::NoRoom(_));
                let obstacle = if is_full { Obstacle::Machine } else { Obstacle::Task };
                self.over(run, Outcome::NotStarted { why, obstacle });
            }
        }
    }

    /// Starts what is ready, unless the owner pauses or drains the machine, or the coordinator is not heard: the order to run it may
    /// have been on its way when they said so, or its cancel is. What was ordered ahead is given back whenever nothing new is to
    /// come.
    pub(super) fn launch_what_is_ready(&mut self, now: Time) {
        if !self.may_begin(now) {
            return;
        }
        let is_draining = self.verdict == Verdict::NoNewTasks(owner::Reason::Draining);
        for run in self.runs_where(|held| matches!(held.stage, Stage::Ready)) {
            if self.waits_for_another(run) {
                continue;
            }
            let Some(held) = self.runs.get(&run) else { continue };
            let closed = self.why_closed().filter(|_| held.run.after.is_some() || is_draining);
            if let Some(why) = closed {
                self.over(run, abandoned(&format!("its machine takes nothing new: {why}")));
            } else if let Some(why) = self.why_not_begun(&held.run) {
                self.over(run, abandoned(&why));
            } else if self.waits_for_room(&held.run) {
                // What is ending is killed after its grace at the latest.
            } else if let Some(held) = self.runs.get_mut(&run) {
                held.stage = Stage::Launched;
                held.active.go(now);
                self.actions.push_back(Action::Launch(held.run.clone()));
            }
        }
    }

    /// Whether any program may begin now.
    pub(crate) fn may_begin(&self, now: Time) -> bool {
        !self.is_suspended() && self.link.hears(now)
    }

    /// A run that was to be started was not: it is as ready as before.
    pub(crate) fn put_back(&mut self, now: Time, run: RunId) {
        let suspended_since = self.is_suspended().then_some(now);
        if let Some(held) = self.runs.get_mut(&run).filter(|held| matches!(held.stage, Stage::Launched)) {
            held.active.pause(now);
            held.suspended_since = suspended_since;
            held.stage = Stage::Ready;
        }
    }

    /// Whether a run is to begin only when another is over, and that is not.
    fn waits_for_another(&self, run: RunId) -> bool {
        let before = self.runs.get(&run).and_then(|held| held.run.after);
        before.and_then(|before| self.runs.get(&before)).is_some_and(|before| !before.stage.is_over())
    }

    pub(super) fn began(&mut self, now: Time, run: RunId) {
        let is_suspended = self.is_suspended();
        let Some(held) = self.runs.get_mut(&run).filter(|held| matches!(held.stage, Stage::Launched)) else {
            return;
        };
        held.stage = Stage::Running;
        held.keep_at = can_go_on(&held.run.checkpoint).then(|| now + WAITS);
        if is_suspended && held.ending.is_none() {
            held.active.pause(now);
            held.suspended_since = Some(now);
            self.actions.push_back(Action::Signal(run, Signal::Freeze));
        }
        self.send(FromAgent::Started(run));
    }

    fn stop(&mut self, now: Time, run: RunId, cause: StopCause) {
        match self.runs.get(&run) {
            // It may have been settled already: then this answer is old news, and else someone waits for it.
            None => self.send(FromAgent::Ended { run, end: unknown_here() }),
            Some(held) if cause == StopCause::TakeBack && !held.is_before_its_start() => {}
            Some(_) => self.end(now, run, Reason::Asked(cause), self.grace(run)),
        }
    }

    fn settled(&mut self, now: Time, run: RunId) {
        let Some(held) = self.runs.get(&run) else { return };
        let lineage = held.run.lineage;
        if held.is_alive() || held.is_before_its_start() {
            self.end(now, run, Reason::Disowned, Span::ZERO);
            return;
        }
        if self.settled.len() == SETTLED_MAX {
            self.settled.pop_front();
        }
        self.settled.push_back(Had { run, lineage });
        self.forget(run);
    }

    pub(super) fn forget(&mut self, run: RunId) {
        self.runs.remove(&run);
        self.actions.push_back(Action::Clear(run));
        let next = self.runs_of(run.task).last().map(|(next, _)| *next);
        if let Some(next) = next {
            self.prepare_if_alone(next);
        }
    }
}

fn unknown_here() -> End {
    End::of(abandoned("the order for it was lost when the connection to its machine broke"))
}

fn name_of(message: &ToAgent) -> &'static str {
    match message {
        ToAgent::Challenge { .. } => "challenge",
        ToAgent::Proven => "proven",
        ToAgent::Welcome { .. } => "welcome",
        ToAgent::Refused { .. } => "refused",
        ToAgent::Beat { .. } => "beat",
        ToAgent::Yours { .. } => "yours",
        ToAgent::Run(_) => "run",
        ToAgent::Stop { .. } => "stop",
        ToAgent::Settled { .. } => "settled",
        ToAgent::StoreAgain { .. } => "store again",
        ToAgent::Measure => "measure",
        ToAgent::SetOpen { .. } => "set open",
        ToAgent::SetPaused { .. } => "set paused",
    }
}
