//! The runs of one task, from the head of their chain, which the task has.

use super::Grid;
use super::runs::{Run, Stage};
use crate::Part;
use gleaner_units::{MachineId, Ops, RunId, TaskId, Time};

/// One, and for a run of several parts others.
pub(super) struct MachinesOfRun {
    pub(super) first: MachineId,
    others: Vec<MachineId>,
}

impl MachinesOfRun {
    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = MachineId> + '_ {
        std::iter::once(self.first).chain(self.others.iter().copied())
    }
}

impl Grid {
    /// The runs of a task that are not over, newest first.
    #[inline]
    pub fn runs_of(&self, task: TaskId) -> impl Iterator<Item = &Run> + '_ {
        self.runs.chain(self.tasks.get(task).newest)
    }

    /// A run that is not over; none of a task that nobody handed in, whoever speaks of it.
    #[inline]
    pub fn find_run(&self, id: RunId) -> Option<&Run> {
        let is_task = id.task.index() < self.tasks.len();
        is_task.then(|| self.runs_of(id.task)).into_iter().flatten().find(|run| run.id == id)
    }

    /// What a run has on each machine that it is on.
    pub fn parts_of(&self, run: &Run) -> impl Iterator<Item = Part> + '_ {
        let cores = || self.needs(self.task(run.id.task).class).cores;
        let only = (!run.is_wide).then(|| Part { on: run.on, cores: cores() });
        let wide = if run.is_wide { self.runs.wide.get(&run.id) } else { None };
        only.into_iter().chain(wide.into_iter().flatten().copied())
    }

    /// Does something with each part of a run.
    #[inline]
    pub(super) fn each_part(&mut self, run: &Run, mut act: impl FnMut(&mut Self, Part)) {
        let cores = self.needs(self.task(run.id.task).class).cores;
        let only = (!run.is_wide).then_some(Part { on: run.on, cores });
        let wide = if run.is_wide { self.parts_of(run).collect() } else { Vec::new() };
        for part in only.into_iter().chain(wide) {
            act(self, part);
        }
    }

    /// The machines that a run is on.
    #[inline]
    pub(super) fn machines_of_run(&self, run: &Run) -> MachinesOfRun {
        let others =
            if run.is_wide { self.parts_of(run).skip(1).map(|part| part.on).collect() } else { Vec::new() };
        MachinesOfRun { first: run.on, others }
    }

    /// The machine that a task is on, or on its way to, as far as it is to stay there; of several the one that it was
    /// given to last.
    pub fn placed_on(&self, task: TaskId) -> Option<MachineId> {
        self.runs_of(task).find(|run| run.counts()).map(Run::on)
    }

    /// Whether a task is not to be moved: several runs of it are on machines or on their way to one, its run has
    /// several parts, or its answer is to be one machine's.
    #[inline]
    pub fn stays(&self, task: TaskId) -> bool {
        let Some(newest) = self.tasks.get(task).newest else { return false };
        let newest = &self.runs.slots[newest as usize];
        newest.is_wide
            || self.is_compared(task)
            || newest.older.is_some()
                && self.runs_of(task).filter(|run| run.stage != Stage::Missing).count() > 1
    }

    /// How many operations of its task are done by what a run did, and those before it where it goes on from them: at
    /// whatever speeds its machine had, and of several parts as far as the slowest is. Costs O(log tasks there), for each
    /// part.
    pub fn ops_done(&self, now: Time, id: RunId) -> f64 {
        let Some(run) = self.find_run(id) else { return 0.0 };
        if !run.counts() {
            return run.done;
        }
        let class = self.task(id.task).class;
        let done = |on: MachineId| {
            let seconds_per_op = self.classes.seconds_per_op_in_parts(class, self.machine(on).class());
            self.machine(on).ops_done(now, class, id, seconds_per_op)
        };
        if run.is_wide {
            self.parts_of(run).map(|part| done(part.on)).fold(f64::INFINITY, f64::min)
        } else {
            done(run.on)
        }
    }

    /// The seconds until a run is done if its task is of that length, as fast as it goes now; none left if it should have
    /// been done already, and nothing for one that is to stop or was lost. Costs O(log tasks there), for each part.
    pub fn seconds_left(&self, now: Time, id: RunId, length: Ops) -> Option<f64> {
        let run = self.find_run(id).filter(|run| run.counts())?;
        let (class, length) = (self.task(id.task).class, length.amount());
        let left = |on: MachineId| {
            let seconds_per_op = self.classes.seconds_per_op_in_parts(class, self.machine(on).class());
            self.machine(on).seconds_left(now, (class, id), (length, seconds_per_op))
        };
        Some(if run.is_wide {
            self.parts_of(run).map(|part| left(part.on)).fold(0.0, f64::max)
        } else {
            left(run.on)
        })
    }

    /// The next run of a task gets its number.
    pub(super) fn add_run(&mut self, since: Time, task: TaskId, parts: &[Part], stage: Stage) -> RunId {
        let is_wide = parts.len() > 1;
        let entry = self.tasks.get_mut(task);
        entry.runs += 1;
        let id = RunId::new(task, entry.runs);
        entry.newest = Some(self.runs.insert(Run {
            id,
            on: parts[0].on,
            stage,
            since,
            done: 0.0,
            is_superseded: false,
            is_wide,
            older: entry.newest,
        }));
        if is_wide {
            self.runs.wide.insert(id, parts.to_vec());
        }
        id
    }

    /// A run is over.
    pub(super) fn forget_run(&mut self, id: RunId) {
        self.checks.forget_run(id);
        let newest = self.tasks.get(id.task).newest;
        let (mut newer, mut slot) = (None, newest);
        while let Some(at) = slot {
            let Run { id: found, older, is_wide, .. } = self.runs.slots[at as usize];
            if found == id {
                if is_wide {
                    self.runs.wide.remove(&id);
                }
                match newer {
                    Some(newer) => self.runs.slots[newer as usize].older = older,
                    None => self.tasks.get_mut(id.task).newest = older,
                }
                self.runs.free.push(at);
                return;
            }
            (newer, slot) = (Some(at), older);
        }
        panic!("{id} is over already");
    }

    /// All runs of a task are over, none of which has several parts.
    pub(super) fn forget_runs(&mut self, task: TaskId) {
        while let Some(slot) = self.tasks.get(task).newest {
            self.tasks.get_mut(task).newest = self.runs.slots[slot as usize].older;
            self.runs.free.push(slot);
        }
    }

    pub(super) fn run_mut(&mut self, id: RunId) -> &mut Run {
        let mut slot = self.tasks.get(id.task).newest;
        while let Some(at) = slot.map(|at| at as usize) {
            if self.runs.slots[at].id == id {
                return &mut self.runs.slots[at];
            }
            slot = self.runs.slots[at].older;
        }
        panic!("{id} is over");
    }
}
