//! What agents say, and what they are told.

use super::claims::{profile_bytes, sound};
use super::{Desk, Effect, RunOrder, Session, SessionId, TurnedAway, Written};
use crate::journal::{Chosen, Fact};
use crate::ledger::{Acquaintance, Wish};
use crate::store::{PastReader, ReadError, TaskRange};
use gleaner_core::{Command, Run, Stage, StopReason};
use gleaner_units::{MachineId, RunId, Span, TaskId, Time};
use gleaner_wire::Had;
use gleaner_wire::api::Actor;
use gleaner_wire::limits::{OUTPUT_CHUNK_MAX, REASON_BYTES_MAX};
use gleaner_wire::refusal::let_in_again;
use gleaner_wire::session::{
    End, FromAgent, Hello, Obstacle, Outcome, Profile, Sample, Staging, StopCause, ToAgent,
};
use gleaner_wire::text::tamed;
use std::collections::BTreeSet;

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
        }
        if let Some(&old) = self.by_agent.get(&id) {
            self.close(now, old);
        }
        self.turned_away.remove(&id);
        self.leases.renew(id, self.terms.given_up_at(now));
        let running = hello.running.iter().copied();
        let (ours, others): (Vec<Had>, Vec<Had>) =
            running.partition(|had| self.ledger.may_have_ordered(*had));
        let runs = |had: Vec<Had>| had.into_iter().map(|had| had.run).collect::<Vec<RunId>>();
        let (ours, others) = (runs(ours), runs(others));
        let had = ours.clone();
        let (sample, staging, comparing) = (None, Vec::new(), BTreeSet::new());
        let known = Session { agent: id, sample, staging, had, comparing, heard: now };
        self.sessions.insert(session, known);
        self.by_agent.insert(id, session);
        self.send(
            session,
            ToAgent::Welcome {
                epoch: self.ledger.epoch(),
                lineage: self.ledger.lineage(),
                restored: self.ledger.restored(),
                forget: others,
                lease_s: self.terms.lease.seconds(),
                heartbeat_s: self.terms.heartbeat.seconds(),
                token,
                paused: self.ledger.agent(id).paused_by.as_ref().map(ToString::to_string),
                is_full: false,
            },
        );
        self.synchronise(id, session, &ours);
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
            FromAgent::OwnerLoad { load, why } => self.owner_load(now, id, agent, (load, why)),
            FromAgent::Open { open, why } => self.open(now, id, agent, (open, why)),
            FromAgent::Started(run) => self.started(now, agent, run),
            // Nobody changes an answer while it is read.
            FromAgent::Output { run, .. } if session.comparing.contains(&run) => {}
            FromAgent::Output { run, stream, offset, bytes } => {
                self.output(agent, Written { run, stream, offset, bytes });
            }
            FromAgent::Ended { run, end } => self.ended(now, (id, agent), run, (end, None), past)?,
            // Said once, before the session was ours, and what comes checked.
            FromAgent::Knock { .. }
            | FromAgent::Hello(_)
            | FromAgent::Proof { .. }
            | FromAgent::Profile(_) => self.close(now, id),
        }
        Ok(())
    }

    /// A session is over. Its machine is given nothing new until its agent says over another that it takes new tasks: what is sent to
    /// a machine that is away begins when it is back, or somewhere else when its lease has ended.
    pub(super) fn forget(&mut self, now: Time, id: SessionId) {
        if let Some(session) = self.sessions.remove(&id)
            && self.by_agent.get(&session.agent) == Some(&id)
        {
            self.by_agent.remove(&session.agent);
            self.last_heard.insert(session.agent, session.heard);
            self.no_space.remove(&session.agent);
            self.changes.forget(session.agent);
            self.forget_beside(session.agent, |_| true);
            self.close_away(now, session.agent);
        }
    }

    fn close_away(&mut self, now: Time, agent: MachineId) {
        let known = self.ledger.agent(agent);
        if known.closed_by_owner || known.revoked || known.lost {
            return;
        }
        let by = Actor::Agent(known.name.clone());
        let why = "its agent is not connected".to_owned();
        self.record(now, Fact::MachineOpened { agent, open: false, why, by });
    }

    pub(super) fn close(&mut self, now: Time, id: SessionId) {
        self.forget(now, id);
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
                    let end = Box::new(End::of(Outcome::NotStarted {
                        why: why.to_owned(),
                        obstacle: Obstacle::Task,
                    }));
                    self.record(
                        now,
                        Fact::RunEnded { run, agent: parts[0].on, end, answer: None, is_left: None },
                    );
                }
                Command::Stop { run, on, why: StopReason::TakenBack } => {
                    self.tell(on, ToAgent::Stop { run, cause: StopCause::TakeBack });
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
                Command::Close { machine } => self.close_as_outvoted(now, machine),
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

    pub(super) fn send(&mut self, session: SessionId, message: ToAgent) {
        self.batch.effects.push(Effect::Send(session, message));
    }

    fn tell_to_run(&mut self, run: RunId, on: MachineId) {
        if let Some(&session) = self.by_agent.get(&on).filter(|_| self.quiet_until.is_none()) {
            let order = RunOrder::of(&self.ledger, run);
            self.batch.effects.push(Effect::Run(session, Box::new(order)));
        }
    }

    /// Whether an agent may come in; `fits` is whether the journal has the row that it remembers.
    fn may_come(&self, now: Time, id: MachineId, hello: &Hello, fits: bool) -> Result<(), Unwelcome> {
        let refuse = |why: &str| Err(Unwelcome::ForGood(why.to_owned()));
        let Some(known) = self.ledger.agents().get(id.index()) else {
            return refuse("this agent is not enrolled here");
        };
        if known.revoked {
            return refuse(if known.forgotten { FORGOTTEN } else { REVOKED });
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
        // What its start before runs goes on until the lease ends, unless that start is gone: one that was killed closes its
        // session, one that sleeps and was copied does not.
        if known.incarnation != Some(hello.incarnation) && self.is_connected(id) {
            return Err(Unwelcome::UntilMended(twin(self.leases.left(id, now))));
        }
        // Of two starts with the same count it is left to chance which seems to be the later.
        if known.incarnation.is_some_and(|latest| hello.incarnation < latest) {
            return refuse(
                "a later start of this agent is known: its folder was copied, or restored from a backup; \
                 let it join again from an empty one",
            );
        }
        Ok(())
    }

    /// Records what an agent that comes says of itself, if it may come and did not say too much lately.
    fn welcome(&mut self, now: Time, id: MachineId, hello: &Hello, fits: bool) -> Result<(), Unwelcome> {
        self.may_come(now, id, hello, fits)?;
        let known = self.ledger.agent(id);
        let lost = known.lost;
        let is_afresh = known.incarnation != Some(hello.incarnation);
        let is_changed = known.profile != hello.profile;
        let recorded = if is_afresh || is_changed { profile_bytes(&hello.profile) } else { 0 };
        let reported = recorded + RUN_BYTES * hello.running.len();
        let is_within = self.reports.take(id, now, reported);
        if !is_within {
            return Err(Unwelcome::UntilMended(too_much(
                &self.ledger.agent(id).name,
                self.reports.until(id, now, reported),
            )));
        }
        if is_changed && !self.changes.take(id, now) {
            return Err(Unwelcome::UntilMended(too_much(
                &self.ledger.agent(id).name,
                self.changes.until(id, now),
            )));
        }
        let had = hello.running.iter().filter(|had| self.ledger.may_have_ordered(**had)).map(|had| had.run);
        let brings = had.filter(|&run| self.ledger.is_awaited(run, id)).collect();
        if is_afresh {
            let (incarnation, profile) = (hello.incarnation, hello.profile.clone());
            self.record(now, Fact::AgentStarted { agent: id, incarnation, profile, brings });
            self.doubt(now, id);
            return Ok(());
        }
        if lost {
            self.record(now, Fact::AgentReturned { agent: id, brings });
        }
        if is_changed {
            self.profiled(now, id, hello.profile.clone());
        }
        Ok(())
    }

    /// The agent ends what is not its own; it is told again to run what it does not know, and to end what should end.
    fn synchronise(&mut self, machine: MachineId, session: SessionId, running: &[RunId]) {
        let live: Vec<Run> = self.ledger.live_on(machine).copied().collect();
        self.send(session, ToAgent::Yours { runs: live.iter().map(Run::id).collect() });
        for run in live {
            let id = run.id();
            // An agent that does not have the run answers the order to stop by saying so.
            if run.stage() == Stage::Stopping {
                self.send(session, ToAgent::Stop { run: id, cause: self.stop_cause(id.task) });
            } else if self.is_asked_back(id) {
                self.send(session, ToAgent::Stop { run: id, cause: StopCause::TakeBack });
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
                if !self.is_asked_back(run) {
                    self.tell_to_run(run, machine);
                }
            }
        }
    }

    fn is_asked_back(&self, run: RunId) -> bool {
        self.ledger.grid().asked_back(run).is_some()
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
        let Some(agent) = self.sessions.get(&id).map(|session| session.agent) else { return };
        if !self.may_report(now, id, agent, RUN_BYTES * staging.len()) {
            return;
        }
        if let Some(session) = self.sessions.get_mut(&id) {
            staging.retain(|(run, _)| self.ledger.find_live(*run, agent).is_some());
            if !staging.iter().any(|(_, way)| *way == Staging::Out) {
                self.no_space.remove(&agent);
            }
            (session.sample, session.staging) = (Some(sound(sample)), staging);
            self.forget_beside(agent, |at| at.after_seconds(TWIN_COMES_AGAIN_S) < now);
            self.leases.renew(agent, self.terms.given_up_at(now));
            let row = self.ledger.rows();
            self.send(id, ToAgent::Beat { number, row, hash: None, is_full: false });
        }
    }

    /// One that came under a connected agent's identity counts no more where it has not come for so long, or there is nothing left to be
    /// told apart from.
    fn forget_beside(&mut self, agent: MachineId, is_past: impl Fn(Time) -> bool) {
        if self.turned_away.get(&agent).is_some_and(|turned| turned.beside && is_past(turned.at)) {
            self.turned_away.remove(&agent);
        }
    }

    /// What a closed session still said is said again over the next.
    pub(super) fn profile(&mut self, now: Time, session: SessionId, profile: Profile) {
        let Some(session) = self.sessions.get_mut(&session) else { return };
        session.heard = now;
        let agent = session.agent;
        self.changes.forget(agent);
        if self.ledger.agent(agent).profile == profile {
            return;
        }
        if self.changes.take(agent, now) {
            self.profiled(now, agent, profile);
        } else {
            self.changes.wait(agent, profile);
        }
    }

    pub(super) fn profiled(&mut self, now: Time, agent: MachineId, profile: Profile) {
        self.record(now, Fact::MachineProfiled { agent, profile });
        self.doubt(now, agent);
    }

    fn owner_load(&mut self, now: Time, session: SessionId, agent: MachineId, (load, why): (f64, String)) {
        let is_news = (0.0..=1.0).contains(&load) && self.ledger.agent(agent).load != load;
        if is_news && self.may_report(now, session, agent, 0) {
            self.record(now, Fact::OwnerLoadReported { agent, load, why: tamed(&why, REASON_BYTES_MAX) });
        }
    }

    fn open(&mut self, now: Time, session: SessionId, agent: MachineId, (open, why): (bool, String)) {
        let (known, why) = (self.ledger.agent(agent), tamed(&why, REASON_BYTES_MAX));
        let said = known.why.as_deref().unwrap_or_default();
        let is_for_another = || !open && said != why;
        let is_news = known.closed_by_owner == open || is_for_another();
        let by = Actor::Agent(known.name.clone());
        if is_news && self.may_report(now, session, agent, 0) {
            self.record(now, Fact::MachineOpened { agent, open, why, by });
        }
    }

    /// Whether the agent may have one more thing recorded that nobody asked for; else its connection is closed.
    pub(super) fn may_report(
        &mut self,
        now: Time,
        session: SessionId,
        agent: MachineId,
        bytes: usize,
    ) -> bool {
        let may = self.reports.take(agent, now, bytes);
        if !may {
            let why = too_much(&self.ledger.agent(agent).name, self.reports.until(agent, now, bytes));
            self.turned_away.insert(agent, TurnedAway { why: why.clone(), beside: false, at: now });
            self.forget(now, session);
            self.refuse(session, why, false);
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
}

/// Said to an agent that may never connect again.
pub(super) const REVOKED: &str =
    "this machine was revoked: it is in the grid's list, and never to connect again";
/// Said to an agent whose machine may join as another.
pub(super) const FORGOTTEN: &str = "this machine was forgotten, which `gleaner machine forget` does: to join again, remove the \
     agent's folder, and start it with a new token";

/// Why an agent is not let in.
enum Unwelcome {
    /// It is told, and gives up.
    ForGood(String),
    /// It is told, and comes again: somebody may mend it here, or it is mended with time.
    UntilMended(String),
}

/// A run that an agent says to have counts like so many bytes.
const RUN_BYTES: usize = 16;

/// Longer than an agent that is turned away waits before it comes again.
const TWIN_COMES_AGAIN_S: f64 = 60.0;

/// Said at both ends.
fn too_much(name: &str, left: Span) -> String {
    format!(
        "the agent of {name} had more recorded than one may in so short a time, as one does that starts again and again, or whose \
         machine changes all the time; {}",
        let_in_again(left.seconds())
    )
}

/// Said at both ends. Whoever reads it comes again as soon as it may: the other's connection may end before its lease.
fn twin(left: Span) -> String {
    format!(
        "another machine works under the same identity: its agent's folder was copied, as an image of a machine is. On one of \
         the two, stop the agent, remove its folder, and let it join with a token of its own. (If this machine lost its power or \
         its network: it is let in when its start before is gone, in {:.0} s at the latest)",
        left.seconds().ceil()
    )
}

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
        "the coordinator's journal is not what it was: rows up to {row}, as this machine heard of them, were changed or taken \
         away. Compare it with a backup (`gleaner audit --verify --since HEAD`); if that was meant, stop the coordinator, \
         run `gleaner journal restore` there, and start it again"
    )
}
