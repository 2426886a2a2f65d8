//! A model of an agent: it keeps the promises of the session's protocol, and its programs count.
//!
//! A program is told how many milliseconds it has to count, with what it then exits, and on how many machines at a time. What it has
//! counted is its checkpoint.

mod runs;

use super::flaw::Flaw;
use super::history::Seen;
use super::mutant::Mutant;
use super::scene::{Scene, Timer};
use gleaner_units::{RunId, Span, Time};
use gleaner_wire::session::{End, FromAgent, Hello, Profile, Sample, Stream, ToAgent};
use gleaner_wire::{Had, Lineage, Met};
use runs::Held;
use std::collections::BTreeMap;

/// What a program that wants to be run again exits with.
pub(crate) const AGAIN: i32 = 75;

#[expect(clippy::struct_excessive_bools, reason = "each is a state of its own")]
pub(crate) struct Agent {
    number: u32,
    profile: Profile,
    /// How much faster than true time its clock runs, in thousandths.
    drift: i64,
    pub(crate) incarnation: u64,
    met: Option<Met>,
    pub(crate) link: Link,
    heartbeats: u64,
    period: Span,
    lease: Span,
    lease_ends: Time,
    runs: BTreeMap<RunId, Held>,
    /// Kept until they are settled.
    ends: BTreeMap<RunId, Kept>,
    pub(crate) load: f64,
    pub(crate) open: bool,
    paused: bool,
    /// Its machine sleeps, or it alone is stopped: it hears and does nothing.
    pub(crate) is_asleep: bool,
    /// It alone is: what it runs goes on, and is ended by its minders when the lease ends.
    pub(crate) is_stopped: bool,
    /// It was revoked, or its program is not running.
    pub(crate) is_gone: bool,
    /// What is wrong with its machine.
    pub(crate) flaw: Flaw,
}

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Link {
    Down,
    Greeting { connection: usize, since: Time },
    Up { connection: usize, unanswered: BTreeMap<u64, Time> },
}

struct Kept {
    lineage: Lineage,
    end: End,
    /// What was written before.
    text: Vec<u8>,
}

impl Agent {
    pub(crate) fn new(number: u32, profile: Profile, drift: i64) -> Self {
        Self {
            number,
            profile,
            drift,
            incarnation: u64::from(number) << 32,
            met: None,
            link: Link::Down,
            heartbeats: 0,
            period: Span::ZERO,
            lease: Span::ZERO,
            lease_ends: Time::ZERO,
            runs: BTreeMap::new(),
            ends: BTreeMap::new(),
            load: 0.0,
            open: true,
            paused: false,
            is_asleep: false,
            is_stopped: false,
            is_gone: false,
            flaw: Flaw::None,
        }
    }

    pub(crate) fn connection(&self) -> Option<usize> {
        match self.link {
            Link::Down => None,
            Link::Greeting { connection, .. } | Link::Up { connection, .. } => Some(connection),
        }
    }

    pub(crate) fn greet(&mut self, now: Time, connection: usize) -> Hello {
        self.link = Link::Greeting { connection, since: now };
        Hello {
            agent: self.number,
            incarnation: self.incarnation,
            met: self.met.clone(),
            profile: self.profile.clone(),
            running: self.had(),
        }
    }

    fn had(&self) -> Vec<Had> {
        let running = self.runs.iter().map(|(&run, held)| Had { run, lineage: held.run.lineage });
        let over = self.ends.iter().map(|(&run, kept)| Had { run, lineage: kept.lineage });
        running.chain(over).collect()
    }

    /// The program ends, and with it all it knew but what it had written down; its machine's next start is another incarnation.
    pub(crate) fn crash(&mut self, scene: &mut Scene) {
        let mut ends = std::mem::take(&mut self.ends);
        self.kill_all("the agent crashed", scene);
        ends.retain(|_, _| scene.chance.one_in(2));
        self.ends = ends;
        self.link = Link::Down;
        (self.lease_ends, self.is_gone) = (Time::ZERO, true);
        (self.load, self.open, self.paused) = (0.0, true, false);
        self.incarnation += 1;
    }

    pub(crate) fn measured(&mut self, speed: f64, scene: &mut Scene) {
        self.profile.speeds[0] = speed;
        self.send(FromAgent::Profile(self.profile.clone()), scene);
    }

