//! How long tasks are believed to be: by what their users declared, or by what ran before.
//!
//! A belief is formed when a task is handed in, from what ended before that instant, and stays. What ran is kept by user,
//! in order of end, so that beliefs can be formed again from the grid alone.

use crate::parts::lengths::Lengths;
use gleaner_core::{Grid, TaskState};
use gleaner_units::{Ops, TaskId, Time, UserId};
use std::collections::{BTreeMap, VecDeque};

/// What stands for the length of a task of which nothing is known: it ends at no moment that can be told.
const UNKNOWN: f64 = 1e24;
/// What ran for less counts as if it had run so long: nobody is believed to take no time.
const SHORTEST_S: f64 = 1.0;
/// So many of a user's runs are remembered.
const RUNS_KEPT: usize = 64;

/// A run that came to its end.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Ran {
    ended: Time,
    task: TaskId,
    ops: f64,
}

impl Ran {
    fn key(&self) -> (Time, TaskId) {
        (self.ended, self.task)
    }
}

/// What is believed of each task, and from what.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Forecast {
    lengths: Lengths,
    /// By task; empty where what was declared is believed.
    believed: Vec<f64>,
    /// The latest of each user, in order of end.
    ran: BTreeMap<UserId, VecDeque<Ran>>,
}

impl Forecast {
    pub(crate) fn new(lengths: Lengths) -> Self {
        Self { lengths, believed: Vec::new(), ran: BTreeMap::new() }
    }

    /// Of a whole grid: what happened to its tasks happens again. Costs O(tasks·log tasks) where runs are looked at.
    pub(crate) fn of(lengths: Lengths, grid: &Grid) -> Self {
        let mut forecast = Self::new(lengths);
        if !forecast.is_learnt() {
            return forecast;
        }
        let finished = |state| matches!(state, TaskState::Finished(_));
        let mut ends: Vec<(Time, TaskId)> = grid
            .tasks()
            .filter(|(_, task)| finished(task.state()))
            .map(|(id, task)| (task.ended(), id))
            .collect();
        ends.sort_unstable();
        let mut ends = ends.into_iter().peekable();
        for (id, task) in grid.tasks() {
            while let Some((_, ended)) = ends.next_if(|(at, _)| *at < task.submitted()) {
                forecast.ended(grid, ended);
            }
            forecast.submitted(grid, id);
        }
        ends.for_each(|(_, ended)| forecast.ended(grid, ended));
        forecast
    }

    /// Whether what ran matters.
    pub(crate) fn is_learnt(&self) -> bool {
        self.lengths.is_learnt()
    }

    /// A task was handed in; those before it were.
    pub(crate) fn submitted(&mut self, grid: &Grid, id: TaskId) {
        if self.is_learnt() && id.index() == self.believed.len() {
            let believed = self.predict(grid, id);
            self.believed.push(believed);
        }
    }

    /// A task came to its end.
    pub(crate) fn ended(&mut self, grid: &Grid, id: TaskId) {
        let task = grid.task(id);
        let TaskState::Finished(on) = task.state() else { return };
        if !self.is_learnt() || task.started() == Time::NEVER {
            return;
        }
        let seconds = task.ended().since(task.started()).seconds().max(SHORTEST_S);
        let ran = Ran { ended: task.ended(), task: id, ops: seconds / grid.seconds_per_op(task.class(), on) };
        let user = grid.classes().task_class(task.class()).payer;
        let recent = self.ran.entry(user).or_default();
        let at = recent.partition_point(|other| other.key() < ran.key());
        recent.insert(at, ran);
        if recent.len() > RUNS_KEPT {
            recent.pop_front();
        }
    }

    /// How long a task is believed to be, from when it was handed in.
    pub(crate) fn length(&self, grid: &Grid, id: TaskId) -> Ops {
        let believed = self.believed.get(id.index()).copied();
        Ops::new(believed.unwrap_or_else(|| declared(grid, id))).expect("lengths are above 0")
    }

    /// How long it may be at most, by what was declared.
    pub(crate) fn limit(grid: &Grid, id: TaskId) -> f64 {
        declared(grid, id)
    }

    fn predict(&self, grid: &Grid, id: TaskId) -> f64 {
        let declared = declared(grid, id);
        let user = grid.classes().task_class(grid.task(id).class()).payer;
        let predicted = match self.lengths {
            Lengths::Declared | Lengths::True => return declared,
            Lengths::LastTwo => self.last_two(user, grid.task(id).submitted()),
        };
        predicted.map_or(declared, |predicted| predicted.min(declared))
    }

    /// The mean of what the user's last two took; nothing before there were two.
    fn last_two(&self, user: UserId, now: Time) -> Option<f64> {
        let mut recent = self.ran.get(&user)?.iter().rev().filter(|ran| ran.ended < now);
        let (last, before) = (recent.next()?.ops, recent.next()?.ops);
        Some(f64::midpoint(before, last))
    }
}

fn declared(grid: &Grid, id: TaskId) -> f64 {
    grid.declared_length(id).map_or(UNKNOWN, Ops::amount)
}
