//! The agents and what is known of their machines for longer than a connection lives.

use super::Shown;
use gleaner_units::{RunId, Time};
use gleaner_wire::api::Actor;
use gleaner_wire::session::Profile;
use serde::{Deserialize, Serialize};

/// An agent.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own, and any may go with any")]
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Agent {
    /// No other has it.
    pub name: String,
    /// Its public key, in base64.
    pub key: String,
    /// Whose it is, where an administrator said so: all machines of one owner have one vote.
    pub owner: Option<String>,
    /// Whether it may not come back; one that was forgotten may not either.
    pub revoked: bool,
    /// Whether it is listed no more, and its name free.
    pub forgotten: bool,
    /// Which of its starts is the latest known; none before the first.
    pub incarnation: Option<u64>,
    /// Whether it was not heard of until its lease ended, or never yet.
    pub lost: bool,
    /// Whether new tasks may start there: nobody wants it otherwise.
    pub open: bool,
    /// Whether its owner, as the agent has it, wants no new tasks there.
    pub closed_by_owner: bool,
    /// Whether an administrator does not.
    pub closed_by_order: bool,
    /// Who has what runs there stand still, where an administrator ordered it.
    pub paused_by: Option<Actor>,
    /// Since when each of them has it so.
    #[serde(default)]
    pub closed_since: ClosedSince,
    /// Why, as far as its owner and its agent go.
    pub why: Option<String>,
    /// Why it was closed by order.
    pub why_by_order: Option<String>,
    /// λ as it was reported last; 1 while its tasks are suspended.
    pub load: f64,
    /// Credits for a million operations.
    pub price: f64,
    /// What the machine is, as it says.
    pub profile: Profile,
    /// What its tasks show of its speeds.
    pub shown: Shown,
    /// How many runs in a row could not be started there, of jobs that run elsewhere.
    pub not_started: u32,
    /// The runs that had begun there when its lease ended, as far as nothing was heard of them since.
    pub(super) silent: Vec<RunId>,
}

/// Since when a machine takes no new tasks, by whom wants that, as long as they do.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ClosedSince {
    /// Its owner, as the agent has it.
    pub owner: Option<Time>,
    /// Who closed it by order, in the words of the last such order.
    pub order: Option<Time>,
    /// Who has what runs there stand still.
    pub pause: Option<Time>,
}

impl Agent {
    pub(super) fn new(name: String, key: String, profile: Profile) -> Self {
        Self {
            name,
            key,
            owner: None,
            revoked: false,
            forgotten: false,
            incarnation: None,
            lost: true,
            open: true,
            closed_by_owner: false,
            closed_by_order: false,
            paused_by: None,
            closed_since: ClosedSince::default(),
            why: None,
            why_by_order: None,
            load: 0.0,
            price: 0.0,
            profile,
            shown: Shown::default(),
            not_started: 0,
            silent: Vec::new(),
        }
    }

    /// Why it is as it is: all that was ordered goes before what its agent says.
    pub fn why(&self) -> Option<String> {
        let orders: Vec<String> = self.orders().collect();
        if orders.is_empty() { self.why.clone() } else { Some(orders.join("; ")) }
    }

    /// What was ordered that keeps new tasks from it.
    pub fn orders(&self) -> impl Iterator<Item = String> {
        self.ordered().map(|(why, _)| why)
    }

    /// Likewise, and since when.
    pub(crate) fn ordered(&self) -> impl Iterator<Item = (String, Option<Time>)> {
        let paused = self.paused_by.as_ref().map(|by| (format!("paused by {by}"), self.closed_since.pause));
        let closed = self.why_by_order.clone().map(|why| (why, self.closed_since.order));
        paused.into_iter().chain(closed)
    }

    /// Whether nobody wants no new tasks there.
    pub(super) fn may_be_open(&self) -> bool {
        !(self.closed_by_owner || self.closed_by_order || self.revoked || self.paused_by.is_some())
    }

    /// Whether its owner has all of it, so that what runs there stands still.
    pub fn is_suspended(&self) -> bool {
        self.load >= 1.0
    }
}
