//! Which machines each group knows, and by which ids.

use super::setup::GroupsSetup;
use gleaner_units::{MachineId, PartyId};
use std::collections::BTreeMap;

/// Machines are numbered as in the setup, or by the ids that a group's grid has for them: its own first, then those of its
/// neighbours, one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    /// By group: the machines that it knows, in order of its ids for them.
    seen: Vec<Vec<usize>>,
    /// By group: how many of them are its own.
    own: Vec<usize>,
    /// By machine: whose it is, and which of its own.
    owners: Vec<(PartyId, MachineId)>,
    /// By who knows and who is known: where the machines of the latter begin.
    first: BTreeMap<(PartyId, PartyId), usize>,
    /// By group: who knows it.
    audience: Vec<Vec<PartyId>>,
}

impl Places {
    pub(super) fn of(setup: &GroupsSetup) -> Self {
        let groups = setup.count();
        let mut own: Vec<Vec<usize>> = vec![Vec::new(); groups];
        let mut owners = Vec::new();
        for (machine, group) in setup.groups.iter().enumerate() {
            owners.push((*group, MachineId::new(own[group.index()].len())));
            own[group.index()].push(machine);
        }
        let mut audience = vec![Vec::new(); groups];
        let (mut seen, mut first) = (own.clone(), BTreeMap::new());
        for group in (0..groups).map(PartyId::new) {
            for known in setup.neighbours_of(group) {
                first.insert((group, known), seen[group.index()].len());
                seen[group.index()].extend(&own[known.index()]);
                audience[known.index()].push(group);
            }
        }
        Self { seen, own: own.iter().map(Vec::len).collect(), owners, first, audience }
    }

    /// The machines that a group knows.
    pub(super) fn seen(&self, group: PartyId) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.seen[group.index()].iter().copied()
    }

    /// The machines of a group.
    pub(super) fn own(&self, group: PartyId) -> impl Iterator<Item = usize> + '_ {
        self.seen(group).take(self.own[group.index()])
    }

    /// Whether a group knows another's machines.
    pub(super) fn knows(&self, group: PartyId, other: PartyId) -> bool {
        self.first.contains_key(&(group, other))
    }

    /// Whether what a group calls so is its own.
    pub(super) fn is_own(&self, group: PartyId, machine: MachineId) -> bool {
        machine.index() < self.own[group.index()]
    }

    /// What a group calls so.
    pub(super) fn machine(&self, group: PartyId, machine: MachineId) -> usize {
        self.seen[group.index()][machine.index()]
    }

    /// Whose a machine is, and which of its own.
    pub(super) fn owner(&self, machine: usize) -> (PartyId, MachineId) {
        self.owners[machine]
    }

    /// What `group` calls a machine of a neighbour.
    pub(super) fn id_of(&self, group: PartyId, neighbour: PartyId, own: MachineId) -> MachineId {
        MachineId::new(self.first[&(group, neighbour)] + own.index())
    }

    /// Who knows a group.
    pub(super) fn audience(&self, group: PartyId) -> &[PartyId] {
        &self.audience[group.index()]
    }
}
