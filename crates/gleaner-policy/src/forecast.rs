//! How long tasks are believed to be: by what their users declared, or by what ran before.
//!
//! A belief is formed when a task is handed in, from what ended before that instant, and stays. What ran is kept by user,
//! in order of end, so that beliefs can be formed again from the grid alone.

use crate::parts::lengths::Lengths;
use gleaner_core::{Change, Grid, TaskState};
use gleaner_units::{Ops, RunId, TaskId, Time, UserId};
use std::collections::{BTreeMap, VecDeque};

/// What stands for the length of a task of which nothing is known: it ends at no moment that can be told.
const UNKNOWN: f64 = 1e24;
/// No belief is so long: the task ends at no moment that can be told.
pub(crate) const KNOWN_MAX: f64 = 1e23;
/// So many of those alike count, and so many must be there.
const ALIKE_MOST: usize = 20;
const ALIKE_LEAST: usize = 2;
/// What ran for less counts as if it had run so long: nobody is believed to take no time.
const SHORTEST_S: f64 = 1.0;

/// A run that is so close to what was believed of it is over that: more than all rounding errors together.
const NEARLY: f64 = 1.0 + 1e-9;

/// The attribute of a task's ad by which its user says what it is alike to.
pub const LABEL: &str = "Label";

/// What a user's tasks have in common.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Like {
    /// The user alone.
    User,
    /// The bits of the declared length.
    Declared(u64),
    /// Its label.
    Label(String),
}

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

/// Where what is believed of a task's length comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source {
    /// The user said so, or sets a limit.
    Declared,
    /// What ran before took so long.
    Runs,
    /// Nobody knows.
    Nobody,
}

/// Which time of a run is its length.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scale {
    /// What it would take with a core to itself.
    Service,
    /// For how long it holds its cores, for rules by which they are free again after its length.
    Held,
}

/// What is believed of each task, and from what.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Forecast {
    lengths: Lengths,
    scale: Scale,
    /// By task; empty where what was declared is believed.
    believed: Vec<f64>,
    /// By task that has not ended: what will be believed when that is over, one after the other. Only where there is any.
    later: BTreeMap<TaskId, Vec<f64>>,
    /// The latest of each user, of each user and declared length, and of each user and label, in order of end.
    ran: BTreeMap<(UserId, Like), VecDeque<Ran>>,
}

impl Forecast {
    pub(crate) fn new(lengths: Lengths, scale: Scale) -> Self {
        Self { lengths, scale, believed: Vec::new(), later: BTreeMap::new(), ran: BTreeMap::new() }
    }

