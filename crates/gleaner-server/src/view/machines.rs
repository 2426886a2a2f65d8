//! Machines as users see them.

use crate::desk::Desk;
use crate::ledger::Agent;
use gleaner_core::{Grid, Stage, Trust};
use gleaner_units::MachineId;
use gleaner_wire::VERSION;
use gleaner_wire::api::{MachineList, MachineState, MachineView, TrustView};
use std::collections::BTreeMap;

/// All machines, in order of joining.
pub fn machines(desk: &Desk) -> MachineList {
    let machines = known(desk).map(|(id, agent)| machine(desk, id, agent)).collect();
    MachineList { version: VERSION, machines }
}

/// How many are in which state.
pub(super) fn states(desk: &Desk) -> BTreeMap<String, usize> {
    let mut states = BTreeMap::new();
    for (id, agent) in known(desk) {
        *states.entry(state(desk, id, agent).name()).or_insert(0) += 1;
    }
    states.into_iter().map(|(name, count)| (name.to_owned(), count)).collect()
}

fn known(desk: &Desk) -> impl Iterator<Item = (MachineId, &Agent)> {
    let agents = desk.ledger().agents().iter().enumerate().filter(|(_, agent)| !agent.forgotten);
    agents.map(|(index, agent)| (MachineId::new(index), agent))
}

fn machine(desk: &Desk, id: MachineId, agent: &Agent) -> MachineView {
    let state = state(desk, id, agent);
    // Why it took tasks says nothing of a machine that is gone.
    let is_gone = agent.open && matches!(state, MachineState::Away | MachineState::Lost);
    let why = agent.why().filter(|_| !is_gone);
    let turned_away = desk.turned_away(id);
    let refused = turned_away.filter(|turned| turned.beside).map(|turned| &turned.why);
    // Why a machine is closed is not hidden by a copy of it that was turned away.
    let turned_away =
        turned_away.filter(|turned| !turned.beside || state == MachineState::Open).map(|turned| &turned.why);
    MachineView {
        machine: agent.name.clone(),
        state,
        why: turned_away.cloned().or(why).or_else(|| agent.shown.why().cloned()),
        orders: agent.orders().collect(),
        refused: refused.cloned(),
        owner: agent.owner.clone(),
        profile: agent.profile.clone(),
        owner_load: agent.load,
        price: agent.price,
        // A program that is being stopped is here, and what is to come when it has ended is not.
        tasks: desk.ledger().live_on(id).filter(|run| run.stage() != Stage::Next).count() as u32,
        sample: desk.sample(id).cloned(),
        heard_s: desk.heard(id).map(gleaner_units::Time::seconds),
        trust: trust(desk.ledger().grid(), id),
    }
}

/// Nothing of a machine whose answers nobody compared.
fn trust(grid: &Grid, id: MachineId) -> Option<TrustView> {
    let Trust { row, agreed, wrong, last_wrong, strikes: _ } = grid.trust(id);
    let last_wrong_s = last_wrong.map(gleaner_units::Time::seconds);
    let alone = grid.is_trusted(id);
    (agreed + wrong > 0).then_some(TrustView { row, agreed, wrong, last_wrong_s, alone })
}

fn state(desk: &Desk, id: MachineId, agent: &Agent) -> MachineState {
    if agent.revoked {
        MachineState::Revoked
    } else if agent.lost {
        MachineState::Lost
    } else if !desk.is_connected(id) {
        MachineState::Away
    } else if agent.open {
        MachineState::Open
    } else {
        MachineState::Closed
    }
}
