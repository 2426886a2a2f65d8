//! Peers that go and come back. Whoever goes says so: what it lent is taken back, what it borrowed goes back, and it wants and
//! offers nothing any more. **What its users handed in stays with it**, and begins again when it is back. A farewell that is
//! lost is made up for as any other letter: whoever is not heard of is forgotten.
//!
//! Brokers go and come back too, each with what it handed in: **the peer's workers are free for others meanwhile**. What ended
//! before the peer's order to stop came counts.

use super::accounts::OpenJob;
use super::letters::Word;
use super::setup::BrokerAbsence;
use super::world::{Happening, Leaves, PeersWorld};
use gleaner_core::{Event, LendingEvent};
use gleaner_units::{MachineId, PartyId, Time};
use std::cmp::Reverse;
use std::ops::Range;

impl PeersWorld<'_> {
    fn own_workers(&self, peer: PartyId) -> Range<usize> {
        let first = self.worker_of(peer, MachineId::FIRST);
        first..first + self.setup.peers[peer.index()].workers.len()
    }

    pub(super) fn date_absence(&mut self, index: usize) {
        let absence = self.state.absences[index];
        let index = u32::try_from(index).expect("fewer absences than 2^32");
        self.state.dated.push(Reverse((absence.from, Happening::Leaves(index))));
        self.state.dated.push(Reverse((absence.until, Happening::Comes(index))));
    }

    /// When a peer that is there goes next, where that is left to chance.
    pub(super) fn draw_absence(&mut self, peer: PartyId, now: Time) {
        let Some(turnover) = self.setup.turnover else { return };
        let nth = &mut self.state.drawn[peer.index()];
        self.state.absences.push(turnover.absence(self.setup.seed, (peer, *nth), now));
        *nth += 1;
        self.date_absence(self.state.absences.len() - 1);
    }

    pub(super) fn leaves(&mut self, now: Time, peer: PartyId, out: Leaves<'_>) {
        let service = PartyId::new(self.state.desks.len());
        self.state.away[peer.index()] += 1;
        if self.state.away[peer.index()] > 1 {
            return;
        }
        for worker in self.own_workers(peer) {
            self.goes_down(now, worker, out);
        }
        let desk = &mut self.state.desks[peer.index()];
        let borrowed: Vec<MachineId> = desk.borrowed.keys().copied().collect();
        for machine in borrowed {
            if let Some(there) = desk.end_borrowed(machine) {
                out.send(peer, there.from, Word::GivenBack(there.loan));
                out.tell(peer, Event::MachineLost { machine });
            }
        }
        let answer = desk.answer(true);
        out.send_all(peer, service, answer);
        let received = desk.received;
        let nothing =
            desk.wants.iter().map(|(&class, &(_, seek))| Word::Wants { class, workers: 0, seek, received });
        out.send_all(peer, service, nothing.chain([Word::Offers { best: None }]));
        if std::mem::replace(&mut desk.is_connected, false) {
            out.tell(peer, Event::Lending(LendingEvent::Connected { is_connected: false }));
        }
    }

    pub(super) fn comes_back(&mut self, now: Time, peer: PartyId, out: Leaves<'_>) {
        self.state.away[peer.index()] -= 1;
        if self.is_away(peer) {
            return;
        }
        let desk = &mut self.state.desks[peer.index()];
        desk.heard = now;
        if !std::mem::replace(&mut desk.is_connected, true) {
            out.tell(peer, Event::Lending(LendingEvent::Connected { is_connected: true }));
        }
        for worker in self.own_workers(peer) {
            self.comes_up(worker, out);
        }
        self.say_again(peer, out);
    }
    /// When a job can be handed in whose broker is away; nothing where it is there.
    pub(super) fn broker_is_back(&self, now: Time, job: u32) -> Option<Time> {
        let job = &self.setup.jobs[job as usize];
        self.brokers_away.last_end(&(job.peer, job.broker), now)
    }

    /// A broker takes what it handed in and is not done with it, or is back with it. Costs O(open jobs).
    pub(super) fn broker_moves(&mut self, now: Time, away: &BrokerAbsence, is_back: bool, out: Leaves<'_>) {
        let of_broker = |job: &u32| away.is_of(&self.setup.jobs[*job as usize]);
        for (&job, &OpenJob { first, .. }) in self.state.open.iter().filter(|(job, _)| of_broker(job)) {
            if is_back && self.broker_is_back(now, job).is_some() {
                continue;
            }
            let count = self.setup.jobs[job as usize].tasks;
            let withdrawn = Event::TasksWithdrawn { first, count };
            out.tell(away.peer, if is_back { Event::TasksReturned { first, count } } else { withdrawn });
        }
    }
}
