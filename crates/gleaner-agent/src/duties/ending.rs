//! How a run comes to its end: by itself, by order, by a limit or with the lease.

use super::held::{Ending, Held, Left, Stage};
use super::kept::WAITS;
use super::log::Log;
use super::rests::rest;
use super::ruling::{Exit, Reason, Ruling, abandoned, can_go_on, outcome_of, rule, unfinished};
use super::{Action, Collected, Duties, Leaving, TransferError, Wanted};
use crate::keeper::Signal;
use crate::owner::{Bounds, LEAVING};
use gleaner_units::{RunId, Span, Time};
use gleaner_wire::session::{End, Outcome, StopCause, Stored, Tail, Usage};

/// What is kept free of the lease for killing.
const MARGIN: Span = Span::from_nanos(1_000_000_000);

/// How long nothing new comes to a machine that could not start a program for want of something, or, at most, that had no memory left
/// for one.
const LACKING: Span = Span::from_nanos(30_000_000_000);

/// Why a run does not count whose program found no room for what it wrote, or may have.
const FULL_DISK: &str =
    "its machine's disk was full while it ran, so that what it left may be less than it wrote";

/// Whether a full disk may have made it so: the program failed by itself, or what it left is incomplete. What asks to go on has saved
/// what it needs for that.
fn is_doubtful(ruling: &Ruling, has_outputs: bool) -> bool {
    match ruling.outcome {
        Outcome::Exited { code: 0 } => has_outputs,
        Outcome::Exited { .. } | Outcome::Signalled { .. } => !ruling.keeps_checkpoint,
        Outcome::Stopped
        | Outcome::TimedOut
        | Outcome::OverLimit { .. }
        | Outcome::Abandoned { .. }
        | Outcome::NotStarted { .. } => false,
    }
}

impl Duties {
    /// What a run's program gets of the lease: its grace ends before the lease does.
    pub(super) fn lease_stop(&self, held: &Held) -> Option<Time> {
        let quarter = Span::from_nanos(self.link.lease().nanos() / 4);
        let reserve = self.bounds.grace(&held.run).min(quarter).nanos() + MARGIN.min(quarter).nanos();
        self.link.lease_ends().map(|ends| Time::from_nanos(ends.nanos().saturating_sub(reserve)))
    }

    /// Ends what the lease does not cover. It comes before anything else, since the machine may have slept.
    pub(super) fn keep_lease(&mut self, now: Time) {
        let Some(ends) = self.link.lease_ends() else { return };
        let quarter = Span::from_nanos(self.link.lease().nanos() / 4);
        let due = self.runs_where(|held| {
            (held.is_alive() || held.is_before_its_start())
                && self.lease_stop(held).is_some_and(|stop| stop <= now)
        });
        for run in due {
            let grace = if ends <= now { Span::ZERO } else { self.grace(run).min(quarter) };
            self.end(now, run, Reason::LeaseEnds, grace);
        }
    }

    /// Kills what was asked to end long enough ago, and asks what has had its time.
    pub(super) fn keep_limits(&mut self, now: Time) {
        let late = self.runs_where(|held| {
            let kill_at = held.ending.and_then(|ending| ending.kill_at);
            held.is_alive() && kill_at.is_some_and(|at| at <= now)
        });
        for run in late {
            self.kill(run);
        }
        let over_time = self.runs_where(|held| held.time_limit(self.bounds).is_some_and(|at| at <= now));
        for run in over_time {
            let owners = self.runs.get(&run).and_then(|held| self.bounds.owners_time(&held.run));
            let reason = owners.map_or(Reason::TimeLimit, Reason::OwnersLimit);
            self.end(now, run, reason, self.grace(run));
        }
        let in_the_way = self.runs_where(|held| held.eviction(self.bounds).is_some_and(|at| at <= now));
        for run in in_the_way {
            self.end(now, run, Reason::Evicted, self.grace(run));
        }
    }

