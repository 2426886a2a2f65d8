//! One look at the line, job by job, until nobody else starts.

use super::running::{Running, sites_of};
use super::split::cores_that_fit;
use crate::parts::sites::{Behind, SiteRule, Split};
use gleaner_core::{Grid, Needs, Part, Room};
use gleaner_units::{MachineId, Ops, TaskClassId, TaskId, Time};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A job has waited for long where that is so many times what it takes.
const PATIENCE: f64 = 20.0;
/// And at least so long, in seconds.
const PATIENCE_MIN_S: f64 = 86_400.0;

/// How far it came.
#[derive(Clone, Debug)]
pub(super) struct Pass {
    pub(super) todo: VecDeque<TaskId>,
    /// The first that does not fit, by the site that jobs wait at; one for all where they wait in one line.
    heads: BTreeMap<Option<MachineId>, Head>,
}

#[derive(Clone, Debug)]
struct Head {
    task: TaskId,
    /// When it could start, and what is free then; as soon as somebody asks.
    kept: Option<Kept>,
}

/// A moment that is kept for a job.
#[derive(Clone, Debug)]
struct Kept {
    at: Time,
    free: Vec<Room>,
}

impl Pass {
    pub(super) fn new(todo: VecDeque<TaskId>) -> Self {
        Self { todo, heads: BTreeMap::new() }
    }

    /// A job does not fit: if it is the first, it stands in the way of those behind it.
    pub(super) fn does_not_fit(&mut self, home: Option<MachineId>, task: TaskId) {
        self.heads.entry(home).or_insert(Head { task, kept: None });
    }

    /// Whether nobody who waits at `home` may start any more.
    pub(super) fn is_blocked(&self, rule: &SiteRule, home: Option<MachineId>) -> bool {
        rule.behind == Behind::Waits && self.heads.contains_key(&home)
    }

    /// The first that does not fit at `home`.
    pub(super) fn head(&self, home: Option<MachineId>) -> Option<TaskId> {
        self.heads.get(&home).map(|head| head.task)
    }

    /// For whom a moment is kept at `home`, and which, if one is.
    pub(super) fn moment_kept(
        &mut self,
        (grid, rule, running): (&Grid, &SiteRule, &Running),
        now: Time,
        home: Option<MachineId>,
        free: &[Room],
    ) -> Option<(TaskId, Time)> {
        let head = self.heads.get_mut(&home)?;
        head.reserves(grid, rule, now)
            .then(|| (head.task, head.kept((grid, rule, running), now, home, free).at))
    }

    /// Whether a job may start on these parts and give them back by `end`, whoever waits before it.
    pub(super) fn may_start(
        &mut self,
        (grid, rule, running): (&Grid, &SiteRule, &Running),
        now: Time,
        home: Option<MachineId>,
        (task, parts, end): (TaskId, &[Part], Time),
        free: &[Room],
    ) -> bool {
        let Some(head) = self.heads.get_mut(&home) else { return true };
        if rule.behind == Behind::Waits {
            return false;
        }
        if !head.reserves(grid, rule, now) {
            return true;
        }
        let head_task = head.task;
        let kept = head.kept((grid, rule, running), now, home, free);
        if end <= kept.at {
            return true;
        }
        let needs = grid.classes().demand(grid.task(task).class()).needs;
        let mut left = kept.free.clone();
        for part in parts {
            let room = &mut left[part.on.index()];
            if !room.holds(needs.of_part(part.cores)) {
                return false;
            }
            *room = less(*room, needs.of_part(part.cores));
        }
        let fits = fits(grid, rule, head_task, &left, &excluded_for(grid, rule, (home, head_task)));
        if fits {
            kept.free = left;
        }
        fits
    }
}

impl Head {
    /// Whether a moment is kept for it.
    fn reserves(&self, grid: &Grid, rule: &SiteRule, now: Time) -> bool {
        match rule.behind {
            Behind::Starts | Behind::Waits => false,
            Behind::Easy => true,
            Behind::Patient => has_waited_long(grid, now, self.task),
        }
    }

    fn kept(
        &mut self,
        of: (&Grid, &SiteRule, &Running),
        now: Time,
        home: Option<MachineId>,
        free: &[Room],
    ) -> &mut Kept {
        let task = self.task;
        self.kept.get_or_insert_with(|| moment(of, now, (home, task), free))
    }
}

