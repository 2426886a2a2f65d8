//! What a policy asks to be woken for.
//!
//! **There is one alarm of each name at most**, and any number of names. They come earliest first, and those of one moment
//! in order of name.

use gleaner_units::{RunId, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Its name, in the order in which those of one moment come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Alarm {
    /// Sites that were asked how things are there have all answered, or are not [waited for](crate::Decision::Survey) any more.
    Survey,
    /// To plan what waits.
    Batch,
    /// A budget is recharged: what could not be paid may be payable.
    Recharge,
    /// What was sent ahead has waited for long, or was not answered for.
    Ahead,
    /// To consider moves.
    Relocation,
    /// To look again at what is held back.
    Held,
    /// Who was [asked](crate::Decision::Ask) to hold room for a run and has not answered by now is not waited for.
    Silence(RunId),
}

/// All that were asked for and have not come, in that order. There are few of them: a look at all is nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Alarms(Vec<(Time, Alarm)>);

impl Alarms {
    pub(crate) fn find(&self, alarm: Alarm) -> Option<Time> {
        self.0.iter().find(|(_, other)| *other == alarm).map(|(at, _)| *at)
    }

    pub(crate) fn in_order(&self) -> impl Iterator<Item = (Time, Alarm)> + '_ {
        self.0.iter().copied()
    }

    /// Instead of when it was to come before.
    pub(crate) fn set(&mut self, alarm: Alarm, at: Time) {
        self.take(alarm);
        let place = self.0.partition_point(|other| *other < (at, alarm));
        self.0.insert(place, (at, alarm));
    }

    pub(crate) fn take(&mut self, alarm: Alarm) -> Option<Time> {
        let place = self.0.iter().position(|(_, other)| *other == alarm)?;
        Some(self.0.remove(place).0)
    }

    /// Whether there is one of each name at most, in order.
    pub(crate) fn is_whole(&self) -> bool {
        let names: BTreeSet<Alarm> = self.0.iter().map(|(_, alarm)| *alarm).collect();
        self.0.is_sorted() && names.len() == self.0.len()
    }
}
