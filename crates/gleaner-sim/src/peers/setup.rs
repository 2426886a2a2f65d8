//! What a run among peers is given.

use super::letters::Word;
use crate::mail::Way;
use crate::mixing::mixed;
use gleaner_core::{Chance, MachineClass, Purpose, TaskClass};
use gleaner_units::{MachineClassId, Ops, PartyId, Span, TaskClassId, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use thiserror::Error;

/// A peer's own workers.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Site {
    /// Each by its kind, in the order in which they joined.
    pub workers: Vec<MachineClassId>,
}

/// A bag of tasks of one class that a user hands in at a peer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Job {
    /// When it is handed in; never decreasing from job to job. If it comes after another: the earliest that it may come.
    pub submitted: Time,
    /// Where.
    pub peer: PartyId,
    /// By which of the peer's brokers, which a user has each.
    pub broker: u32,
    /// What kind of tasks.
    pub class: TaskClassId,
    /// How many tasks.
    pub tasks: u32,
    /// The user's job before, with the time the user thinks after that ended: this one comes no earlier. No two come after the same.
    pub after: Option<(u32, Span)>,
}

/// A worker that is out of reach for a while.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Outage {
    /// Whose.
    pub peer: PartyId,
    /// Which of its workers.
    pub worker: usize,
    /// From when.
    pub from: Time,
    /// Until when.
    pub until: Time,
}

/// A peer that neither sends nor hears anything for a while.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Silence {
    /// The peer that is silent.
    pub peer: PartyId,
    /// From when.
    pub from: Time,
    /// Until when.
    pub until: Time,
}

/// A peer that is switched off for a while, with all its workers; what its users handed in waits for it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Absence {
    /// The peer that is away.
    pub peer: PartyId,
    /// From when.
    pub from: Time,
    /// Until when.
    pub until: Time,
}

/// A broker that is not registered at its peer for a while: what it handed in and is not done leaves the peer, what runs of it is
/// stopped, and all of it begins again when the broker is back. The peer and its workers stay.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BrokerAbsence {
    /// At which peer.
    pub peer: PartyId,
    /// Which of its brokers.
    pub broker: u32,
    /// From when.
    pub from: Time,
    /// Until when.
    pub until: Time,
}

impl BrokerAbsence {
    /// Whether it keeps a job from being worked on.
    pub(super) fn is_of(&self, job: &Job) -> bool {
        (self.peer, self.broker) == (job.peer, job.broker)
    }
}

/// Peers come and go by chance: each stays for a while and is away for a while, both drawn from exponential distributions.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Turnover {
    /// How long one stays on average.
    pub stays: Span,
    /// How long one is away on average.
    pub away: Span,
}

impl Turnover {
    /// The n-th absence of a peer that is there from that moment on: the same whenever it is asked.
    pub(super) fn absence(self, seed: u64, (peer, nth): (PartyId, u32), from: Time) -> Absence {
        let mut chance = Chance::of_nth(seed, Purpose::Absence, (peer.index() as u64) << 32 | u64::from(nth));
        let mut drawn = |mean: Span| -mean.seconds() * libm::log(1.0 - chance.unit());
        let from = from.after_seconds(drawn(self.stays));
        Absence { peer, from, until: from.after_seconds(drawn(self.away).max(1e-9)) }
    }
}

/// A worker on which runs fail by chance: the time to the next failure is drawn from an exponential distribution for each run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Frail {
    /// Whose.
    pub peer: PartyId,
    /// Which of its workers.
    pub worker: usize,
    /// How long a run goes on there on average before it fails.
    pub fails_after: Span,
}

/// A letter that nothing led to: what a liar sends.
#[derive(Clone, PartialEq, Debug)]
pub struct Forged {
    /// When.
    pub at: Time,
    /// Who says that it is from it.
    pub from: PartyId,
    /// To whom.
    pub to: PartyId,
    /// What it says.
    pub word: Word,
}

/// How much longer or shorter a task takes on a worker than its power says: unrelated machines.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Unrelated {
    /// Evenly from 1 less this to 1 more this; below 1.
    pub spread: f64,
    /// Of the draws.
    pub seed: u64,
}

impl Unrelated {
    /// By how much a task takes longer on a worker: the same whenever it is asked.
    pub(super) fn factor(self, task: u32, worker: usize) -> f64 {
        let word = mixed(self.seed, u64::from(task) << 32 | worker as u64);
        let unit = (word >> 11) as f64 / (1_u64 << 53) as f64;
        1.0 + self.spread * (2.0 * unit - 1.0)
    }
}

