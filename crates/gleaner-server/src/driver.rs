//! The one thread that owns the desk: it takes in what came, commits what follows, and only then lets anything out.
//!
//! Many inputs share one commit: while a commit is on its way to the disk, the next inputs gather. **A commit that
//! fails ends the thread**, and with it the coordinator: what was acknowledged is on the disk, and nothing else left.

mod handle;

pub use handle::{Handle, Newcomer, Outgoing, Stopped};

use crate::clock::{Clock, Sleep};
use crate::desk::{
    Answer, Batch, Desk, Effect, Input, OrderId, Recorded, Rejection, SessionId, Start, hold_to,
};
use crate::journal::Fact;
use crate::ledger::Ledger;
use crate::limits::{BATCH_MAX, GAP_MIN, LIVE_BACKLOG_MAX, QUEUE_MAX};
use crate::live;
use crate::outputs::{OutputError, Outputs};
use crate::recovery::{Recovered, RecoveryError, mend_past, recover};
use crate::snapshotter::Snapshotter;
use crate::store::{CommitError, Home, ReadError, Reader, Row, Store};
use crate::told;
use gleaner_core::Run;
use gleaner_net::{NoRandomness, random_bytes, random_seed};
use gleaner_units::{MachineId, RunId, Time};
use gleaner_wire::Lineage;
use gleaner_wire::session::{End, FromAgent, Stream, ToAgent};
use handle::{Message, Release};
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;
use std::time::Duration;
use thiserror::Error;
use tokio::sync::{Semaphore, broadcast, mpsc, oneshot};

/// Rows of the journal after which a snapshot is taken.
const SNAPSHOT_ROWS: u64 = 200_000;
/// The thread looks at the time at least this often.
const TICK_MAX: Duration = Duration::from_secs(1);
/// How often the store is to go on with what is due to go from it.
const SWEEP_EVERY: Duration = Duration::from_secs(1);

