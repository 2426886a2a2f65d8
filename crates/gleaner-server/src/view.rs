//! What the API shows of the desk and of the journal. Nothing here changes anything.

mod budget;
mod explain;
mod history;
mod machines;
mod tasks;
mod waits;

pub use budget::budget;
pub use explain::{explain, explain_past, preview};
pub use history::{HistoryNames, Story, history_names};
pub use machines::{machines, state_name};
pub use tasks::{job, jobs, task, tasks};

use crate::desk::Desk;
use gleaner_wire::VERSION;
use gleaner_wire::api::{GridView, LabelList, LabelView, PolicyView};
use std::collections::BTreeMap;

/// The grid at a glance. Costs O(machines).
pub fn grid(desk: &Desk) -> GridView {
    let ledger = desk.ledger();
    let mut machines = BTreeMap::new();
    for view in self::machines(desk).machines {
        *machines.entry(state_name(view.state).to_owned()).or_insert(0) += 1;
    }
    GridView {
        version: VERSION,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        epoch: ledger.epoch(),
        tasks: *ledger.tally(),
        machines,
        policy: ledger.recipe().to_string(),
    }
}

/// The rule in force.
pub fn policy(desk: &Desk) -> PolicyView {
    let policy = desk.ledger().policy().clone();
    let text = desk.ledger().recipe().to_string();
    PolicyView { version: VERSION, policy, text }
}

/// What was learnt of labels.
pub fn labels(desk: &Desk) -> LabelList {
    let labels = desk
        .ledger()
        .labels()
        .map(|(name, label)| (name.clone(), LabelView { composition: label.composition, runs: label.runs }));
    LabelList { version: VERSION, labels: labels.collect() }
}