/// All that a run is given, besides the policies.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct PeersSetup {
    /// Of lost letters.
    pub seed: u64,
    /// W.
    pub weights: Vec<f64>,
    /// The kinds of workers.
    pub machine_classes: Vec<MachineClass>,
    /// The kind of tasks: at most one.
    pub task_classes: Vec<TaskClass>,
    /// The peers, in the order in which they registered.
    pub peers: Vec<Site>,
    /// What users hand in.
    pub jobs: Vec<Job>,
    /// How long the tasks are, job after job, in logical operations.
    pub lengths: Vec<Ops>,
    /// How long the inputs of a task take to another peer's worker.
    pub inputs: Span,
    /// What letters meet with.
    pub usual: Way,
    /// How often peers say that they are here, and reconcile their loans; without it never.
    pub heartbeat: Option<Span>,
    /// Workers that are out of reach.
    pub outages: Vec<Outage>,
    /// Peers that fall silent.
    pub silences: Vec<Silence>,
    /// Peers that are switched off.
    pub absences: Vec<Absence>,
    /// Brokers that are not registered at their peers.
    pub brokers_away: Vec<BrokerAbsence>,
    /// Whether peers come and go by chance besides.
    pub turnover: Option<Turnover>,
    /// Workers on which runs fail by chance.
    pub frail: Vec<Frail>,
    /// Letters of liars.
    pub forged: Vec<Forged>,
    /// Whether tasks take times of their own on workers.
    pub unrelated: Option<Unrelated>,
    /// Whether users say how long their tasks are.
    pub declares_lengths: bool,
    /// Whether nobody knows how powerful a worker is before it ran something.
    pub learns_power: bool,
}

/// Why no run can be made of a setup.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum InvalidSetup {
    /// The tasks of the jobs are not the lengths.
    #[error("the jobs have {tasks} tasks, and there are {lengths} lengths")]
    Lengths {
        /// Of all jobs.
        tasks: u64,
        /// As given.
        lengths: usize,
    },
    /// A job names what is not there, comes before the one before it, or after one that is not before it or has another after it.
    #[error("job {0} is handed in at no peer, is of no class, has no tasks, or comes out of turn")]
    Job(usize),
    /// A worker is of no kind.
    #[error("a worker of peer {0} is of no kind")]
    Worker(usize),
    /// A class has other than one kind of operation, or tasks take several cores.
    #[error("there is one kind of operation among peers, and a task takes one core")]
    Operations,
    /// Peers count what they lend and ask for, whatever it is for.
    #[error("tasks among peers are of one class, and there are {0}")]
    Classes(usize),
    /// An outage, a silence or an absence names what is not there, or ends before it begins.
    #[error(
        "an outage, a silence or an absence, of a peer or a broker, is of nobody, or ends before it begins"
    )]
    Absence,
    /// A frail worker is not there, or its runs fail at once.
    #[error("a worker whose runs fail is nobody's, or they fail after no time")]
    Frail,
    /// Whoever comes back hears of nothing.
    #[error("peers come and go without a heartbeat, so that what they missed is never said again")]
    Unheard,
}

impl PeersSetup {
    /// Refuses what no run can be made of.
    pub fn check(&self) -> Result<(), InvalidSetup> {
        let tasks: u64 = self.jobs.iter().map(|job| u64::from(job.tasks)).sum();
        if tasks != self.lengths.len() as u64 {
            return Err(InvalidSetup::Lengths { tasks, lengths: self.lengths.len() });
        }
        let one_kind = self.weights.len() == 1
            && self.machine_classes.iter().all(|class| class.speeds.len() == 1)
            && self.task_classes.iter().all(|class| class.composition.len() == 1 && class.needs.cores == 1);
        if !one_kind {
            return Err(InvalidSetup::Operations);
        }
        if self.task_classes.len() > 1 {
            return Err(InvalidSetup::Classes(self.task_classes.len()));
        }
        let kinds = self.machine_classes.len();
        let stray = |site: &Site| site.workers.iter().any(|kind| kind.index() >= kinds);
        if let Some(peer) = self.peers.iter().position(stray) {
            return Err(InvalidSetup::Worker(peer));
        }
        let mut followed = BTreeSet::new();
        for (index, job) in self.jobs.iter().enumerate() {
            let in_turn = index == 0 || self.jobs[index - 1].submitted <= job.submitted;
            let after =
                job.after.is_none_or(|(before, _)| (before as usize) < index && followed.insert(before));
            let is_known = job.peer.index() < self.peers.len() && job.class.index() < self.task_classes.len();
            if !(in_turn && after && is_known && job.tasks > 0) {
                return Err(InvalidSetup::Job(index));
            }
        }
        let known = |peer: PartyId| peer.index() < self.peers.len();
        let outage = |outage: &Outage| {
            known(outage.peer)
                && outage.worker < self.peers[outage.peer.index()].workers.len()
                && outage.from < outage.until
        };
        let silence = |silence: &Silence| known(silence.peer) && silence.from < silence.until;
        let absence = |absence: &Absence| known(absence.peer) && absence.from < absence.until;
        let is_whole = self.outages.iter().all(outage)
            && self.silences.iter().all(silence)
            && self.absences.iter().all(absence)
            && self.brokers_away.iter().all(|away| known(away.peer) && away.from < away.until);
        if !is_whole {
            return Err(InvalidSetup::Absence);
        }
        let frail = |frail: &Frail| {
            known(frail.peer)
                && frail.worker < self.peers[frail.peer.index()].workers.len()
                && frail.fails_after > Span::ZERO
        };
        if !self.frail.iter().all(frail) {
            return Err(InvalidSetup::Frail);
        }
        let come_and_go = !self.absences.is_empty() || self.turnover.is_some();
        if come_and_go && self.heartbeat.is_none() { Err(InvalidSetup::Unheard) } else { Ok(()) }
    }
}
