//! How the ledger keeps tasks from machines where their last tries failed: see [`Elsewhere`](super::elsewhere::Elsewhere).

use super::Ledger;
use super::elsewhere::TRIED;
use super::kinds::{class_bytes, quoted};
use crate::limits::{ELSEWHERE_CLASSES_MAX, TRIED_MACHINES_MAX, TRIED_ON_MAX};
use crate::store::TaskRange;
use gleaner_core::{Event, Stage, TaskState};
use gleaner_units::{MachineId, TaskClassId, TaskId, Time};
use std::collections::BTreeMap;
use std::sync::Arc;

impl Ledger {
    /// A try of a task that rests now failed on a machine. Costs O(machines) the first time for each set of machines.
    ///
    /// Not where answers are compared: each machine gives one, so the machine may be the last that has not given its own.
    pub(super) fn try_elsewhere(&mut self, at: Time, task: TaskId, on: MachineId) {
        if !self.is_out(task) || self.grid().is_checked(self.grid().task(task).class()) {
            return;
        }
        let tried = self.books.elsewhere.tried.entry(task).or_default();
        tried.retain(|machine| *machine != on);
        tried.push(on);
        let surplus = tried.len().saturating_sub(TRIED_ON_MAX);
        tried.drain(..surplus);
        let mut apart = tried.clone();
        apart.sort_unstable();
        let class = self.job_of(task).1.class;
        if !self.has_another(class, &apart) {
            self.books.elsewhere.tried.remove(&task);
            self.tell(at, &Event::TaskReclassed { task, class });
            return;
        }
        if let Some(class) = self.class_apart(at, task, &apart) {
            self.tell(at, &Event::TaskReclassed { task, class });
        }
    }

    /// Tasks begin anew. What was tried has a record of its own.
    pub(super) fn try_anywhere(&mut self, at: Time, tasks: TaskRange) {
        let task = tasks.first();
        let class = self.job_of(task).1.class;
        if tasks.count() == 1 && self.grid().task(task).class() != class {
            self.books.elsewhere.forget(tasks);
            self.tell(at, &Event::TaskReclassed { task, class });
        }
    }

    /// A machine is gone: tasks that no other could take are tried anywhere. Costs O(tasks that are kept from machines), and
    /// O(machines) for each of their classes at most.
    pub(super) fn reconsider_elsewhere(&mut self, at: Time) {
        let mut has_another: BTreeMap<TaskClassId, bool> = BTreeMap::new();
        let kept: Vec<TaskId> = self.books.elsewhere.tried.keys().copied().collect();
        for task in kept {
            let class = self.grid().task(task).class();
            let has_another = *has_another.entry(class).or_insert_with(|| self.has_another(class, &[]));
            let (is_out, waits) = (self.is_out(task), self.grid().task(task).state() == TaskState::Waiting);
            if has_another || !(is_out || waits) {
                continue;
            }
            let class = self.job_of(task).1.class;
            self.books.elsewhere.tried.remove(&task);
            if waits {
                self.tell(at, &Event::TasksWithdrawn { first: task, count: 1 });
            }
            self.tell(at, &Event::TaskReclassed { task, class });
            if waits {
                self.tell(at, &Event::TasksReturned { first: task, count: 1 });
            }
        }
    }

    /// Whether the scheduler has the task neither in a queue nor on a machine.
    fn is_out(&self, task: TaskId) -> bool {
        self.grid().task(task).state() == TaskState::Withdrawn
            && self.grid().runs_of(task).all(|run| run.stage() == Stage::Missing)
    }

    /// Whether a machine that takes tasks, busy or not, and is none of these could take one of a class.
    fn has_another(&self, class: TaskClassId, apart: &[MachineId]) -> bool {
        let mut agents = self.agents().iter().enumerate();
        agents.any(|(index, agent)| {
            let id = MachineId::new(index);
            agent.open
                && !agent.lost
                && !apart.contains(&id)
                && self.grid().seconds_per_op(class, id).is_finite()
        })
    }

    /// The class of tasks like this one that keep away from machines; none where there are too many such classes already.
    fn class_apart(&mut self, at: Time, task: TaskId, apart: &[MachineId]) -> Option<TaskClassId> {
        let (_, job) = self.job_of(task);
        let (user, spec, base) = (job.user.clone(), Arc::clone(&job.spec), job.class);
        let most = self.people().quota(&user).requirement_bytes;
        if self.requirement_bytes_of(&user) + class_bytes(&spec) > most {
            return None;
        }
        let elsewhere = &self.books.elsewhere;
        let known = elsewhere.machines.len();
        let new: Vec<MachineId> =
            apart.iter().copied().filter(|machine| !elsewhere.machines.contains(machine)).collect();
        if elsewhere.classes == ELSEWHERE_CLASSES_MAX || known + new.len() > TRIED_MACHINES_MAX {
            return None;
        }
        for &machine in &new {
            // Whether machines are told apart by it is seen below, where a class asks.
            self.with_ad_changed(machine, |ledger| {
                ledger.books.elsewhere.machines.insert(machine);
            });
        }
        let clauses =
            apart.iter().map(|&machine| format!("TARGET.{TRIED} =!= {}", quoted(&self.agent(machine).name)));
        let clauses = clauses.collect::<Vec<_>>().join(" && ");
        let class = self.task_class_of(at, &user, &spec, Some(&clauses));
        if !self.books.kinds.kind(base).apart.contains(&class) {
            self.books.kinds.enter(class);
            self.books.kinds.open(class);
            self.books.kinds.kind_mut(base).apart.push(class);
            self.books.elsewhere.classes += 1;
        }
        for machine in new {
            self.classify(at, machine);
        }
        Some(class)
    }
}
