//! Machines that could take a task and take none now: which they are, and who closed them, since when.

use crate::ledger::{Agent, Ledger};
use crate::moments::clock;
use gleaner_core::Availability;
use gleaner_units::{MachineId, TaskClassId, Time};

/// Machines that are named.
const NAMED_MAX: usize = 3;

/// Whether a machine that may come back could take tasks of a class, were it empty and open. Costs O(machines).
pub(super) fn could_any(ledger: &Ledger, class: TaskClassId) -> bool {
    able(ledger, class).next().is_some()
}

/// Which machines could take tasks of a class and why none of them takes any now: nothing where one does, or where none could. Costs
/// O(machines).
pub(super) fn all_closed(ledger: &Ledger, class: TaskClassId) -> Option<String> {
    let takes = |on: MachineId| ledger.grid().machine(on).availability() == Availability::Open;
    let able: Vec<(MachineId, &Agent)> = able(ledger, class).collect();
    if able.iter().any(|(on, _)| takes(*on)) {
        return None;
    }
    let more = able.len().saturating_sub(NAMED_MAX);
    match &able[..] {
        [] => None,
        [(_, only)] => Some(format!("{}, which takes no tasks now: {}", only.name, why(only))),
        several => {
            let named = several.iter().take(NAMED_MAX);
            let named: Vec<String> =
                named.map(|(_, agent)| format!("{} ({})", agent.name, why(agent))).collect();
            let more = if more > 0 { format!(" or {more} more") } else { String::new() };
            Some(format!("{}{more}, which take no tasks now", named.join(" or ")))
        }
    }
}

fn able(ledger: &Ledger, class: TaskClassId) -> impl Iterator<Item = (MachineId, &Agent)> {
    let agents = ledger.agents().iter().enumerate();
    let listed = agents.filter(|(_, agent)| !agent.revoked);
    let listed = listed.map(|(index, agent)| (MachineId::new(index), agent));
    listed.filter(move |(on, _)| ledger.grid().seconds_per_op(class, *on).is_finite())
}

/// Why a machine takes no tasks, and since when, as far as that is known: all that was ordered, or what its agent says.
fn why(agent: &Agent) -> String {
    if agent.lost {
        return "it is away".to_owned();
    }
    let told = |(why, since): (String, Option<Time>)| match since {
        Some(since) => format!("{why}, since {}", clock(since)),
        None => why,
    };
    let orders: Vec<String> = agent.ordered().map(told).collect();
    if !orders.is_empty() {
        return orders.join("; ");
    }
    let why = agent.why.clone().unwrap_or_else(|| "its owner wants none".to_owned());
    told((why, agent.closed_since.owner))
}
