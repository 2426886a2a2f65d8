//! What agents say, and what they are told.

use super::admission::profile_bytes;
use super::{Desk, Effect, RunOrder, Session, SessionId, TurnedAway, Written, check_profile};
use crate::journal::{Chosen, Fact};
use crate::ledger::{Acquaintance, Record, RetiredTask, Wish};
use crate::limits::{NOT_STARTED_CLOSES, OUTVOTED_CLOSES};
use crate::store::{PastReader, ReadError, TaskRange};
use gleaner_core::{Command, FORGIVEN_AFTER, Run, Stage};
use gleaner_units::{MachineId, RunId, TaskId, Time};
use gleaner_wire::BlobHash;
use gleaner_wire::Had;
use gleaner_wire::api::Actor;
use gleaner_wire::limits::{NOTES_MAX, OUTPUT_CHUNK_MAX, OUTPUT_INLINE_MAX, REASON_BYTES_MAX, SPEED_DOUBT};
use gleaner_wire::session::{
    End, FromAgent, Hello, Outcome, Profile, Sample, Staging, StopCause, Stored, Stream, ToAgent,
};
use gleaner_wire::text::tamed;
use std::borrow::Cow;

impl Desk {
    /// An agent that comes back hears all it has to know: what it may have missed does no harm.
    pub(super) fn connected(
        &mut self,
        now: Time,
        session: SessionId,
        (hello, fits): (&Hello, bool),
        token: String,
    ) {
        let id = MachineId::new(hello.agent as usize);
        match self.welcome(now, id, hello, fits) {
            Ok(()) => {}
            Err(Unwelcome::ForGood(why)) => {
                self.refuse(session, why, true);
                return;
            }
            Err(Unwelcome::UntilMended(why)) => {
                let beside = self.is_connected(id);
                self.turned_away.insert(id, TurnedAway { why: why.clone(), beside, at: now });
                self.refuse(session, why, false);
                return;
            }
            Err(Unwelcome::ForNow) => {
                self.batch.effects.push(Effect::Close(session));
                return;
            }
        }
        if let Some(&old) = self.by_agent.get(&id) {
            self.close(old);
        }
        self.sessions.insert(session, Session { agent: id, sample: None, staging: Vec::new(), heard: now });
        self.by_agent.insert(id, session);
        self.turned_away.remove(&id);
        self.leases.renew(id, now + self.terms.lease + self.terms.margin);
        let running = hello.running.iter().copied();
        let (ours, others): (Vec<Had>, Vec<Had>) =
            running.partition(|had| self.ledger.may_have_ordered(*had));
        let runs = |had: Vec<Had>| had.into_iter().map(|had| had.run).collect::<Vec<RunId>>();
        self.send(
            session,
            ToAgent::Welcome {
                epoch: self.ledger.epoch(),
                lineage: self.ledger.lineage(),
                restored: self.ledger.restored(),
                forget: runs(others),
                lease_s: self.terms.lease.seconds(),
                heartbeat_s: self.terms.heartbeat.seconds(),
                token,
            },
        );
        self.synchronise(id, session, &runs(ours));
    }

    pub(super) fn frame(
        &mut self,
        now: Time,
        id: SessionId,
        frame: FromAgent,
        past: &dyn PastReader,
    ) -> Result<(), ReadError> {
        // What a closed session still said is said again over the next, where it matters.
        let Some(session) = self.sessions.get_mut(&id) else { return Ok(()) };
        session.heard = now;
        let agent = session.agent;
        match frame {
            FromAgent::Heartbeat { number, sample, staging } => {
                self.heartbeat(now, id, number, (sample, staging));
            }
            FromAgent::Profile(profile) => self.profile(now, id, agent, profile),
            FromAgent::OwnerLoad { load, why } => self.owner_load(now, id, agent, (load, why)),
            FromAgent::Open { open, why } => self.open(now, id, agent, (open, why)),
            FromAgent::Started(run) => self.started(now, agent, run),
            FromAgent::Output { run, stream, offset, bytes } => {
                self.output(agent, Written { run, stream, offset, bytes });
            }
            FromAgent::Ended { run, end } => self.ended(now, (id, agent), run, (end, None), past)?,
            // Said once, before the session was ours.
            FromAgent::Knock { .. } | FromAgent::Hello(_) | FromAgent::Proof { .. } => self.close(id),
        }
        Ok(())
    }

