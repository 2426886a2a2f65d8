//! What the API shows of the desk and of the journal. Nothing here changes anything.

mod budget;
mod closed;
mod discreet;
mod explain;
mod fetched;
mod history;
mod known;
mod machines;
mod pending;
mod reasons;
mod runs;
mod tasks;
mod tried;
mod waits;
mod words;

pub use budget::budget;
pub use discreet::hide_names;
pub use explain::{Moment, explain, explain_past, preview};
pub use fetched::{Fetched, Unread};
pub use history::{HistoryNames, Story, history_names};
pub use known::{Known, KnownTask};
pub use machines::machines;
pub use pending::{Failures, waits};
pub use tasks::{JobListing, TaskListing, job, task};
pub use waits::Situation;
pub(crate) use words::words;

use crate::desk::{Desk, Requester};
use gleaner_wire::VERSION;
use gleaner_wire::api::{GridView, LabelList, LabelView, PolicyKeys, PolicyView, QuotaList, QuotaView};
use std::collections::BTreeSet;

/// The grid at a glance. Costs O(machines).
pub fn grid(desk: &Desk, by: Requester) -> GridView {
    let ledger = desk.ledger();
    GridView {
        version: VERSION,
        user: by.user,
        role: by.role,
        program: env!("CARGO_PKG_VERSION").to_owned(),
        epoch: ledger.epoch(),
        tasks: *ledger.tally(),
        machines: machines::states(desk),
        policy: ledger.policy().name().to_owned(),
    }
}

/// The policy in force.
pub fn policy(desk: &Desk) -> PolicyView {
    let policy = desk.ledger().policy();
    PolicyView {
        version: VERSION,
        name: policy.name().to_owned(),
        policy: PolicyKeys(policy.tree().clone()),
        text: policy.recipe().to_string(),
    }
}

/// Who may have how much, and has: who asks, or for an administrator all. Costs O(those).
pub fn quotas(desk: &Desk, by: &Requester, sent_bytes: impl Fn(&str) -> u64) -> QuotaList {
    let (ledger, people) = (desk.ledger(), desk.ledger().people());
    let mut shown = BTreeSet::from([&by.user]);
    if by.role.sees_all() {
        shown.extend(people.with_own_quota().chain(ledger.payers().map(|(user, _)| user)));
    }
    let users = shown.into_iter().map(|user| QuotaView {
        user: user.clone(),
        quota: people.quota(user),
        tasks: ledger.open_tasks(user),
        tasks_ever: ledger.tasks_ever(user),
        cores: ledger.cores_of(user),
        bytes: ledger.bytes_of(user),
        sent_bytes: sent_bytes(user),
        requirement_bytes: ledger.requirement_bytes_of(user),
        description_bytes: ledger.description_bytes_of(user),
    });
    QuotaList { version: VERSION, everyone: people.usual_quota(), users: users.collect() }
}

/// What was learnt of labels: of a user's, or of all. Costs O(those).
pub fn labels(desk: &Desk, user: Option<&str>) -> LabelList {
    let labels = desk.ledger().labels(user).map(|((user, name), label)| LabelView {
        user: user.clone(),
        label: name.clone(),
        composition: label.composition,
        runs: label.runs,
    });
    LabelList { version: VERSION, labels: labels.collect() }
}
