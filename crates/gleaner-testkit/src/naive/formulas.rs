//! What the formulas say of a placement and of a move, each sum taken over the tasks themselves.

use super::{Formula, Now};
use crate::naive_lengths::{self, Belief};
use gleaner_core::Stage;
use gleaner_units::{MachineId, TaskId};

impl Now<'_> {
    /// τ of a task on a machine with these tasks, itself among them.
    fn affinity(&self, task: TaskId, machine: MachineId, tasks: &[TaskId]) -> f64 {
        self.share(machine, tasks) / self.h(task, machine)
    }

    fn affinities(&self, tasks: &[TaskId], machine: MachineId) -> f64 {
        tasks.iter().map(|&task| self.affinity(task, machine, tasks)).sum()
    }

    /// Σ h of those that can run there.
    fn hs(&self, tasks: &[TaskId], machine: MachineId) -> f64 {
        tasks.iter().map(|&task| self.h(task, machine)).filter(|h| h.is_finite()).sum()
    }

    /// Σ n·h/(1−λ).
    fn times(&self, tasks: &[TaskId], machine: MachineId) -> f64 {
        if tasks.is_empty() {
            return 0.0;
        }
        tasks.len() as f64 * self.hs(tasks, machine) / self.free(machine)
    }

    /// h·l of each task on a machine, with l the operations that it has left.
    fn work(&self, belief: Belief, machine: MachineId) -> Vec<(TaskId, f64)> {
        let there = self.runs_on(machine).filter(|run| run.stage() != Stage::Stopping);
        let work = there.map(|run| {
            let task = run.id().task;
            let done = self.0.ops_done(self.1, run.id());
            let length = naive_lengths::length(self.0, belief, task, done).unwrap_or(0.0);
            // What cannot run there has no time there.
            let h = Some(self.h(task, machine)).filter(|h| h.is_finite()).unwrap_or(0.0);
            (task, h * f64::max(length - done, 0.0))
        });
        work.collect()
    }

    /// What is left of a task where it is, and where it would go: what begins anew has all before it.
    fn left(&self, belief: Belief, task: TaskId) -> (f64, f64) {
        let run = self.0.runs_of(task).find(|run| run.counts()).expect("what moves runs");
        let done = self.0.ops_done(self.1, run.id());
        let length = naive_lengths::length(self.0, belief, task, done).unwrap_or(0.0);
        let left = f64::max(length - done, 0.0);
        let restarts = self.0.classes().task_class(self.0.task(task).class()).restarts;
        (left, if restarts { length } else { left })
    }

    /// Σ n·h·l, relative to the moved task's own; nothing is gained by moving what ends at once.
    fn gain_by_work(&self, belief: Belief, task: TaskId, from: MachineId, to: MachineId) -> f64 {
        let (left, elsewhere) = self.left(belief, task);
        let (source, target) = (self.work(belief, from), self.work(belief, to));
        let sum =
            |work: &[(TaskId, f64)]| work.len() as f64 * work.iter().map(|(_, seconds)| seconds).sum::<f64>();
        let mut rest = source.clone();
        rest.retain(|(other, _)| *other != task);
        if left == 0.0 {
            return f64::NEG_INFINITY;
        }
        let own = source.len() as f64 * self.h(task, from) * left;
        if own == f64::INFINITY {
            return f64::INFINITY;
        }
        if self.free(from) == 0.0 {
            return (sum(&source) - sum(&rest)) / own;
        }
        let mut joined = target.clone();
        joined.push((task, self.h(task, to) * elsewhere));
        let before = sum(&source) / self.free(from) + sum(&target) / self.free(to);
        let after = sum(&rest) / self.free(from) + sum(&joined) / self.free(to);
        (before - after) / (own / self.free(from))
    }

    /// What a machine is worth to a task that comes.
    pub(super) fn placement(&self, rule: Formula, task: TaskId, machine: MachineId) -> f64 {
        let there = self.tasks_on(machine);
        let next = there.len() + 1;
        let with: Vec<TaskId> = there.iter().copied().chain([task]).collect();
        match rule {
            Formula::Greedy => self.affinity(task, machine, &with),
            Formula::Social | Formula::SocialWhole => {
                let sum = self.hs(&there, machine);
                -(next as f64 * self.h(task, machine) + sum) / self.free(machine)
            }
            Formula::SocialRemaining(belief) => {
                let length = naive_lengths::length(self.0, belief, task, 0.0).unwrap_or(0.0);
                let sum: f64 = self.work(belief, machine).into_iter().map(|(_, seconds)| seconds).sum();
                -(next as f64 * self.h(task, machine) * length + sum) / self.free(machine)
            }
            Formula::SocialAsPrinted => {
                let own = self.affinity(task, machine, &with);
                let others = self.affinities(&there, machine) / next as f64;
                // The letter says exactly 0 where the residents are of the newcomer's kind; a float may not.
                let difference = own - others;
                if difference.abs() <= 1e-12 * own { 0.0 } else { difference }
            }
            Formula::MinNum => -(there.len() as f64),
        }
    }

    /// What a move of a task is worth.
    pub(super) fn gain(&self, rule: Formula, task: TaskId, from: MachineId, to: MachineId) -> f64 {
        let (source, target) = (self.tasks_on(from), self.tasks_on(to));
        let left: Vec<TaskId> = source.iter().copied().filter(|&other| other != task).collect();
        let joined: Vec<TaskId> = target.iter().copied().chain([task]).collect();
        match rule {
            Formula::Greedy => {
                let before = self.affinity(task, from, &source);
                let after = self.affinity(task, to, &joined);
                (after - before) / before
            }
            Formula::Social if self.h(task, from) == f64::INFINITY => f64::INFINITY,
            Formula::SocialWhole if self.h(task, from) == f64::INFINITY => 1.0,
            Formula::Social if self.free(from) == 0.0 => {
                let sum = |tasks: &[TaskId]| self.hs(tasks, from);
                let decrease = source.len() as f64 * sum(&source) - left.len() as f64 * sum(&left);
                decrease / (source.len() as f64 * self.h(task, from))
            }
            Formula::Social => {
                let before = self.times(&source, from) + self.times(&target, to);
                let after = self.times(&left, from) + self.times(&joined, to);
                (before - after) / (source.len() as f64 * self.h(task, from) / self.free(from))
            }
            Formula::SocialRemaining(belief) => self.gain_by_work(belief, task, from, to),
            Formula::SocialWhole if self.free(from) == 0.0 => {
                let sum = |tasks: &[TaskId]| self.hs(tasks, from);
                1.0 - left.len() as f64 * sum(&left) / (source.len() as f64 * sum(&source))
            }
            Formula::SocialWhole => {
                let before = self.times(&source, from) + self.times(&target, to);
                let after = self.times(&left, from) + self.times(&joined, to);
                (before - after) / before
            }
            Formula::SocialAsPrinted => {
                let all = (source.len() + target.len()) as f64;
                let (before, after) = (self.affinities(&source, from), self.affinities(&left, from));
                let (other, newer) = (self.affinities(&target, to), self.affinities(&joined, to));
                let change = source.len() as f64 / all * (after - before)
                    + target.len() as f64 / all * (newer - other);
                if after + before == 0.0 { 0.0 } else { change / (after + before) }
            }
            Formula::MinNum => source.len() as f64 - target.len() as f64,
        }
    }
}
