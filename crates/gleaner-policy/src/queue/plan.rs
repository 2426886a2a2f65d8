//! The moments that conservative backfilling keeps for all that wait: each in turn gets the earliest that those before it
//! leave.
//!
//! A plan grows at its end, and holds as long as runs end when it was believed that they would; else it is made anew, which
//! costs O(waiting tasks), each as much as a search in a calendar.

use super::calendar::Calendar;
use super::holds::Holds;
use super::line::{Line, Turn};
use crate::forecast::Forecast;
use gleaner_core::Grid;
use gleaner_units::{MachineClassId, MachineId, RunId, TaskId, Time};
use std::collections::BTreeSet;

/// What is kept for whom.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// By machine: what runs hold, and what is kept.
    calendars: Vec<Calendar>,
    /// When whose turn comes, and where.
    starts: BTreeSet<(Time, Turn, MachineId)>,
    /// All until there have their moment.
    until: Option<Turn>,
}

impl Plan {
    /// Nobody has a moment yet.
    pub(crate) fn on(holds: &Holds) -> Self {
        let calendars = holds.ends().iter().map(|ends| Calendar::of(ends.steps())).collect();
        Self { calendars, starts: BTreeSet::new(), until: None }
    }

    /// Forgets what was before.
    pub(crate) fn advance(&mut self, now: Time) {
        self.calendars.iter_mut().for_each(|calendar| calendar.advance(now));
    }

    /// Whether all that have their moment come before that turn.
    pub(crate) fn is_before(&self, turn: Turn) -> bool {
        self.until.is_none_or(|until| until < turn)
    }

    /// Keeps a moment for whoever has none yet.
    pub(crate) fn extend(
        &mut self,
        grid: &Grid,
        now: Time,
        (line, forecast, holds): (&Line, &Forecast, &Holds),
    ) {
        let first = line.first().map(|task| line.turn_of(grid, task));
        let Some(next) = self.until.map(after).or(first) else { return };
        for turn in line.from(next) {
            self.until = Some(turn);
            let id = turn.1;
            let kind = line.kind_of(grid, id);
            let length = forecast.length(grid, id).amount();
            let row = grid.classes().seconds_per_op_row(kind.class);
            let able = row.iter().enumerate().filter(|(_, seconds)| seconds.is_finite());
            let moments = able.flat_map(|(index, &seconds_per_op)| {
                let seconds = length * seconds_per_op;
                let machines = holds.open(MachineClassId::new(index));
                let calendars = &self.calendars;
                machines.map(move |on| {
                    let calendar = &calendars[on.index()];
                    let begin =
                        calendar.earliest(now, kind.needs.cores, |begin| begin.after_seconds(seconds));
                    (begin, on, begin.after_seconds(seconds))
                })
            });
            let Some((begin, on, end)) = moments.min() else { continue };
            if begin < Time::NEVER {
                self.calendars[on.index()].take(begin, end, kind.needs.cores.into());
                self.starts.insert((begin, turn, on));
            }
        }
    }

    /// The next whose moment has come.
    pub(crate) fn due(&self, grid: &Grid, now: Time) -> Option<(TaskId, MachineId)> {
        let due = self.starts.iter().take_while(|(at, ..)| *at <= now);
        due.map(|(_, turn, on)| (turn.1, *on)).find(|&(task, on)| {
            let class = grid.task(task).class();
            grid.can_run(class, on) && !grid.is_capped(class)
        })
    }

    /// The moment that is kept for a task, and where. Costs O(waiting tasks).
    pub(crate) fn moment_of(&self, task: TaskId) -> Option<(Time, MachineId)> {
        self.starts.iter().find(|(_, turn, _)| turn.1 == task).map(|&(at, _, on)| (at, on))
    }

    /// A run began. Whether at its moment.
    pub(crate) fn started(&mut self, grid: &Grid, run: RunId) -> bool {
        let Some(began) = grid.find_run(run) else { return false };
        let mut due = self.starts.iter().take_while(|(at, ..)| *at <= began.since());
        let Some(&planned) = due.find(|(_, turn, on)| (turn.1, *on) == (run.task, began.on())) else {
            return false;
        };
        self.starts.remove(&planned);
        planned.0 == began.since()
    }
}

fn after((priority, task): Turn) -> Turn {
    (priority, TaskId::new(task.index() + 1))
}