/// The first moment at which a job fits, by when what runs is believed to end, and what is free then.
fn moment(
    (grid, rule, running): (&Grid, &SiteRule, &Running),
    now: Time,
    (home, task): (Option<MachineId>, TaskId),
    free: &[Room],
) -> Kept {
    let mut free = free.to_vec();
    let excluded = excluded_for(grid, rule, (home, task));
    let mut found = None;
    for (at, run) in running.in_order(now) {
        // Whatever ends at that moment is free then.
        if let Some(kept_at) = found.filter(|kept_at| at > *kept_at) {
            return Kept { at: kept_at, free };
        }
        let needs = grid.classes().demand(grid.task(run.task).class()).needs;
        for part in grid.find_run(run).into_iter().flat_map(|run| grid.parts_of(run)) {
            let room = &mut free[part.on.index()];
            *room = more(*room, needs.of_part(part.cores));
        }
        // With the end of one copy the others are not wanted any more.
        if run.task == task || fits(grid, rule, task, &free, &excluded) {
            found = Some(at);
        }
    }
    Kept { at: found.unwrap_or(Time::NEVER), free }
}

/// The sites that are nothing to a job: all but its own where it waits at one, and those of its other copies.
pub(super) fn excluded_for(
    grid: &Grid,
    rule: &SiteRule,
    (home, task): (Option<MachineId>, TaskId),
) -> Excluded {
    let siblings = if rule.apart && rule.copies > 1 { sites_of(grid, task) } else { BTreeSet::new() };
    Excluded { home, siblings }
}

/// Where a job may not go.
#[derive(Default)]
pub(super) struct Excluded {
    home: Option<MachineId>,
    siblings: BTreeSet<MachineId>,
}

impl Excluded {
    /// Of a job without other copies.
    pub(super) fn but_at(home: Option<MachineId>) -> Self {
        Self { home, ..Self::default() }
    }

    /// Whether they depend on nothing but where the job waits.
    pub(super) fn is_alone(&self) -> bool {
        self.siblings.is_empty()
    }

    pub(super) fn has(&self, site: MachineId) -> bool {
        self.home.is_some_and(|home| home != site) || self.siblings.contains(&site)
    }
}

/// How many cores of a job of that class each site could take. Costs O(sites).
pub(super) fn fitting(grid: &Grid, class: TaskClassId, free: &[Room], excluded: &Excluded) -> Vec<u32> {
    let needs = grid.classes().demand(class).needs;
    let fits = |(index, room): (usize, &Room)| {
        let site = MachineId::new(index);
        let runs_there =
            grid.classes().seconds_per_op_in_parts(class, grid.machine(site).class()).is_finite();
        if excluded.has(site) || !runs_there { 0 } else { cores_that_fit(room, needs) }
    };
    free.iter().enumerate().map(fits).collect()
}

/// Whether a job fits into what is free.
pub(super) fn is_enough(rule: &SiteRule, cores: u32, fitting: &[u32]) -> bool {
    match rule.split {
        Split::Whole => fitting.iter().any(|fits| *fits >= cores),
        Split::Nearest | Split::WholeIfItFits => {
            fitting.iter().map(|fits| u64::from(*fits)).sum::<u64>() >= u64::from(cores)
        }
    }
}

fn fits(grid: &Grid, rule: &SiteRule, task: TaskId, free: &[Room], excluded: &Excluded) -> bool {
    let class = grid.task(task).class();
    let cores = grid.classes().demand(class).needs.cores;
    is_enough(rule, cores, &fitting(grid, class, free, excluded))
}

fn has_waited_long(grid: &Grid, now: Time, task: TaskId) -> bool {
    let length = grid.declared_length(task).map_or(0.0, Ops::amount);
    now.since(grid.task(task).submitted()).seconds() > (PATIENCE * length).max(PATIENCE_MIN_S)
}

fn less(room: Room, part: Needs) -> Room {
    Room {
        slots: room.slots.map(|slots| slots - part.cores),
        memory: room.memory.map(|bytes| bytes - part.memory),
        disk: room.disk.map(|bytes| bytes - part.disk),
    }
}

fn more(room: Room, part: Needs) -> Room {
    Room {
        slots: room.slots.map(|slots| slots + part.cores),
        memory: room.memory.map(|bytes| bytes + part.memory),
        disk: room.disk.map(|bytes| bytes + part.disk),
    }
}
