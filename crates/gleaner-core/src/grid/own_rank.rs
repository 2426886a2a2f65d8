//! A user's own rank of one machine, by what its ad says and by what it published.
//!
//! What is published is no part of a machine's class: it changes, and a class for each value would be none. So a rank that
//! is to see it is evaluated for each machine.

use super::Grid;
use crate::ad::{Work, or_nothing};
use gleaner_classad::{Expr, RANK, Value};
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
        let mut machine = or_nothing(self.class_of(on).ad.as_ref()).clone();
        let mut say = |name: &str, value: f64| machine.insert(name, Expr::from_value(Value::Real(value)));
        say("EstimatedTraversalTime", traversal_s);
        if let Some(state) = self.belief(on).map(super::Belief::state) {
            say("FreeCpus", f64::from(state.cores_free));
            say("FreeMemory", state.memory_free as f64);
            say("FreeDisk", state.disk_free as f64);
            say("WaitingJobs", f64::from(state.waiting));
        }
        let value = Work::of(1).evaluate(|context| ad.evaluate(RANK, &context.with_target(&machine)));
        match value.as_number().filter(|rank| rank.is_finite()) {
            Some(rank) => OwnRank::Number(rank),
            None => OwnRank::NoNumber,
        }
    }
}
