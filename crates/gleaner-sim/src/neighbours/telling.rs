//! What groups tell of their machines, and when: once in every period, and before where a machine differs by as many tasks as
//! was agreed, or its owner uses more or less of it.

use super::letters::{MachineState, Word};
use super::setup::Change;
use super::world::{Leaves, Neighbourhood};
use gleaner_core::Event;
use gleaner_units::{MachineId, PartyId, Time};

impl Neighbourhood<'_> {
    pub(super) fn tells(&mut self, now: Time, group: PartyId, out: Leaves<'_>) {
        self.state.news.tells(now, group, self.setup.every);
        let machines: Vec<usize> = self.places.own(group).collect();
        for &machine in &machines {
            let known = &self.state.news.now[machine];
            self.state.news.told[machine] = (known.residents.count(), known.load);
        }
        for &reader in self.places.audience(group) {
            let counted = &self.state.books[group.index()].counted;
            let states = machines.iter().enumerate().map(|(at, &machine)| {
                let known = &self.state.news.now[machine];
                let others = known.residents.without(counted.get(&(reader, MachineId::new(at))));
                MachineState { others, load: known.load }
            });
            out.send(group, reader, Word::State(states.collect()));
            self.state.outcome.news += 1;
        }
    }

    /// A machine is other than before.
    pub(super) fn changed(&mut self, now: Time, machine: usize) {
        let Some(Change { tasks, gap }) = self.setup.change else { return };
        let (known, (count, load)) = (&self.state.news.now[machine], self.state.news.told[machine]);
        if known.residents.count().abs_diff(count) >= tasks || known.load != load {
            let (group, _) = self.places.owner(machine);
            self.state.news.hurries(now, group, gap);
        }
    }

    /// A group hears how a neighbour's machines are.
    pub(super) fn hears(
        &mut self,
        (from, to): (PartyId, PartyId),
        known_at: Time,
        states: Vec<MachineState>,
        out: Leaves<'_>,
    ) {
        for (at, MachineState { others, load }) in states.into_iter().enumerate() {
            let machine = self.places.id_of(to, from, MachineId::new(at));
            self.state.news.known_at[to.index()][machine.index()] = known_at;
            out.tell(to, Event::ResidentsPublished { machine, others, load, known_at });
        }
    }
}
