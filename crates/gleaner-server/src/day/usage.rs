//! What users used in the last day, and what each job asked for beside what its runs used.

use crate::ledger::{Job, Ledger};
use crate::limits::{JOBS_USED_KEPT, USERS_USED_KEPT};
use gleaner_units::{TaskId, Time};
use gleaner_wire::JobId;
use gleaner_wire::day::{JobUse, RunState, UserUse};
use gleaner_wire::session::Usage;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

const HOUR_NS: u64 = 3_600_000_000_000;
const HOURS: u64 = 24;
/// Lengths of runs are told by powers of two, from an eighth of a second on: up to twelve days.
const TIMES: usize = 24;
const SHORTEST_S: f64 = 0.125;
/// Characters of a command that stand for a job without a name.
const NAME_CHARS: usize = 60;
/// So many runs tell something about a job.
const TELLING: u64 = 5;

#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Usages {
    users: BTreeMap<String, VecDeque<(u64, UserUse)>>,
    jobs: BTreeMap<JobId, JobSum>,
}

#[derive(Debug, Serialize, Deserialize)]
struct JobSum {
    shown: JobUse,
    /// When one of its runs started or ended.
    latest: Time,
    starts: u64,
    elapsed_s: f64,
    cpu_s: f64,
    overhead_s: f64,
}

/// A run that ended.
#[derive(Clone, Copy)]
pub(super) struct Ran<'a> {
    pub(super) state: RunState,
    pub(super) usage: &'a Usage,
    /// Whether it left neither a result nor a checkpoint that counts.
    pub(super) is_waste: bool,
}

impl Usages {
    pub(super) fn started(&mut self, ledger: &Ledger, at: Time, task: TaskId, overhead_s: Option<f64>) {
        let Some(overhead_s) = overhead_s else { return };
        let sum = self.job(ledger, at, task);
        sum.starts += 1;
        sum.overhead_s += overhead_s;
    }

    /// A run is its job's and its user's, also where its end does not count, as long as its job is in memory.
    pub(super) fn ended(&mut self, ledger: &Ledger, at: Time, task: TaskId, ran: Ran<'_>) {
        if ledger.find_job_of(task).is_none() {
            return;
        }
        self.job(ledger, at, task).ended(ran);
        let Ran { state, usage, is_waste } = ran;
        let Some((cores, used)) = self.this_hour(ledger, at, task) else { return };
        let core_s = usage.elapsed_s * cores;
        add(
            used,
            &UserUse {
                user: String::new(),
                runs: 1,
                done: u64::from(state == RunState::Done),
                failed: u64::from(state == RunState::Failed),
                machine_s: usage.elapsed_s,
                core_s,
                wasted_core_s: if is_waste { core_s } else { 0.0 },
                cpu_s: usage.cpu_s,
                memory_bytes: usage.memory_bytes,
            },
        );
    }

    /// So many seconds of runs of a task that had ended come to be for nothing.
    pub(super) fn outvoted(&mut self, ledger: &Ledger, at: Time, task: TaskId, seconds: f64) {
        if let Some((cores, used)) = self.this_hour(ledger, at, task) {
            used.wasted_core_s += seconds * cores;
        }
    }

    /// The cores that a task has, and what its user used in the hour, if that is kept.
    fn this_hour(&mut self, ledger: &Ledger, at: Time, task: TaskId) -> Option<(f64, &mut UserUse)> {
        let (_, job) = ledger.find_job_of(task)?;
        if self.users.len() >= USERS_USED_KEPT && !self.users.contains_key(&job.user) {
            return None;
        }
        let hours = self.users.entry(job.user.clone()).or_default();
        let hour = at.nanos() / HOUR_NS;
        while hours.front().is_some_and(|(first, _)| first + HOURS <= hour) {
            hours.pop_front();
        }
        if hours.back().is_none_or(|(last, _)| *last != hour) {
            hours.push_back((hour, UserUse::default()));
        }
        let (_, used) = hours.back_mut().expect("there is this hour");
        Some((f64::from(job.spec.needs.cores), used))
    }

    /// Jobs of which nothing ran since a moment, and users.
    pub(super) fn forget(&mut self, until: Time) {
        self.jobs.retain(|_, sum| sum.latest >= until);
        let hour = until.nanos() / HOUR_NS;
        self.users.retain(|_, hours| hours.back().is_some_and(|(last, _)| *last >= hour));
    }

