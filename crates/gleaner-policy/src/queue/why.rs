//! Why a task waits: for explanations.

use super::plan::Plan;
use super::promise::{Reservation, Word};
use super::{Backfiller, classes_for};
use crate::parts::queue::Backfill;
use gleaner_core::Grid;
use gleaner_units::{TaskId, Time};

/// What keeps a task that waits from starting now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeldBack {
    /// No machine that is there could ever take it.
    NoMachine,
    /// Cores are kept for it, and are not free yet.
    Kept(Reservation),
    /// Too little is free for it on each machine; and what is kept for the first in line, if that cannot start either.
    NoRoom(Option<Reservation>),
    /// It would have room, and nobody overtakes that one.
    Turn(TaskId),
    /// It would have room, and would delay the first in line.
    Delays(Reservation),
}

impl Backfiller {
    /// What keeps a task that waits from starting now, as things stand; none if nothing does. Costs O(waiting tasks).
    pub fn holds_back(&self, grid: &Grid, now: Time, task: TaskId) -> Option<HeldBack> {
        if !self.line.has(grid, task) {
            return None;
        }
        let kind = self.line.kind_of(grid, task);
        if !classes_for(grid, kind).any(|(_, class)| self.holds.has_open(class)) {
            return Some(HeldBack::NoMachine);
        }
        let has_room = self.place_now(grid, kind, None).is_some();
        let first = self.reservation(grid, now);
        if self.recipe.backfill == Backfill::Conservative {
            let own = Plan::moment_of(&self.view(grid, now), task);
            if let Some((at, on)) = own.filter(|(at, _)| *at > now) {
                let by = first.map_or(Word::Believed, |first| first.by);
                return Some(HeldBack::Kept(Reservation { task, on, at, spare: 0, by }));
            }
        }
        let Some(first) = first else { return (!has_room).then_some(HeldBack::NoRoom(None)) };
        if first.task == task {
            return Some(HeldBack::Kept(first));
        }
        if !has_room {
            return Some(HeldBack::NoRoom(Some(first)));
        }
        Some(match self.recipe.backfill {
            Backfill::Fcfs => HeldBack::Turn(first.task),
            Backfill::Easy | Backfill::Conservative => HeldBack::Delays(first),
        })
    }
}
