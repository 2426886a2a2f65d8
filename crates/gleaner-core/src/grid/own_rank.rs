//! A user's own rank and requirements of one machine, by what its ad says and by what it published.
//!
//! What is published is no part of a machine's class: it changes, and a class for each value would be none. So a rank that
//! is to see it is evaluated for each machine.

use super::Grid;
use crate::ad::{PUBLISHED, PUBLISHED_REQUIREMENTS, Work, or_nothing};
use gleaner_classad::{ClassAd, Expr, RANK, Value};
use gleaner_units::{MachineId, TaskClassId};

/// What a task's own rank says of a machine.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum OwnRank {
    /// Nothing: it has none.
    Silent,
    /// So much.
    Number(f64),
    /// Something that is no finite number: undefined, an error, a text.
    NoNumber,
}

impl Grid {
    /// How a task of that class ranks a machine, which is believed to keep a newcomer waiting for so many seconds. Beside what
    /// the machine's ad says, a rank sees `EstimatedTraversalTime`, and `FreeCpus`, `FreeMemory`, `FreeDisk` and `WaitingJobs`
    /// where that was published. Costs O(size of the ads) where there is a rank.
    pub fn own_rank(&self, class: TaskClassId, on: MachineId, traversal_s: f64) -> OwnRank {
        let ad = or_nothing(self.classes().task_class(class).ad.as_ref());
        if ad.get(RANK).is_none() {
            return OwnRank::Silent;
        }
        let machine = self.as_published(on, traversal_s);
        let value = Work::of(1).evaluate(|context| ad.evaluate(RANK, &context.with_target(&machine)));
        match value.as_number().filter(|rank| rank.is_finite()) {
            Some(rank) => OwnRank::Number(rank),
            None => OwnRank::NoNumber,
        }
    }

    /// Whether what tasks of that class ask of published values (see [`Ad::with_published_apart`](crate::Ad::with_published_apart))
    /// holds of a machine, which is believed to keep a newcomer waiting for so many seconds. What it did not publish is
    /// undefined, and holds of nothing. Costs O(size of the ads) where something is asked.
    pub fn published_requirements_hold(&self, class: TaskClassId, on: MachineId, traversal_s: f64) -> bool {
        let ad = or_nothing(self.classes().task_class(class).ad.as_ref());
        if ad.get(PUBLISHED_REQUIREMENTS).is_none() {
            return true;
        }
        let machine = self.as_published(on, traversal_s);
        let evaluate = |work: &mut Work| {
            work.evaluate(|context| ad.evaluate(PUBLISHED_REQUIREMENTS, &context.with_target(&machine)))
        };
        evaluate(&mut Work::of(1)).as_condition() == Some(true)
    }

    /// A machine's ad with what it published.
    fn as_published(&self, on: MachineId, traversal_s: f64) -> ClassAd {
        let mut machine = or_nothing(self.class_of(on).ad.as_ref()).clone();
        let state = self.belief(on).map(super::Belief::state);
        let values = [
            Some(traversal_s),
            state.map(|state| f64::from(state.cores_free)),
            state.map(|state| state.memory_free as f64),
            state.map(|state| state.disk_free as f64),
            state.map(|state| f64::from(state.waiting)),
        ];
        for (name, value) in PUBLISHED.into_iter().zip(values) {
            if let Some(value) = value {
                machine.insert(name, Expr::from_value(Value::Real(value)));
            }
        }
        machine
    }
}
