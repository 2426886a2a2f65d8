//! Which runs could be followed by another on their machine, and which are.
//!
//! **A task goes behind a run only if it is the one that would get that run's room**: none that comes before it could run
//! there. What it loses if the run takes long is bounded: it is taken back when another machine has room or a task that comes
//! before it waits for that room, and after [`PATIENCE`] in any case. Until then tasks that come after it may get other rooms.
//!
//! **No machine holds up the others**: one that does not answer is not asked again, and the next is asked after [`ANSWER`].

use crate::parts::ahead::Ahead;
use gleaner_core::{Change, Decision, Grid, Run, Stage};
use gleaner_units::{MachineId, RunId, Span, TaskClassId, TaskId, Time};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Tasks that take longer are not sent ahead, nor is anything sent behind a run that began longer ago.
const SHORT: Span = Span::from_nanos(1_000_000_000);
/// What follows a run that began longer ago is taken back.
const PATIENCE: Span = Span::from_nanos(2_000_000_000);
/// How long the answer to what was asked back is waited for before another is asked.
const ANSWER: Span = Span::from_nanos(250_000_000);
/// How many followers are looked at, from those that have waited longest.
const LOOKED_AT: usize = 4;

/// The index of them.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Following {
    ahead: Ahead,
    /// Runs that have their room and are followed by none, with when they got it.
    free: BTreeMap<TaskClassId, BTreeSet<(Time, RunId)>>,
    /// Runs that are followed by one that is next and was not asked back, likewise.
    followed: BTreeSet<(Time, RunId)>,
    /// Runs whose follower was asked back, with when that was.
    asked: BTreeSet<(Time, RunId)>,
    /// Where they are, and how many there are.
    asked_on: BTreeMap<MachineId, u32>,
    /// Where each of them is.
    places: BTreeMap<RunId, Place>,
}

/// Where in the index a run is.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Place {
    Free(TaskClassId, Time),
    Followed(Time),
    Asked(MachineId, Time),
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
        self.forget(id);
        let Some(run) = grid.find_run(id).filter(|run| is_leader(grid, run)) else { return };
        let place = match grid.run_behind(id) {
            None => Place::Free(grid.task(id.task).class(), run.since()),
            Some(behind) if behind.stage() != Stage::Next => return,
            Some(behind) => grid
                .asked_back(behind.id())
                .map_or(Place::Followed(run.since()), |at| Place::Asked(run.on(), at)),
        };
        match place {
            Place::Free(class, since) => _ = self.free.entry(class).or_default().insert((since, id)),
            Place::Followed(since) => _ = self.followed.insert((since, id)),
            Place::Asked(on, at) => {
                self.asked.insert((at, id));
                *self.asked_on.entry(on).or_default() += 1;
            }
        }
        self.places.insert(id, place);
    }

    fn forget(&mut self, id: RunId) {
        match self.places.remove(&id) {
            None => {}
            Some(Place::Free(class, since)) => {
                let free = self.free.get_mut(&class).expect("what is free is listed by its class");
                free.remove(&(since, id));
                if free.is_empty() {
                    self.free.remove(&class);
                }
            }
            Some(Place::Followed(since)) => _ = self.followed.remove(&(since, id)),
            Some(Place::Asked(on, at)) => {
                self.asked.remove(&(at, id));
                let there = self.asked_on.get_mut(&on).expect("what is asked is counted by its machine");
                *there -= 1;
                if *there == 0 {
                    self.asked_on.remove(&on);
                }
            }
        }
    }

    /// Takes back what waits behind a run that takes long.
    pub(crate) fn overdue(&self, grid: &Grid, now: Time) -> Option<Decision> {
        let (since, before) = *self.followed.first()?;
        (now.since(since) >= PATIENCE).then(|| take_back(grid, before))
    }

    /// Takes back what has not begun on a machine that holds more than it has by now. Costs O(runs there).
    pub(crate) fn shrink(&self, grid: &Grid, machine: MachineId) -> Option<Decision> {
        grid.machine(machine).is_overfull().then(|| self.leave(grid, machine)).flatten()
    }

    /// Takes back what has not begun on a machine that takes nothing new. Costs O(runs there).
    pub(crate) fn leave(&self, grid: &Grid, machine: MachineId) -> Option<Decision> {
        if self.followed.is_empty() {
            return None;
        }
        let is_next = |run: &RunId| {
            grid.asked_back(*run).is_none()
                && grid.find_run(*run).is_some_and(|run| run.stage() == Stage::Next)
        };
        let behind = grid.ahead_on(machine).into_iter().find(is_next)?;
        Some(Decision::TakeBack { task: behind.task })
    }

    /// Takes back what would find room now, or what another task comes before, one at a time. Costs O(classes that wait).
    pub(crate) fn make_way(
        &self,
        grid: &Grid,
        now: Time,
        finds_room: impl Fn(TaskId) -> bool,
    ) -> Option<Decision> {
        if self.asked.last().is_some_and(|(at, _)| now.since(*at) < ANSWER) {
            return None;
        }
        let may_be_asked =
            |before: &RunId| grid.find_run(*before).is_some_and(|run| !self.asked_on.contains_key(&run.on()));
        let mut oldest = self.followed.iter().map(|(_, before)| *before).filter(may_be_asked).take(LOOKED_AT);
        let before = oldest.find(|before| {
            let behind = grid.run_behind(*before).expect("what is followed has something behind it");
            finds_room(behind.id().task) || is_overtaken(grid, behind)
        })?;
        Some(take_back(grid, before))
    }

    /// When there is something to take back though nothing happens.
    pub(crate) fn due(&self, now: Time) -> Option<Time> {
        let (since, _) = self.followed.first()?;
        let late = *since + PATIENCE;
        let answer = self.asked.last().map(|(at, _)| *at + ANSWER).filter(|at| *at > now);
        Some(answer.map_or(late, |at| late.min(at)))
    }

    /// Sends the task ahead that has waited longest, unless it finds room without. Costs O(classes that wait), and O(runs that
    /// began within a second on machines which take nothing more).
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
        if grid.is_checked(class) || grid.took_lately(class).is_none_or(|took| took > SHORT) {
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

/// Whether a run has its room, and follows none.
fn is_leader(grid: &Grid, run: &Run) -> bool {
    !matches!(run.stage(), Stage::Missing | Stage::Next) && grid.leader_of(run.id()).is_none()
}

/// Whether a task waits that comes before the one that is behind a run, and could have that run's room.
fn is_overtaken(grid: &Grid, behind: &Run) -> bool {
    let order = |task: TaskId| (Reverse(grid.classes().demand(grid.task(task).class()).priority), task);
    let could_be_there = |class| grid.seconds_per_op(class, behind.on()).is_finite();
    grid.longest_waiting(could_be_there).is_some_and(|first| order(first) < order(behind.id().task))
}

fn take_back(grid: &Grid, before: RunId) -> Decision {
    let behind = grid.run_behind(before).expect("what is followed has something behind it");
    Decision::TakeBack { task: behind.id().task }
}
