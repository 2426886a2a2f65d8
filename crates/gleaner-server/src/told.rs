//! What a fact says for the log and for `gleaner audit`: who did what, on one line.

use crate::desk::Recorded;
use crate::journal::{Chosen, Fact};
use crate::ledger::Ledger;
use crate::live;
use crate::store::TaskRange;
use gleaner_policy::as_set;
use gleaner_units::{MachineId, Span, TaskId};
use gleaner_wire::JobId;
use gleaner_wire::api::{Actor, Quota};
use gleaner_wire::job::TaskList;
use std::collections::BTreeMap;

/// How much of a command is told.
const COMMAND_CHARS: usize = 80;

/// One line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Told {
    /// Who did it.
    pub by: String,
    /// What happened.
    pub what: &'static str,
    /// To whom or what, and how.
    pub about: String,
}

/// What tasks are called by their users, after the rows of the jobs that are known. **Others may be gone from the journal.**
#[derive(Clone, PartialEq, Debug, Default)]
pub struct TaskNames {
    /// By the first of their tasks: how many these are, and what numbers they have, if it is not their place.
    jobs: BTreeMap<TaskId, (JobId, u32, TaskList)>,
}

impl TaskNames {
    /// Whatever a row says, and the tasks that it is about; only jobs matter.
    pub fn note(&mut self, fact: &Fact, tasks: &[TaskRange]) {
        let Fact::JobSubmitted { job, spec, .. } = fact else { return };
        let Some(first) = tasks.iter().map(|range| range.first()).min() else { return };
        let numbers = match &spec.tasks {
            numbers @ (TaskList::Array { .. } | TaskList::Numbers(_)) => numbers.clone(),
            TaskList::One | TaskList::Rows { .. } | TaskList::Sweep { .. } => TaskList::One,
        };
        self.jobs.insert(first, (*job, spec.tasks.count(), numbers));
    }

    /// As `JOB/TASK`; of a task of no known job, its number in the journal.
    pub fn name(&self, task: TaskId) -> String {
        let place = |first: &TaskId| (task.index() - first.index()) as u32;
        match self.jobs.range(..=task).next_back() {
            Some((first, (job, count, numbers))) if place(first) < *count => {
                format!("{job}/{}", numbers.number(place(first)))
            }
            Some(_) | None => task.to_string(),
        }
    }
}