/// Why the coordinator cannot start or go on.
#[derive(Debug, Error)]
pub enum DriverError {
    /// Facts could not be committed.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// What left memory could not be read.
    #[error(transparent)]
    Past(#[from] ReadError),
    /// Output could not be kept.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The journal leads nowhere.
    #[error(transparent)]
    Recovery(#[from] RecoveryError),
    /// There is no randomness.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    /// The operating system gave no thread.
    #[error("no thread could be started: {0}")]
    Thread(std::io::Error),
}

/// The running thread.
pub struct Driver {
    thread: thread::JoinHandle<Result<Box<dyn Store>, DriverError>>,
}

impl Driver {
    /// Reads the journal and starts the thread. Takes as long as the facts since the last snapshot take.
    pub fn start(
        mut store: Box<dyn Store>,
        home: &Home,
        terms: crate::desk::Terms,
        program: &str,
    ) -> Result<(Self, Handle), DriverError> {
        let reader = store.reader().map_err(RecoveryError::from)?;
        let snapshots = store.snapshots().map_err(RecoveryError::from)?;
        let Recovered { ledger, day, rows, .. } = recover(&*reader, &*snapshots)?;
        if mend_past(&mut *store, &ledger)? {
            tracing::info!("what is kept of jobs that are over was made anew from the journal");
        }
        let past = store.reader().map_err(RecoveryError::from)?;
        let snapshotter = Snapshotter::start(reader, snapshots).map_err(DriverError::Thread)?;
        let clock = Clock::start(ledger.now());
        warn_of_clock(&clock, &ledger);
        let start = Start { program, lineage: Lineage::of(random_bytes()?), seed: random_seed()? };
        let desk = Desk::new(ledger, terms, clock.now(), start);
        if let Some(until) = desk.quiet_until() {
            tracing::info!(
                "the journal was restored: no run begins for {:.0} s, until each machine that is away has ended what it may have",
                until.since(clock.now()).seconds()
            );
        }
        let began = desk.ledger().began();
        let mut outputs = Outputs::open(home, began);
        let agents = (0..desk.ledger().agents().len()).map(MachineId::new);
        outputs.go_on_with(agents.flat_map(|agent| desk.ledger().live_on(agent)).map(Run::id));
        let (queue, inbox) = std::sync::mpsc::channel();
        let people = Arc::new(RwLock::new(Arc::new(desk.ledger().people_let_in())));
        let (live, _) = broadcast::channel(LIVE_BACKLOG_MAX);
        let room = Arc::new(Semaphore::new(QUEUE_MAX));
        let ended = Arc::new(Semaphore::new(0));
        let day = Arc::new(RwLock::new(day));
        let handle = Handle { queue, room, ended, people, live, clock, began, day };
        let work = Work {
            desk,
            store,
            past,
            outputs,
            home: home.clone(),
            inbox,
            shared: handle.clone(),
            since_snapshot: rows,
            waiting: BTreeMap::new(),
            looks: Vec::new(),
            sessions: BTreeMap::new(),
            next_id: 0,
            sleep: Sleep::begin(),
            swept: Time::ZERO,
        };
        let thread = thread::Builder::new().name("desk".to_owned()).spawn(|| work.run(snapshotter));
        Ok((Self { thread: thread.map_err(DriverError::Thread)? }, handle))
    }

    /// Waits for its end and says why it ended. The store is the caller's to close, after all readers of it: only whoever closes
    /// the file last takes its log in.
    ///
    /// # Panics
    /// If the thread did: a broken invariant.
    pub fn join(self) -> Result<Box<dyn Store>, DriverError> {
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Says how far apart the journal and this machine's clock are, where that is far.
fn warn_of_clock(clock: &Clock, ledger: &Ledger) {
    if let Some(ahead) = clock.ahead() {
        tracing::warn!(
            "the journal goes on {:.1} days ahead of this machine's clock, which was wrong then or is now: moments are shown \
             as the journal has them; users' tokens and signed jobs expire by this machine's clock",
            ahead.seconds() / 86_400.0
        );
    }
    let away = clock.now().since(ledger.now());
    if ledger.epoch() > 0 && away.nanos() >= GAP_MIN.as_nanos() as u64 {
        tracing::warn!(
            "this machine's clock is {:.1} days ahead of the journal's last row: if the coordinator was off for so long, all is well; \
             if the clock is wrong, mend it. These days do not count for how long results are kept",
            away.seconds() / 86_400.0
        );
    }
}

struct Work {
    desk: Desk,
    /// Reads what left memory. It is closed before the store.
    past: Box<dyn Reader>,
    store: Box<dyn Store>,
    outputs: Outputs,
    home: Home,
    inbox: Receiver<Message>,
    shared: Handle,
    since_snapshot: u64,
    waiting: BTreeMap<OrderId, oneshot::Sender<Result<Answer, Rejection>>>,
    looks: Vec<Release>,
    sessions: BTreeMap<SessionId, mpsc::Sender<Outgoing>>,
    next_id: u64,
    sleep: Sleep,
    /// When the store last had something go.
    swept: Time,
}

impl Work {
    fn run(mut self, snapshotter: Snapshotter) -> Result<Box<dyn Store>, DriverError> {
        let end = self.serve(&snapshotter);
        // Whoever waits for room or an answer hears that there will be none.
        self.shared.ended.close();
        self.shared.room.close();
        if end.is_ok() {
            snapshotter.order();
        }
        snapshotter.finish();
        end.map(|()| self.store)
    }

    fn serve(&mut self, snapshotter: &Snapshotter) -> Result<(), DriverError> {
        self.turn()?;
        loop {
            let going_on = self.gather()?;
            self.turn()?;
            if self.since_snapshot >= SNAPSHOT_ROWS {
                snapshotter.order();
                self.since_snapshot = 0;
            }
            if !going_on {
                return Ok(());
            }
        }
    }

    /// Takes in what came, once something did or it is time for something; whether to go on.
    fn gather(&mut self) -> Result<bool, DriverError> {
        let mut going_on = match self.inbox.recv_timeout(self.patience()) {
            Ok(message) => self.take(message)?,
            Err(RecvTimeoutError::Timeout) => true,
            Err(RecvTimeoutError::Disconnected) => false,
        };
        for _ in 1..BATCH_MAX {
            let Ok(message) = self.inbox.try_recv() else { break };
            going_on &= self.take(message)?;
        }
        Ok(going_on)
    }

    /// The present moment. That the machine slept until then is recorded before all else.
    fn now(&mut self) -> Time {
        let now = self.shared.now();
        self.desk.slept(now, self.sleep.since_last());
        now
    }

    fn patience(&self) -> Duration {
        let ahead = self.desk.next_tick().since(self.shared.now());
        Duration::from_nanos(ahead.nanos()).min(TICK_MAX)
    }

    /// Commits what followed from the inputs, and lets the effects out.
    fn turn(&mut self) -> Result<(), DriverError> {
        let now = self.now();
        // Nothing leaves memory while the disk is full.
        let is_full = self.look_at_disk();
        self.desk.handle(now, Input::Tick, &*self.past)?;
        let batch = self.desk.settle(now);
        self.commit(&batch)?;
        if batch.recorded.iter().any(|recorded| is_about_people(&recorded.entry.fact)) {
            let people = Arc::new(self.desk.ledger().people_let_in());
            *self.shared.people.write().unwrap_or_else(PoisonError::into_inner) = people;
        }
        told::log(self.desk.ledger(), &batch.recorded);
        live::events(self.desk.ledger(), &batch.recorded, |event| {
            // Nobody may be watching.
            drop(self.shared.live.send(Arc::new(event)));
        });
        self.shared.day.write().unwrap_or_else(PoisonError::into_inner).note(
            &self.desk,
            now,
            &batch.recorded,
        );
        // A run waits for what goes to its agent; whoever handed it in has time.
        let (replies, others): (Vec<_>, Vec<_>) =
            batch.effects.into_iter().partition(|effect| matches!(effect, Effect::Reply(..)));
        others.into_iter().chain(replies).for_each(|effect| self.let_out(effect));
        self.looks.drain(..).for_each(|release| release());
        if !is_full && now.since(self.swept).nanos() >= SWEEP_EVERY.as_nanos() as u64 {
            self.store.sweep()?;
            self.swept = now;
        }
        Ok(())
    }

    fn commit(&mut self, batch: &Batch) -> Result<(), DriverError> {
        // A run writes nothing before it is ordered, but it may write before its agent says that it runs.
        for &run in &batch.ordered {
            self.outputs.begin(run)?;
        }
        for written in &batch.written {
            self.outputs.keep(written)?;
        }
        for recorded in &batch.recorded {
            if let Fact::RunEnded { run, end, .. } = &recorded.entry.fact
                && (end.stdout.offset > 0 || end.stderr.offset > 0)
            {
                self.outputs.seal(*run, [end.stdout.offset, end.stderr.offset])?;
            }
        }
        let rows: Vec<Row> = batch.recorded.iter().map(Recorded::row).collect();
        if !rows.is_empty() {
            self.store.commit_with(&rows, batch.past.as_ref())?;
            self.since_snapshot += rows.len() as u64;
        }
        Ok(())
    }

    /// Whether to go on.
    fn take(&mut self, message: Message) -> Result<bool, DriverError> {
        let now = self.now();
        match message {
            Message::Stop => return Ok(false),
            Message::Order(by, order, reply) => {
                let id = OrderId(self.next_id());
                self.waiting.insert(id, reply);
                self.desk.handle(now, Input::Order { id, by, order }, &*self.past)?;
            }
            Message::Connected(newcomer, reply) => {
                let Newcomer { hello, token, fits, to_agent } = *newcomer;
                let (session, hello) = (SessionId(self.next_id()), Box::new(hello));
                self.sessions.insert(session, to_agent);
                // If nobody waits any more, the connection is gone, and that is reported too.
                let _ = reply.send(session);
                self.desk.handle(now, Input::Connected { session, hello, token, fits }, &*self.past)?;
            }
            Message::Inputs(inputs, _place) => {
                for mut input in inputs {
                    if let Input::Disconnected { session } = &input {
                        self.sessions.remove(session);
                    }
                    if let Input::Frame { frame, .. } = &mut input
                        && let FromAgent::Ended { run, end } = &mut **frame
                    {
                        self.hold_to_output(*run, end)?;
                    }
                    self.desk.handle(now, input, &*self.past)?;
                }
            }
            Message::Look(look) => self.looks.push(look(&self.desk, now)),
        }
        self.shared.room.add_permits(1);
        Ok(true)
    }

    /// What the end of a run says that it wrote is held against what came of it.
    fn hold_to_output(&mut self, run: RunId, end: &mut End) -> Result<(), OutputError> {
        for (stream, tail) in [(Stream::Stdout, &mut end.stdout), (Stream::Stderr, &mut end.stderr)] {
            if tail.offset > 0 {
                // It may have come just before the end.
                self.desk.take_written().iter().try_for_each(|written| self.outputs.keep(written))?;
                hold_to(tail, self.outputs.kept(run, stream)?);
            }
        }
        Ok(())
    }

    fn let_out(&mut self, effect: Effect) {
        match effect {
            Effect::Reply(id, answer) => {
                if let Some(reply) = self.waiting.remove(&id) {
                    // Who asked may have gone; what was asked for stands.
                    drop(reply.send(answer));
                }
            }
            // Its agent remembers what is committed by now.
            Effect::Send(session, ToAgent::Beat { number, .. }) => {
                let (row, hash) = (self.store.last().number(), Some(self.store.chain()));
                let is_full = self.look_at_disk();
                self.send(session, Outgoing::Message(ToAgent::Beat { number, row, hash, is_full }));
            }
            Effect::Send(session, mut message) => {
                match &mut message {
                    ToAgent::Welcome { is_full, .. } => *is_full = self.look_at_disk(),
                    ToAgent::Refused { why, .. } => tracing::warn!(why, "an agent was turned away"),
                    _ => {}
                }
                self.send(session, Outgoing::Message(message));
            }
            Effect::Run(session, order) => self.send(session, Outgoing::Run(order)),
            Effect::Compare(session, run, end) => self.send(session, Outgoing::Compare(run, end)),
            Effect::Close(session) => drop(self.sessions.remove(&session)),
        }
    }

    /// Tells the desk, and people, whether the disk has no room for output; whether that is so.
    fn look_at_disk(&mut self) -> bool {
        let lack = self.home.lack_for_output();
        let is_full = lack.is_some();
        if is_full != self.desk.set_full(is_full) {
            if let Some(lack) = lack {
                tracing::warn!(
                    "the disk has no room left for what tasks print ({lack}): that waits at their machines, and runs of which much is left \
                     to send are not over; {}, or cancel what prints so much",
                    lack.remedy()
                );
            } else {
                tracing::info!("the disk has room again for what tasks print");
            }
        }
        is_full
    }

    fn send(&mut self, session: SessionId, outgoing: Outgoing) {
        // An agent that does not read for so long is as good as gone: its session ends, and it comes back.
        let is_stuck = self.sessions.get(&session).is_some_and(|to| to.try_send(outgoing).is_err());
        if is_stuck {
            self.sessions.remove(&session);
        }
    }

    fn next_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }
}

fn is_about_people(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::UserAdded { .. }
            | Fact::QuotaSet { .. }
            | Fact::UserRemoved { .. }
            | Fact::JoinTokenIssued { .. }
            | Fact::JoinTokenRemoved { .. }
            | Fact::AgentEnrolled { .. }
            | Fact::AgentRevoked { .. }
            | Fact::AgentForgotten { .. }
    )
}