    /// What is ending gets no more time from now on than the owner gives now.
    pub(super) fn ruled(&mut self, now: Time, bounds: Bounds) {
        self.bounds = bounds;
        for held in self.runs.values_mut() {
            let latest = now + bounds.grace(&held.run);
            if let Some(ending) = &mut held.ending {
                ending.kill_at = ending.kill_at.map(|at| at.min(latest));
            }
        }
    }

    /// Whatever runs may have written less than it meant to: what is brought here leaves twice as much free, so that somebody else has
    /// filled the disk, and a write of a run may have failed.
    pub(super) fn disk_is_full(&mut self) {
        self.runs.values_mut().filter(|held| held.is_alive()).for_each(|held| held.had_full_disk = true);
    }

    /// How long a run may take to end once it is asked to.
    pub(super) fn grace(&self, run: RunId) -> Span {
        self.runs.get(&run).map_or(Span::ZERO, |held| self.bounds.grace(&held.run))
    }

    /// Has all leave that is here.
    pub(super) fn evict(&mut self, now: Time) {
        for run in self.runs().collect::<Vec<_>>() {
            self.end(now, run, Reason::Evicted, self.grace(run));
        }
    }

    /// Has a run end for some reason; its program is killed after the grace. One that has ended already is reported,
    /// wanted or not: the coordinator says what counts.
    pub(super) fn end(&mut self, now: Time, run: RunId, reason: Reason, grace: Span) {
        let Some(held) = self.runs.get_mut(&run) else { return };
        if held.ending.is_none() && (held.is_alive() || held.is_before_its_start()) {
            // The coordinator may never be told.
            self.actions.push_back(Action::Note(run, outcome_of(reason).to_string()));
        }
        if held.is_alive() {
            let is_first = held.ending.is_none();
            let kill_at = now + grace;
            let ending = held.ending.get_or_insert(Ending { reason, kill_at: Some(kill_at) });
            // What is held goes on from what it keeps, though it would have failed at its limit.
            let is_held = reason == Reason::Asked(StopCause::Hold)
                && held.run.fails_at_limit
                && matches!(ending.reason, Reason::TimeLimit | Reason::OwnersLimit(_));
            if is_held || matches!(reason, Reason::Disowned | Reason::Asked(StopCause::Cancel)) {
                ending.reason = reason;
            }
            ending.kill_at = ending.kill_at.map(|at| at.min(kill_at));
            if grace == Span::ZERO {
                self.kill(run);
            } else if is_first {
                self.ask_to_end(now, run);
            }
        } else if held.is_before_its_start() && reason == Reason::Disowned {
            self.forget(run);
        } else if held.is_before_its_start() {
            self.over(run, outcome_of(reason));
        } else if reason == Reason::Asked(StopCause::Cancel) {
            self.leave_uncollected(run);
        }
    }

    /// Nobody wants any more what a run left and what could not be stored so far. What is on its way may still arrive.
    fn leave_uncollected(&mut self, run: RunId) {
        let Some(held) = self.runs.get_mut(&run) else { return };
        match &held.stage {
            Stage::Uncollected { left, .. } => {
                let end = end_of(Outcome::Stopped, left.usage, Collected::default());
                held.stage = Stage::Over { end: Box::new(end), is_sent: false };
            }
            // What it wrote may wait for room.
            Stage::Collecting { .. } | Stage::Over { is_sent: false, .. } => {
                held.ending = Some(Ending { reason: Reason::Asked(StopCause::Cancel), kill_at: None });
            }
            _ => {}
        }
    }

    fn ask_to_end(&mut self, now: Time, run: RunId) {
        if let Some(held) = self.runs.get_mut(&run) {
            self.actions.push_back(Action::Signal(run, Signal::Terminate));
            if matches!(held.stage, Stage::Running) {
                // A suspended program could not use its grace.
                held.active.go(now);
                held.suspended_since = None;
                self.actions.push_back(Action::Signal(run, Signal::Thaw));
            }
        }
    }