/// What a fact says, if somebody did it: an order, a joining, a submission. What merely happens is not told.
pub fn told(
    fact: &Fact,
    machine: impl Fn(MachineId) -> String,
    task: impl Fn(TaskId) -> String,
) -> Option<Told> {
    let (by, about) = match fact {
        Fact::CoordinatorStarted { epoch, program, .. } => {
            (&Actor::Coordinator, format!("{program}, start {epoch}"))
        }
        Fact::JournalRestored { lineage } => (&Actor::Coordinator, format!("lineage {lineage}")),
        Fact::CoordinatorSlept { length } => (&Actor::Coordinator, format!("for {} s", length.seconds())),
        Fact::JournalCompacted { upto, dropped, seal } => {
            (&Actor::Coordinator, format!("{dropped} rows up to row {upto} were dropped, seal {seal}"))
        }
        Fact::PolicySet { policy, by } => {
            let said = policy.tree().iter().filter(|(key, _)| *key != "preset");
            let said = said.flat_map(|(key, value)| as_set(key, value));
            let words: Vec<String> = [policy.name().to_owned()].into_iter().chain(said).collect();
            (by, words.join(", "))
        }
        Fact::PriceSet { agent, price, by } => (by, format!("{}: {price}", machine(*agent))),
        Fact::MachineOwnerSet { agent, owner, by } => {
            (by, format!("{}: {}", machine(*agent), owner.as_deref().unwrap_or("its own")))
        }
        Fact::QuotaSet { user, quota, by } => {
            let whose = user.as_deref().unwrap_or("everyone");
            (by, quota.map_or_else(|| format!("{whose}: as everyone without one"), |it| bounds(whose, it)))
        }
        Fact::UserAdded { user, role, was: Some(was), by, .. } if was != role => {
            (by, format!("{user}, from {} to {}", was.name(), role.name()))
        }
        Fact::UserAdded { user, role, by, .. } => (by, format!("{user}, {}", role.name())),
        Fact::UserRemoved { user, by } => (by, user.clone()),
        Fact::JoinTokenIssued { token, uses, owner, by, .. } => {
            let whose = owner.as_ref().map_or_else(String::new, |owner| format!(", of {owner}'s machines"));
            (by, format!("{}, for {uses}{whose}", short(token)))
        }
        Fact::JoinTokenRemoved { token, by } => (by, short(token).to_owned()),
        Fact::AgentEnrolled { name, token, .. } => {
            let by = Actor::Agent(name.clone());
            return Some(line(&by, fact, format!("{name}, with join token {}", short(token))));
        }
        Fact::AgentRevoked { agent, by }
        | Fact::AgentForgotten { agent, by }
        | Fact::MachinePaused { agent, by, .. } => (by, machine(*agent)),
        Fact::MachineOpened { agent, by, why, .. } if matches!(by, Actor::User(_)) => {
            (by, [machine(*agent), why.clone()].join(" ").trim_end().to_owned())
        }
        Fact::JobSubmitted { job, user, spec, .. } => {
            let command: String = spec.command.join(" ").chars().take(COMMAND_CHARS).collect();
            let about = format!("job {job}, {} × {command}", spec.tasks.count());
            return Some(line(&Actor::User(user.clone()), fact, about));
        }
        // Nobody else has tasks run again than users.
        Fact::TasksRerun(Chosen { tasks, by: by @ Actor::Coordinator, .. }) => {
            let names: Vec<String> = tasks.iter().flat_map(|range| range.tasks()).map(&task).collect();
            let why = "the machine that alone had answered was outvoted on another task";
            (by, format!("{}: {why}", names.join(", ")))
        }
        Fact::TasksCancelled(chosen)
        | Fact::TasksHeld(chosen)
        | Fact::TasksReleased(chosen)
        | Fact::TasksRerun(chosen) => (&chosen.by, tasks(chosen)),
        Fact::ResultsKept { job, by, .. } => (by, format!("job {job}")),
        Fact::ResultsRemoved { jobs, kept_for } => {
            let bytes: u64 = jobs.iter().map(|removed| removed.bytes).sum();
            let ids = jobs.iter().map(|removed| removed.job);
            (&Actor::Coordinator, format!("{}, {bytes} bytes, {}", named(ids), since(*kept_for)))
        }
        Fact::JobsForgotten { jobs, kept_for, .. } => (
            &Actor::Coordinator,
            format!("{}, {}", named(jobs.iter().map(|(job, _)| *job)), since(*kept_for)),
        ),
        Fact::RunEnded { run, answer: Some(answer), .. } if !answer.wrong.is_empty() => {
            let names: Vec<String> = answer.wrong.iter().map(|wrong| machine(*wrong)).collect();
            let about =
                format!("{}: another answer to {} than the others gave", names.join(", "), task(run.task));
            return Some(Told { by: Actor::Coordinator.to_string(), what: "outvoted", about });
        }
        Fact::RunEnded { .. }
        | Fact::AgentStarted { .. }
        | Fact::AgentReturned { .. }
        | Fact::LeaseExpired { .. }
        | Fact::MachineOpened { .. }
        | Fact::MachineProfiled { .. }
        | Fact::SpeedDoubted { .. }
        | Fact::OwnerLoadReported { .. }
        | Fact::TasksRetired(_)
        | Fact::TasksRevived(_)
        | Fact::ResultsGone(_)
        | Fact::TasksRested(_)
        | Fact::RunStarted(_)
        | Fact::ResultRefused { .. }
        | Fact::WokeUp { .. }
        | Fact::Decided { .. } => return None,
    };
    Some(line(by, fact, about))
}

/// What somebody may have at a time.
fn bounds(whose: &str, quota: Quota) -> String {
    let priority = quota.priority.map_or_else(String::new, |most| format!(", priorities up to {most}"));
    format!(
        "{whose}: {} tasks, {} in all, {} cores, {} bytes, {} bytes of requirements, {} of descriptions, {} requests/s{priority}",
        quota.tasks,
        quota.tasks_ever,
        quota.cores,
        quota.bytes,
        quota.requirement_bytes,
        quota.description_bytes,
        quota.requests_per_s
    )
}

fn line(by: &Actor, fact: &Fact, about: String) -> Told {
    Told { by: by.to_string(), what: live::text(fact), about }
}