    /// Of a whole grid: what happened to its tasks happens again. Costs O(tasks·log tasks) where runs are looked at.
    pub(crate) fn of(lengths: Lengths, scale: Scale, grid: &Grid) -> Self {
        let mut forecast = Self::new(lengths, scale);
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

    /// Takes note of what became of the grid, where what ran matters. Whether all beliefs were formed anew, as machines of another
    /// kind came or a composition was measured (what a time limit allows depends on them), or as ends count no more. That costs O(tasks·log tasks).
    #[inline]
    pub(crate) fn observe(&mut self, grid: &Grid, change: &Change) -> bool {
        self.is_learnt() && self.learn(grid, change)
    }

    fn learn(&mut self, grid: &Grid, change: &Change) -> bool {
        match *change {
            Change::MachineClassMet(_) | Change::TaskClassesMeasured | Change::EndsForgotten => {
                *self = Self::of(self.lengths, self.scale, grid);
                return true;
            }
            Change::Wait { first, count } => {
                for more in 0..count as usize {
                    self.submitted(grid, TaskId::new(first.index() + more));
                }
            }
            Change::Finished(task) => self.ended(grid, task),
            Change::TaskClassMet(_)
            | Change::TaskClassReplaced(_)
            | Change::MachineJoined(_)
            | Change::MachineMeasured(_)
            | Change::AvailabilityChanged(_)
            | Change::LoadChanged(_)
            | Change::ResidentsChanged(_)
            | Change::Withdrawn { .. }
            | Change::RoomTaken(_)
            | Change::RoomFreed(..)
            | Change::Planned(..)
            | Change::Unplanned(_)
            | Change::BudgetChanged
            | Change::Started(_)
            | Change::CatalogueChanged
            | Change::BeliefChanged(_)
            | Change::CapsChanged
            | Change::LoansChanged
            | Change::AnswerKept(_)
            | Change::FollowerChanged(_)
            | Change::StaleReply(_)
            | Change::Refused(..)
            | Change::AlarmChanged(_) => {}
        }
        false
    }

    /// A task was handed in; those before it were.
    pub(crate) fn submitted(&mut self, grid: &Grid, id: TaskId) {
        if self.is_learnt() && id.index() == self.believed.len() {
            let declared = declared(grid, id);
            let mut believed = self.predict(grid, id).into_iter().filter(|length| *length < declared);
            self.believed.push(believed.next().unwrap_or(declared));
            let later: Vec<f64> = believed.collect();
            if !later.is_empty() {
                self.later.insert(id, later);
            }
        }
    }

    /// A task came to its end.
    pub(crate) fn ended(&mut self, grid: &Grid, id: TaskId) {
        if !self.is_learnt() {
            return;
        }
        self.later.remove(&id);
        let task = grid.task(id);
        let Some(took) = grid.took(id) else { return };
        let seconds = match self.scale {
            Scale::Service => took.service_seconds,
            Scale::Held => took.held_seconds,
        };
        let ops = seconds.max(SHORTEST_S) / took.seconds_per_op;
        let ran = Ran { ended: task.ended(), task: id, ops };
        let user = grid.classes().demand(task.class()).payer;
        let likes = [Like::User, Like::Declared(declared(grid, id).to_bits())];
        for like in likes.into_iter().chain(label(grid, id).map(Like::Label)) {
            let recent = self.ran.entry((user, like)).or_default();
            let at = recent.partition_point(|other| other.key() < ran.key());
            recent.insert(at, ran);
            forget_old(recent);
        }
    }

    /// How long a task is believed to be, from when it was handed in.
    pub(crate) fn length(&self, grid: &Grid, id: TaskId) -> Ops {
        let believed = self.believed.get(id.index()).copied();
        Ops::new(believed.unwrap_or_else(|| declared(grid, id))).expect("lengths are above 0")
    }

    /// How long a run of it may take before what was believed of it counts as wrong: as long as those alike that took longer.
    pub(crate) fn cautious(&self, grid: &Grid, id: TaskId) -> Ops {
        let longer = self.later.get(&id).and_then(|later| Ops::new(*later.first()?));
        longer.unwrap_or_else(|| self.length(grid, id))
    }

    /// How long it is at most by what its user declared, or else by all that is known of it.
    pub(crate) fn at_most(&self, grid: &Grid, id: TaskId) -> Ops {
        let declared = Some(declared(grid, id)).filter(|length| *length < UNKNOWN);
        let longest = || self.later.get(&id)?.last().copied();
        declared.or_else(longest).and_then(Ops::new).unwrap_or_else(|| self.length(grid, id))
    }

    /// The same for a batch, which plans no task of which nothing is believed. Where it learns, one of which nothing is known
    /// counts as short, so that it runs soon and others are judged by it.
    #[inline]
    pub(crate) fn known(&self, grid: &Grid, id: TaskId) -> Option<Ops> {
        match self.believed.get(id.index()) {
            Some(believed) if *believed < UNKNOWN => Ops::new(*believed),
            Some(_) => Ops::new(SHORTEST_S / fastest(grid, id)),
            None => grid.declared_length(id),
        }
    }

    /// How long the task of a run is believed to be now: once it has taken longer than was believed, as long as those alike
    /// that took longer, and then as was declared.
    pub(crate) fn expected(&self, grid: &Grid, now: Time, run: RunId) -> Option<Ops> {
        let known = self.known(grid, run.task)?;
        if !self.is_learnt() {
            return Some(known);
        }
        let done = NEARLY * grid.ops_done(now, run);
        if done < known.amount() {
            return Some(known);
        }
        let limit = Some(declared(grid, run.task)).filter(|limit| done < *limit && *limit < UNKNOWN);
        self.beyond(run.task, done).or(limit).and_then(Ops::new).or(Some(known))
    }

    /// From what that is.
    pub(crate) fn source(&self, grid: &Grid, id: TaskId) -> Source {
        match self.believed.get(id.index()) {
            Some(believed) if *believed >= UNKNOWN => Source::Nobody,
            Some(believed) if *believed < declared(grid, id) => Source::Runs,
            None if grid.declared_length(id).is_none() => Source::Nobody,
            Some(_) | None => Source::Declared,
        }
    }

    /// How long it may be at most, by what was declared.
    pub(crate) fn limit(grid: &Grid, id: TaskId) -> f64 {
        declared(grid, id)
    }

    /// What will be believed of a task when `ops` of it are done and it has not ended, by what it is like.
    pub(crate) fn beyond(&self, id: TaskId, ops: f64) -> Option<f64> {
        self.later.get(&id)?.iter().copied().find(|length| *length > ops)
    }

    /// What is believed of a task, and what after it when that is over, and so on; each is more than the one before.
    fn predict(&self, grid: &Grid, id: TaskId) -> Vec<f64> {
        let user = grid.classes().task_class(grid.task(id).class()).payer;
        let now = grid.task(id).submitted();
        match self.lengths {
            Lengths::Declared | Lengths::True => Vec::new(),
            Lengths::LastTwo => self.last_two(user, now).into_iter().collect(),
            Lengths::Learnt => {
                let by_length = Like::Declared(declared(grid, id).to_bits());
                let likes = label(grid, id).map(Like::Label).into_iter().chain([by_length, Like::User]);
                self.alike(user, now, likes)
            }
        }
    }

    /// The median of the user's latest that are alike, then that of those that took longer, and so on; alike in the first of
    /// the ways in which there are enough.
    fn alike(&self, user: UserId, now: Time, likes: impl Iterator<Item = Like>) -> Vec<f64> {
        let latest = |like: Like| -> Vec<f64> {
            let recent = self.ran.get(&(user, like)).into_iter().flatten().rev();
            recent.filter(|ran| ran.ended < now).take(ALIKE_MOST).map(|ran| ran.ops).collect()
        };
        let Some(mut sample) = likes.map(latest).find(|sample| sample.len() >= ALIKE_LEAST) else {
            return Vec::new();
        };
        sample.sort_by(f64::total_cmp);
        let mut medians = Vec::new();
        let mut longer = &sample[..];
        while let Some(&median) = longer.get(longer.len() / 2) {
            medians.push(median);
            longer = &longer[longer.partition_point(|ops| *ops <= median)..];
        }
        medians
    }

    /// The mean of what the user's last two took; nothing before there were two.
    fn last_two(&self, user: UserId, now: Time) -> Option<f64> {
        let mut recent = self.ran.get(&(user, Like::User))?.iter().rev().filter(|ran| ran.ended < now);
        let (last, before) = (recent.next()?.ops, recent.next()?.ops);
        Some(f64::midpoint(before, last))
    }
}

/// Only those count that ended before a task was handed in: who ended last may have done so at that very instant.
fn forget_old(recent: &mut VecDeque<Ran>) {
    let Some(latest) = recent.back().map(|ran| ran.ended) else { return };
    let before = recent.partition_point(|ran| ran.ended < latest);
    recent.drain(..before.saturating_sub(ALIKE_MOST));
}

/// What was declared, or what a run can do at most until it is stopped, whichever is less.
fn declared(grid: &Grid, id: TaskId) -> f64 {
    let said = grid.declared_length(id).map_or(UNKNOWN, Ops::amount);
    let Some(limit) = grid.limit(grid.task(id).class()) else { return said };
    // On slower machines it is stopped before that is done: whoever holds cores there is looked at by the limit itself.
    let fastest = fastest(grid, id);
    if fastest.is_finite() { said.min(limit.seconds() / fastest) } else { said }
}

/// The fewest seconds that an operation of a task takes anywhere; infinite where nobody can run it. Costs O(machine classes).
fn fastest(grid: &Grid, id: TaskId) -> f64 {
    let row = grid.classes().seconds_per_op_row(grid.task(id).class());
    row.iter().copied().fold(f64::INFINITY, f64::min)
}

/// What its user calls it alike to, if he does.
fn label(grid: &Grid, id: TaskId) -> Option<String> {
    let ad = grid.classes().task_class(grid.task(id).class()).ad.as_ref()?;
    ad.class_ad().get(LABEL).map(ToString::to_string)
}
