//! The loop in which everything happens.

mod looking;
mod runs;
mod session;

use super::bounding::Bounding;
use super::dialler::{News, Outgoing};
use super::folders::Folders;
use super::joining::Joined;
use super::keeping::{Keeping, Told};
use super::minders::Minders;
use super::permits::{Clerk, Permits};
use super::threads::Threads;
use super::watch::Watch;
use super::{Stop, WorkError, WorkOptions};
use crate::cache::Cache;
use crate::clock::{Alarm, now};
use crate::confine::{Limiter, Settings};
use crate::duties::{Action, Duties, Event, Exit, Kept, paused_at};
use crate::home::{Home, Identity, Record};
use crate::keeper::Keeper;
use crate::owner::{Reason, Verdict, Word};
use crate::owner_socket::{self, Asked, State};
use gleaner_net::{Address, AgentKey, random_bytes};
use gleaner_units::{RunId, Span, Time};
use gleaner_wire::session::{Profile, Run};
use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::{Notify, mpsc, watch};
use tokio::time::MissedTickBehavior;

/// How often machine and owner are looked at: the owner is to be noticed within a second.
const LOOK_EVERY: Duration = Duration::from_millis(900);
/// Who does nothing for so long was stopped, or slept, since there is something to do at every look. One that was only busy says one
/// heartbeat more.
const STANDS_STILL: Span = Span::from_nanos(1_000_000_000);
/// At the end a coordinator that does not read is waited for no longer.
const FAREWELL_MAX: Duration = Duration::from_secs(2);
/// At the end a disk that does not take what is to be kept is waited for no longer.
const KEEPING_MAX: Duration = Duration::from_secs(10);
const QUEUE_MAX: usize = 256;

/// What a worker starts with.
pub(super) struct Start {
    pub(super) home: Arc<Home>,
    pub(super) settings: Arc<Settings>,
    pub(super) watch: Watch,
    pub(super) joined: Joined,
    pub(super) keeper: Keeper,
    pub(super) profile: Profile,
    pub(super) options: WorkOptions,
}

pub(super) struct Worker {
    home: Arc<Home>,
    identity: Identity,
    key: AgentKey,
    /// Where the coordinator may be, besides where it was met last.
    given: Option<Address>,
    duties: Duties,
    /// The machine as it was found, before the owner's rules.
    found: Profile,
    watch: Watch,
    folders: Folders,
    minders: Minders,
    /// Which signed tasks were run here.
    permits: Permits,
    clerk: Clerk,
    /// Runs that may begin, since that is written down, or may not.
    noted: mpsc::UnboundedSender<Noted>,
    limiter: Limiter,
    /// What all tasks get together.
    bounding: Arc<Bounding>,
    outgoing: Option<Outgoing>,
    /// Why there is no connection, since the last one.
    apart: Option<String>,
    /// Whether that one was given up here.
    is_given_up: bool,
    /// Where the connection leads, or led.
    dialled: Address,
    threads: Threads,
    looks: u64,
    /// When it did something last.
    awake_at: Time,
    /// Runs of which something was written, and is kept in files.
    spooled: BTreeSet<RunId>,
    /// Runs of which is written down what they left.
    keeping: Keeping,
    /// What becomes of that.
    recorded: Option<mpsc::UnboundedReceiver<Told>>,
    /// What came of actions that were done at once.
    results: VecDeque<Event>,
    inbox: Option<mpsc::Receiver<Event>>,
    notes: Option<mpsc::UnboundedReceiver<Noted>>,
}

/// A run of which was to be written down that it begins, and whether it was.
type Noted = (Arc<Run>, io::Result<()>);

/// How the work ended.
type Ended = Result<(), WorkError>;

impl Worker {
    pub(super) fn new(start: Start) -> Result<Self, WorkError> {
        let Start { home, settings, watch, joined, keeper, profile, options } = start;
        let Joined { identity, key, given } = joined;
        let dialled = identity.address.clone();
        let cache = Cache::open(&home.cache(), options.cache_bytes)
            .map_err(|why| WorkError::System { what: "the cache of inputs cannot be used", why })?;
        let met = home.met()?;
        let incarnation = incarnation(home.count_start()?)?;
        let limiter = Limiter::find(&home.place());
        let (events, inbox) = mpsc::channel(QUEUE_MAX);
        let bounding = Bounding::new(limiter.clone(), watch.rules().limits_of_all());
        let offered = watch.rules().profile(&profile, home.path());
        say_confinement(&limiter, &profile);
        let (program, memory, shown) = (options.program, options.task_memory, settings.clone());
        let minders =
            Minders::new(program, keeper, limiter.clone(), memory, home.clone(), shown, events.clone());
        let folders = Folders::new(home.clone());
        let (permits, clerk) = Permits::open(&home.signed(), unix_s())?;
        let (noted, notes) = mpsc::unbounded_channel();
        let mut duties = Duties::new(identity.agent, incarnation, met.clone(), offered);
        duties.handle(now(), Event::Ruled(watch.rules().bounds()));
        duties.handle(now(), Event::Judged(watch.verdict()));
        let kept = kept_before(&home);
        let brought: BTreeSet<RunId> = kept.iter().map(Kept::id).collect();
        let ended: Vec<Arc<Run>> = kept.iter().map(|kept| kept.run.clone()).collect();
        duties.take_up(now(), kept);
        let threads = Threads::new(home.clone(), settings, cache, met, events);
        let (tell, recorded) = mpsc::unbounded_channel();
        let keeping = Keeping::start(home.clone(), brought.clone(), tell)
            .map_err(|why| WorkError::System { what: "no thread could be started", why })?;
        let mut worker = Self {
            home,
            identity,
            key,
            given,
            duties,
            found: profile,
            watch,
            folders,
            minders,
            permits,
            clerk,
            noted,
            limiter,
            bounding,
            outgoing: None,
            apart: None,
            is_given_up: false,
            dialled,
            threads,
            looks: 0,
            awake_at: now(),
            spooled: brought,
            keeping,
            recorded: Some(recorded),
            results: VecDeque::new(),
            inbox: Some(inbox),
            notes: Some(notes),
        };
        for run in &ended {
            worker.take_up_signed(run);
        }
        worker.say_memory();
        Ok(worker)
    }

