//! Everything an agent decides, without I/O: events go in with the time, actions come out.
//!
//! [`work`](crate::work) carries the actions out and tells what came of them; a test can do the same with a clock of its
//! own. What is promised:
//!
//! - **Nothing runs here past the lease**: before it ends, programs get their grace; after it, whatever the reason for
//!   noticing late (a closed laptop), they are killed before anything else is done.
//! - **An end is kept and sent again after each reconnection until it is settled**; so is the output that may not have
//!   arrived. An end is sent after all output of its run, in the same connection.
//! - **What a run left stays until the coordinator has stored it**, however long that one is away, busy or out of space,
//!   and only then is its end reported. If it can never be stored, the run is abandoned.
//! - **What waits for long is written down** ([`Kept`]), and all that waits when this agent ends: the next one hands it in. So is what
//!   runs for long and keeps a checkpoint.
//! - **A run of which output was lost here does not count**, however its program ended; and nothing new starts here until
//!   the disk takes something again.
//! - **No run is started twice, no two runs of a task go on at once**, and an older run gives way to a newer.
//! - **A run that was ordered ahead begins when the run before it is over**, without a word from the coordinator; unless the
//!   owner wants the machine.
//! - **No program begins while the coordinator is not heard**: it may have been cancelled meanwhile. After this agent stood
//!   still, all that was said until then is read first.
//! - **No more runs than the owner lets tasks have**, however much is ordered. Where the machine itself has nothing left of what
//!   a start takes, nothing new comes for a while.
//! - **The owner wins**: what they forbid is stopped before anyone is told.

mod ending;
mod held;
mod kept;
mod link;
mod log;
mod measuring;
mod orders;
mod output;
mod rests;
mod room;
mod ruling;
mod signs;
#[cfg(test)]
mod tests;
mod window;

pub use kept::Kept;
pub use log::Range;
pub(crate) use ruling::can_go_on;
pub use ruling::{Excess, Exit};
pub(crate) use signs::paused_at;

use crate::keeper::Signal;
use crate::owner::{Bounds, DISK_FREE_MIN, Rules, Verdict};
use gleaner_units::{RunId, Span, TaskId, Time};
use gleaner_wire::session::{
    End, FromAgent, Hello, Profile, Run, Sample, Staging, Stored, Stream, ToAgent, Usage,
};
use gleaner_wire::{Had, Met, SESSION_VERSION};
use held::{Held, Stage};
use link::Link;
use measuring::Measuring;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use window::Window;

/// Runs that an agent has at most, ended ones included. A coordinator that wants more is turned away.
pub const RUNS_MAX: usize = 4_096;
/// Tasks that run at a time on a machine at most: beside each may be one that is sent ahead, or whose end is not settled.
pub const RUNNING_MAX: u32 = 2_048;
/// Settled runs that are remembered, so that a repeated order does not run one again.
const SETTLED_MAX: usize = 256;

/// What happened.
#[derive(Debug)]
pub enum Event {
    /// Time has passed.
    Tick,
    /// This agent did nothing for a while, since it was stopped or its machine slept: what came meanwhile may wait.
    StoodStill,
    /// The coordinator can be talked to.
    Connected,
    /// It cannot any more.
    Disconnected,
    /// It said something.
    Received(ToAgent),
    /// The folder of a run was made, or could not be.
    Prepared(RunId, Result<(), TransferError>),
    /// Its minder has started the program.
    Began(RunId),
    /// Program and all its processes are gone, and all its output was read.
    Exited(RunId, Exit, Usage),
    /// The minder that held the run is gone, and with it the program; all its output was read.
    MinderLost(RunId),
    /// A program has written: so much is kept in all, so much was dropped.
    Wrote {
        /// Which run.
        run: RunId,
        /// Where to.
        stream: Stream,
        /// Bytes kept of it so far.
        written: u64,
        /// Bytes dropped so far.
        dropped: u64,
    },
    /// What a program wrote cannot be kept here, or not be read again, for this reason.
    OutputLost(RunId, String),
    /// The disk takes and gives back what is written to it.
    DiskWorks,
    /// A run's folder was seen to be larger than it may.
    FolderTooLarge(RunId, Excess),
    /// What a run left was stored at the coordinator, or could not be.
    Collected(RunId, Result<Collected, TransferError>),
    /// What these runs keep or left could not be written down.
    NotKept(BTreeSet<RunId>),
    /// The owner's rules say something new.
    Judged(Verdict),
    /// The owner's rules are others from now on.
    Ruled(Bounds),
    /// The owner wants what runs to leave.
    Evict,
    /// The owner's rules do not let this run come any more, so it may not stay.
    Forbidden(RunId),
    /// The owner's load crossed a threshold.
    LoadChanged {
        /// λ, from 0 to 1.
        load: f64,
        /// For people.
        why: String,
    },
    /// The machine was looked at.
    Sampled(Sample),
    /// The machine was measured again.
    Measured(Profile),
    /// This agent is to stop its runs with their checkpoints, report, and end.
    Leave,
    /// It is to kill its runs and end.
    LeaveAtOnce,
}