    /// The owner's share changed, or whether they let new tasks start.
    pub(crate) fn owner_acts(&mut self, load: f64, open: bool, scene: &mut Scene) {
        (self.load, self.open) = (load, open);
        self.freeze_or_thaw(scene);
        self.tell_owner(scene);
    }

    /// The owner is away for good.
    pub(crate) fn calm_down(&mut self, scene: &mut Scene) {
        if self.paused || self.load > 0.0 || !self.open {
            self.paused = false;
            self.owner_acts(0.0, true, scene);
        }
    }

    /// Whether all it had to do is done and told.
    pub(crate) fn is_idle(&self) -> bool {
        self.runs.is_empty() && self.ends.is_empty()
    }

    /// For whoever asks what keeps a history from its end.
    pub(crate) fn state(&self) -> String {
        let Self { number, link, is_gone, is_asleep, .. } = self;
        let (runs, ends) = (self.runs.keys(), self.ends.keys());
        format!("agent {number}: {link:?}, gone {is_gone}, asleep {is_asleep}, runs {runs:?}, ends {ends:?}")
    }

    pub(crate) fn sleep(&mut self, scene: &mut Scene) {
        self.is_asleep = true;
        self.freeze_or_thaw(scene);
        scene.see(Seen::Slept { on: self.number });
    }

    /// As by a signal, or since it waits for a disk.
    pub(crate) fn stall(&mut self) {
        (self.is_asleep, self.is_stopped) = (true, true);
    }

    /// First of all, what may not go on is ended.
    pub(crate) fn wake(&mut self, scene: &mut Scene) {
        self.is_asleep = false;
        self.end_with_the_lease(scene);
        if std::mem::take(&mut self.is_stopped) {
            // Of what its minders ended it says so now.
            self.say_all_again(scene);
            return;
        }
        scene.see(Seen::Woke { on: self.number });
        self.freeze_or_thaw(scene);
    }

    pub(crate) fn disconnected(&mut self, scene: &mut Scene) {
        self.link = Link::Down;
        let pause = scene.chance.millis(200, 5_000);
        scene.set(pause, Timer::Dial);
    }

    pub(crate) fn timer(&mut self, timer: &Timer, scene: &mut Scene) {
        match *timer {
            // The world dials.
            Timer::Dial => {}
            Timer::Welcome(greeted) => {
                let is_unanswered =
                    |link: &Link| matches!(link, Link::Greeting { connection, .. } if *connection == greeted);
                scene.close |= is_unanswered(&self.link);
            }
            Timer::Heartbeat(connection) => self.heartbeat(connection, scene),
            Timer::Lease => self.end_with_the_lease(scene),
            Timer::Ready(run) => self.begin(run, scene),
            Timer::Counted(run, generation) => self.counted(run, generation, scene),
            Timer::Stopped(run) => self.stopped(run, scene),
            Timer::Told(run) => self.tell_end(run, scene),
        }
    }

    pub(crate) fn hear(&mut self, message: ToAgent, scene: &mut Scene) {
        match message {
            ToAgent::Welcome { epoch, lineage, restored, forget, lease_s, heartbeat_s, paused, .. } => {
                let restores = restored.into_iter().collect();
                let met = Met { epoch, lineage, row: 0, hash: None, restores };
                self.welcomed(met, &forget, (lease_s, heartbeat_s), scene);
                if self.paused != paused.is_some() {
                    self.paused = paused.is_some();
                    self.freeze_or_thaw(scene);
                    self.tell_owner(scene);
                }
            }
            ToAgent::Refused { for_good: false, .. } => scene.close = true,
            ToAgent::Refused { .. } => {
                self.kill_all("the agent is refused", scene);
                self.is_gone = true;
                scene.close = true;
            }
            ToAgent::Beat { number, row, .. } => {
                if let Some(met) = &mut self.met {
                    met.row = met.row.max(row);
                }
                if let Link::Up { unanswered, .. } = &mut self.link
                    && let Some(sent) = unanswered.remove(&number)
                {
                    self.renew(sent, scene);
                }
            }
            ToAgent::Yours { runs } => {
                let others = self.runs.keys().filter(|run| !runs.contains(run));
                for other in others.copied().collect::<Vec<_>>() {
                    self.abandon(other, "it is another's", scene);
                }
            }
            ToAgent::Run(run) => self.take_on(*run, scene),
            ToAgent::Stop { run, cause } => self.asked_to_stop(run, cause, scene),
            ToAgent::Settled { run, accepted } => {
                let had = self.had().into_iter().find(|had| had.run == run);
                let lineage = had.map(|had| had.lineage);
                scene.see(Seen::Settled { run, lineage, on: self.number, accepted });
                if scene.mutant != Some(Mutant::EndedTooSoon) {
                    self.abandon(run, "it was settled before it ended", scene);
                }
                self.ends.remove(&run);
            }
            ToAgent::SetPaused { paused, .. } => {
                self.paused = paused;
                self.freeze_or_thaw(scene);
                self.tell_owner(scene);
            }
            ToAgent::Challenge { .. }
            | ToAgent::Proven
            | ToAgent::StoreAgain { .. }
            | ToAgent::Measure
            | ToAgent::SetOpen { .. } => {}
        }
    }