    pub(super) fn forget(&mut self, id: SessionId) {
        if let Some(session) = self.sessions.remove(&id)
            && self.by_agent.get(&session.agent) == Some(&id)
        {
            self.by_agent.remove(&session.agent);
            self.no_space.remove(&session.agent);
            self.forget_beside(session.agent, |_| true);
        }
    }

    pub(super) fn close(&mut self, id: SessionId) {
        self.forget(id);
        self.batch.effects.push(Effect::Close(id));
    }

    /// Tells the agents what is ordered; those that are away hear it when they are back.
    pub(super) fn pass_on_orders(&mut self, now: Time) {
        for order in self.ledger.take_orders() {
            if let Command::Start { run, .. } | Command::StartAfter { run, .. } = order {
                self.batch.ordered.push(run);
            }
            match order {
                // It may have been given up again since.
                Command::Start { run, on } | Command::StartAfter { run, on, .. } => {
                    if self.ledger.find_live(run, on).is_some() {
                        self.tell_to_run(run, on);
                    }
                }
                // No policy that may be set orders it; one that an older journal has might.
                Command::StartWide { run, parts } | Command::Ask { run, parts } => {
                    let why =
                        "agents run no parts of a task; set a policy that gives each task to one machine";
                    let end = Box::new(End::of(Outcome::NotStarted { why: why.to_owned() }));
                    self.record(now, Fact::RunEnded { run, agent: parts[0].on, end, answer: None });
                }
                Command::Stop { run, on, .. } => {
                    let cause = self.stop_cause(run.task);
                    self.tell(on, ToAgent::Stop { run, cause });
                }
                // What left memory since was too long ago to be looked at again.
                Command::Recheck { task } if self.ledger.is_retired(task) => {}
                Command::Recheck { task } => {
                    let (job, _) = self.ledger.job_of(task);
                    let tasks = vec![TaskRange::one(task)];
                    self.record(now, Fact::TasksRerun(Chosen { job, tasks, by: Actor::Coordinator }));
                }
                // A coordinator has neither sites nor peers yet: nobody hears it.
                Command::Lending(_) | Command::Survey { .. } => {}
            }
        }
    }

    pub(super) fn tell(&mut self, agent: MachineId, message: ToAgent) {
        if let Some(&session) = self.by_agent.get(&agent) {
            self.send(session, message);
        }
    }

    fn refuse(&mut self, session: SessionId, why: String, for_good: bool) {
        self.send(session, ToAgent::Refused { why, for_good });
        self.batch.effects.push(Effect::Close(session));
    }

    fn send(&mut self, session: SessionId, message: ToAgent) {
        self.batch.effects.push(Effect::Send(session, message));
    }

    fn tell_to_run(&mut self, run: RunId, on: MachineId) {
        if let Some(&session) = self.by_agent.get(&on).filter(|_| self.quiet_until.is_none()) {
            let order = RunOrder::of(&self.ledger, run);
            self.batch.effects.push(Effect::Run(session, Box::new(order)));
        }
    }

    fn welcome(&mut self, now: Time, id: MachineId, hello: &Hello, fits: bool) -> Result<(), Unwelcome> {
        let refuse = |why: &str| Err(Unwelcome::ForGood(why.to_owned()));
        let Some(known) = self.ledger.agents().get(id.index()) else {
            return refuse("this agent is not enrolled here");
        };
        if known.revoked {
            return refuse("this agent was revoked");
        }
        if let Some(met) = &hello.met {
            match self.ledger.knows(met) {
                Acquaintance::Stranger => {
                    return Err(Unwelcome::UntilMended(put_back(met.epoch, self.ledger.epoch())));
                }
                Acquaintance::Known if !fits && !self.ledger.was_restored_since(met) => {
                    return Err(Unwelcome::UntilMended(altered(met.row)));
                }
                Acquaintance::Known | Acquaintance::PutBack => {}
            }
        }
        check_profile(&hello.profile).map_err(|rejection| Unwelcome::ForGood(rejection.message))?;
        let (incarnation, lost) = (known.incarnation, known.lost);
        let is_afresh = incarnation != Some(hello.incarnation);
        let is_changed = known.profile != hello.profile;
        // Of two starts with the same count it is left to chance which seems to be the later.
        if is_afresh && self.is_heard(now, id) {
            return Err(Unwelcome::UntilMended(TWIN.to_owned()));
        }
        if incarnation.is_some_and(|latest| hello.incarnation < latest) {
            return refuse(
                "a later start of this agent is known: its folder was copied, or restored from a backup; \
                 let it join again from an empty one",
            );
        }
        let bytes = if is_afresh || is_changed { profile_bytes(&hello.profile) } else { 0 };
        if (is_afresh || is_changed || lost) && !self.reports.take(id, now, bytes) {
            return Err(Unwelcome::ForNow);
        }
        if is_afresh {
            let profile = hello.profile.clone();
            self.record(now, Fact::AgentStarted { agent: id, incarnation: hello.incarnation, profile });
            self.doubt(now, id);
            return Ok(());
        }
        if lost {
            let had =
                hello.running.iter().filter(|had| self.ledger.may_have_ordered(**had)).map(|had| had.run);
            let brings = had.filter(|&run| self.ledger.is_awaited(run, id)).collect();
            self.record(now, Fact::AgentReturned { agent: id, brings });
        }
        if is_changed {
            self.record(now, Fact::MachineProfiled { agent: id, profile: hello.profile.clone() });
            self.doubt(now, id);
        }
        Ok(())
    }

