//! Which runs could be followed by another on their machine, and which are.
//!
//! **A task goes behind a run only if it is the one that would get that run's room**: none that waits for longer could run
//! there. So nobody overtakes, and what is lost if the run takes long is bounded: the task behind it is taken back as soon as
//! another machine has room, and after [`PATIENCE`] in any case.

use crate::parts::ahead::Ahead;
use gleaner_core::{Change, Decision, Grid, Run, Stage};
use gleaner_units::{MachineId, RunId, Span, TaskClassId, TaskId, Time};
use std::collections::{BTreeMap, BTreeSet};

/// Tasks that take longer are not sent ahead, nor is anything sent behind a run that began longer ago.
const SHORT: Span = Span::from_nanos(1_000_000_000);
/// What follows a run that began longer ago is taken back.
const PATIENCE: Span = Span::from_nanos(2_000_000_000);

/// The index of them.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Following {
    ahead: Ahead,
    /// Runs that have their room and are followed by none, with when they got it.
    free: BTreeMap<TaskClassId, BTreeSet<(Time, RunId)>>,
    /// Runs that are followed by one that is next.
    followed: BTreeSet<(Time, RunId)>,
    /// Runs whose follower is being taken back.
    recalled: BTreeSet<RunId>,
    /// Where each of the first two is.
    since: BTreeMap<RunId, (TaskClassId, Time)>,
}

impl Following {
    pub(crate) fn new(ahead: Ahead) -> Self {
        Self { ahead, ..Self::default() }
    }

    /// The same for a whole grid. Costs O(tasks) where tasks are sent ahead.
    pub(crate) fn of(ahead: Ahead, grid: &Grid) -> Self {
        let mut following = Self::new(ahead);
        if ahead == Ahead::WhereShort {
            for (task, _) in grid.tasks() {
                grid.runs_of(task).for_each(|run| following.look_at(grid, run.id()));
            }
        }
        following
    }

    /// Costs O(log runs).
    #[inline]
    pub(crate) fn observe(&mut self, grid: &Grid, change: &Change) {
        if self.ahead == Ahead::Never {
            return;
        }
        if let Change::RoomTaken(run) | Change::RoomFreed(run, _) | Change::FollowerChanged(run) = *change {
            self.look_at(grid, run);
        }
    }

    fn look_at(&mut self, grid: &Grid, id: RunId) {
        if let Some((class, since)) = self.since.remove(&id) {
            self.followed.remove(&(since, id));
            if let Some(free) = self.free.get_mut(&class) {
                free.remove(&(since, id));
                if free.is_empty() {
                    self.free.remove(&class);
                }
            }
        }
        self.recalled.remove(&id);
        let Some(run) = grid.find_run(id).filter(|run| has_room(grid, run)) else { return };
        let (class, since) = (grid.task(id.task).class(), run.since());
        match grid.run_behind(id).map(Run::stage) {
            None => {
                self.free.entry(class).or_default().insert((since, id));
                self.since.insert(id, (class, since));
            }
            Some(Stage::Next) => {
                self.followed.insert((since, id));
                self.since.insert(id, (class, since));
            }
            Some(_) => {
                self.recalled.insert(id);
            }
        }
    }

    /// Takes back what waits behind a run that takes long.
    pub(crate) fn overdue(&self, grid: &Grid, now: Time) -> Option<Decision> {
        let (since, before) = *self.followed.first().filter(|_| self.recalled.is_empty())?;
        (now.since(since) > PATIENCE).then(|| recall(grid, before))
    }

    /// Takes back what has not begun on a machine that takes nothing new. Costs O(runs there).
    pub(crate) fn leave(&self, grid: &Grid, machine: MachineId) -> Option<Decision> {
        if self.followed.is_empty() {
            return None;
        }
        let is_next = |run: &RunId| grid.find_run(*run).is_some_and(|run| run.stage() == Stage::Next);
        let behind = grid.ahead_on(machine).into_iter().find(is_next)?;
        Some(Decision::Recall { task: behind.task })
    }

    /// Takes back what would find room now, one at a time.
    pub(crate) fn recall(&self, grid: &Grid, finds_room: impl Fn(TaskId) -> bool) -> Option<Decision> {
        let (_, before) = *self.followed.first().filter(|_| self.recalled.is_empty())?;
        let behind = grid.run_behind(before)?;
        finds_room(behind.id().task).then(|| recall(grid, before))
    }

    /// Sends the task ahead that has waited longest, unless it finds room without. Costs O(classes that wait), and O(runs that began within a second on
    /// machines which take nothing more).
    pub(crate) fn send_ahead(
        &self,
        grid: &Grid,
        now: Time,
        finds_room: impl Fn(TaskId) -> bool,
    ) -> Option<Decision> {
        if self.free.is_empty() {
            return None;
        }
        let task = grid.longest_waiting(|class| self.leader(grid, now, class).is_some())?;
        let (after, on) = self.leader(grid, now, grid.task(task).class())?;
        let could_be_there = |class| grid.seconds_per_op(class, on).is_finite();
        let is_next = grid.longest_waiting(could_be_there) == Some(task);
        (is_next && !finds_room(task)).then_some(Decision::Follow { task, on, after })
    }

    /// The run of a class that got its room last, if something may follow it.
    fn leader(&self, grid: &Grid, now: Time, class: TaskClassId) -> Option<(RunId, MachineId)> {
        let free = self.free.get(&class)?;
        if grid.took_lately(class).is_none_or(|took| took > SHORT) {
            return None;
        }
        let recent = free.iter().rev().take_while(|(since, _)| now.since(*since) <= SHORT);
        let leader = { recent }.find(|(_, run)| grid.may_be_followed(*run))?.1;
        grid.find_run(leader).map(|run| (leader, run.on()))
    }

    /// What differs from the index of the grid as it is.
    pub(crate) fn check(&self, grid: &Grid) -> Result<(), String> {
        let fresh = Self::of(self.ahead, grid);
        if *self == fresh { Ok(()) } else { Err(format!("{self:?} is followed, where {fresh:?} is")) }
    }
}

fn has_room(grid: &Grid, run: &Run) -> bool {
    !matches!(run.stage(), Stage::Missing | Stage::Next) && grid.run_before(run.id()).is_none()
}

fn recall(grid: &Grid, before: RunId) -> Decision {
    let behind = grid.run_behind(before).expect("what is followed has something behind it");
    Decision::Recall { task: behind.id().task }
}
