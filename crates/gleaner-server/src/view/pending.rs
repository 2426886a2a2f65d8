//! Why tasks wait, and why they failed, for those that are alike together.

use super::explain::explained;
use super::waits::{Situation, find_waiting};
use crate::ledger::{Job, Ledger, Record, RetiredTask};
use crate::limits::{FAILURES_READ_MAX, FAILURES_TOLD_MAX, WAITING_JOBS_READ_MAX, WAITS_TOLD_MAX};
use crate::store::{PastReader, ReadError, TaskRange};
use gleaner_units::{MachineId, TaskId};
use gleaner_wire::VERSION;
use gleaner_wire::api::{ExplanationView, TaskPhase};
use gleaner_wire::day::{FailureGroup, FailureList, WaitGroup, WaitList};
use std::collections::{BTreeMap, HashMap};

/// Jobs that are named for each reason.
const JOBS_NAMED: usize = 20;
/// Machines that are named for each reason.
const MACHINES_NAMED: usize = 5;
/// Tasks that are read in the store at a time.
const READ_AT_ONCE: usize = 1_000;

/// Why the tasks of one user wait, or all. Costs O(machines) for each class of tasks among them.
pub fn waits(situation: Situation<'_>, user: Option<&str>) -> WaitList {
    let ledger = situation.ledger;
    let wanted = |job: &Job| job.tally.waiting > 0 && user.is_none_or(|user| job.user == user);
    let mut waiting = ledger.jobs().filter(|(_, job)| wanted(job));
    let mut groups: Vec<WaitGroup> = Vec::new();
    // What holds for a class holds for all its jobs, as long as they wait for a machine.
    let mut of_class: HashMap<_, usize> = HashMap::new();
    let mut left_out = 0;
    for (id, job) in waiting.by_ref().take(WAITING_JOBS_READ_MAX) {
        let Some(task) = find_waiting(ledger, job) else {
            left_out += 1;
            continue;
        };
        let rests = ledger.record(task).rests_until().is_some() || ledger.is_live(task);
        let class = ledger.grid().task(task).class();
        let found = of_class.get(&(class, rests)).copied();
        let group = match found {
            Some(group) => &mut groups[group],
            None if groups.len() == WAITS_TOLD_MAX => {
                left_out += 1;
                continue;
            }
            None => {
                let explanation = explained(situation, task);
                let same = groups.iter().position(|group| is_same(&group.explanation, &explanation));
                let place = same.unwrap_or(groups.len());
                of_class.insert((class, rests), place);
                let (task, since_s) = (job.number(task), job.submitted.seconds());
                if same.is_none() {
                    let (tasks, job_count, jobs) = (0, 0, Vec::new());
                    groups.push(WaitGroup { tasks, job_count, jobs, task, since_s, explanation });
                }
                &mut groups[place]
            }
        };
        group.tasks += u64::from(job.tally.waiting);
        group.job_count += 1;
        group.since_s = group.since_s.min(job.submitted.seconds());
        if group.jobs.len() < JOBS_NAMED {
            group.jobs.push(id);
        }
    }
    left_out += waiting.count() as u32;
    groups.sort_by_key(|group| std::cmp::Reverse(group.tasks));
    WaitList { version: VERSION, groups, left_out }
}

/// Whether it says the same of another class of tasks.
fn is_same(one: &ExplanationView, other: &ExplanationView) -> bool {
    (&one.summary, &one.ruled_out, &one.remedies) == (&other.summary, &other.ruled_out, &other.remedies)
}

/// Why tasks of a job failed. Those that left memory are read between two looks.
#[derive(Debug)]
pub struct Failures {
    job: Job,
    groups: BTreeMap<String, Alike>,
    retired: Vec<TaskRange>,
    /// How many tasks were examined.
    read: u32,
}

/// Tasks that failed alike.
#[derive(Debug)]
struct Alike {
    first: TaskId,
    tasks: u32,
    machines: BTreeMap<MachineId, u32>,
}

impl Failures {
    /// Of those that are in memory, and which the others are.
    pub fn begin(ledger: &Ledger, job: &Job) -> Self {
        let (job, groups) = (job.clone(), BTreeMap::new());
        let mut failures = Self { job, groups, retired: Vec::new(), read: 0 };
        let stretches = ledger.stretches(failures.job.range()).take(FAILURES_READ_MAX);
        let failed = stretches.filter(|(_, record)| record.phase == TaskPhase::Failed);
        let mut left = FAILURES_READ_MAX;
        for (tasks, record) in failed {
            if !record.is_retired() {
                left = left.saturating_sub(1);
                failures.count(tasks, record);
            } else if left > 0 {
                let most = left.min(tasks.count() as usize);
                left -= most;
                let last = TaskId::new(tasks.first().index() + most - 1);
                failures.retired.extend(TaskRange::between(tasks.first(), last));
            }
        }
        failures
    }

    /// The list, unless some of it left memory.
    pub fn whole(self, ledger: &Ledger) -> Result<FailureList, Box<Self>> {
        if self.retired.is_empty() { Ok(self.end(ledger)) } else { Err(Box::new(self)) }
    }