    fn job(&mut self, ledger: &Ledger, at: Time, task: TaskId) -> &mut JobSum {
        let (id, job) = ledger.job_of(task);
        if self.jobs.len() >= JOBS_USED_KEPT && !self.jobs.contains_key(&id) {
            self.jobs.pop_first();
        }
        let sum = self.jobs.entry(id).or_insert_with(|| JobSum::of(id, job));
        sum.latest = at;
        sum
    }

    /// By who used most; newest jobs first.
    pub(super) fn view(&self, user: Option<&str>, now: Time) -> (Vec<UserUse>, Vec<JobUse>) {
        let hour = now.nanos() / HOUR_NS;
        let users = self.users.iter().filter(|(name, _)| user.is_none_or(|user| user == name.as_str()));
        let summed = users.map(|(name, hours)| {
            let mut all = UserUse { user: name.clone(), ..UserUse::default() };
            for (_, used) in hours.iter().filter(|(of, _)| of + HOURS > hour) {
                add(&mut all, used);
            }
            all
        });
        let mut users: Vec<UserUse> = summed.filter(|all| all.runs > 0).collect();
        users.sort_by(|one, other| other.machine_s.total_cmp(&one.machine_s));
        let jobs = self.jobs.values().rev().filter(|sum| sum.shown.runs > 0);
        let jobs = jobs.filter(|sum| user.is_none_or(|user| user == sum.shown.user));
        (users, jobs.map(JobSum::view).collect())
    }
}

fn add(all: &mut UserUse, used: &UserUse) {
    all.runs += used.runs;
    all.done += used.done;
    all.failed += used.failed;
    all.machine_s += used.machine_s;
    all.core_s += used.core_s;
    all.wasted_core_s += used.wasted_core_s;
    all.cpu_s += used.cpu_s;
    all.memory_bytes = all.memory_bytes.max(used.memory_bytes);
}

fn place(elapsed_s: f64) -> usize {
    let doublings = (elapsed_s / SHORTEST_S).log2();
    if doublings < 0.0 || doublings.is_nan() { 0 } else { (doublings as usize + 1).min(TIMES - 1) }
}

impl JobSum {
    fn of(id: JobId, job: &Job) -> Self {
        let spec = &job.spec;
        let name = if spec.name.is_empty() { spec.command.join(" ") } else { spec.name.clone() };
        let shown = JobUse {
            job: id,
            user: job.user.clone(),
            name: name.chars().take(NAME_CHARS).collect(),
            runs: 0,
            cores_asked: spec.needs.cores,
            cores_used: 0.0,
            memory_asked: spec.needs.memory,
            memory_used: 0,
            time_asked_s: spec.needs.time_limit_s,
            time_mean_s: 0.0,
            time_max_s: 0.0,
            overhead_s: 0.0,
            times: vec![0; TIMES],
            hints: Vec::new(),
        };
        Self { shown, latest: Time::ZERO, starts: 0, elapsed_s: 0.0, cpu_s: 0.0, overhead_s: 0.0 }
    }

    fn ended(&mut self, Ran { state, usage, .. }: Ran<'_>) {
        let shown = &mut self.shown;
        shown.runs += 1;
        // What was stopped or lost says nothing of how long tasks take.
        if !matches!(state, RunState::Done | RunState::Failed) {
            return;
        }
        self.elapsed_s += usage.elapsed_s;
        self.cpu_s += usage.cpu_s;
        shown.time_max_s = shown.time_max_s.max(usage.elapsed_s);
        shown.memory_used = shown.memory_used.max(usage.memory_bytes);
        shown.times[place(usage.elapsed_s)] += 1;
    }

    fn view(&self) -> JobUse {
        let mut shown = self.shown.clone();
        shown.cores_used = if self.elapsed_s > 0.0 { self.cpu_s / self.elapsed_s } else { 0.0 };
        shown.time_mean_s = self.elapsed_s / measured(&shown).max(1) as f64;
        shown.overhead_s = self.overhead_s / self.starts.max(1) as f64;
        shown.hints = hints(&shown);
        shown
    }
}

/// Of how many runs it is known how long they took.
fn measured(job: &JobUse) -> u64 {
    job.times.iter().map(|&runs| u64::from(runs)).sum()
}