    fn welcomed(
        &mut self,
        met: Met,
        forget: &[RunId],
        (lease_s, heartbeat_s): (f64, f64),
        scene: &mut Scene,
    ) {
        let Link::Greeting { connection, since } = self.link else { return };
        self.met = Some(met);
        for &run in forget {
            self.abandon(run, "its past is no more", scene);
            self.ends.remove(&run);
        }
        self.link = Link::Up { connection, unanswered: BTreeMap::new() };
        self.lease = self.true_span(lease_s);
        self.renew(since, scene);
        self.period = self.true_span(heartbeat_s);
        self.heartbeat(connection, scene);
        self.tell_owner(scene);
        self.say_all_again(scene);
    }

    /// Whatever may have been lost with the last connection.
    fn say_all_again(&mut self, scene: &mut Scene) {
        let mut frames = Vec::new();
        for (&run, held) in self.runs.iter().filter(|(_, held)| held.began) {
            frames.extend(output(run, &held.text[..held.written]));
            frames.push(FromAgent::Started(run));
        }
        for (&run, kept) in &self.ends {
            frames.extend(output(run, &kept.text));
            frames.push(FromAgent::Ended { run, end: kept.end.clone() });
        }
        for frame in frames {
            self.send(frame, scene);
        }
    }

    fn heartbeat(&mut self, connection: usize, scene: &mut Scene) {
        let patience = Span::from_nanos(self.lease.nanos() / 2);
        let Link::Up { connection: present, unanswered } = &mut self.link else { return };
        if *present != connection {
            return;
        }
        if unanswered.values().next().is_some_and(|&oldest| scene.now.since(oldest) >= patience) {
            scene.close = true;
            return;
        }
        self.heartbeats += 1;
        let number = self.heartbeats;
        unanswered.insert(number, scene.now);
        self.send(FromAgent::Heartbeat { number, sample: Sample::default(), staging: Vec::new() }, scene);
        scene.set(self.period, Timer::Heartbeat(connection));
    }

    fn renew(&mut self, sent: Time, scene: &mut Scene) {
        self.lease_ends = self.lease_ends.max(sent + self.lease);
        scene.set(self.lease_ends.since(scene.now), Timer::Lease);
    }

    fn end_with_the_lease(&mut self, scene: &mut Scene) {
        if self.lease_ends <= scene.now && scene.mutant != Some(Mutant::LeaseIgnored) {
            self.kill_all("the lease ended", scene);
        }
    }

    fn kill_all(&mut self, why: &str, scene: &mut Scene) {
        for run in self.runs.keys().copied().collect::<Vec<_>>() {
            self.abandon(run, why, scene);
        }
    }

    fn tell_owner(&mut self, scene: &mut Scene) {
        let load = if self.paused { 1.0 } else { self.load };
        self.send(FromAgent::OwnerLoad { load, why: String::new() }, scene);
        self.send(FromAgent::Open { open: self.open, why: String::new() }, scene);
    }

    fn send(&self, frame: FromAgent, scene: &mut Scene) {
        if matches!(self.link, Link::Up { .. }) && !self.is_stopped {
            scene.sends.push(frame);
        }
    }

    /// How long in truth what its clock shows as so many seconds.
    fn true_span(&self, seconds: f64) -> Span {
        Span::from_nanos((seconds * 1e12) as u64 / (1_000 + self.drift) as u64)
    }
}

fn output(run: RunId, written: &[u8]) -> Option<FromAgent> {
    let bytes = written.to_vec();
    (!written.is_empty()).then_some(FromAgent::Output { run, stream: Stream::Stdout, offset: 0, bytes })
}
