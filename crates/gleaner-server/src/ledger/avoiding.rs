//! How the ledger keeps tasks from machines where their last tries failed: see [`Elsewhere`](super::elsewhere::Elsewhere).

use super::classes::{asked, class_bytes};
use super::elsewhere::is_another;
use super::{Job, Ledger};
use crate::limits::{ELSEWHERE_CLASSES_MAX, KEPT_AWAY_AT_ONCE, NOT_THERE_MAX, TRIED_MACHINES_MAX};
use crate::store::TaskRange;
use gleaner_core::{Event, Stage, TaskState};
use gleaner_units::{MachineId, TaskClassId, TaskId, Time};
use gleaner_wire::JobId;
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::{Obstacle, Outcome};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Whether all tasks of a job begin the same program in the same folder, as far as their texts say.
fn begins_alike(spec: &JobSpec) -> bool {
    let texts = spec.command.first().into_iter().chain(&spec.cwd);
    !{ texts }.any(|text| text.contains('{'))
}

impl Ledger {
    /// A try of a task that rests now failed on a machine. Costs O(machines) the first time for each set of machines.
    pub(super) fn try_elsewhere(&mut self, at: Time, task: TaskId, on: MachineId) {
        if !self.is_out(task) {
            return;
        }
        self.books.elsewhere.note_try(task, on);
        self.keep_away(at, task);
    }

    /// Keeps a task that is neither in a queue nor on a machine from where it was tried, and from where its job cannot be started.
    fn keep_away(&mut self, at: Time, task: TaskId) {
        let (id, job) = self.job_of(task);
        let not_there = self.books.elsewhere.not_there(id);
        let tried = self.books.elsewhere.tried.get(&task);
        let mut apart = not_there.clone();
        apart.extend(tried.into_iter().flatten());
        if apart == not_there {
            self.reclass(at, TaskRange::one(task), self.class_of_job(id));
        } else if !self.has_another((job.class, false), &apart) {
            self.books.elsewhere.tried.remove(&task);
            self.reclass(at, TaskRange::one(task), self.class_of_job(id));
        } else if let Some(class) = self.class_apart(at, task, &apart) {
            self.reclass(at, TaskRange::one(task), class);
        }
    }

    /// The class of a job's tasks that were tried nowhere.
    fn class_of_job(&self, id: JobId) -> TaskClassId {
        let apart = self.books.elsewhere.jobs.get(&id).filter(|job| !job.machines.is_empty());
        let latest = apart.and_then(|job| job.classes.last().copied());
        latest.unwrap_or_else(|| self.find_job(id).expect("it is in memory").class)
    }

    pub(super) fn reclass(&mut self, at: Time, tasks: TaskRange, class: TaskClassId) {
        self.tell(at, &Event::TasksReclassed { first: tasks.first(), count: tasks.count(), class });
    }

    /// Of a run whose program or folder is not on its machine: whether a machine is left on which nothing of its job was tried. Nothing of
    /// other ends, of what is one task's alone, where answers are compared, and where tasks cannot be kept from one machine more. Costs
    /// O(machines).
    pub fn is_left(&self, task: TaskId, on: MachineId, outcome: &Outcome) -> Option<bool> {
        let is_meant = matches!(outcome, Outcome::NotStarted { obstacle: Obstacle::NotThere, .. });
        if !is_meant || self.grid().is_compared(task) {
            return None;
        }
        let (id, job) = self.job_of(task);
        let is_there = self.books.elsewhere.jobs.get(&id).is_some_and(|job| job.there.contains(&on));
        if is_there || !begins_alike(&job.spec) {
            return None;
        }
        let mut apart = self.books.elsewhere.not_there(id);
        let is_new = apart.insert(on);
        if !self.has_another((job.class, job.ever_ran), &apart) {
            return Some(false);
        }
        let can_be = !is_new || apart.len() <= NOT_THERE_MAX && self.can_be_apart(job, &apart);
        can_be.then_some(true)
    }

    /// Where runs of a job could not be started.
    pub(crate) fn not_there_of(&self, job: JobId) -> BTreeSet<MachineId> {
        self.books.elsewhere.not_there(job)
    }

    /// The program or folder of a run is not on its machine, and so that of none of its job. Costs O(machines), and for
    /// `KEPT_AWAY_AT_ONCE` stretches of waiting tasks as much as it costs to hold and to release them.
    pub(super) fn not_there(&mut self, at: Time, task: TaskId, on: MachineId, is_left: bool) {
        let (id, _) = self.job_of(task);
        if !is_left {
            self.reconsider_job(at, id);
            return;
        }
        let mut machines = self.books.elsewhere.not_there(id);
        if machines.insert(on) {
            self.set_not_there(at, task, machines);
        }
        if self.is_out(task) {
            self.books.elsewhere.note_try(task, on);
            self.keep_away(at, task);
        }
        self.move_job(at, id);
    }

