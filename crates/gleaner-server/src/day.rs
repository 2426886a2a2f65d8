//! The last day, for people who look at it: the queue, each machine's owner and tasks, runs, and what users used.
//!
//! **In memory only, and bounded**: rings of samples and of runs, and so many jobs and users. Nothing is decided by it, so
//! that it may be gone after a start. The driver tells it of facts once they are committed.

mod machines;
mod runs;
mod usage;

use crate::desk::{Desk, Recorded};
use crate::journal::Fact;
use crate::limits::QUEUE_SAMPLES_KEPT;
use gleaner_core::Decision;
use gleaner_units::{Span, TaskId, Time};
use gleaner_wire::VERSION;
use gleaner_wire::day::{DayView, MachineDayList, QueueSample, RunList, UseList};
use machines::Machines;
use runs::Runs;
use std::collections::{BTreeMap, VecDeque};
use usage::Usages;

/// From one sample of the queue to the next.
const STEP: Span = Span::from_nanos(60_000_000_000);
/// Tasks that are on their way to a machine and of which it is remembered since when.
const ON_THEIR_WAY_MAX: usize = 65_536;

/// See the module.
#[derive(Debug)]
pub struct Day {
    began: Time,
    next_sample: Time,
    queue: VecDeque<QueueSample>,
    /// Of the tasks that started since the last sample.
    started: Started,
    placed: BTreeMap<TaskId, Time>,
    machines: Machines,
    runs: Runs,
    usages: Usages,
}

#[derive(Clone, Copy, Debug, Default)]
struct Started {
    tasks: u32,
    wait_s: f64,
    wait_max_s: f64,
}

impl Day {
    /// A day that begins.
    pub fn new(now: Time) -> Self {
        Self {
            began: now,
            next_sample: now,
            queue: VecDeque::new(),
            started: Started::default(),
            placed: BTreeMap::new(),
            machines: Machines::default(),
            runs: Runs::default(),
            usages: Usages::default(),
        }
    }

    /// Takes note of what was committed, and of how things stand if it is time for that.
    pub fn note(&mut self, desk: &Desk, now: Time, recorded: &[Recorded]) {
        for Recorded { entry, .. } in recorded {
            self.fact(desk, entry.at, &entry.fact);
        }
        // A machine is shown from when it joins.
        if self.machines.count() < desk.ledger().agents().len() {
            self.machines.sample(desk, now);
        }
        if now >= self.next_sample {
            self.sample(desk, now);
            self.next_sample = now + STEP;
        }
    }

    fn fact(&mut self, desk: &Desk, at: Time, fact: &Fact) {
        let ledger = desk.ledger();
        match fact {
            Fact::Decided { decisions, .. } => {
                for decision in decisions {
                    match *decision {
                        Decision::Start { task, .. } => self.placed(at, task),
                        Decision::Relocate { task, .. } => {
                            if let Some(from) = ledger.record(task).machine {
                                self.machines.moved_away(from);
                            }
                        }
                        Decision::StartWide { .. }
                        | Decision::Ask { .. }
                        | Decision::Replicate { .. }
                        | Decision::ReplicateWide { .. }
                        | Decision::Collect
                        | Decision::Plan { .. }
                        | Decision::Lending(_)
                        | Decision::Wake { .. } => {}
                    }
                }
            }
            Fact::RunStarted(run) => {
                let (_, job) = ledger.job_of(run.task);
                if run.number == 1 {
                    self.started.add(at.since(job.submitted).seconds());
                }
                let overhead = self.placed.remove(&run.task).map(|placed| at.since(placed).seconds());
                self.usages.started(ledger, run.task, overhead);
                if let Some(on) = ledger.record(run.task).machine {
                    self.runs.started(ledger, at, *run, on);
                }
            }
            Fact::RunEnded { run, agent, end } => {
                self.placed.remove(&run.task);
                let state = runs::state(&end.outcome);
                self.runs.ended(ledger, at, (*run, *agent), (state, end.usage.elapsed_s));
                self.usages.ended(ledger, at, run.task, (state, &end.usage));
            }
            Fact::ResultRefused { run, agent, end } => {
                let state = runs::state(&end.outcome);
                self.runs.ended(ledger, at, (*run, *agent), (state, end.usage.elapsed_s));
            }
            Fact::LeaseExpired { agent } | Fact::AgentStarted { agent, .. } => self.runs.lost(at, *agent),
            _ => {}
        }
    }

    fn placed(&mut self, at: Time, task: TaskId) {
        if self.placed.len() >= ON_THEIR_WAY_MAX {
            self.placed.clear();
        }
        self.placed.insert(task, at);
    }

    fn sample(&mut self, desk: &Desk, now: Time) {
        let tally = desk.ledger().tally();
        let Started { tasks, wait_s, wait_max_s } = std::mem::take(&mut self.started);
        if self.queue.len() == QUEUE_SAMPLES_KEPT {
            self.queue.pop_front();
        }
        self.queue.push_back(QueueSample {
            at_s: now.seconds(),
            waiting: tally.waiting,
            running: tally.running,
            suspended: tally.suspended,
            held: tally.held,
            started: tasks,
            wait_mean_s: wait_s / f64::from(tasks.max(1)),
            wait_max_s,
        });
        self.machines.sample(desk, now);
    }

    /// The queue.
    pub fn view(&self) -> DayView {
        let queue = self.queue.iter().copied().collect();
        DayView { version: VERSION, began_s: self.began.seconds(), step_s: STEP.seconds(), queue }
    }

    /// So many machines, from a position on.
    pub fn machines(&self, from: usize, limit: usize) -> MachineDayList {
        self.machines.view(from, limit)
    }

    /// The latest runs, of one user's tasks or of all.
    pub fn runs(&self, user: Option<&str>, limit: usize) -> RunList {
        let (runs, left_out) = self.runs.view(user, limit);
        RunList { version: VERSION, began_s: self.began.seconds(), runs, left_out }
    }

    /// What one user used, or all.
    pub fn usages(&self, user: Option<&str>, now: Time) -> UseList {
        let (users, jobs) = self.usages.view(user, now);
        UseList { version: VERSION, began_s: self.began.seconds(), users, jobs }
    }
}

impl Started {
    fn add(&mut self, wait_s: f64) {
        self.tasks += 1;
        self.wait_s += wait_s;
        self.wait_max_s = self.wait_max_s.max(wait_s);
    }
}
