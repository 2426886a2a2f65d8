//! The coordinator without its wires: what users order and agents say goes in, facts to commit and effects come out.
//!
//! ```text
//! Input ──▶ Desk::handle ──▶ Ledger (facts) ──▶ Desk::settle (decisions) ──▶ Batch { facts, effects }
//! ```
//!
//! - **Effects leave only after the facts beside them are committed.** The desk hands out both together; the driver
//!   (`driver.rs`, or the simulated world of the fault tests) commits first.
//! - It reads no clock, draws no randomness and does no I/O: time and secrets come in.
//! - What is not a fact stays here and is gone with the process: sessions, leases, samples, who sent which file. A restarted desk waits one
//!   lease before it gives up an agent, since it cannot know when the last heartbeat came.

mod administering;
mod admission;
mod agents;
mod batch;
mod claims;
mod comparing;
mod ends;
mod input;
mod keeping;
mod leases;
mod order;
mod orders;
mod pieces;
mod quotas;
mod reports;
mod run;
mod sending;

pub use admission::{Admitted, Rejection, RejectionKind, check_job};
pub use batch::{Batch, Effect, Recorded, Written};
pub(crate) use claims::hold_to;
pub use claims::{Checked, Claims};
pub use input::Input;
pub use keeping::Keeping;
pub use keeping::removed;
use order::NotDone;
pub use order::{Administration, Answer, JobFiles, NewUser, Order, Requester};
pub use run::RunOrder;

use crate::journal::{Entry, Fact};
use crate::ledger::Ledger;
use crate::limits::{OVER_KEPT_MAX, UPLOADS_OF_AGENT_MAX};
use crate::policy::default_policy;
use crate::store::{PastReader, ReadError};
use crate::uploads::Uploads;
use gleaner_units::{MachineId, RunId, Span, Time};
use gleaner_wire::BlobHash;
use gleaner_wire::Lineage;
use gleaner_wire::session::{Sample, Staging};
use leases::Leases;
use pieces::Pieces;
use reports::{Changes, Reports};
use std::collections::{BTreeMap, BTreeSet};

/// How long agents may be silent.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// How long an agent may go on after the last heartbeat that was answered.
    pub lease: Span,
    /// How often it is to send one.
    pub heartbeat: Span,
    /// How much longer than the lease the desk waits, for clocks that do not run alike and answers under way.
    pub margin: Span,
    /// How many tasks that are over stay in memory.
    pub over_max: u64,
    /// How long what is over is kept.
    pub keeping: Keeping,
}

impl Default for Terms {
    fn default() -> Self {
        let seconds = |seconds: u64| Span::from_nanos(seconds * 1_000_000_000);
        Self {
            lease: seconds(60),
            heartbeat: seconds(10),
            margin: seconds(5),
            over_max: OVER_KEPT_MAX,
            keeping: Keeping::default(),
        }
    }
}

impl Terms {
    /// When an agent is given up that was heard of last at a moment: from then on it runs nothing.
    fn given_up_at(&self, heard: Time) -> Time {
        heard + self.lease + self.margin
    }
}

/// Until when no run begins if the coordinator started at a moment: after a restore, until the leases of all machines that are
/// away have ended. Until something is decided, every start waits again: how long the one before did, no clock says.
pub fn quiet_until(ledger: &Ledger, terms: &Terms, started: Time) -> Option<Time> {
    ledger.is_just_restored().then(|| terms.given_up_at(started))
}

/// A connection of an agent.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SessionId(pub u64);

/// A request that awaits its answer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct OrderId(pub u64);

/// A connected agent.
#[derive(Clone, Debug)]
struct Session {
    agent: MachineId,
    sample: Option<Sample>,
    staging: Vec<(RunId, Staging)>,
    /// The runs that it had when it came.
    had: Vec<RunId>,
    /// The runs whose answer is being read: what they wrote is what was written before their end.
    comparing: BTreeSet<RunId>,
    heard: Time,
}

/// An agent that was not let in, and comes again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TurnedAway {
    /// For people.
    pub why: String,
    /// Whether another works under its identity: then this says nothing of that one.
    pub beside: bool,
    /// When it came last.
    at: Time,
}

/// What is new with each start of a coordinator.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// Which program it is.
    pub program: &'a str,
    /// What tells this start from all others, also from such as a journal that was put back forgot.
    pub lineage: Lineage,
    /// Chance goes by it from now on.
    pub seed: u64,
}