    /// Works until it is told to stop, or there is no use in going on.
    pub(super) async fn run(mut self, mut stop: watch::Receiver<Stop>) -> Ended {
        let system = |what| move |why| WorkError::System { what, why };
        let (news, mut heard) = mpsc::channel(QUEUE_MAX);
        let (asked, mut asks) = mpsc::channel(1);
        owner_socket::listen(self.home.path(), asked).map_err(system("the owner's socket cannot be made"))?;
        let written = Arc::new(Notify::new());
        let dialling = self.dial(news, written.clone());
        let mut inbox = self.inbox.take().expect("it runs once");
        let mut notes = self.notes.take().expect("it runs once");
        let mut recorded = self.recorded.take().expect("it runs once");
        let mut alarm = Alarm::new().map_err(system("no timer could be made"))?;
        let mut looking = tokio::time::interval(LOOK_EVERY);
        looking.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let ended = loop {
            if let Some(ended) = self.act() {
                break ended;
            }
            if !self.send_pieces() {
                continue;
            }
            let may_send = self.outgoing.as_ref().is_some_and(Outgoing::has_room);
            alarm.set(self.duties.due(may_send)).map_err(system("the timer cannot be set"))?;
            tokio::select! {
                Some(event) = inbox.recv() => self.take(event),
                Some((run, written)) = notes.recv() => self.noted(&run, written),
                Some(told) = recorded.recv() => self.recorded(told),
                Some(news) = heard.recv() => self.hear(news),
                Some(asked) = asks.recv() => self.answer(asked),
                rung = alarm.ring() => {
                    rung.map_err(system("the timer failed"))?;
                    self.take(Event::Tick);
                }
                _ = looking.tick() => self.look(),
                () = written.notified() => {}
                Ok(()) = stop.changed() => {
                    let stop = *stop.borrow_and_update();
                    self.stop(stop);
                }
            }
        };
        if self.outgoing.take().is_some() {
            // What was said last goes out, and that it was the last.
            let is_out = async { while !matches!(heard.recv().await, None | Some(News::Closed(_))) {} };
            let _ = tokio::time::timeout(FAREWELL_MAX, is_out).await;
        }
        dialling.abort();
        // The keeper ends what still runs, and is waited for.
        drop(self.minders);
        let is_written = async {
            self.clerk.finish().await;
            self.keeping.finish().await;
        };
        let _ = tokio::time::timeout(KEEPING_MAX, is_written).await;
        self.limiter.remove();
        ended
    }

    fn take(&mut self, event: Event) {
        let Some(event) = self.without_late_answers(event) else { return };
        let awake_at = std::mem::replace(&mut self.awake_at, now());
        if self.awake_at > awake_at + STANDS_STILL {
            self.duties.handle(self.awake_at, Event::StoodStill);
        }
        self.minders.observe(&event);
        if let Event::Exited(run, Exit::LeaseEnded, _) = &event {
            let task = self.duties.task_name(*run).unwrap_or_default();
            tracing::warn!(
                task,
                run = run.number,
                "was killed: its lease ended before this agent did anything"
            );
        }
        let ended = match &event {
            Event::Exited(run, ..) | Event::MinderLost(run) | Event::Collected(run, _) => Some(*run),
            _ => None,
        };
        if let Event::Wrote { run, .. } | Event::OutputLost(run, _) = event {
            self.spooled.insert(run);
        }
        let event = match event {
            Event::Measured(found) => {
                self.found = found;
                Event::Measured(self.watch.rules().profile(&self.found, self.home.path()))
            }
            other => other,
        };
        self.duties.handle(now(), event);
        // A task is done when what it left is stored.
        if let Some(run) = ended.filter(|run| !self.duties.awaits_storing(*run)) {
            self.signed_ended(run, self.duties.has_ended_well(run));
        }
        self.threads.heed(&self.duties);
        self.minders.keep_lease(self.duties.lease_ends());
    }