    /// Whether the agent has a session that lives. One that was killed closes its own; one whose machine lost its power or its
    /// network falls silent, and comes again.
    fn is_heard(&self, now: Time, id: MachineId) -> bool {
        let session = self.by_agent.get(&id).and_then(|session| self.sessions.get(session));
        let heartbeat = self.terms.heartbeat;
        session.is_some_and(|session| now < session.heard + heartbeat + heartbeat)
    }

    /// The agent ends what is not its own; it is told again to run what it does not know, and to end what should end.
    fn synchronise(&mut self, machine: MachineId, session: SessionId, running: &[RunId]) {
        let live: Vec<Run> = self.ledger.live_on(machine).copied().collect();
        self.send(session, ToAgent::Yours { runs: live.iter().map(Run::id).collect() });
        for run in live {
            let id = run.id();
            // One that does not have it says so when it is to stop it.
            if run.stage() == Stage::Stopping {
                self.send(session, ToAgent::Stop { run: id, cause: self.stop_cause(id.task) });
            } else if !running.contains(&id) {
                self.tell_to_run(id, machine);
            }
        }
    }

    /// Who has one of them already does not start it again.
    pub(super) fn order_all_again(&mut self) {
        for machine in self.by_agent.keys().copied().collect::<Vec<_>>() {
            let live = self.ledger.live_on(machine).filter(|run| run.stage() != Stage::Stopping);
            for run in live.map(Run::id).collect::<Vec<_>>() {
                self.tell_to_run(run, machine);
            }
        }
    }

    /// Why a run of a task is to stop. What another run came before is as unwanted as what was cancelled.
    fn stop_cause(&self, task: TaskId) -> StopCause {
        let record = self.ledger.record(task);
        match record.wish {
            Some(Wish::Hold) => StopCause::Hold,
            None if !record.phase.is_over() => StopCause::Move,
            Some(Wish::Cancel) | None => StopCause::Cancel,
        }
    }

    fn heartbeat(
        &mut self,
        now: Time,
        id: SessionId,
        number: u64,
        (sample, mut staging): (Sample, Vec<(RunId, Staging)>),
    ) {
        if let Some(session) = self.sessions.get_mut(&id) {
            let agent = session.agent;
            staging.retain(|(run, _)| self.ledger.find_live(*run, agent).is_some());
            if !staging.iter().any(|(_, way)| *way == Staging::Out) {
                self.no_space.remove(&agent);
            }
            (session.sample, session.staging) = (Some(sample), staging);
            self.forget_beside(agent, |at| at.after_seconds(TWIN_COMES_AGAIN_S) < now);
            self.leases.renew(agent, now + self.terms.lease + self.terms.margin);
            let row = self.ledger.rows();
            self.send(id, ToAgent::Beat { number, row, hash: None });
        }
    }

    /// One that came under a connected agent's identity counts no more where it has not come for so long, or there is nothing left to be
    /// told apart from.
    fn forget_beside(&mut self, agent: MachineId, is_past: impl Fn(Time) -> bool) {
        if self.turned_away.get(&agent).is_some_and(|turned| turned.beside && is_past(turned.at)) {
            self.turned_away.remove(&agent);
        }
    }