/// See the module.
#[derive(Clone)]
pub struct Desk {
    ledger: Ledger,
    terms: Terms,
    sessions: BTreeMap<SessionId, Session>,
    by_agent: BTreeMap<MachineId, SessionId>,
    /// When each agent that is not lost is given up unless it is heard of.
    leases: Leases,
    /// What each agent has sent: nothing else is believed to be what its runs left.
    stored: BTreeMap<MachineId, Uploads<String>>,
    reports: Reports,
    pieces: Pieces,
    changes: Changes,
    /// Connected agents that were sent away with a file for which there was no space, and have it still.
    no_space: BTreeMap<MachineId, BlobHash>,
    /// Whether the disk had no room for output when that was asked last.
    is_full: bool,
    /// When agents that are not connected were heard of last, as far as this start knows.
    last_heard: BTreeMap<MachineId, Time>,
    /// Why agents are not let in that may come again, as they were told last.
    turned_away: BTreeMap<MachineId, TurnedAway>,
    /// Until when no run is ordered, after the journal was put back: an agent that is away may run what only the lost past
    /// knows.
    quiet_until: Option<Time>,
    /// When the last batch was handed out: what came before may leave memory.
    settled: Time,
    batch: Batch,
}

impl Desk {
    /// Opens on what was known; the start itself is the first fact.
    pub fn new(ledger: Ledger, terms: Terms, now: Time, start: Start<'_>) -> Self {
        let mut leases = Leases::default();
        for (index, _) in ledger.agents().iter().enumerate().filter(|(_, agent)| !agent.lost) {
            leases.renew(MachineId::new(index), terms.given_up_at(now));
        }
        let (epoch, is_new) = (ledger.epoch() + 1, ledger.rows() == 0);
        let (sessions, by_agent) = (BTreeMap::new(), BTreeMap::new());
        let (stored, reports, batch) = (BTreeMap::new(), Reports::default(), Batch::default());
        let (turned_away, no_space) = (BTreeMap::new(), BTreeMap::new());
        let mut desk = Self {
            ledger,
            terms,
            sessions,
            by_agent,
            leases,
            stored,
            reports,
            pieces: Pieces::default(),
            changes: Changes::default(),
            no_space,
            is_full: false,
            last_heard: BTreeMap::new(),
            turned_away,
            quiet_until: None,
            settled: Time::ZERO,
            batch,
        };
        let Start { program, lineage, seed } = start;
        let (program, policy) = (program.to_owned(), is_new.then(default_policy));
        desk.record(now, Fact::CoordinatorStarted { epoch, lineage, program, seed, policy });
        desk.quiet_until = quiet_until(&desk.ledger, &terms, now);
        desk
    }

    /// What is known. Not all of it may be committed yet while a batch is out.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// How long agents may be silent, and what is over is kept.
    pub fn terms(&self) -> &Terms {
        &self.terms
    }

    /// Until when no run begins, after the journal was restored.
    pub fn quiet_until(&self) -> Option<Time> {
        self.quiet_until
    }

    /// Takes one thing in. What left memory is read in `past`; an error is that of reading there.
    pub fn handle(&mut self, now: Time, input: Input, past: &dyn PastReader) -> Result<(), ReadError> {
        match input {
            Input::Order { id, by, order } => {
                let answer = match self.order(now, &by, *order, past) {
                    Ok(answer) => Ok(answer),
                    Err(NotDone::Rejected(rejection)) => Err(rejection),
                    Err(NotDone::Unread(error)) => return Err(error),
                };
                self.batch.effects.push(Effect::Reply(id, answer));
            }
            Input::Connected { session, hello, token, fits } => {
                self.connected(now, session, (hello.said(), fits), token);
            }
            Input::Profile { session, profile } => self.profile(now, session, profile.into_said()),
            Input::Frame { session, frame } => self.frame(now, session, *frame, past)?,
            Input::Answered { session, run, end, digest } => {
                self.answered(now, session, run, (*end, digest), past)?;
            }
            Input::Stored { agent, run, blob, bytes } => {
                // That its end was awaited was seen as it began to come.
                let user =
                    self.ledger.find_job_of(run.task).map(|(_, job)| job.user.clone()).unwrap_or_default();
                let uploads = self.stored.entry(agent).or_default();
                uploads.add(blob, user, (now, bytes), UPLOADS_OF_AGENT_MAX);
                if self.no_space.get(&agent) == Some(&blob) {
                    self.no_space.remove(&agent);
                }
            }
            Input::NoSpace { agent, blob } => {
                if self.is_connected(agent) {
                    self.no_space.insert(agent, blob);
                }
            }
            Input::Disconnected { session } => self.forget(now, session),
            Input::Tick => self.tick(now),
        }
        Ok(())
    }

    /// What programs wrote, as far as it was not handed out yet.
    pub fn take_written(&mut self) -> Vec<Written> {
        std::mem::take(&mut self.batch.written)
    }