fn tasks(chosen: &Chosen) -> String {
    let count: u32 = chosen.tasks.iter().map(|range| range.count()).sum();
    if count == 0 {
        format!("job {}, all tasks", chosen.job)
    } else {
        format!("job {}, {count} of its tasks", chosen.job)
    }
}

/// Jobs by their numbers, as ranges where they follow each other.
fn named(jobs: impl Iterator<Item = JobId>) -> String {
    let mut numbers: Vec<u32> = jobs.map(|JobId(number)| number).collect();
    numbers.sort_unstable();
    let ranges = numbers.chunk_by(|one, next| one + 1 == *next).map(|range| match range {
        [one] => one.to_string(),
        range => format!("{}-{}", range[0], range[range.len() - 1]),
    });
    format!("{} {}", if numbers.len() == 1 { "job" } else { "jobs" }, ranges.collect::<Vec<_>>().join(","))
}

fn since(kept_for: Span) -> String {
    format!("over for more than {} s", kept_for.seconds())
}

/// As much of a token's hash as tells it from others.
fn short(token: &str) -> &str {
    token.get(..8).unwrap_or(token)
}

/// Logs what was committed: what somebody did and what became of machines at info, each run at debug.
pub(crate) fn log(ledger: &Ledger, recorded: &[Recorded]) {
    let name = |agent: MachineId| ledger.agent(agent).name.clone();
    let called = |task: TaskId| {
        let (id, job) = ledger.job_of(task);
        format!("{id}/{}", job.number(task))
    };
    for Recorded { entry, .. } in recorded {
        let what = live::text(&entry.fact);
        match (&entry.fact, told(&entry.fact, name, called)) {
            (_, Some(Told { by, what, about })) => tracing::info!(by, about, "{what}"),
            (
                Fact::AgentStarted { agent, .. }
                | Fact::AgentReturned { agent, .. }
                | Fact::LeaseExpired { agent },
                None,
            ) => tracing::info!(machine = name(*agent), "{what}"),
            (Fact::MachineOpened { agent, why, by, .. }, None) => {
                tracing::info!(machine = name(*agent), %by, why, "{what}");
            }
            (Fact::RunEnded { run, agent, end, .. }, None) => {
                tracing::debug!(task = %run.task, run = run.number, machine = name(*agent), outcome = ?end.outcome, "{what}");
            }
            (Fact::RunStarted(run), None) => tracing::debug!(task = %run.task, run = run.number, "{what}"),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_wire::job::JobSpec;

    /// Between the two, and before them, rows of forgotten jobs are gone.
    #[test]
    fn tasks_behind_a_gap_have_the_names_of_their_jobs() {
        let mut names = TaskNames::default();
        for (job, first) in [(2, 100), (4, 300)] {
            let tasks = TaskList::Array { first: 1, last: 100, step: 1 };
            let spec = JobSpec { tasks, ..JobSpec::new(["true"]) };
            let (job, user) = (JobId(job), "ada".to_owned());
            let fact = Fact::JobSubmitted { job, user, spec: spec.into(), key: None, bytes: 0, described: 0 };
            let tasks = TaskRange::between(TaskId::new(first), TaskId::new(first + 99));
            names.note(&fact, &[tasks.expect("in order")]);
        }
        for (task, expected) in [(130, Some("2/31")), (199, Some("2/100")), (300, Some("4/1"))]
            .into_iter()
            .chain([99, 200, 299, 400].map(|task| (task, None)))
        {
            let task = TaskId::new(task);
            assert_eq!(names.name(task), expected.map_or_else(|| task.to_string(), str::to_owned));
        }
    }

    /// The coordinator has a reason that a user need not give.
    #[test]
    fn a_task_that_runs_again_since_its_machine_was_outvoted_is_named() {
        let tasks = vec![TaskRange::one(TaskId::new(7))];
        let about = |by| {
            let fact = Fact::TasksRerun(Chosen { job: JobId(2), tasks: tasks.clone(), by });
            told(&fact, |_| String::new(), |task| format!("2/{}", task.index())).expect("it is told").about
        };
        assert_eq!(about(Actor::User("ada".to_owned())), "job 2, 1 of its tasks");
        assert!(about(Actor::Coordinator).starts_with("2/7: the machine that alone had answered"));
    }
}
