//! Peers that go and come back. Whoever goes says so: what it lent is taken back, what it borrowed goes back, and it wants and
//! offers nothing any more. **What its users handed in stays with it**, and begins again when it is back. A farewell that is
//! lost is made up for as any other letter: whoever is not heard of is forgotten.

use super::letters::Word;
use super::world::{Leaves, World};
use gleaner_core::{Event, LendingEvent};
use gleaner_units::{MachineId, PartyId, Time};
use std::ops::Range;

impl World<'_> {
    fn own_workers(&self, peer: PartyId) -> Range<usize> {
        let first = self.worker_of(peer, MachineId::FIRST);
        first..first + self.setup.peers[peer.index()].workers.len()
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
}