    /// Reads those that left memory, so many at a time. Those that came back meanwhile failed no more.
    pub fn read(&mut self, past: &dyn PastReader) -> Result<(), ReadError> {
        for range in std::mem::take(&mut self.retired) {
            let mut rest = Some(range);
            while let Some(tasks) = rest {
                let found = RetiredTask::find_all(past, tasks, READ_AT_ONCE)?;
                let Some((last, _)) = found.last() else { break };
                rest = TaskRange::one(*last).behind_within(range);
                for (task, retired) in &found {
                    self.count(TaskRange::one(*task), &retired.record);
                }
            }
        }
        Ok(())
    }

    /// The most frequent reasons, and how many others there are.
    pub fn end(self, ledger: &Ledger) -> FailureList {
        let Self { job, groups, read, .. } = self;
        let mut groups: Vec<(String, Alike)> = groups.into_iter().collect();
        groups.sort_by_key(|(_, alike)| std::cmp::Reverse(alike.tasks));
        let others = groups.split_off(groups.len().min(FAILURES_TOLD_MAX));
        let told = |(reason, Alike { first, tasks, machines }): (String, Alike)| {
            let mut names: BTreeMap<&str, u32> = BTreeMap::new();
            for (on, tasks) in machines {
                *names.entry(&ledger.agent(on).name).or_default() += tasks;
            }
            let mut names: Vec<_> = names.into_iter().collect();
            names.sort_by_key(|(_, tasks)| std::cmp::Reverse(*tasks));
            let machines = names.into_iter().take(MACHINES_NAMED).map(|(name, _)| name.to_owned()).collect();
            FailureGroup { reason, tasks, example: job.number(first), machines }
        };
        FailureList {
            version: VERSION,
            failures: groups.into_iter().map(told).collect(),
            other_reasons: others.len() as u32,
            other_tasks: others.iter().map(|(_, alike)| alike.tasks).sum(),
            left_out: job.tally.failed.saturating_sub(read),
        }
    }