    /// Lets the scheduler answer what came in, and hands everything out.
    pub fn settle(&mut self, now: Time) -> Batch {
        let decided = if self.quiet_until.is_some() { None } else { self.ledger.decide(now) };
        if let Some((fact, steps)) = decided {
            self.batch.recorded.push(Recorded { entry: Entry { at: now, fact }, steps });
        }
        self.pass_on_orders(now);
        self.settled = now;
        let past = self.ledger.take_past();
        Batch { past, ..std::mem::take(&mut self.batch) }
    }

    /// When a [`Tick`](Input::Tick) is next of any use.
    pub fn next_tick(&self) -> Time {
        // The scheduler decides so much at once, and the rest in the next turn.
        if self.ledger.scheduler().is_asked() {
            return self.quiet_until.unwrap_or(self.ledger.now());
        }
        let alarm = self.ledger.grid().next_alarm().map(|(at, _)| at);
        let wakes = [alarm, self.ledger.next_rested(), self.quiet_until, self.changes.next_due()];
        wakes.into_iter().flatten().fold(self.leases.next_end(), Time::min)
    }

    /// Which way the files of a run are on, as its agent said last.
    pub fn staging(&self, run: RunId, on: MachineId) -> Option<Staging> {
        let session = self.sessions.get(self.by_agent.get(&on)?)?;
        session.staging.iter().find(|(staged, _)| *staged == run).map(|(_, way)| *way)
    }

    /// Runs whose machines keep what they left, since there is no space for it here.
    pub fn without_space(&self) -> impl Iterator<Item = RunId> {
        let is_meant = |session: &&Session| self.is_without_space(session.agent);
        let left = self.sessions.values().filter(is_meant).flat_map(|session| &session.staging);
        left.filter(|(_, way)| *way == Staging::Out).map(|(run, _)| *run)
    }

    /// Whether what runs on a machine left finds no space here.
    pub fn is_without_space(&self, on: MachineId) -> bool {
        self.is_full || self.no_space.contains_key(&on)
    }

    /// Whether the disk has no room for output; what was known of it before.
    pub(crate) fn set_full(&mut self, is_full: bool) -> bool {
        std::mem::replace(&mut self.is_full, is_full)
    }

    /// Whether an agent is connected.
    pub fn is_connected(&self, agent: MachineId) -> bool {
        self.by_agent.contains_key(&agent)
    }

    /// How long an agent is still waited for.
    pub fn lease_left(&self, agent: MachineId, now: Time) -> Span {
        self.leases.left(agent, now)
    }

    /// Why an agent was not let in, as far as it can be mended here.
    pub fn turned_away(&self, agent: MachineId) -> Option<&TurnedAway> {
        self.turned_away.get(&agent)
    }

    /// What a connected agent told last.
    pub fn sample(&self, agent: MachineId) -> Option<&Sample> {
        self.session_of(agent)?.sample.as_ref()
    }

    /// When an agent was heard of last, connected or not.
    pub fn heard(&self, agent: MachineId) -> Option<Time> {
        self.session_of(agent).map(|session| session.heard).or_else(|| self.last_heard.get(&agent).copied())
    }

    fn session_of(&self, agent: MachineId) -> Option<&Session> {
        self.sessions.get(self.by_agent.get(&agent)?)
    }

    fn record(&mut self, now: Time, fact: Fact) {
        let entry = Entry { at: now, fact };
        let steps = self.ledger.apply(&entry);
        self.batch.recorded.push(Recorded { entry, steps });
    }

    fn tick(&mut self, now: Time) {
        if self.quiet_until.is_some_and(|until| until <= now) {
            self.quiet_until = None;
            self.order_all_again();
        }
        while let Some(agent) = self.leases.find_due(now) {
            self.leases.end(agent);
            self.record(now, Fact::LeaseExpired { agent });
            if let Some(&session) = self.by_agent.get(&agent) {
                self.close(now, session);
            }
        }
        let rested = self.ledger.rested_by(now);
        if !rested.is_empty() {
            self.record(now, Fact::TasksRested(rested));
        }
        while let Some((_, alarm)) = self.ledger.grid().next_alarm().filter(|(at, _)| *at <= now) {
            self.record(now, Fact::WokeUp { alarm });
        }
        while let Some((agent, profile)) = self.changes.take_due(now) {
            self.profiled(now, agent, profile);
        }
        // The store takes more room for what leaves memory than the journal takes for its end.
        if self.is_full {
            return;
        }
        // Whoever is told of a batch asks for the tasks in it: they stay until the next.
        let due = self.ledger.due_to_retire(
            now,
            self.settled,
            (self.terms.over_max, self.terms.keeping.in_memory()),
        );
        if !due.is_empty() {
            self.record(now, Fact::TasksRetired(due));
        }
    }
}