fn hints(job: &JobUse) -> Vec<String> {
    let mut hints = Vec::new();
    if measured(job) < TELLING {
        return hints;
    }
    if job.time_mean_s < job.overhead_s {
        hints.push(format!(
            "its tasks take {:.2} s, and to start one takes {:.2} s: put several into one",
            job.time_mean_s, job.overhead_s
        ));
    }
    if job.cores_asked > 1 && job.cores_used < 0.5 * f64::from(job.cores_asked) {
        let (asked, used) = (job.cores_asked, job.cores_used);
        hints.push(format!("its tasks ask for {asked} cores and use {used:.1}: fewer would start sooner"));
    }
    if job.memory_used > 0 && job.memory_asked > 4 * job.memory_used {
        let mib = |bytes: u64| bytes >> 20;
        hints.push(format!(
            "its tasks ask for {} MiB of memory and use {} MiB at most: less would start sooner",
            mib(job.memory_asked),
            mib(job.memory_used)
        ));
    }
    hints
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{Entry, Fact};
    use gleaner_wire::job::JobSpec;
    use std::sync::Arc;

    #[test]
    fn lengths_double_from_one_place_to_the_next() {
        for (elapsed_s, expected) in
            [(0.0, 0), (0.124, 0), (0.125, 1), (0.249, 1), (0.25, 2), (1.0, 4), (1e12, TIMES - 1)]
        {
            assert_eq!(place(elapsed_s), expected, "{elapsed_s} s");
        }
    }

    /// A ledger with so many jobs of a task each, and of a user each.
    fn jobs(count: usize) -> Ledger {
        let mut ledger = Ledger::new();
        let spec = Arc::new(JobSpec::new(["true"]));
        for number in 0..count {
            let (job, user, spec) = (ledger.next_job(), format!("user{number}"), Arc::clone(&spec));
            let fact = Fact::JobSubmitted { job, user, spec, key: None, bytes: 0, described: 0 };
            ledger.apply(&Entry { at: Time::ZERO, fact });
        }
        ledger
    }

    #[test]
    fn so_many_jobs_and_users_are_kept() {
        let ledger = jobs(USERS_USED_KEPT + 1);
        let mut usages = Usages::default();
        let ends = |usages: &mut Usages, tasks: std::ops::Range<usize>| {
            let end = Ran { state: RunState::Done, usage: &Usage::default(), is_waste: false };
            tasks.for_each(|task| usages.ended(&ledger, Time::ZERO, TaskId::new(task), end));
            let (users, jobs) = usages.view(None, Time::ZERO);
            (users.len(), jobs.len(), jobs.last().map(|oldest| oldest.job.0))
        };
        let (jobs, users) = (JOBS_USED_KEPT, USERS_USED_KEPT);
        assert_eq!(ends(&mut usages, 0..jobs), (jobs, jobs, Some(1)));
        assert_eq!(ends(&mut usages, jobs..jobs + 1), (jobs + 1, jobs, Some(2)), "the newest are kept");
        assert_eq!(ends(&mut usages, jobs + 1..users).0, users);
        assert_eq!(ends(&mut usages, users..users + 1).0, users, "who comes later is not counted");
    }

    fn job(cores: (u32, f64), memory: (u64, u64), times: (f64, f64)) -> JobUse {
        JobUse {
            job: JobId(1),
            user: "ada".to_owned(),
            name: String::new(),
            runs: TELLING,
            cores_asked: cores.0,
            cores_used: cores.1,
            memory_asked: memory.0,
            memory_used: memory.1,
            time_asked_s: 0.0,
            time_mean_s: times.0,
            time_max_s: times.0,
            overhead_s: times.1,
            times: vec![TELLING as u32],
            hints: Vec::new(),
        }
    }

    #[test]
    fn who_asks_for_much_more_than_they_use_is_told_so() {
        assert!(hints(&job((1, 0.1), (0, 1 << 30), (1.0, 0.5))).is_empty(), "nothing is wrong");
        assert!(hints(&job((1, 1.0), (0, 0), (0.1, 0.5)))[0].contains("put several into one"));
        assert!(hints(&job((4, 1.0), (0, 0), (9.0, 0.5)))[0].contains("4 cores and use 1.0"));
        assert!(hints(&job((1, 1.0), (1 << 30, 1 << 20), (9.0, 0.5)))[0].contains("1024 MiB"));
        let few = JobUse { times: vec![TELLING as u32 - 1], ..job((4, 0.0), (0, 0), (0.1, 0.5)) };
        assert!(hints(&few).is_empty(), "a few runs tell nothing");
    }
}
