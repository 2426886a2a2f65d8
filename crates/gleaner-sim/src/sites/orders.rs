//! How far each run is that a meta-scheduler ordered.

use super::manager::Holder;
use crate::TransferId;
use gleaner_core::{Part, RunEnd};
use gleaner_units::Time;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One run, as what surrounds the meta-schedulers knows it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Order {
    /// The job's place in the list.
    pub(super) job: usize,
    /// A machine's id is its site's place in the list.
    pub(super) parts: Vec<Part>,
    pub(super) phase: Phase,
    /// When all of its sites held their part; never before.
    pub(super) dispatched: Time,
    /// When its processors began to compute; never before.
    pub(super) began: Time,
}

impl Order {
    /// How many processors it has, on all sites.
    pub(super) fn cores(&self) -> u64 {
        self.parts.iter().map(|part| u64::from(part.cores)).sum()
    }
}

/// What it waits for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(super) enum Phase {
    /// That its meta-scheduler has heard from all of its sites.
    Asked,
    /// That these sites hear that its data may come.
    Granted(BTreeSet<usize>),
    /// That its data is there.
    StagingIn(BTreeSet<TransferId>),
    /// That its processes are done.
    Computing(Time),
    /// That its result is back.
    StagingOut(BTreeSet<TransferId>),
    /// That these sites hold nothing for it any more.
    GivenUp(BTreeSet<usize>, RunEnd),
    /// That its meta-scheduler hears of its end.
    Done,
}

/// All of them, and when their computing ends.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Orders {
    of_holder: BTreeMap<Holder, Order>,
    of_transfer: BTreeMap<TransferId, Holder>,
    /// Ends of computing.
    moments: BTreeSet<(Time, Holder)>,
}

impl Orders {
    pub(super) fn add(&mut self, holder: Holder, job: usize, parts: Vec<Part>) {
        let (phase, dispatched, began) = (Phase::Asked, Time::NEVER, Time::NEVER);
        self.of_holder.insert(holder, Order { job, parts, phase, dispatched, began });
    }

    pub(super) fn find(&self, holder: Holder) -> Option<&Order> {
        self.of_holder.get(&holder)
    }

    pub(super) fn find_mut(&mut self, holder: Holder) -> Option<&mut Order> {
        self.of_holder.get_mut(&holder)
    }

    pub(super) fn remove(&mut self, holder: Holder) {
        self.of_holder.remove(&holder);
    }

    /// An order goes on to another phase; the transfers that it was waiting for and did not end are returned.
    pub(super) fn set(&mut self, holder: Holder, phase: Phase) -> Vec<TransferId> {
        let Some(order) = self.of_holder.get_mut(&holder) else { return Vec::new() };
        let moment = |phase: &Phase| match phase {
            Phase::Computing(at) => Some(*at),
            Phase::Asked
            | Phase::Granted(_)
            | Phase::StagingIn(_)
            | Phase::StagingOut(_)
            | Phase::GivenUp(..)
            | Phase::Done => None,
        };
        if let Some(at) = moment(&order.phase) {
            self.moments.remove(&(at, holder));
        }
        if let Some(at) = moment(&phase) {
            self.moments.insert((at, holder));
        }
        if let Phase::StagingIn(transfers) | Phase::StagingOut(transfers) = &phase {
            self.of_transfer.extend(transfers.iter().map(|transfer| (*transfer, holder)));
        }
        let before = std::mem::replace(&mut order.phase, phase);
        let (Phase::StagingIn(left) | Phase::StagingOut(left)) = before else { return Vec::new() };
        for transfer in &left {
            _ = self.of_transfer.remove(transfer);
        }
        left.into_iter().collect()
    }

    /// Whose transfer that is; it is waited for no more.
    pub(super) fn arrived(&mut self, transfer: TransferId) -> Holder {
        let holder = self.of_transfer.remove(&transfer).expect("a transfer of an order");
        let order = self.of_holder.get_mut(&holder).expect("an order whose data is on its way");
        if let Phase::StagingIn(left) | Phase::StagingOut(left) = &mut order.phase {
            left.remove(&transfer);
        }
        holder
    }

    /// Whether no meta-scheduler waits for any.
    pub(super) fn is_empty(&self) -> bool {
        self.of_holder.is_empty()
    }

    /// The next end of computing.
    pub(super) fn next(&self) -> Option<(Time, Holder)> {
        self.moments.first().copied()
    }
}
