//! The journal's rows as the checker reads them: by task, without the ledger's help.

use super::history::{History, Seen};
use gleaner_core::Decision;
use gleaner_server::journal::{Chosen, Fact, Judged};
use gleaner_units::{MachineId, RunId, TaskId, Time};
use gleaner_wire::Lineage;
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::End;
use std::sync::Arc;

/// All facts, each with the moment in truth when it was on the disk.
pub(crate) struct Journal {
    pub(crate) facts: Vec<Written>,
    jobs: Vec<(usize, Arc<JobSpec>)>,
    /// By job, whose it is.
    users: Vec<String>,
    /// Of each start, what it drew.
    starts: Vec<Lineage>,
}

pub(crate) struct Written {
    /// On the coordinator's clock.
    pub(crate) at: Time,
    pub(crate) durable: Time,
    /// How many starts there were by then.
    epoch: usize,
    pub(crate) fact: Fact,
}

/// What a fact says of one task.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step<'a> {
    /// It is to run there, as that run.
    Sent(u32, MachineId),
    Ended(RunId, MachineId, &'a End, Option<&'a Judged>),
    Cancelled,
    /// It runs again from its beginning; surely so only if it is named.
    Rerun,
    RerunIfOver,
}

impl Journal {
    pub(crate) fn read(history: &History) -> Result<Self, String> {
        let mut journal = Self { facts: Vec::new(), jobs: Vec::new(), users: Vec::new(), starts: Vec::new() };
        let mut commits = history.seen.iter().filter_map(|(at, seen)| match seen {
            Seen::Committed { rows } => Some((*at, *rows)),
            _ => None,
        });
        let mut commit = commits.next();
        for stored in &history.rows {
            while commit.is_some_and(|(_, rows)| rows < stored.seq.number()) {
                commit = commits.next();
            }
            let (durable, _) = commit.ok_or("a row that nobody committed")?;
            let fact: Fact = serde_json::from_str(&stored.row.body).map_err(|error| error.to_string())?;
            if let Fact::JobSubmitted { user, spec, .. } = &fact {
                let first = journal.tasks().count();
                journal.jobs.push((first, Arc::clone(spec)));
                journal.users.push(user.clone());
            }
            if let Fact::CoordinatorStarted { lineage, .. } = &fact {
                journal.starts.push(*lineage);
            }
            let epoch = journal.starts.len();
            journal.facts.push(Written { at: stored.row.at, durable, epoch, fact });
        }
        Ok(journal)
    }

    pub(crate) fn tasks(&self) -> impl Iterator<Item = TaskId> + use<> {
        let count = self.jobs.last().map_or(0, |(first, spec)| first + spec.tasks.count() as usize);
        (0..count).map(TaskId::new)
    }

    /// The job of a task, and its number from 0.
    pub(crate) fn job_of(&self, task: TaskId) -> (usize, &JobSpec) {
        let number = self.jobs.partition_point(|(first, _)| *first <= task.index()) - 1;
        (number, &self.jobs[number].1)
    }

    /// Whose a task is.
    pub(crate) fn user_of(&self, task: TaskId) -> &str {
        &self.users[self.job_of(task).0]
    }

    /// How many machines have to give the same answer.
    pub(crate) fn quorum(&self, task: TaskId) -> u32 {
        self.job_of(task).1.quorum
    }

    /// Whether a run that an agent was ordered under this start may be the one that is in the journal: of a past that is
    /// no more, another task's run may have had its number.
    pub(crate) fn has(&self, run: RunId, lineage: Lineage) -> bool {
        let sent = self.steps(run.task).find_map(|(written, step)| match step {
            Step::Sent(number, _) if number == run.number => Some(written.epoch),
            _ => None,
        });
        sent.is_some_and(|epoch| self.starts[epoch - 1..].contains(&lineage))
    }

    /// What happened to a task, in order.
    pub(crate) fn steps(&self, task: TaskId) -> impl Iterator<Item = (&Written, Step<'_>)> {
        let mut runs = 0;
        self.facts.iter().flat_map(move |written| {
            let steps = self.steps_of(&written.fact, task, &mut runs);
            steps.into_iter().map(move |step| (written, step))
        })
    }

    /// Runs are numbered in the order in which they are decided.
    fn steps_of<'a>(&self, fact: &'a Fact, task: TaskId, runs: &mut u32) -> Vec<Step<'a>> {
        match fact {
            Fact::Decided { decisions, .. } => decisions
                .iter()
                .filter_map(|decision| match *decision {
                    Decision::Start { task: of, on }
                    | Decision::Follow { task: of, on, .. }
                    | Decision::Replicate { task: of, on }
                    | Decision::Relocate { task: of, to: on }
                        if of == task =>
                    {
                        *runs += 1;
                        Some(Step::Sent(*runs, on))
                    }
                    _ => None,
                })
                .collect(),
            Fact::RunEnded { run, agent, end, answer, .. } if run.task == task => {
                vec![Step::Ended(*run, *agent, end, answer.as_deref())]
            }
            Fact::TasksCancelled(chosen) if self.chooses(chosen, task) => vec![Step::Cancelled],
            Fact::TasksRerun(chosen) if names(chosen, task) => vec![Step::Rerun],
            Fact::TasksRerun(chosen) if self.chooses(chosen, task) => vec![Step::RerunIfOver],
            _ => Vec::new(),
        }
    }

    pub(crate) fn chooses(&self, chosen: &Chosen, task: TaskId) -> bool {
        let (first, spec) = &self.jobs[chosen.job.0 as usize - 1];
        let all = *first..first + spec.tasks.count() as usize;
        if chosen.tasks.is_empty() { all.contains(&task.index()) } else { names(chosen, task) }
    }
}

fn names(chosen: &Chosen, task: TaskId) -> bool {
    chosen.tasks.iter().any(|range| range.contains(task))
}