    /// A run ended that did start: what its job asks for is on that machine.
    pub(super) fn is_there(&mut self, at: Time, task: TaskId, on: MachineId) {
        let (id, _) = self.job_of(task);
        let Some(job) = self.books.elsewhere.jobs.get_mut(&id) else { return };
        job.there.insert(on);
        let mut machines = job.machines.clone();
        if machines.remove(&on) {
            self.set_not_there(at, task, machines);
            self.move_job(at, id);
        }
    }

    /// Gives a job's waiting tasks the class of those that were tried nowhere, but for what failed itself. Costs O(tasks of the job that did)
    /// besides.
    fn move_job(&mut self, at: Time, id: JobId) {
        let to = self.class_of_job(id);
        self.move_waiting(at, id, to);
        let Some(all) = self.find_job(id).map(Job::range) else { return };
        let not_there = self.books.elsewhere.not_there(id);
        let tried = self.books.elsewhere.tried.range(all.first()..=all.last());
        let is_among = |task: TaskId| {
            let task = self.grid().task(task);
            task.state() == TaskState::Waiting && task.class() == to
        };
        let goes_back = |(task, tried): (&TaskId, &Vec<MachineId>)| {
            let fails = is_among(*task) && tried.iter().any(|machine| !not_there.contains(machine));
            fails.then_some(*task)
        };
        for first in tried.filter_map(goes_back).take(KEPT_AWAY_AT_ONCE).collect::<Vec<_>>() {
            self.tell(at, &Event::TasksWithdrawn { first, count: 1 });
            self.keep_away(at, first);
            self.tell(at, &Event::TasksReturned { first, count: 1 });
        }
    }

    /// Nothing changes where there are too many classes.
    fn set_not_there(&mut self, at: Time, task: TaskId, machines: BTreeSet<MachineId>) {
        let (id, _) = self.job_of(task);
        let class = if machines.is_empty() { None } else { self.class_apart(at, task, &machines) };
        if machines.is_empty() || class.is_some() {
            let job = self.books.elsewhere.jobs.entry(id).or_default();
            job.machines = machines;
            job.classes.retain(|other| Some(*other) != class);
            job.classes.extend(class);
        }
    }

    /// Gives a job's waiting tasks that class which were tried nowhere and have another.
    fn move_waiting(&mut self, at: Time, id: JobId, to: TaskClassId) {
        let Some(job) = self.find_job(id) else { return };
        let (all, apart) = (job.range(), self.books.elsewhere.jobs.get(&id));
        let classes = apart.iter().flat_map(|job| job.classes.iter().copied());
        let others = classes.chain([job.class]).filter(|class| *class != to);
        let waiting = others.flat_map(|class| self.grid().waiting_between(class, (all.first(), all.last())));
        let waiting: Vec<TaskRange> = waiting
            .filter_map(|(first, last)| TaskRange::between(first, last))
            .take(KEPT_AWAY_AT_ONCE)
            .collect();
        for tasks in waiting {
            self.reclass_waiting(at, tasks, to);
        }
    }

    fn reclass_waiting(&mut self, at: Time, tasks: TaskRange, class: TaskClassId) {
        let (first, count) = (tasks.first(), tasks.count());
        self.tell(at, &Event::TasksWithdrawn { first, count });
        self.reclass(at, tasks, class);
        self.tell(at, &Event::TasksReturned { first, count });
    }

    /// Tasks begin anew.
    pub(super) fn try_anywhere(&mut self, at: Time, tasks: TaskRange) {
        let (id, job) = self.job_of(tasks.first());
        let class = job.class;
        // What was tried has a record of its own.
        let was_tried = tasks.count() == 1 && self.grid().task(tasks.first()).class() != class;
        if was_tried || self.books.elsewhere.jobs.contains_key(&id) {
            self.books.elsewhere.forget(tasks);
            self.reclass(at, tasks, class);
        }
    }

    /// Some of a job's tasks began anew: what could not be started may be there by now.
    pub(super) fn begin_anew(&mut self, at: Time, id: JobId) {
        if let Some(job) = self.books.elsewhere.jobs.get_mut(&id) {
            (job.machines, job.there) = (BTreeSet::new(), BTreeSet::new());
            self.move_job(at, id);
        }
    }

    /// A machine is gone: tasks that no other could take are tried anywhere. Costs O(tasks that are kept from machines), and
    /// O(machines) for each of their classes at most, and for each job that is.
    pub(super) fn reconsider_elsewhere(&mut self, at: Time) {
        let mut has_another: BTreeMap<TaskClassId, bool> = BTreeMap::new();
        let kept: Vec<TaskId> = self.books.elsewhere.tried.keys().copied().collect();
        for task in kept {
            let class = self.grid().task(task).class();
            let nowhere = BTreeSet::new();
            let has_another =
                *has_another.entry(class).or_insert_with(|| self.has_another((class, false), &nowhere));
            let (is_out, waits) = (self.is_out(task), self.grid().task(task).state() == TaskState::Waiting);
            if has_another || !(is_out || waits) {
                continue;
            }
            let class = self.class_of_job(self.job_of(task).0);
            self.books.elsewhere.tried.remove(&task);
            if waits {
                self.reclass_waiting(at, TaskRange::one(task), class);
            } else {
                self.reclass(at, TaskRange::one(task), class);
            }
        }
        for id in self.books.elsewhere.jobs.keys().copied().collect::<Vec<_>>() {
            self.reconsider_job(at, id);
        }
    }