/// Why something could not be fetched from or stored at the coordinator.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TransferError {
    /// It may work later; what it is about stays where it is until then.
    #[error("the coordinator cannot do it now: {0}")]
    Later(String),
    /// It is more than may be stored.
    #[error("{0}")]
    TooLarge(String),
    /// It is not its task's to be stored.
    #[error("{0}")]
    Refused(String),
    /// There is no room for it on this machine's disk.
    #[error("{0}")]
    NoRoom(String),
    /// It will not work.
    #[error("{0}")]
    Failed(String),
}

/// What was stored of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Collected {
    /// The checkpoint; none if its folder was empty.
    pub checkpoint: Option<Stored>,
    /// The output files; none if no file matched.
    pub files: Option<Stored>,
    /// Why they could not be stored, though the checkpoint was.
    pub files_lost: Option<TransferError>,
    /// Which of the output files that its user named are not there, if any, for its user.
    pub not_left: Option<String>,
}

/// What is to be done, in this order.
#[derive(Clone, PartialEq, Debug)]
#[expect(clippy::large_enum_variant, reason = "the large one is the usual one, and few are kept")]
pub enum Action {
    /// Send this.
    Send(FromAgent),
    /// Sign these bytes and send the proof.
    Prove(Vec<u8>),
    /// Use this token for transfers from now on.
    UseToken(String),
    /// Keep this as the coordinator that it was with last.
    Remember(Met),
    /// End the connection; another may be made.
    Close(String),
    /// Make the run's folder, with all it needs.
    Prepare(Arc<Run>),
    /// Tell a minder to start the program.
    Launch(Arc<Run>),
    /// Tell its minder to signal all processes of the run.
    Signal(RunId, Signal),
    /// Write into the log why a run is to end before its own end, for this reason.
    Note(RunId, String),
    /// Store what the run left at the coordinator.
    Collect(Arc<Run>, Wanted),
    /// Write down what these runs left, so that it is here after a start of another agent.
    Keep(Vec<Kept>),
    /// Remove all that is left of the run here.
    Clear(RunId),
    /// Measure the machine.
    Measure,
    /// End: everything is told that can be.
    Quit,
    /// End: the coordinator does not want this agent, for this reason. What still runs is to be killed.
    GiveUp(String),
}

/// What to store of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// The checkpoint folder.
    pub checkpoint: bool,
    /// The output files.
    pub files: bool,
}

/// Something whose bytes are in the files where output is kept.
#[derive(Clone, PartialEq, Debug)]
pub enum Piece {
    /// To be sent as [`FromAgent::Output`].
    Output(RunId, Stream, Range),
    /// To be sent as [`FromAgent::Ended`], the bytes of its two tails filled in from these ranges of standard output
    /// and standard error.
    End(RunId, Box<End>, [Range; 2]),
}

/// The agent's state.
#[derive(Debug)]
pub struct Duties {
    agent: u32,
    incarnation: u64,
    profile: Profile,
    sample: Sample,
    link: Link,
    /// Of output that goes over it.
    window: Window,
    runs: BTreeMap<RunId, Held>,
    settled: VecDeque<Had>,
    verdict: Verdict,
    bounds: Bounds,
    load: (f64, String),
    /// Whether the coordinator lets new tasks start here.
    is_opened: bool,
    /// By whose order there what runs stands still, if it does.
    paused_by: Option<String>,
    /// What is wrong with the disk, since output was last lost.
    disk_fault: Option<String>,
    /// For want of what nothing new comes, and until when.
    lacking: Option<(String, Time)>,
    leaving: Option<Leaving>,
    measuring: Measuring,
    actions: VecDeque<Action>,
}

#[derive(Debug)]
struct Leaving {
    by: Time,
    /// Whether ends must be settled first, where there is a connection.
    awaits_settling: bool,
}