    fn count(&mut self, tasks: TaskRange, record: &Record) {
        let reason =
            record.last.as_ref().map_or("it is not known".to_owned(), |last| last.outcome.to_string());
        let (first, count) = (tasks.first(), tasks.count());
        let alike = || Alike { first, tasks: 0, machines: BTreeMap::new() };
        let alike = self.groups.entry(reason).or_insert_with(alike);
        self.read += count;
        alike.first = alike.first.min(first);
        alike.tasks += count;
        if let Some(on) = record.machine {
            *alike.machines.entry(on).or_default() += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::reasons::Reasons;
    use super::super::waits::of_job;
    use super::*;
    use crate::journal::{Chosen, Entry, Fact, Last};
    use gleaner_units::{RunId, Time};
    use gleaner_wire::JobId;
    use gleaner_wire::api::Actor;
    use gleaner_wire::job::{JobSpec, TaskList};
    use gleaner_wire::session::{End, Outcome, Profile};
    use std::sync::Arc;

    fn with_machine() -> Ledger {
        let (mut ledger, profile) = (Ledger::new(), Profile::new([1.0; 3], 1));
        let (agent, name, token) = (MachineId::new(0), "m".to_owned(), "t".to_owned());
        let (expires, by) = (Time::NEVER, Actor::Coordinator);
        let started =
            Fact::AgentStarted { agent, incarnation: 1, profile: profile.clone(), brings: Vec::new() };
        for fact in [
            Fact::JoinTokenIssued { token: token.clone(), expires, uses: 1, owner: None, by },
            Fact::AgentEnrolled { agent, key: name.clone(), name, token, profile },
            started,
        ] {
            ledger.apply(&Entry { at: Time::ZERO, fact });
        }
        ledger
    }

    /// So many jobs of a task each; each of the first so many waits for something of its own, which the only machine is not.
    fn told(jobs: usize, reasons: usize) -> WaitList {
        let mut ledger = with_machine();
        for number in 0..jobs {
            let requirements = (number < reasons).then(|| format!("TARGET.Rack == {number}"));
            let spec = Arc::new(JobSpec { requirements, ..JobSpec::new(["true"]) });
            let (job, user) = (ledger.next_job(), "ada".to_owned());
            let fact = Fact::JobSubmitted { job, user, spec, key: None, bytes: 0, described: 0 };
            ledger.apply(&Entry { at: Time::ZERO, fact });
        }
        waits(Situation { ledger: &ledger, now: Time::ZERO, quiet_until: None }, None)
    }

    /// A job of so many tasks and one more; of the others each is cancelled or held, and its neighbours are not.
    fn behind(tasks: usize, spec: JobSpec) -> (Ledger, JobId) {
        let mut ledger = with_machine();
        let mut add = |fact: Fact| ledger.apply(&Entry { at: Time::ZERO, fact });
        let array = TaskList::Array { first: 1, last: tasks as u32 + 1, step: 1 };
        let spec = Arc::new(JobSpec { tasks: array, ..spec });
        let job = JobId(1);
        add(Fact::JobSubmitted { job, user: "ada".to_owned(), spec, key: None, bytes: 0, described: 0 });
        let each =
            |from: usize| (from..tasks).step_by(2).map(|task| TaskRange::one(TaskId::new(task))).collect();
        let chosen = |from: usize| Chosen { job, tasks: each(from), by: Actor::Coordinator };
        add(Fact::TasksCancelled(chosen(0)));
        add(Fact::TasksHeld(chosen(1)));
        (ledger, job)
    }

    fn start(ledger: &mut Ledger) {
        while ledger.decide(Time::ZERO).is_some() {}
    }

    fn fail(ledger: &mut Ledger, task: usize) {
        let run = RunId::new(TaskId::new(task), 1);
        let end = Box::new(End::of(Outcome::Exited { code: 1 }));
        let ended = Fact::RunEnded { run, agent: MachineId::new(0), end, answer: None, is_left: None };
        ledger.apply(&Entry { at: Time::ZERO, fact: ended });
    }

    fn failed_behind(tasks: usize) -> FailureList {
        let (mut ledger, job) = behind(tasks, JobSpec::new(["false"]));
        start(&mut ledger);
        fail(&mut ledger, tasks);
        let job = ledger.find_job(job).expect("it is in memory");
        assert_eq!(job.tally.failed, 1);
        Failures::begin(&ledger, job).end(&ledger)
    }

    #[test]
    fn so_many_stretches_are_read_for_failures() {
        for (before, left_out) in [(FAILURES_READ_MAX - 1, 0), (FAILURES_READ_MAX, 1)] {
            let list = failed_behind(before);
            assert_eq!((list.failures.len(), list.left_out), (1 - left_out as usize, left_out), "{list:?}");
        }
    }

    #[test]
    fn so_many_reasons_for_failures_are_told() {
        let (ledger, job) = behind(FAILURES_TOLD_MAX + 1, JobSpec::new(["false"]));
        let job = ledger.find_job(job).expect("it is in memory");
        let mut failures = Failures::begin(&ledger, job);
        for (task, code) in (0..=FAILURES_TOLD_MAX).zip(1..) {
            // The last two fail alike.
            let last = task + usize::from(task == FAILURES_TOLD_MAX);
            let tasks = TaskRange::between(TaskId::new(task), TaskId::new(last)).expect("in order");
            let mut record = ledger.record(tasks.first()).clone();
            record.last = Some(Box::new(Last::nothing(Outcome::Exited { code })));
            failures.count(tasks, &record);
        }
        let list = failures.end(&ledger);
        assert_eq!((list.failures.len(), list.failures[0].tasks), (FAILURES_TOLD_MAX, 2));
        assert_eq!((list.other_reasons, list.other_tasks), (1, 1), "{list:?}");
    }

    #[test]
    fn a_task_that_waits_is_found_behind_thousands_that_do_not() {
        let tasks = 5_000;
        let nowhere =
            || JobSpec { requirements: Some("TARGET.Rack == 1".to_owned()), ..JobSpec::new(["true"]) };
        let queued = behind(tasks, nowhere()).0;
        let mut sent = behind(tasks, JobSpec::new(["true"])).0;
        start(&mut sent);
        let mut rests = behind(tasks, JobSpec { retries: 1, ..JobSpec::new(["true"]) }).0;
        start(&mut rests);
        fail(&mut rests, tasks);
        for (ledger, reason) in [
            (queued, "it waits for a machine"),
            (sent, "it waits for its start on m, to which it was sent"),
            (rests, "it waits for its next try, in 1 s"),
        ] {
            let situation = Situation { ledger: &ledger, now: Time::ZERO, quiet_until: None };
            let list = waits(situation, None);
            assert_eq!((list.groups.len(), list.left_out), (1, 0), "{list:?}");
            let told = &list.groups[0].explanation.summary;
            assert!(told.starts_with(reason), "{told}");
            let job = ledger.find_job(JobId(1)).expect("it is in memory");
            let told = format!(
                "it waits for {}",
                of_job(situation, job, &mut Reasons::default()).expect("it waits")
            );
            assert!(told.starts_with(reason), "{told}");
        }
    }

    #[test]
    fn so_many_jobs_are_read_and_so_many_reasons_told() {
        let most = WAITING_JOBS_READ_MAX;
        for (jobs, left_out) in [(most, 0), (most + 1, 1)] {
            let list = told(jobs, 0);
            let read: u32 = list.groups.iter().map(|group| group.job_count).sum();
            assert_eq!((read as usize, list.left_out), (most, left_out), "of {jobs}");
        }
        for (reasons, left_out) in [(WAITS_TOLD_MAX, 0), (WAITS_TOLD_MAX + 1, 1)] {
            let list = told(reasons, reasons);
            assert_eq!((list.groups.len(), list.left_out), (WAITS_TOLD_MAX, left_out), "{list:?}");
        }
    }
}
