//! Where tasks are not tried again: a try that failed on one machine is followed by one on another, so that one broken
//! machine does not fail a job while good ones are idle.
//!
//! The scheduler knows classes of tasks and of machines, so this is told in classes: a machine on which a try failed says
//! its name in an attribute of its ad, and the task asks, beside what its job asks, for machines that do not say it.
//! **A task is kept from machines only while another could take it**: where there is none, it is tried anywhere.

use super::Ledger;
use super::kinds::quoted;
use crate::limits::{ELSEWHERE_CLASSES_MAX, TRIED_MACHINES_MAX, TRIED_ON_MAX};
use crate::store::TaskRange;
use gleaner_classad::{ClassAd, Expr};
use gleaner_core::{Event, Stage, TaskState};
use gleaner_units::{MachineId, TaskClassId, TaskId, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What a machine is called on which a try of a task failed.
const TRIED: &str = "TriedAs";

/// Which tasks are kept from which machines.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Elsewhere {
    /// The machines where the last tries of tasks that are not over failed, the oldest first.
    tried: BTreeMap<TaskId, Vec<MachineId>>,
    /// All that say what they are called.
    machines: BTreeSet<MachineId>,
    /// How many classes were made for this.
    classes: u32,
}

impl Elsewhere {
    /// They are over.
    pub(super) fn forget(&mut self, tasks: TaskRange) {
        while let Some((&task, _)) = self.tried.range(tasks.first()..=tasks.last()).next() {
            self.tried.remove(&task);
        }
    }

    /// Adds what its machine says because of this.
    pub(super) fn describe(&self, id: MachineId, name: &str, ad: &mut ClassAd) {
        if self.machines.contains(&id) {
            ad.insert(TRIED, Expr::parse(quoted(name)).expect("a quoted text is an expression"));
        }
    }
}

impl Ledger {
    /// A try of a task that rests now failed on a machine. Costs O(machines) the first time for each set of machines.
    pub(super) fn try_elsewhere(&mut self, at: Time, task: TaskId, on: MachineId) {
        if !self.is_out(task) {
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
        let elsewhere = &mut self.books.elsewhere;
        let known = elsewhere.machines.len();
        let new: Vec<MachineId> =
            apart.iter().copied().filter(|machine| !elsewhere.machines.contains(machine)).collect();
        if elsewhere.classes == ELSEWHERE_CLASSES_MAX || known + new.len() > TRIED_MACHINES_MAX {
            return None;
        }
        elsewhere.machines.extend(&new);
        let clauses =
            apart.iter().map(|&machine| format!("TARGET.{TRIED} =!= {}", quoted(&self.agent(machine).name)));
        let clauses = clauses.collect::<Vec<_>>().join(" && ");
        let (_, job) = self.job_of(task);
        let (user, spec) = (job.user.clone(), job.spec.clone());
        let met = self.task_class_of(at, &user, &spec, Some(&clauses));
        self.books.elsewhere.classes += u32::from(met.is_new);
        if known == 0 {
            // From now on the attribute matters.
            self.classify_all(at);
        } else if !new.is_empty() {
            let seen = self.seen();
            for machine in new {
                self.classify(at, machine, &seen);
            }
        }
        Some(met.id)
    }
}
