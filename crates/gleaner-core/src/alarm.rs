//! What a policy asks to be woken for.
//!
//! **There is one alarm of each name at most**, and any number of names. They come earliest first, and those of one moment
//! in order of name.

use gleaner_units::{RunId, TaskId, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Its name, in the order in which those of one moment come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Alarm {
    /// Sites that were asked how things are there have all answered, or are not [waited for](crate::Decision::Survey) any more.
    Survey,
    /// To plan what waits.
    Batch,
    /// A budget is recharged: what could not be paid may be payable.
    Recharge,
    /// To consider moves.
    Relocation,
    /// To look again at what is held back.
    Held,
    /// Something is to be decided about a task by now.
    Deadline(TaskId),
    /// Who was [asked](crate::Decision::Ask) to hold room for a run and has not answered by now is not waited for.
    Silence(RunId),
}

/// All that were asked for and have not come.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Alarms {
    due: BTreeMap<Alarm, Time>,
    /// The same, earliest first.
    in_order: BTreeSet<(Time, Alarm)>,
}

impl Alarms {
    pub(crate) fn find(&self, alarm: Alarm) -> Option<Time> {
        self.due.get(&alarm).copied()
    }

    pub(crate) fn in_order(&self) -> impl Iterator<Item = (Time, Alarm)> + '_ {
        self.in_order.iter().copied()
    }

    /// Instead of when it was to come before.
    pub(crate) fn set(&mut self, alarm: Alarm, at: Time) {
        self.take(alarm);
        self.due.insert(alarm, at);
        self.in_order.insert((at, alarm));
    }

    pub(crate) fn take(&mut self, alarm: Alarm) -> Option<Time> {
        let at = self.due.remove(&alarm)?;
        self.in_order.remove(&(at, alarm));
        Some(at)
    }

    /// Whether both sides tell the same.
    pub(crate) fn is_whole(&self) -> bool {
        self.due.iter().map(|(&alarm, &at)| (at, alarm)).collect::<BTreeSet<_>>() == self.in_order
    }
}