    fn profile(&mut self, now: Time, session: SessionId, agent: MachineId, profile: Profile) {
        if check_profile(&profile).is_err() {
            self.close(session);
        } else if self.ledger.agent(agent).profile != profile
            && self.may_report(now, session, agent, profile_bytes(&profile))
        {
            self.record(now, Fact::MachineProfiled { agent, profile });
            self.doubt(now, agent);
        }
    }

    fn owner_load(&mut self, now: Time, session: SessionId, agent: MachineId, (load, why): (f64, String)) {
        let is_news = (0.0..=1.0).contains(&load) && self.ledger.agent(agent).load != load;
        if is_news && self.may_report(now, session, agent, 0) {
            self.record(now, Fact::OwnerLoadReported { agent, load, why: tamed(&why, REASON_BYTES_MAX) });
        }
    }

    fn open(&mut self, now: Time, session: SessionId, agent: MachineId, (open, why): (bool, String)) {
        let is_news = self.ledger.agent(agent).closed_by_owner == open;
        if is_news && self.may_report(now, session, agent, 0) {
            let by = Actor::Agent(self.ledger.agent(agent).name.clone());
            self.record(now, Fact::MachineOpened { agent, open, why: tamed(&why, REASON_BYTES_MAX), by });
        }
    }

    /// Whether the agent may have one more thing recorded that nobody asked for; else its connection is closed.
    fn may_report(&mut self, now: Time, session: SessionId, agent: MachineId, bytes: usize) -> bool {
        let may = self.reports.take(agent, now, bytes);
        if !may {
            self.close(session);
        }
        may
    }

    fn started(&mut self, now: Time, agent: MachineId, run: RunId) {
        let live = self.ledger.find_live(run, agent);
        if live.is_some_and(|run| matches!(run.stage(), Stage::Sent | Stage::Next)) {
            self.record(now, Fact::RunStarted(run));
        }
    }

    fn output(&mut self, agent: MachineId, written: Written) {
        let task = written.run.task;
        let counts = task.index() < self.ledger.task_count() && self.ledger.is_awaited(written.run, agent);
        if counts && written.bytes.len() <= OUTPUT_CHUNK_MAX {
            self.batch.written.push(written);
        }
    }

    /// An end is reported until it is settled, so it may come again.
    fn ended(
        &mut self,
        now: Time,
        (session, agent): (SessionId, MachineId),
        run: RunId,
        (end, digest): (End, Option<BlobHash>),
        past: &dyn PastReader,
    ) -> Result<(), ReadError> {
        if run.task.index() >= self.ledger.task_count() {
            self.send(session, ToAgent::Settled { run, accepted: false });
            return Ok(());
        }
        let is_awaited = self.ledger.is_awaited(run, agent);
        let record = self.recalled(run.task, past)?;
        if !is_awaited && let Some(accepted) = record.counted(run, agent) {
            self.send(session, ToAgent::Settled { run, accepted });
            return Ok(());
        }
        let came_to_nothing =
            matches!(end.outcome, Outcome::NotStarted { .. } | Outcome::Abandoned { .. } | Outcome::Stopped);
        if (came_to_nothing || !is_awaited) && !self.may_report(now, session, agent, 0) {
            return Ok(());
        }
        if is_awaited && !self.has_sent(agent, run, &end) {
            self.send(session, ToAgent::StoreAgain { run });
            return Ok(());
        }
        let compares = self.ledger.pair_of(run).is_some();
        if is_awaited && digest.is_none() && self.ledger.is_compared(run) && !compares {
            self.batch.effects.push(Effect::Compare(session, run, Box::new(end)));
            return Ok(());
        }
        if is_awaited {
            let end = self.within_quota(run, sound(end));
            let is_said = compares || digest.is_some();
            let digest = digest.filter(|_| !compares);
            let judged = is_said.then(|| self.ledger.judged(now, (run, agent), &end, digest)).flatten();
            let wrong = judged.iter().flat_map(|judged| judged.wrong.clone()).collect::<Vec<_>>();
            let (end, answer) = (Box::new(self.keep_tails(run, end)), judged.map(Box::new));
            self.record(now, Fact::RunEnded { run, agent, end, answer });
            for wrong in wrong {
                self.close_if_lying(now, wrong);
            }
            self.doubt(now, agent);
            self.close_if_broken(now, agent);
        } else {
            let end = Box::new(without_tails(sound(end)));
            self.record(now, Fact::ResultRefused { run, agent, end });
        }
        self.send(session, ToAgent::Settled { run, accepted: is_awaited });
        Ok(())
    }