    fn kill(&mut self, run: RunId) {
        let ending = self.runs.get_mut(&run).and_then(|held| held.ending.as_mut());
        if ending.is_some_and(|ending| ending.kill_at.take().is_some()) {
            self.actions.push_back(Action::Signal(run, Signal::Kill));
        }
    }

    /// Nothing new comes until then, or for longer if that was said before: one more would lack the same.
    fn lack(&mut self, until: Time, why: String) {
        if self.lacking.as_ref().is_none_or(|(_, ends)| *ends < until) {
            self.lacking = Some((why, until));
        }
        self.tell_open();
    }

    pub(super) fn lack_no_more(&mut self, now: Time) {
        if self.lacking.take_if(|(_, until)| *until <= now).is_some() {
            self.tell_open();
        }
    }

    pub(super) fn exited(&mut self, now: Time, run: RunId, exit: Exit, usage: Usage) {
        let ran = self.runs.get_mut(&run).filter(|held| held.is_alive()).map_or(LACKING, |held| {
            held.active.pause(now);
            held.active.total()
        });
        match &exit {
            Exit::Lacking(what) => {
                self.lack(now + LACKING, format!("it could not start a program: {what}"));
            }
            // For no longer than it ran, so that short tasks that fill a machine do not close it for long.
            Exit::MemoryGone => {
                let why = "it had no more memory for tasks, and the kernel ended one".to_owned();
                self.lack(now + ran.min(LACKING), why);
            }
            Exit::Code(_)
            | Exit::Signal(_)
            | Exit::OverLimit(_)
            | Exit::NotStarted(_)
            | Exit::NoProgram(_)
            | Exit::Refused(_)
            | Exit::LeaseEnded => {}
        }
        let Some(held) = self.runs.get_mut(&run).filter(|held| held.is_alive()) else { return };
        let usage = Usage { elapsed_s: held.active.total().seconds(), ..usage };
        let reason = held.ending.map(|ending| ending.reason);
        if reason == Some(Reason::Disowned) {
            self.forget(run);
            return;
        }
        let ruling = match &held.lost_output {
            Some(why) => unfinished(abandoned(why), false),
            None => rule(&held.run, reason, exit),
        };
        let ruling = if held.had_full_disk && is_doubtful(&ruling, !held.run.outputs.is_empty()) {
            unfinished(abandoned(FULL_DISK), false)
        } else {
            ruling
        };
        // What was signed does not run again once it has ended well, so its end must not be lost.
        held.keep_at = Some(if held.run.signed.is_some() { now } else { now + WAITS });
        held.stage = next_stage(held, Left { ruling, usage, notes: Vec::new() }, now);
    }

    /// A run does not count whose output has a hole or no end.
    pub(super) fn output_lost(&mut self, now: Time, run: RunId, why: &str) {
        self.disk_fault = Some(why.to_owned());
        self.tell_open();
        let Some(held) = self.runs.get_mut(&run) else { return };
        let why = format!("what it wrote could not be kept on its machine: {why}");
        held.lost_output = Some(why.clone());
        if held.is_alive() {
            self.end(now, run, Reason::OutputLost, Span::ZERO);
            return;
        }
        let usage = match &held.stage {
            Stage::Uncollected { left, .. } | Stage::Collecting { left } => left.usage,
            Stage::Over { end, .. } => end.usage,
            _ => return,
        };
        let end = end_of(abandoned(&why), usage, Collected::default());
        held.stage = Stage::Over { end: Box::new(end), is_sent: false };
        held.logs = [Log::default(), Log::default()];
    }

    /// Whether a run's program came to its end, and what it left is not stored yet.
    pub(crate) fn awaits_storing(&self, run: RunId) -> bool {
        let stage = self.runs.get(&run).map(|held| &held.stage);
        matches!(stage, Some(Stage::Uncollected { .. } | Stage::Collecting { .. }))
    }

    /// Whether a run's program came to its end with exit code 0, and all that it left counts.
    pub(crate) fn has_ended_well(&self, run: RunId) -> bool {
        self.runs.get(&run).and_then(Held::outcome) == Some(&Outcome::Exited { code: 0 })
    }