    fn stop(&mut self, stop: Stop) {
        match stop {
            Stop::No => {}
            Stop::Orderly => self.take(Event::Leave),
            Stop::AtOnce => self.take(Event::LeaveAtOnce),
        }
    }

    fn answer(&mut self, asked: Asked) {
        if let Some(word) = asked.word {
            tracing::info!(?word, "the owner's word");
            let event = self.watch.hear(word);
            self.take(event);
            if word == Word::Evict {
                self.take(Event::Evict);
            }
        }
        let (tasks, ending) = (self.duties.alive().count(), self.duties.ending());
        let (state, why) = self.allowed();
        let (rules, apart) = (self.watch.rules_without_file(), self.apart.clone());
        let answer =
            owner_socket::Answer { version: 1, tasks, ending, state, why, not_kept: None, rules, apart };
        // Whoever asked may be gone.
        let tell = move |not_kept| drop(asked.answer.send(owner_socket::Answer { not_kept, ..answer }));
        match asked.word {
            // The disk may be slow, and what was said holds already.
            Some(_) => self.threads.remember_said(self.watch.said(), tell),
            None => tell(None),
        }
    }

    /// What tasks may do here, and why not all, whoever has a say. What the owner said by hand is told also where something else decides.
    fn allowed(&self) -> (State, Option<String>) {
        let (verdict, paused_by) = (self.watch.verdict(), self.duties.paused_by());
        let state = if paused_by.is_some() { State::Suspended } else { verdict.into() };
        let decides = match verdict {
            Verdict::Run => None,
            Verdict::Suspend(reason) | Verdict::NoNewTasks(reason) => Some(reason),
        };
        let further = Reason::by_hand(self.watch.said()).filter(|reason| Some(*reason) != decides);
        let reasons = decides.into_iter().chain(further).map(|reason| reason.to_string());
        let all: Vec<String> = paused_by.map(paused_at).into_iter().chain(reasons).collect();
        (state, (!all.is_empty()).then(|| all.join("; ")))
    }

    /// Does all that is to be done; the end of the work, if it has come.
    fn act(&mut self) -> Option<Ended> {
        loop {
            while let Some(action) = self.duties.next_action() {
                if let Some(ended) = self.carry_out(action) {
                    return Some(ended);
                }
            }
            let event = self.results.pop_front()?;
            self.take(event);
        }
    }

    fn carry_out(&mut self, action: Action) -> Option<Ended> {
        match action {
            Action::Send(message) => self.send(message),
            Action::Prove(nonce) => self.prove(&nonce),
            Action::UseToken(token) => self.use_token(&token),
            Action::Remember(met) => self.threads.remember(met),
            Action::Close(why) => self.close(&why),
            Action::Prepare(run) => self.prepare(run),
            Action::Launch(run) => self.launch(run),
            Action::Signal(run, signal) => self.minders.signal(run, signal),
            Action::Note(run, why) => {
                let task = self.duties.task_name(run).unwrap_or_default();
                tracing::info!(task, run = run.number, "is to end: {why}");
            }
            Action::Collect(run, wanted) => self.collect(run, wanted),
            Action::Keep(kept) => {
                let record = |kept: Kept| {
                    let shared = self.folders.shared(kept.id());
                    Record::new(kept, shared)
                };
                self.keeping.keep(kept.into_iter().map(record).collect());
            }
            Action::Clear(run) => self.clear(run),
            Action::Measure => self.threads.measure_anew(&self.found),
            Action::Quit => return Some(Ok(())),
            Action::GiveUp(why) => return Some(Err(WorkError::Refused(why))),
        }
        None
    }
}

/// So that an owner sees by what tasks are held.
fn say_confinement(limiter: &Limiter, profile: &Profile) {
    tracing::info!(%limiter, "limits of tasks");
    if let Err(why) = &profile.sandbox {
        tracing::warn!(
            why,
            "no sandbox can be built here, so tasks of others do not run here; see `gleaner doctor`"
        );
    }
}

/// What runs of an agent before this one left, and this one is to hand in.
fn kept_before(home: &Home) -> Vec<Kept> {
    let kept = home.kept();
    if !kept.is_empty() {
        tracing::info!(
            runs = kept.len(),
            "an agent before this one could not hand in what they left: this one will"
        );
    }
    kept
}

/// By the machine's own clock. Before 1970 nothing has expired.
fn unix_s() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Copies of a folder count alike; what is drawn tells their agents apart.
fn incarnation(start: u64) -> Result<u64, WorkError> {
    let [a, b, c] = random_bytes().map_err(|why| WorkError::System {
        what: "no number for this start could be drawn",
        why: io::Error::other(why),
    })?;
    Ok(start << 24 | u64::from(u32::from_be_bytes([0, a, b, c])))
}