    /// What is known of a task, in memory or in the store.
    fn recalled(&self, task: TaskId, past: &dyn PastReader) -> Result<Cow<'_, Record>, ReadError> {
        let record = self.ledger.record(task);
        if !record.is_retired() {
            return Ok(Cow::Borrowed(record));
        }
        let found = RetiredTask::find(past, task)?;
        Ok(found.map_or(Cow::Borrowed(record), |found| Cow::Owned(found.record)))
    }

    /// What a run left without files for which its user's quota has no room: the run failed then, and says so. A checkpoint
    /// is kept, since its run would be for nothing.
    fn within_quota(&self, run: RunId, mut end: End) -> End {
        let Some((above, most)) = self.ledger.bytes_above_quota(run, &end) else { return end };
        let size = end.files.take().map_or(0, |files| files.size);
        let what = format!(
            "storage: its {size} bytes of files would be {above} above its user's quota of {most} and were not kept; \
             `gleaner quota show` has what is used"
        );
        end.outcome = Outcome::OverLimit { what };
        end
    }

    /// Whether an agent has sent what it says that a run left, or the run found it: whoever only knows the name of another's
    /// file would get it by naming it.
    fn has_sent(&self, agent: MachineId, run: RunId, end: &End) -> bool {
        let found = self.ledger.record(run.task).checkpoint.as_ref();
        let sent = |left: &Stored| {
            let id = left.blob.as_str().parse().expect("a hash names a blob");
            self.stored.get(&agent).is_some_and(|uploads| uploads.has(id))
        };
        end.files.iter().all(sent) && end.checkpoint.iter().all(|left| Some(left) == found || sent(left))
    }

    /// Counts a machine with the speeds that its tasks show, where it says many times more.
    fn doubt(&mut self, now: Time, agent: MachineId) {
        if let Some(share) = self.ledger.due_share(agent) {
            let why = format!(
                "it is counted with {share} of the speeds that it says: its tasks show no more than a {SPEED_DOUBT}th"
            );
            self.record(now, Fact::SpeedDoubted { agent, share, why });
        }
    }

    /// Gives nothing more to a machine that cannot start what others can.
    fn close_if_broken(&mut self, now: Time, id: MachineId) {
        let agent = self.ledger.agent(id);
        if agent.not_started < NOT_STARTED_CLOSES || agent.closed_by_order {
            return;
        }
        let why = format!(
            "{NOT_STARTED_CLOSES} runs in a row could not be started there, of jobs that run elsewhere; their histories say why. \
             Mend it, and open it again with `gleaner machine resume {}`",
            agent.name
        );
        self.record(now, Fact::MachineOpened { agent: id, open: false, why, by: Actor::Coordinator });
    }

    /// What a run answered is known: its end can be recorded.
    pub(super) fn answered(
        &mut self,
        now: Time,
        session: SessionId,
        run: RunId,
        (end, digest): (End, BlobHash),
        past: &dyn PastReader,
    ) -> Result<(), ReadError> {
        // Over the next connection the agent reports the end again.
        let Some(agent) = self.sessions.get(&session).map(|session| session.agent) else { return Ok(()) };
        self.ended(now, (session, agent), run, (end, Some(digest)), past)
    }

    /// Gives nothing more to a machine that is outvoted again and again.
    fn close_if_lying(&mut self, now: Time, id: MachineId) {
        let (agent, strikes) = (self.ledger.agent(id), self.ledger.grid().trust(id).strikes);
        if strikes < OUTVOTED_CLOSES || agent.closed_by_order {
            return;
        }
        let why = format!(
            "{strikes} of its answers were outvoted by other machines, without {FORGIVEN_AFTER} in a row in between that were \
             agreed on; `gleaner audit` says which. Look into it, and open it again with `gleaner machine resume {}`",
            agent.name
        );
        self.record(now, Fact::MachineOpened { agent: id, open: false, why, by: Actor::Coordinator });
    }

    /// Short output stays with the fact; the end of long output follows the rest of it.
    fn keep_tails(&mut self, run: RunId, mut end: End) -> End {
        for (stream, tail) in [(Stream::Stdout, &mut end.stdout), (Stream::Stderr, &mut end.stderr)] {
            if tail.offset > 0 || tail.bytes.len() > OUTPUT_INLINE_MAX {
                let (offset, bytes) = (tail.offset, std::mem::take(&mut tail.bytes));
                tail.offset = tail.offset.saturating_add(bytes.len() as u64);
                self.batch.written.push(Written { run, stream, offset, bytes });
            }
        }
        end
    }
}