    pub(super) fn disk_works(&mut self) {
        if self.disk_fault.take().is_some() {
            self.tell_open();
        }
    }

    pub(super) fn lose_minder(&mut self, now: Time, run: RunId) {
        if let Some(held) = self.runs.get_mut(&run) {
            held.ending.get_or_insert(Ending { reason: Reason::MinderGone, kill_at: None });
        }
        self.exited(now, run, Exit::Signal(9), Usage::default());
    }

    pub(super) fn collect_what_is_due(&mut self, now: Time) {
        if !self.link.is_up() {
            return;
        }
        let is_due =
            |held: &Held| matches!(&held.stage, Stage::Uncollected { retry_at, .. } if *retry_at <= now);
        for run in self.runs_where(|held| is_due(held) && !self.is_held_back(&held.stage)) {
            if let Some(held) = self.runs.get_mut(&run)
                && let Stage::Uncollected { left, .. } = &held.stage
            {
                let wanted = wanted(&left.ruling, held.run.outputs.is_empty());
                held.stage = Stage::Collecting { left: left.clone() };
                self.actions.push_back(Action::Collect(held.run.clone(), wanted));
            }
        }
    }

    pub(super) fn collected(&mut self, now: Time, run: RunId, result: Result<Collected, TransferError>) {
        let Some(held) = self.runs.get_mut(&run) else { return };
        let Stage::Collecting { left } = &held.stage else { return };
        let mut left = left.clone();
        let collected = match result {
            Ok(collected) => {
                left.notes.extend(collected.files_lost.as_ref().map(files_not_kept));
                collected
            }
            Err(TransferError::Later(_)) => {
                held.rests += 1;
                let retry_at = now + rest(self.agent, run, held.rests);
                held.stage = Stage::Uncollected { left, retry_at };
                self.leave_if_cancelled(run);
                return;
            }
            Err(error) if is_limit(&left.ruling.outcome) => {
                if left.ruling.keeps_checkpoint {
                    left.notes.push(format!("its checkpoint was not kept: {error}"));
                    left.ruling.keeps_checkpoint = false;
                } else {
                    left.notes.push(files_not_kept(&error));
                    left.ruling.keeps_files = false;
                }
                held.stage = next_stage(held, left, now);
                self.leave_if_cancelled(run);
                return;
            }
            Err(error) => {
                left.ruling.outcome = not_stored(&left.ruling, &error);
                Collected::default()
            }
        };
        held.stage = over_with(left, collected);
    }

    /// Of what could not be stored, nobody wants more once it is cancelled.
    fn leave_if_cancelled(&mut self, run: RunId) {
        let ending = self.runs.get(&run).and_then(|held| held.ending);
        if ending.is_some_and(|ending| ending.reason == Reason::Asked(StopCause::Cancel)) {
            self.leave_uncollected(run);
        }
    }

    /// The coordinator does not know that what a run left came from here. It is here until the end is settled.
    pub(super) fn store_again(&mut self, now: Time, run: RunId) {
        let Some(held) = self.runs.get_mut(&run) else { return };
        let Stage::Over { end, .. } = &held.stage else { return };
        let ruling = Ruling {
            outcome: end.outcome.clone(),
            keeps_checkpoint: end.checkpoint.is_some(),
            keeps_files: end.files.is_some(),
        };
        let left = Left { ruling, usage: end.usage, notes: end.notes.clone() };
        held.stage = Stage::Uncollected { left, retry_at: now };
    }

    /// Ends a run that has not started. What it would have gone on from is still there.
    pub(super) fn over(&mut self, run: RunId, outcome: Outcome) {
        let Some(held) = self.runs.get_mut(&run) else { return };
        let kept: Option<Stored> = held.run.resume_from.clone().filter(|_| can_go_on(&held.run.checkpoint));
        let end = end_of(outcome, Usage::default(), Collected { checkpoint: kept, ..Collected::default() });
        held.stage = Stage::Over { end: Box::new(end), is_sent: false };
    }