    /// Where no machine is left for a job of which runs could not be started somewhere, its waiting tasks are tried anywhere.
    pub(super) fn reconsider_job(&mut self, at: Time, id: JobId) {
        match self.due_class(id) {
            Some((class, true)) => self.move_waiting(at, id, class),
            Some((_, false)) => self.move_job(at, id),
            None => {}
        }
    }

    /// A task is back in the queue: what its job may use may have changed while it was in none.
    pub(super) fn reconsider_task(&mut self, at: Time, task: TaskId) {
        let (id, _) = self.job_of(task);
        let known = self.grid().task(task);
        if known.state() != TaskState::Waiting || self.books.elsewhere.tried.contains_key(&task) {
            return;
        }
        if let Some((class, _)) = self.due_class(id).filter(|(class, _)| *class != known.class()) {
            self.reclass_waiting(at, TaskRange::one(task), class);
        }
    }

    /// The class that is due to the tasks of a job, of which runs could not be started somewhere, and whether no machine is left that they
    /// could keep to. Costs O(machines).
    fn due_class(&self, id: JobId) -> Option<(TaskClassId, bool)> {
        let job = self.find_job(id)?;
        self.books.elsewhere.jobs.get(&id)?;
        let is_left = self.has_another((job.class, job.ever_ran), &self.books.elsewhere.not_there(id));
        Some(if is_left { (self.class_of_job(id), false) } else { (job.class, true) })
    }

    /// Whether the scheduler has the task neither in a queue nor on a machine.
    fn is_out(&self, task: TaskId) -> bool {
        self.grid().task(task).state() == TaskState::Withdrawn
            && self.grid().runs_of(task).all(|run| run.stage() == Stage::Missing)
    }

    /// Whether a machine that takes tasks, busy or not, and is none of these could take one of a class; or, where that is waited for, one
    /// that may take tasks again.
    fn has_another(&self, (class, waits): (TaskClassId, bool), apart: &BTreeSet<MachineId>) -> bool {
        let mut agents = self.agents().iter().enumerate();
        agents.any(|(index, agent)| {
            let id = MachineId::new(index);
            let takes = if waits { !agent.revoked } else { agent.open && !agent.lost };
            takes && !apart.contains(&id) && self.grid().seconds_per_op(class, id).is_finite()
        })
    }

    /// Whether a class may be made of those of a job's tasks that keep away from machines. Costs O(classes that were made for this).
    fn can_be_apart(&self, job: &Job, apart: &BTreeSet<MachineId>) -> bool {
        let elsewhere = &self.books.elsewhere;
        let payer = self.books.payers.get(&job.user);
        let of_user = elsewhere.kept_from(|class| Some(&self.books.classes.class(class).payer) == payer);
        let machines = apart.iter().chain(of_user.iter().copied().flatten()).collect::<BTreeSet<_>>().len();
        let all_machines = elsewhere.machines() + elsewhere.nameless(apart).len();
        let most = self.people().quota(&job.user).requirement_bytes;
        job.tally.open() > 0
            && self.requirement_bytes_of(&job.user) + class_bytes(&job.spec) <= most
            && elsewhere.classes().count() < ELSEWHERE_CLASSES_MAX.all
            && of_user.len() < ELSEWHERE_CLASSES_MAX.each
            && all_machines <= TRIED_MACHINES_MAX.all
            && machines <= TRIED_MACHINES_MAX.each
    }

    /// The class of tasks like this one that keep away from machines; none where there are too many such classes already, or where its
    /// requirements take no further ones.
    fn class_apart(&mut self, at: Time, task: TaskId, apart: &BTreeSet<MachineId>) -> Option<TaskClassId> {
        let (_, job) = self.job_of(task);
        if !self.can_be_apart(job, apart) {
            return None;
        }
        let (user, spec, base) = (job.user.clone(), Arc::clone(&job.spec), job.class);
        let clauses = apart.iter().map(|&machine| is_another(&self.agent(machine).name));
        let clauses = clauses.collect::<Vec<_>>().join(" && ");
        if asked(&spec, Some(&clauses)).is_err() {
            return None;
        }
        let new = self.books.elsewhere.nameless(apart);
        for &machine in &new {
            // Whether machines are told apart by it is seen below, where a class asks.
            self.with_ad_changed(machine, |ledger| {
                ledger.books.elsewhere.name(machine);
            });
        }
        let class = self.task_class_of(at, &user, &spec, Some(&clauses));
        if !self.books.classes.class(base).apart.contains(&class) {
            self.books.classes.enter(class);
            self.books.classes.class_mut(base).apart.push(class);
        }
        if !self.books.elsewhere.has_class(class) {
            self.books.classes.open(class);
            self.books.elsewhere.add_class(class, apart.clone());
        }
        for machine in new {
            self.classify(at, machine);
        }
        Some(class)
    }
}