/// An end as it can be recorded: what is longer than it may be is cut, as if the agent had dropped it, and what is no
/// number says nothing. The result counts all the same.
fn sound(mut end: End) -> End {
    end.notes.truncate(NOTES_MAX);
    end.notes.iter_mut().for_each(|note| *note = tamed(note, REASON_BYTES_MAX));
    for tail in [&mut end.stdout, &mut end.stderr] {
        tail.dropped = tail.dropped.saturating_add(tail.bytes.len().saturating_sub(OUTPUT_CHUNK_MAX) as u64);
        tail.bytes.truncate(OUTPUT_CHUNK_MAX);
    }
    for seconds in [&mut end.usage.elapsed_s, &mut end.usage.cpu_s] {
        if !(seconds.is_finite() && *seconds >= 0.0) {
            *seconds = 0.0;
        }
    }
    match &mut end.outcome {
        Outcome::OverLimit { what: text }
        | Outcome::Abandoned { why: text }
        | Outcome::NotStarted { why: text } => {
            *text = tamed(text, REASON_BYTES_MAX);
        }
        Outcome::Exited { .. } | Outcome::Signalled { .. } | Outcome::Stopped | Outcome::TimedOut => {}
    }
    end
}

/// Of what did not count, the output is not kept.
fn without_tails(mut end: End) -> End {
    end.stdout.bytes = Vec::new();
    end.stderr.bytes = Vec::new();
    end
}

/// Why an agent is not let in.
enum Unwelcome {
    /// It is told, and gives up.
    ForGood(String),
    /// It is told, and comes again: somebody may mend it here.
    UntilMended(String),
    /// It has had too much recorded; it comes again by itself.
    ForNow,
}

/// Longer than an agent that is turned away waits before it comes again.
const TWIN_COMES_AGAIN_S: f64 = 60.0;

/// Said at both ends.
const TWIN: &str = "another machine works under the same identity: its agent's folder was copied, as an image of a machine is. \
                    On one of the two, stop the agent, remove its folder, and let it join with a token of its own";

/// Said at both ends.
fn put_back(met: u32, epoch: u32) -> String {
    format!(
        "this machine knows of what the coordinator's journal does not have (start {met}; the journal is at start {epoch}): \
         the journal was put back to an older state, or is another's. If that was meant, stop the coordinator, run \
         `gleaner journal restore` there, and start it again"
    )
}

/// Said at both ends.
fn altered(row: u64) -> String {
    format!(
        "the coordinator's journal is not what it was: rows up to {row}, as this machine heard of them, were changed or taken          away. Compare it with a backup (`gleaner audit --verify --since HEAD`); if that was meant, stop the coordinator, \
         run `gleaner journal restore` there, and start it again"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_cut_to_what_may_be_recorded() {
        let text = |bytes: usize| "x".repeat(bytes);
        let end = |more: usize| {
            let why = text(REASON_BYTES_MAX + more);
            let mut end = End::of(Outcome::Abandoned { why });
            end.notes = vec![text(REASON_BYTES_MAX + more); NOTES_MAX + more];
            end.stdout.bytes = vec![b'x'; OUTPUT_CHUNK_MAX + more];
            end
        };
        assert_eq!(sound(end(0)), end(0), "as much as may be is left as it is");
        let cut = sound(end(1));
        let Outcome::Abandoned { why } = &cut.outcome else { panic!("{cut:?}") };
        let texts = cut.notes.iter().chain([why]);
        assert!(texts.clone().all(|text| text.len() <= REASON_BYTES_MAX), "{cut:?}");
        assert_eq!(texts.count(), NOTES_MAX + 1);
        assert_eq!((cut.stdout.bytes.len(), cut.stdout.dropped), (OUTPUT_CHUNK_MAX, 1));
    }
}
