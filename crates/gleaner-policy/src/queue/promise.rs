//! What is promised to the first in line: the earliest moment at which it can start, and who may overtake it until then.
//!
//! A promise rests on what is believed of the runs. Once one of them takes longer than was believed, and its cores would let
//! the first in line start sooner than all others' do, the promise has slipped. From then on until that run ends the users'
//! word decides on that machine: the moment is the one by what was declared, and who overtakes has to end by it by what was
//! declared for him. **Where nothing was declared, or that is over too, nobody overtakes there**: a run that has outlasted all
//! that is known of it may end at any moment, and whoever took cores then would keep the first in line waiting, again and again.

use super::declared::Declared;
use super::ends::Ends;
use super::holds::Holds;
use super::line::Kind;
use gleaner_core::Grid;
use gleaner_units::{MachineClassId, MachineId, TaskId, Time};

/// The earliest moment at which a task can start, where, and what it leaves there then.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reservation {
    /// For whom it is kept.
    pub task: TaskId,
    /// Where.
    pub on: MachineId,
    /// When; never where nothing that runs there is known to end.
    pub at: Time,
    /// The cores that it will not need then.
    pub spare: u32,
    /// Whose word it is.
    pub by: Word,
}

/// Whose word a moment is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Word {
    /// By what is believed of the runs.
    Believed,
    /// A run took longer than was believed: by what users declared.
    Declared,
    /// Nobody knows when enough of what runs there ends.
    Nobody,
}

impl Word {
    /// In a word, for programs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Believed => "believed",
            Self::Declared => "declared",
            Self::Nobody => "nobody",
        }
    }
}

/// What is known of runs and of time.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) grid: &'a Grid,
    pub(crate) now: Time,
    pub(crate) holds: &'a Holds,
    pub(crate) declared: Option<&'a Declared>,
}

/// A moment on one machine.
struct Moment {
    at: Time,
    spare: i64,
    by: Word,
    /// When the task is expected to start there: a run that is late is expected to be as late again.
    expected: Time,
}

impl Known<'_> {
    /// The machine on which a task that cannot start now is expected to start first, and what is promised to it there. Costs
    /// O(machines that it could use).
    pub(super) fn promise(&self, task: TaskId, kind: &Kind) -> Option<Reservation> {
        let machines = classes_for(self.grid, kind).flat_map(|(_, class)| self.holds.open(class));
        let moments = machines.map(|on| (self.on(kind, on), on));
        let (moment, on) = moments.min_by_key(|(moment, on)| (moment.expected, *on))?;
        let spare = u32::try_from(moment.spare).unwrap_or(0);
        Some(Reservation { task, on, at: moment.at, spare, by: moment.by })
    }

    fn on(&self, kind: &Kind, on: MachineId) -> Moment {
        let (now, cores) = (self.now, kind.needs.cores);
        let ends = &self.holds.ends()[on.index()];
        let Some(at) = settled(ends, now, cores) else {
            let first = ends.first().map_or(now, |end| end.at);
            let expected = (now + now.since(first)).min(ends.earliest_without_late(now, cores));
            let by_word = self.declared.map(|declared| declared.ends(on));
            let at = by_word.and_then(|ends| settled(ends, now, cores)).unwrap_or(Time::NEVER);
            let (by, spare) = match by_word {
                Some(ends) if at < Time::NEVER => (Word::Declared, spare(ends, now, at, cores)),
                Some(_) | None => (Word::Nobody, 0),
            };
            return Moment { at, spare, by, expected };
        };
        // Where it is memory that is short, something has to end there first.
        let at = if at > now || self.grid.can_run(kind.class, on) {
            at
        } else {
            ends.first().map_or(Time::NEVER, |end| end.at.max(now))
        };
        let (by, spare) =
            if at < Time::NEVER { (Word::Believed, spare(ends, now, at, cores)) } else { (Word::Nobody, 0) };
        Moment { at, spare, by, expected: at }
    }
}

/// From when on so many cores are free, if that does not rest on runs that are late.
fn settled(ends: &Ends, now: Time, cores: u32) -> Option<Time> {
    let at = ends.earliest(now, cores);
    (ends.late(now) == 0 || at == ends.earliest_without_late(now, cores)).then_some(at)
}

/// The cores that are left at that moment, if runs that are late never end.
fn spare(ends: &Ends, now: Time, at: Time, cores: u32) -> i64 {
    ends.free_at(at) - ends.late(now) - i64::from(cores)
}

/// The classes of machines that can run it, each with the seconds that an operation takes there.
pub(super) fn classes_for<'a>(
    grid: &'a Grid,
    kind: &Kind,
) -> impl Iterator<Item = (f64, MachineClassId)> + 'a {
    let row = grid.classes().seconds_per_op_row(kind.class).iter().enumerate();
    let able = row.filter(|(_, seconds)| seconds.is_finite());
    able.map(|(index, seconds)| (*seconds, MachineClassId::new(index)))
}
