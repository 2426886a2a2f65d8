//! Why a task waits: for explanations.

use super::plan::Plan;
use super::promise::{Reservation, Word};
use super::{Backfiller, classes_for};
use crate::parts::queue::Backfill;
use gleaner_core::Grid;
use gleaner_units::{MachineId, TaskId, Time};

/// What keeps a task that waits from starting now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeldBack {
    /// No machine that takes tasks now could take it, were it empty.
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
    pub(crate) fn holds_back(&self, grid: &Grid, now: Time, task: TaskId) -> Option<HeldBack> {
        if !self.line.has(grid, task) {
            return None;
        }
        let kind = self.line.kind_of(grid, task);
        if !classes_for(grid, kind).any(|(_, class)| self.holds.has_open(class)) {
            return Some(HeldBack::NoMachine);
        }
        let has_room = self.place_now(grid, kind, |_| true).is_some();
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

/// What tasks, machines and moments are called.
pub struct Names<'a> {
    /// A task.
    pub task: &'a dyn Fn(TaskId) -> String,
    /// A machine; nothing where there is but one.
    pub machine: &'a dyn Fn(MachineId) -> String,
    /// A moment, as "from 5 s on".
    pub moment: &'a dyn Fn(Time) -> String,
}

impl HeldBack {
    /// What is kept for somebody, that a task waits for.
    pub fn kept(&self) -> Option<Reservation> {
        match *self {
            HeldBack::Kept(kept) | HeldBack::Delays(kept) => Some(kept),
            HeldBack::NoRoom(first) => first,
            HeldBack::NoMachine | HeldBack::Turn(_) => None,
        }
    }

    /// In a word, for programs.
    pub const fn word(&self) -> &'static str {
        match self {
            HeldBack::NoMachine => "no-machine",
            HeldBack::Kept(_) => "kept",
            HeldBack::NoRoom(_) => "no-room",
            HeldBack::Turn(_) => "turn",
            HeldBack::Delays(_) => "delays",
        }
    }

    /// In half a sentence, for people.
    pub fn words(&self, names: &Names<'_>) -> String {
        let first = |kept: &Reservation| (names.task)(kept.task);
        match self {
            HeldBack::NoMachine => "no machine that takes tasks now could take it".to_owned(),
            HeldBack::Kept(kept) if kept.by == Word::Nobody => {
                format!("it is next, and starts {}", when(kept, names))
            }
            HeldBack::Kept(kept) => format!("cores are kept for it {}", when(kept, names)),
            HeldBack::NoRoom(None) => "too little is free for it".to_owned(),
            HeldBack::NoRoom(Some(kept)) => {
                let first = first(kept);
                format!(
                    "too little is free for it; before it, cores are kept for {first} {}",
                    when(kept, names)
                )
            }
            HeldBack::Turn(first) => {
                format!("it may not overtake {}: nobody starts out of turn", (names.task)(*first))
            }
            HeldBack::Delays(kept) => {
                let more = match kept.by {
                    Word::Believed | Word::Declared => format!("; {} more will be free then", kept.spare),
                    Word::Nobody => String::new(),
                };
                format!(
                    "it may not delay {}, for which cores are kept {}{more}",
                    first(kept),
                    when(kept, names)
                )
            }
        }
    }
}

fn when(kept: &Reservation, names: &Names<'_>) -> String {
    let machine = (names.machine)(kept.on);
    let on = if machine.is_empty() { String::new() } else { format!("on {machine} ") };
    match kept.by {
        Word::Believed => format!("{on}{}, as far as is known", (names.moment)(kept.at)),
        Word::Declared => {
            let moment = (names.moment)(kept.at);
            format!("{on}{moment}, by what users declared: what runs there takes longer than was believed")
        }
        Word::Nobody => format!("{on}when enough of what runs there ends, and nobody knows when that is"),
    }
}
