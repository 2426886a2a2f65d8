//! A retired task that is to run again is revived first, by a fact that says what the ledger forgot; and its job with it, if that left
//! memory too.

use super::job::count;
use super::kept_bytes::left;
use super::{Job, Ledger, OPERATIONS_EACH, Record, RetiredTask};
use crate::journal::{Revived, RevivedTasks};
use crate::limits::REVIVED_AT_ONCE;
use crate::store::{Past, PastReader, ReadError, Seq, TaskRange};
use gleaner_core::{Event, TaskState};
use gleaner_units::{Ops, TaskId, Time};
use gleaner_wire::JobId;
use gleaner_wire::api::{Tally, TaskPhase};

/// What is to be said of retired tasks of a job to have them back, a part of them at a time.
pub(crate) fn to_revive(
    past: &dyn PastReader,
    job: &Job,
    ranges: &[TaskRange],
) -> Result<Vec<Vec<RevivedTasks>>, ReadError> {
    let mut facts = Vec::new();
    for range in ranges {
        let mut rest = Some(*range);
        while let Some(wanted) = rest {
            let found = RetiredTask::find_all(past, wanted, REVIVED_AT_ONCE)?;
            let Some((last, _)) = found.last() else { break };
            rest = TaskRange::one(*last).behind_within(*range);
            facts.push(alike(job, found));
        }
    }
    Ok(facts)
}

fn alike(job: &Job, found: Vec<(TaskId, RetiredTask)>) -> Vec<RevivedTasks> {
    let mut all: Vec<RevivedTasks> = Vec::new();
    for (task, RetiredTask { record, runs, .. }) in found {
        // What was removed counts for nobody.
        let left = if job.removed_since(record.ended).is_some() { 0 } else { left(&record) };
        let one = RevivedTasks { tasks: TaskRange::one(task), runs, settled: record.settled, left };
        match all.last_mut() {
            Some(before)
                if before.tasks.last().index() + 1 == task.index()
                    && (before.runs, &before.settled, before.left) == (one.runs, &one.settled, left) =>
            {
                before.tasks = TaskRange::between(before.tasks.first(), task).expect("in order");
            }
            Some(_) | None => all.push(one),
        }
    }
    all
}

impl Ledger {
    /// Retired tasks are over in memory too, as if they had ended now; and so is their job there. What they left is kept no longer.
    pub(super) fn revive(&mut self, at: Time, revived: &Revived) {
        let Revived { job: id, back, tasks } = revived;
        let mut past = Past { upto: Seq::new(self.books.rows), ..Past::default() };
        if let Some(back) = back {
            let mut job = Job::of_past(back);
            // What its class was called then may stand for another now.
            job.class = self.task_class_of(at, &job.user, &job.spec, None);
            self.books.classes.enter(job.class);
            job.tally = self.tally_of(job.range());
            if let Some(key) = &job.key {
                self.books.keys.insert((job.user.clone(), key.clone()), *id);
            }
            self.named.add(self.books.payers[&job.user], &job);
            self.books.descriptions.add(*id, job.spec.memory_bytes());
            self.books.jobs.put(*id, job);
            past.revived.push(*id);
        }
        let mut was_forgotten = false;
        for RevivedTasks { tasks: range, runs, settled, left } in tasks {
            let (range, runs) = (*range, *runs);
            past.revived_tasks.push(range);
            self.replace_bytes(*id, left * u64::from(range.count()), 0);
            let mut rest = Some(range);
            while let Some(tasks) = rest {
                let stretch = self.books.records.alike_from(tasks);
                let record = self.record(stretch.first());
                if record.is_retired {
                    let (phase, settled) = (record.phase, settled.clone());
                    let record = Record { phase, settled, ended: Some(at), ..Record::default() };
                    self.write_record(stretch, record);
                    self.books.over.add(at, stretch);
                    was_forgotten |= self.has_forgotten(stretch);
                    self.revive_scheduled(at, *id, stretch, runs);
                }
                rest = stretch.behind_within(range);
            }
        }
        if was_forgotten {
            self.learn_anew();
        }
        self.left(past);
    }

    /// Whether the scheduler forgot any of these tasks: it did not where it had to know them for a policy that learns.
    fn has_forgotten(&self, tasks: TaskRange) -> bool {
        tasks.tasks().any(|task| self.grid().task(task).state() == TaskState::Retired)
    }

    fn revive_scheduled(&mut self, at: Time, id: JobId, tasks: TaskRange, runs: u32) {
        let Some(job) = self.books.jobs.get_mut(id) else { return };
        job.retired -= tasks.count();
        let (class, submitted) = (job.class, job.submitted);
        let mut next = job.first.index();
        let mut told = Vec::new();
        for (count, length) in job.spec.lengths().expect("only jobs whose lengths can be read are recorded") {
            let (first, end) =
                (next.max(tasks.first().index()), (next + count as usize).min(tasks.last().index() + 1));
            next += count as usize;
            if first < end {
                let length = length.and_then(|operations| Ops::new(operations / OPERATIONS_EACH));
                let (first, count) = (TaskId::new(first), (end - first) as u32);
                told.push(Event::TasksRevived { first, count, class, length, runs, submitted });
            }
        }
        for event in &told {
            self.tell(at, event);
        }
        // What the scheduler did not forget may have a class that kept it from machines: nobody has that since its job left memory.
        self.reclass(at, tasks, class);
    }

    /// Tasks came back that the scheduler had forgotten: a policy that learns goes by what is there now, as after a start. Costs
    /// O(tasks ever) then.
    fn learn_anew(&mut self) {
        if self.recipe().lengths.is_learnt() {
            self.scheduler.set_policy(self.recipe().build());
        }
    }

    fn tally_of(&self, range: TaskRange) -> Tally {
        let mut tally = Tally { waiting: range.count(), ..Tally::default() };
        for (tasks, record) in self.stretches(range) {
            count(&mut tally, tasks.count(), TaskPhase::Waiting, record.phase);
        }
        tally
    }
}

#[cfg(test)]
mod tests {
    use super::super::retiring::tests::{OVER_AT, over};
    use super::*;
    use crate::journal::{Entry, Fact};
    use crate::store::{MemoryDisk, MemoryStore, Store as _};
    use gleaner_units::Span;

    #[test]
    fn so_many_tasks_come_back_by_one_fact() {
        for (tasks, expected) in
            [(REVIVED_AT_ONCE, vec![REVIVED_AT_ONCE]), (REVIVED_AT_ONCE + 1, vec![REVIVED_AT_ONCE, 1])]
        {
            let (mut ledger, disk) = (over(tasks as u64), MemoryDisk::default());
            let job = ledger.find_job(JobId(1)).expect("it is in memory").clone();
            let mut store = MemoryStore::open(&disk);
            loop {
                let due = ledger.due_to_retire(Time::NEVER, Time::NEVER, (0, Span::ZERO));
                if due.is_empty() {
                    break;
                }
                ledger.apply(&Entry { at: OVER_AT, fact: Fact::TasksRetired(due) });
                store.commit_with(&[], ledger.take_past().as_ref()).expect("there is room in memory");
            }
            let all = TaskRange::between(TaskId::new(0), TaskId::new(tasks - 1)).expect("a range");
            let facts = to_revive(&disk, &job, &[all]).expect("memory can be read");
            let count =
                |fact: &Vec<RevivedTasks>| fact.iter().map(|tasks| tasks.tasks.count() as usize).sum();
            assert_eq!(facts.iter().map(count).collect::<Vec<usize>>(), expected);
        }
    }
}
