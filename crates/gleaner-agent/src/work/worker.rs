//! The loop in which everything happens.

mod runs;

use super::bounding::Bounding;
use super::dialler::{Dialler, News, Outgoing};
use super::folders::Folders;
use super::joining::Joined;
use super::keeping::Keeping;
use super::minders::Minders;
use super::permits::{Clerk, Permits};
use super::room::Bound;
use super::threads::Threads;
use super::watch::Watch;
use super::{Stop, WorkError, WorkOptions, spool};
use crate::cache::Cache;
use crate::clock::{Alarm, now};
use crate::confine::{Limiter, Settings};
use crate::duties::{Action, Duties, Event, Exit, Kept, Piece, paused_at};
use crate::home::{Home, Identity, Record};
use crate::keeper::Keeper;
use crate::owner::{Rules, Verdict, Word, check_signed};
use crate::owner_socket::{self, Asked, State};
use gleaner_net::{Address, AgentKey, Challenge, Client, SessionNonce, Token, random_bytes};
use gleaner_units::{RunId, Span, Time};
use gleaner_wire::session::{FromAgent, Profile, Run, Stream};
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
/// Every how many looks the folders of runs that have a limit, or where the disk is short, are measured.
const LOOKS_PER_SIZE: u64 = 5;
/// Every how many looks what could not be removed is tried again, and the machine's settings are looked at. While those change they are
/// looked at each time.
const LOOKS_PER_CLEARING: u64 = 11;
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
    /// Those of them that are removed by now.
    cleared: Option<mpsc::UnboundedReceiver<RunId>>,
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
        tracing::info!(%limiter, "limits of tasks");
        if let Err(why) = &profile.sandbox {
            tracing::warn!(
                why,
                "no sandbox can be built here, so tasks of others do not run here; see `gleaner doctor`"
            );
        }
        let (program, memory, shown) = (options.program, options.task_memory, settings.clone());
        let minders =
            Minders::new(program, keeper, limiter.clone(), memory, home.clone(), shown, events.clone());
        let folders = Folders::new(home.clone());
        let (permits, clerk) = Permits::open(&home.signed(), unix_s())?;
        let (noted, notes) = mpsc::unbounded_channel();
        let mut duties = Duties::new(identity.agent, incarnation, met.clone(), offered);
        duties.handle(now(), Event::Ruled(watch.rules().bounds()));
        duties.handle(now(), Event::Judged(watch.verdict()));
        let kept = home.kept();
        let brought: BTreeSet<RunId> = kept.iter().map(Kept::id).collect();
        if !kept.is_empty() {
            tracing::info!(
                runs = kept.len(),
                "an agent before this one could not hand in what they left: this one will"
            );
        }
        duties.take_up(now(), kept);
        let threads = Threads::new(home.clone(), settings, cache, met, events);
        let (clearing, cleared) = mpsc::unbounded_channel();
        let keeping = Keeping::start(home.clone(), brought.clone(), clearing)
            .map_err(|why| WorkError::System { what: "no thread could be started", why })?;
        let worker = Self {
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
            dialled,
            threads,
            looks: 0,
            awake_at: now(),
            spooled: brought,
            keeping,
            cleared: Some(cleared),
            results: VecDeque::new(),
            inbox: Some(inbox),
            notes: Some(notes),
        };
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
        let Identity { address, authority, .. } = self.identity.clone();
        let mut addresses: Vec<Address> = self.given.take().into_iter().chain([address]).collect();
        addresses.dedup();
        let dialling = tokio::spawn(Dialler { addresses, authority, news, written: written.clone() }.dial());
        let mut inbox = self.inbox.take().expect("it runs once");
        let mut notes = self.notes.take().expect("it runs once");
        let mut cleared = self.cleared.take().expect("it runs once");
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
                Some(run) = cleared.recv() => self.cleared(run),
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

    fn hear(&mut self, news: News) {
        match news {
            News::Open(outgoing, address) => {
                tracing::info!(coordinator = %address, name = self.identity.name, "connected");
                self.outgoing = Some(outgoing);
                self.dialled = address;
                self.take(Event::Connected);
            }
            News::Event(event) => {
                // What was under way when the connection was given up is of no use.
                if self.outgoing.is_some() {
                    self.take(event);
                }
            }
            News::Closed(why) => {
                tracing::info!(why, "no connection to the coordinator");
                self.outgoing = None;
                self.take(Event::Disconnected);
            }
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
        let answer = owner_socket::Answer { version: 1, tasks, ending, state, why, not_kept: None };
        // Whoever asked may be gone.
        let tell = move |not_kept| drop(asked.answer.send(owner_socket::Answer { not_kept, ..answer }));
        match asked.word {
            // The disk may be slow, and what was said holds already.
            Some(_) => self.threads.remember_said(self.watch.said(), tell),
            None => tell(None),
        }
    }

    /// What tasks may do here, and why not all, whoever has a say.
    fn allowed(&self) -> (State, Option<String>) {
        let verdict = self.watch.verdict();
        match (verdict, self.duties.paused_by()) {
            (Verdict::Run, None) => (State::Open, None),
            (Verdict::Run, Some(by)) => (State::Suspended, Some(paused_at(by))),
            (Verdict::Suspend(reason) | Verdict::NoNewTasks(reason), None) => {
                (verdict.into(), Some(reason.to_string()))
            }
            (Verdict::Suspend(reason) | Verdict::NoNewTasks(reason), Some(by)) => {
                (State::Suspended, Some(format!("{}, and {reason}", paused_at(by))))
            }
        }
    }

    fn look(&mut self) {
        if let Some(before) = self.watch.reread(&self.found) {
            self.bounding.set(self.watch.rules().limits_of_all());
            self.take(Event::Ruled(self.watch.rules().bounds()));
            self.end_what_is_forbidden(&before);
            self.take(Event::Measured(self.found.clone()));
            self.say_memory();
        }
        self.bounding.look();
        for event in self.watch.look(now(), self.limiter.cpu_used()) {
            self.take(event);
        }
        self.look_at_disk();
        if self.watch.shortage().bytes {
            self.threads.give_way();
        }
        self.looks += 1;
        let clears = self.looks.is_multiple_of(LOOKS_PER_CLEARING);
        if clears {
            self.threads.clear_leftovers();
        }
        if clears || self.threads.sees_settings_change() {
            self.threads.follow_settings();
        }
        if self.looks.is_multiple_of(LOOKS_PER_SIZE) {
            self.measure_folders();
            if self.duties.has_disk_fault() {
                self.threads.try_disk();
            }
        }
    }

    /// So that an owner sees what slots and rules come to.
    fn say_memory(&self) {
        let profile = self.duties.profile();
        let each = self.minders.memory_unless_named(profile);
        let together = each.map(|bytes| bytes.saturating_mul(profile.slots.into()));
        tracing::info!(each, together, "bytes of memory for tasks that name none, from now on");
    }

    /// What tasks have on the disk is not taken from them: how much others leave is seen when there are none.
    fn look_at_disk(&mut self) {
        if self.duties.runs().next().is_none()
            && let Some(free) = self.watch.changed_disk(self.found.disk)
        {
            self.take(Event::Measured(Profile { disk: Some(free), ..self.found.clone() }));
        }
    }

    /// The rules are others than `before`: what they let come no more does not stay either.
    fn end_what_is_forbidden(&mut self, before: &Rules) {
        let rules = self.watch.rules();
        let signers = rules.signed_by.as_ref().filter(|signers| before.signed_by.as_ref() != Some(*signers));
        let grid = self.identity.authority.to_string();
        // A signature may expire while its run goes on.
        let is_unsigned =
            |run: &Run| signers.is_some_and(|signers| check_signed(run, signers, &grid, 0).is_err());
        let forbidden = self.duties.going().filter(|run| rules.forbid(run, before) || is_unsigned(run));
        for run in forbidden.map(|run| run.id).collect::<Vec<_>>() {
            self.take(Event::Forbidden(run));
        }
    }

    fn measure_folders(&self) {
        let short = self.watch.shortage();
        let bounded = self.duties.alive().filter_map(|(run, named)| Some((run, Bound::of(named, short)?)));
        for (run, bound) in bounded {
            self.threads.measure_folder(run, bound, (self.folders.of(run), self.minders.first_process(run)));
        }
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

    fn send(&mut self, message: FromAgent) {
        if let FromAgent::Ended { run, end } = &message {
            tracing::info!(task = self.duties.task_name(*run), run = run.number, "ended: {}", end.outcome);
        }
        let sent = self.outgoing.as_ref().map(|outgoing| outgoing.send(message));
        if sent == Some(Err(())) {
            self.close("what is sent to the coordinator is not taken");
            self.results.push_back(Event::Disconnected);
        }
    }

    fn close(&mut self, why: &str) {
        tracing::warn!(why, "the connection to the coordinator is given up");
        self.outgoing = None;
    }

    fn prove(&mut self, nonce: &[u8]) {
        let Ok(nonce) = <[u8; 32]>::try_from(nonce) else {
            self.close("its challenge is not 32 bytes");
            self.results.push_back(Event::Disconnected);
            return;
        };
        let nonce = SessionNonce::from_bytes(nonce);
        let challenge = Challenge { authority: self.identity.authority, agent: self.identity.agent, nonce };
        let signature = self.key.sign_session(&challenge).as_bytes().to_vec();
        self.send(FromAgent::Proof { signature });
    }

    /// Called when the coordinator has welcomed this agent, which proves that it is at the address that was dialled.
    fn use_token(&mut self, token: &str) {
        if self.dialled != self.identity.address {
            self.identity.address = self.dialled.clone();
            self.threads.remember_address(self.identity.clone());
        }
        let Identity { address, authority, .. } = self.identity.clone();
        match token.parse::<Token>() {
            Ok(token) => {
                self.threads.use_client(Client::new(address, authority, &token), &self.found);
            }
            Err(why) => tracing::warn!(%why, "the coordinator's token for files is of no use"),
        }
    }

    /// Sends output as far as what was sent before has left; false if some of it is lost, about which something is to be
    /// done.
    fn send_pieces(&mut self) -> bool {
        while let Some(outgoing) = &self.outgoing
            && outgoing.has_room()
            && let Some(piece) = self.duties.next_piece(now())
        {
            let (Piece::Output(run, ..) | Piece::End(run, ..)) = piece;
            match self.message_of(piece) {
                Ok(message) => self.send(message),
                Err(why) => {
                    self.take(Event::OutputLost(run, why.to_string()));
                    return false;
                }
            }
        }
        true
    }

    fn message_of(&self, piece: Piece) -> io::Result<FromAgent> {
        let read = |run, stream, range| spool::read_range(&self.home.spool(run, stream), range);
        Ok(match piece {
            Piece::Output(run, stream, range) => {
                let bytes = read(run, stream, range)?;
                FromAgent::Output { run, stream, offset: range.offset, bytes }
            }
            Piece::End(run, mut end, [stdout, stderr]) => {
                end.stdout.bytes = read(run, Stream::Stdout, stdout)?;
                end.stderr.bytes = read(run, Stream::Stderr, stderr)?;
                FromAgent::Ended { run, end: *end }
            }
        })
    }
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
