//! What changes in the world around the peers.

use crate::peers::accounts::OpenJob;
use crate::peers::desk::Desk;
use crate::peers::discovery::Discovery;
use crate::peers::results::{PeerOutcome, PeersOutcome};
use crate::peers::setup::{Absence, PeersSetup};
use crate::peers::workers::Workers;
use crate::refused::Refusals;
use gleaner_units::{PartyId, Time};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// What happens by itself. Of one instant, in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Happening {
    /// The end of a run, by where its books are.
    End(u32),
    /// A worker goes.
    Down(u32),
    /// A worker is back.
    Up(u32),
    /// A peer goes, by its absence.
    Leaves(u32),
    /// A peer is back.
    Comes(u32),
    /// A broker goes, by its absence.
    BrokerLeaves(u32),
    /// A broker is back.
    BrokerComes(u32),
    /// A letter that nothing led to.
    Forged(u32),
    /// All say that they are here.
    Heartbeat,
    /// A job is handed in.
    Arrival(u32),
}

/// What of it changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct State {
    pub(in crate::peers) workers: Workers,
    pub(in crate::peers) desks: Vec<Desk>,
    pub(super) discovery: Discovery,
    /// When discovery heard of each peer, if it is not forgotten.
    pub(super) heard: Vec<Option<Time>>,
    /// The next job that comes by itself, and those that come after another has ended.
    pub(super) next_job: usize,
    pub(super) next_arrivals: BinaryHeap<Reverse<(Time, u32)>>,
    pub(super) followers: BTreeMap<u32, u32>,
    pub(in crate::peers) open: BTreeMap<u32, OpenJob>,
    /// Those of the setup, and those that were drawn so far.
    pub(in crate::peers) absences: Vec<Absence>,
    /// By peer: for how many reasons it is away.
    pub(in crate::peers) away: Vec<u32>,
    /// By peer: how often it went by chance.
    pub(in crate::peers) drawn: Vec<u32>,
    /// Outages, absences, forged letters and heartbeats to come.
    pub(in crate::peers) dated: BinaryHeap<Reverse<(Time, Happening)>>,
    pub(super) tasks_left: u64,
    pub(in crate::peers) outcome: PeersOutcome,
    pub(super) refused: Refusals,
}

impl State {
    /// Before anything has happened.
    pub(super) fn of(setup: &PeersSetup, workers: Workers) -> Self {
        let desks = setup.peers.iter().enumerate();
        let desks = desks.map(|(peer, site)| Desk::new(PartyId::new(peer), site.workers.len())).collect();
        let followers = setup.jobs.iter().zip(0..);
        let followers = followers.filter_map(|(job, index)| Some((job.after?.0, index))).collect();
        let mut dated = BinaryHeap::new();
        for (outage, index) in setup.outages.iter().zip(0..) {
            dated.push(Reverse((outage.from, Happening::Down(index))));
            dated.push(Reverse((outage.until, Happening::Up(index))));
        }
        for (away, index) in setup.brokers_away.iter().zip(0..) {
            dated.push(Reverse((away.from, Happening::BrokerLeaves(index))));
            dated.push(Reverse((away.until, Happening::BrokerComes(index))));
        }
        dated.extend(
            setup
                .forged
                .iter()
                .zip(0..)
                .map(|(letter, index)| Reverse((letter.at, Happening::Forged(index)))),
        );
        dated.extend(setup.heartbeat.map(|period| Reverse((Time::ZERO + period, Happening::Heartbeat))));
        let outcome = PeersOutcome {
            peers: vec![PeerOutcome::default(); setup.peers.len()],
            ended: vec![None; setup.jobs.len()],
            started: vec![None; setup.jobs.len()],
            ..PeersOutcome::default()
        };
        Self {
            workers,
            desks,
            discovery: Discovery::default(),
            heard: vec![Some(Time::ZERO); setup.peers.len()],
            next_job: 0,
            next_arrivals: BinaryHeap::new(),
            followers,
            open: BTreeMap::new(),
            absences: setup.absences.clone(),
            away: vec![0; setup.peers.len()],
            drawn: vec![0; setup.peers.len()],
            dated,
            tasks_left: setup.lengths.len() as u64,
            outcome,
            refused: Refusals::default(),
        }
    }
}
