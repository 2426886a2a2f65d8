//! What the API shows of the desk and of the journal. Nothing here changes anything.

mod explain;
mod history;
mod machines;
mod tasks;

pub use explain::{explain, explain_past, preview};
pub use history::{HistoryNames, Story, history_names};
pub use machines::{machines, state_name};
pub use tasks::{job, jobs, task, tasks};

use crate::desk::Desk;
use crate::policy::recipe;
use gleaner_wire::VERSION;
use gleaner_wire::api::{GridView, LabelList, LabelView, PolicySpec, PolicyView};
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
        policy: in_words(ledger.policy()),
    }
}

/// The rule in force.
pub fn policy(desk: &Desk) -> PolicyView {
    let policy = desk.ledger().policy().clone();
    let text = in_words(&policy);
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

fn in_words(policy: &PolicySpec) -> String {
    recipe(policy).map_or_else(|error| error.to_string(), |recipe| recipe.to_string())
}