impl Duties {
    /// An agent that has just started: its number, a number that no earlier start had, which coordinator it was with
    /// last, and what its machine is.
    pub fn new(agent: u32, incarnation: u64, met: Option<Met>, profile: Profile) -> Self {
        Self {
            agent,
            incarnation,
            profile,
            sample: Sample::default(),
            link: Link::new(met),
            window: Window::new(false),
            runs: BTreeMap::new(),
            settled: VecDeque::new(),
            verdict: Verdict::Run,
            bounds: Rules::default().bounds(),
            load: (0.0, "nothing was measured yet".into()),
            is_opened: true,
            paused_by: None,
            disk_fault: None,
            lacking: None,
            leaving: None,
            measuring: Measuring::default(),
            actions: VecDeque::new(),
        }
    }

    /// Something happened at `now`.
    pub fn handle(&mut self, now: Time, event: Event) {
        self.keep_lease(now);
        match event {
            Event::Tick => {}
            Event::StoodStill => self.link.stood_still(now),
            Event::Connected => self.greet(now),
            Event::Disconnected => self.link.down(),
            Event::Received(message) => self.receive(now, message),
            Event::Prepared(run, result) => self.prepared(now, run, result),
            Event::Began(run) => self.began(now, run),
            Event::Exited(run, exit, usage) => self.exited(now, run, exit, usage),
            Event::MinderLost(run) => self.lose_minder(now, run),
            Event::Wrote { run, stream, written, dropped } => {
                if let Some(held) = self.runs.get_mut(&run) {
                    held.logs[stream as usize].wrote(now, written, dropped);
                }
            }
            Event::OutputLost(run, why) => self.output_lost(now, run, &why),
            Event::DiskWorks => self.disk_works(),
            Event::FolderTooLarge(run, excess) => {
                self.end(now, run, ruling::Reason::DiskLimit(excess), Span::ZERO);
            }
            Event::Collected(run, result) => self.collected(now, run, result),
            Event::NotKept(runs) => self.not_kept(now, &runs),
            Event::Judged(verdict) => self.judged(now, verdict),
            Event::Ruled(bounds) => self.ruled(now, bounds),
            Event::Evict => self.evict(now),
            Event::Forbidden(run) => self.end(now, run, ruling::Reason::Forbidden, self.grace(run)),
            Event::LoadChanged { load, why } => {
                self.load = (load, why);
                self.tell_load();
            }
            Event::Sampled(sample) => {
                if sample.free_disk.is_some_and(|free| free < DISK_FREE_MIN) {
                    self.disk_is_full();
                }
                self.sample = sample;
            }
            Event::Measured(profile) => {
                self.profile = profile;
                self.send(FromAgent::Profile(self.profile.clone()));
            }
            Event::Leave => self.leave(now),
            Event::LeaveAtOnce => self.leave_at_once(now),
        }
        self.keep_time(now);
    }

    /// What is to be done next.
    pub fn next_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// When to call [`handle`](Self::handle) or [`next_piece`](Self::next_piece) though nothing happens. Output that could not go
    /// if it were asked for is due once it can.
    pub fn due(&self, may_send: bool) -> Option<Time> {
        let runs = self.runs.values().filter_map(|held| {
            let lease = self.lease_stop(held).filter(|_| held.is_alive() && held.ending.is_none());
            let due = held.due(self.bounds);
            let waits = held.waits_for_the_coordinator();
            let due = due.filter(|_| !waits || (self.link.is_up() && !self.is_held_back(&held.stage)));
            [due, held.eviction(self.bounds), lease, held.keep_at].into_iter().flatten().min()
        });
        let output = may_send.then(|| self.output_due()).flatten();
        let leaving = self.leaving.as_ref().map(|leaving| leaving.by);
        let lacking = self.lacking.as_ref().map(|(_, until)| *until);
        runs.chain(output)
            .chain(self.link.due())
            .chain(leaving)
            .chain(lacking)
            .chain(self.measuring_due())
            .min()
    }

    /// The runs that it has, ended ones included.
    pub fn runs(&self) -> impl Iterator<Item = RunId> {
        self.runs.keys().copied()
    }

    /// What the coordinator calls the task of a run that it has: `7/42`.
    pub fn task_name(&self, run: RunId) -> Option<&str> {
        self.runs.get(&run).map(|held| held.run.name.as_str())
    }

    /// The runs whose programs run, or are suspended, each with the bytes that its folder may hold, 0 for no limit.
    pub fn alive(&self) -> impl Iterator<Item = (RunId, u64)> {
        let alive = self.runs.iter().filter(|(_, held)| held.is_alive());
        alive.map(|(run, held)| (*run, held.run.needs.disk))
    }

