//! How many cores users' runs might take at a time, and when that changed.

use gleaner_core::Event;
use gleaner_server::journal::Fact;
use gleaner_server::ledger::{Ledger, People};
use gleaner_units::{Time, UserId};
use gleaner_wire::api::Quota;
use std::collections::BTreeMap;

/// What was ordered, by users' names: a user may have a quota before they have a number.
#[derive(Debug, Default)]
pub(super) struct Caps(Vec<Ordered>);

#[derive(Debug)]
struct Ordered {
    at: Time,
    /// None: everyone without a quota of their own.
    user: Option<String>,
    /// None: as everyone without a quota of their own.
    cores: Option<u32>,
}

/// From when a bound on users' cores holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CapChange {
    /// From when, on the setup's clock.
    pub at: Time,
    /// Whose; none: everyone without a bound of their own.
    pub user: Option<UserId>,
    /// How many cores their runs take at a time; none: as many as those of everyone without a bound of their own.
    pub cores: Option<u32>,
}

impl CapChange {
    /// When the scheduler hears of it, and what.
    pub(super) fn event(self) -> (Time, Event) {
        (self.at, Event::CoresCapped { user: self.user, cores: self.cores })
    }
}

impl Caps {
    /// What holds in a state that the journal begins with.
    pub(super) fn begun_with(people: &People) -> Self {
        let usual = people.usual_quota();
        let everyone = (usual.cores != Quota::default().cores).then_some((None, usual));
        let own = people.with_own_quota().map(|user| (Some(user.clone()), people.quota(user)));
        let held = everyone.into_iter().chain(own);
        let held = held.map(|(user, quota)| Ordered { at: Time::ZERO, user, cores: Some(quota.cores) });
        Self(held.collect())
    }

    /// Takes note of a quota.
    pub(super) fn note(&mut self, at: Time, fact: &Fact) {
        let Fact::QuotaSet { user, quota, .. } = fact else { return };
        let quota = quota.or_else(|| user.is_none().then(Quota::default));
        self.0.push(Ordered { at, user: user.clone(), cores: quota.map(|quota| quota.cores) });
    }

    /// From a moment on nobody is bound, and what was ordered then is of no interest.
    pub(super) fn lift_from(&mut self, over: Time) {
        self.0.retain(|ordered| ordered.at < over);
        let last: BTreeMap<_, _> =
            self.0.iter().map(|ordered| (ordered.user.clone(), ordered.cores)).collect();
        let bound = last.into_iter().filter(|(_, cores)| cores.is_some());
        self.0.extend(bound.map(|(user, _)| Ordered { at: over, user, cores: Some(u32::MAX) }));
    }

    /// All that concerns anybody who submitted anything, in order.
    pub(super) fn changes(&self, ledger: &Ledger) -> Vec<CapChange> {
        let change = |Ordered { at, user, cores }: &Ordered| {
            let user = match user {
                Some(user) => Some(ledger.payer_of(user)?.1),
                None => None,
            };
            Some(CapChange { at: *at, user, cores: *cores })
        };
        self.0.iter().filter_map(change).collect()
    }
}