    pub(super) fn leave(&mut self, now: Time) {
        if self.leaving.is_some() {
            return;
        }
        let graces = self.runs.values().map(|held| self.bounds.grace(&held.run));
        let longest = graces.max().unwrap_or(Span::ZERO);
        self.leaving = Some(Leaving { by: now + longest + LEAVING, awaits_settling: true });
        self.tell_open();
        for run in self.runs().collect::<Vec<_>>() {
            self.end(now, run, Reason::Leaving, self.grace(run));
        }
    }

    pub(super) fn leave_at_once(&mut self, now: Time) {
        self.leaving = Some(Leaving { by: now + MARGIN, awaits_settling: false });
        for run in self.runs().collect::<Vec<_>>() {
            self.end(now, run, Reason::Leaving, Span::ZERO);
        }
    }

    pub(super) fn quit_if_done(&mut self, now: Time) {
        let Some(leaving) = &self.leaving else { return };
        let is_quiet = self.runs_where(Held::is_alive).is_empty();
        let is_told = self.runs.is_empty() || !self.link.is_up() || !leaving.awaits_settling;
        if (is_quiet && is_told) || leaving.by <= now {
            self.leaving = None;
            self.keep_all();
            self.actions.push_back(Action::Quit);
        }
    }
}

/// What becomes of a run whose program ended: what it left is stored first, if there may be any.
fn next_stage(held: &Held, left: Left, retry_at: Time) -> Stage {
    let wanted = wanted(&left.ruling, held.run.outputs.is_empty());
    if wanted.checkpoint || wanted.files {
        return Stage::Uncollected { left, retry_at };
    }
    over_with(left, Collected::default())
}

/// What was stored again is not told twice.
fn over_with(left: Left, collected: Collected) -> Stage {
    let mut end = end_of(left.ruling.outcome, left.usage, collected);
    end.notes.retain(|note| !left.notes.contains(note));
    end.notes.extend(left.notes);
    Stage::Over { end: Box::new(end), is_sent: false }
}

fn files_not_kept(error: &TransferError) -> String {
    format!("its output files were not kept: {error}")
}

/// Whether a run reached a limit. **That counts as a try whatever is kept of it**: else a task whose checkpoint or output files cannot be
/// stored would run for ever.
fn is_limit(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::TimedOut | Outcome::OverLimit { .. } => true,
        Outcome::Exited { .. }
        | Outcome::Signalled { .. }
        | Outcome::Stopped
        | Outcome::Abandoned { .. }
        | Outcome::NotStarted { .. } => false,
    }
}

fn wanted(ruling: &Ruling, has_no_outputs: bool) -> Wanted {
    Wanted { checkpoint: ruling.keeps_checkpoint, files: ruling.keeps_files && !has_no_outputs }
}

fn end_of(outcome: Outcome, usage: Usage, collected: Collected) -> End {
    let Collected { checkpoint, files, files_lost: _, not_left } = collected;
    let (stdout, stderr) = (Tail::default(), Tail::default());
    End { outcome, usage, checkpoint, files, notes: not_left.into_iter().collect(), stdout, stderr }
}

/// A run counts for nothing without what it should have left.
fn not_stored(ruling: &Ruling, error: &TransferError) -> Outcome {
    let (what, advice) = if ruling.keeps_checkpoint {
        (
            "checkpoint",
            "the one before it stays, if there is one; the task must keep less in GLEANER_CHECKPOINT",
        )
    } else {
        ("output files", "what it printed is kept; name fewer or smaller ones with --output")
    };
    match error {
        TransferError::TooLarge(why) => Outcome::OverLimit { what: format!("{what}: {why}; {advice}") },
        TransferError::Refused(why) => Outcome::refused(what, why),
        TransferError::Later(_) | TransferError::NoRoom(_) | TransferError::Failed(_) => {
            Outcome::Abandoned { why: format!("its {what} could not be stored: {error}") }
        }
    }
}