    /// The runs whose programs run, are suspended, or are to start, and that are not ending.
    pub(crate) fn going(&self) -> impl Iterator<Item = &Run> {
        let is_going =
            |held: &&Held| held.ending.is_none() && (held.is_alive() || held.is_before_its_start());
        self.runs.values().filter(is_going).map(|held| &*held.run)
    }

    /// Whether files of a run are to be on their way.
    pub(crate) fn is_transferring(&self, run: RunId) -> bool {
        let stage = self.runs.get(&run).map(|held| &held.stage);
        matches!(stage, Some(Stage::Preparing | Stage::Collecting { .. }))
    }

    /// Whether a run was told to end.
    pub(crate) fn is_ending(&self, run: RunId) -> bool {
        self.runs.get(&run).is_some_and(|held| held.ending.is_some())
    }

    /// How many programs were told to end, and have their grace.
    pub fn ending(&self) -> usize {
        self.runs.values().filter(|held| held.is_alive() && held.ending.is_some()).count()
    }

    /// When nothing may run here any more, unless the coordinator is heard of again.
    pub fn lease_ends(&self) -> Option<Time> {
        self.link.lease_ends()
    }

    /// The machine as last measured.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Whether output was lost, and nothing has shown since that the disk works.
    pub fn has_disk_fault(&self) -> bool {
        self.disk_fault.is_some()
    }

    fn greet(&mut self, now: Time) {
        self.link.greet(now);
        let knock = FromAgent::Knock { version: SESSION_VERSION, agent: self.agent };
        self.actions.push_back(Action::Send(knock));
    }

    /// The coordinator knows who this is, and listens.
    fn introduce(&mut self) {
        self.actions.push_back(Action::Send(FromAgent::Hello(Hello {
            agent: self.agent,
            incarnation: self.incarnation,
            met: self.link.met().cloned(),
            profile: self.profile.clone(),
            running: self.runs.iter().map(|(&run, held)| Had { run, lineage: held.run.lineage }).collect(),
        })));
    }

    fn send(&mut self, message: FromAgent) {
        if self.link.is_up() {
            self.actions.push_back(Action::Send(message));
        }
    }

    fn close(&mut self, why: impl Into<String>) {
        self.link.down();
        self.actions.push_back(Action::Close(why.into()));
    }

    fn runs_of(&self, task: TaskId) -> impl Iterator<Item = (&RunId, &Held)> {
        self.runs.range(RunId { task, number: 0 }..=RunId { task, number: u32::MAX })
    }

    fn runs_where(&self, holds: impl Fn(&Held) -> bool) -> Vec<RunId> {
        let chosen = self.runs.iter().filter(|(_, held)| holds(held));
        chosen.map(|(run, _)| *run).collect()
    }

    fn keep_time(&mut self, now: Time) {
        if let Some(number) = self.link.next_heartbeat(now) {
            for held in self.runs.values_mut() {
                held.logs.iter_mut().for_each(|log| log.heartbeat(number));
            }
            let is_closed = self.window.is_closed();
            let way = |held: &Held| {
                let waits = is_closed && held.waits_for_room();
                if waits { Some(Staging::Out) } else { held.stage.staging() }
            };
            let staging = self.runs.iter().filter_map(|(run, held)| Some((*run, way(held)?))).collect();
            self.send(FromAgent::Heartbeat { number, sample: self.sample.clone(), staging });
        }
        if self.link.is_silent(now) {
            self.close("the coordinator does not answer");
        }
        self.keep_limits(now);
        self.lack_no_more(now);
        self.prepare_what_is_due(now);
        self.collect_what_is_due(now);
        self.keep_what_waits(now);
        self.launch_what_is_ready(now);
        self.measure_if_due(now);
        self.quit_if_done(now);
    }

    /// Follows an order to measure the machine, when nobody else needs it.
    fn measure_if_due(&mut self, now: Time) {
        if self.measuring_due().is_some_and(|due| due <= now) {
            self.measuring.begun(now);
            self.actions.push_back(Action::Measure);
        }
    }

    fn measuring_due(&self) -> Option<Time> {
        self.measuring.due().filter(|_| self.is_free_for_guests())
    }
}

impl Stage {
    /// Whether the run's files are on their way, or are to be.
    fn staging(&self) -> Option<Staging> {
        match self {
            Self::Unprepared { .. } | Self::Preparing => Some(Staging::In),
            Self::Uncollected { .. } | Self::Collecting { .. } => Some(Staging::Out),
            Self::Queued | Self::Ready | Self::Launched | Self::Running | Self::Over { .. } => None,
        }
    }

    fn is_over(&self) -> bool {
        matches!(self, Self::Over { .. })
    }
}
