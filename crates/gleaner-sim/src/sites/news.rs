//! What meta-schedulers are told of sites, and sites of the jobs that wait.
//!
//! **Whatever a site says or does has a moment of its own**, also within an instant: a state contains what was held before its
//! moment, and nothing that is held later.

use super::letters::{Slip, Word};
use super::world::SitesWorld;
use crate::Out;
use gleaner_core::{Event, SiteState};
use gleaner_units::{MachineId, PartyId, TaskId, Time};

impl SitesWorld<'_> {
    /// When a site says or does something. A letter that is late must not undo a later one.
    pub(super) fn own_moment(&mut self, now: Time, site: usize) -> Time {
        let last = &mut self.state.acted[site];
        *last = now.max(last.next());
        *last
    }

    fn state(&mut self, now: Time, site: usize) -> (SiteState, Time) {
        let at = self.own_moment(now, site);
        (self.state.managers[site].state(), at)
    }

    /// Where there is one meta-scheduler, it knows of its own runs and there are no others.
    fn publishes(&self) -> bool {
        self.state.handed_in.len() > 1 && self.setup.protocol.publishes
    }

    /// Before anything happens it is known how things are at each site: whatever is sent there stands beside that.
    pub(super) fn introduce(&self, party: PartyId, out: &mut Out<Slip>) {
        if !self.publishes() {
            return;
        }
        for (site, manager) in self.state.managers.iter().enumerate() {
            let (machine, state, known_at) = (MachineId::new(site), manager.state(), self.state.acted[site]);
            out.tell(party, Event::StatePublished { machine, state, known_at });
        }
    }

    /// A site says how things are where more than one meta-scheduler wants to know.
    pub(super) fn publish(&mut self, now: Time, site: usize, out: &mut Out<Slip>) {
        if !self.publishes() {
            return;
        }
        let (state, at) = self.state(now, site);
        for party in (0..self.state.handed_in.len()).map(PartyId::new) {
            self.state.post.say(now, (self.party_of(site), party), Word::State(state, at), out);
        }
    }

    /// A site was asked how things are there.
    pub(super) fn answer(
        &mut self,
        now: Time,
        site: usize,
        (party, number): (PartyId, u32),
        out: &mut Out<Slip>,
    ) {
        let (state, at) = self.state(now, site);
        self.state.post.say(now, (self.party_of(site), party), Word::Answer(number, state, at), out);
    }

    /// Sites are asked how things are, with the requirements of the jobs that they do not know. Costs O(sites · log) besides the
    /// jobs that are new to them.
    pub(super) fn survey(
        &mut self,
        now: Time,
        (party, number): (PartyId, u32),
        sites: &[MachineId],
        out: &mut Out<Slip>,
    ) {
        let jobs = &self.state.handed_in[party.index()];
        for site in sites {
            let notes = &mut self.state.notes[site.index()];
            let told = notes.told(party, jobs.len());
            let waits = |place: &usize| self.state.outcome.jobs[jobs[*place]].dispatched == Time::NEVER;
            let new: Box<[TaskId]> = (told..jobs.len()).filter(waits).map(TaskId::new).collect();
            self.state.outcome.requirements.0 += new.len() as u64;
            self.state.outcome.requirements.1 += notes.known_of(party) as u64;
            let to = PartyId::new(self.state.handed_in.len() + site.index());
            self.state.post.say(now, (party, to), Word::Survey(number, new), out);
        }
    }

    /// A job waits no more: whoever was told of it hears so.
    pub(super) fn forget(&mut self, now: Time, (party, task): (PartyId, TaskId), out: &mut Out<Slip>) {
        for site in 0..self.state.notes.len() {
            if self.state.notes[site].was_told(party, task) {
                self.state.post.say(now, (party, self.party_of(site)), Word::Forget(task), out);
            }
        }
    }
}
