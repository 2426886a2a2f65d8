//! The last day, for people who look at it: the queue, each machine's owner and tasks, runs, and what users used.
//!
//! **Bounded**: rings of samples and of runs, and so many jobs and users; what is older than a day is forgotten. Nothing is
//! decided by it. The driver tells it of facts once they are committed. **A start makes it of the journal**, with the ledger
//! (`recovery.rs`): what was measured since the last fact, and nobody wrote down, is gone.

mod machines;
mod runs;
mod usage;
mod waits;

use crate::desk::{Desk, Recorded};
use crate::journal::{Entry, Fact, Judged};
use crate::ledger::Ledger;
use crate::limits::QUEUE_SAMPLES_KEPT;
use gleaner_core::{Decision, Judgement};
use gleaner_units::{MachineId, RunId, Span, TaskId, Time};
use gleaner_wire::VERSION;
use gleaner_wire::day::{DayView, MachineDayList, QueueSample, RunList, RunState, UseList};
use machines::Machines;
use runs::Runs;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use usage::{Ran, Usages};
pub use waits::Waits;

/// From one sample of the queue to the next.
const STEP: Span = Span::from_nanos(60_000_000_000);
/// How long anything is remembered.
const DAY: Span = Span::from_nanos(24 * 3_600_000_000_000);
/// Tasks that are on their way to a machine and of which it is remembered since when; tasks that came back from one, or whose answers
/// are compared.
const ON_THEIR_WAY_MAX: usize = 65_536;

/// See the module.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Day {
    /// When the first fact came.
    began: Time,
    next_sample: Time,
    queue: VecDeque<QueueSample>,
    /// Of the tasks that started since the last sample.
    started: Started,
    placed: BTreeMap<TaskId, Time>,
    /// Tasks that never started, though runs of theirs were over: machines gave them back.
    #[serde(skip)]
    given_back: BTreeSet<TaskId>,
    machines: Machines,
    runs: Runs,
    usages: Usages,
    /// How many seconds runs took that ended well and said something of tasks whose answers are compared, and where.
    said: BTreeMap<TaskId, Vec<(MachineId, f64)>>,
    /// Since the coordinator started.
    #[serde(skip)]
    waits: Waits,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Started {
    tasks: u32,
    wait_s: f64,
    wait_max_s: f64,
}

impl Day {
    /// Takes note of what was committed, and of how things stand if it is time for that.
    pub fn note(&mut self, desk: &Desk, now: Time, recorded: &[Recorded]) {
        let ledger = desk.ledger();
        for Recorded { entry, .. } in recorded {
            self.fact(ledger, entry.at, &entry.fact);
        }
        let owner = |machine| {
            let measured = desk.sample(machine).map(|sample| sample.load);
            desk.is_connected(machine).then(|| measured.unwrap_or(ledger.agent(machine).load))
        };
        // A machine is shown from when it joins.
        if self.machines.count() < ledger.agents().len() {
            self.machines.sample(ledger, now, owner);
        }
        if now >= self.next_sample {
            self.sample(ledger, now, owner);
        }
    }

    /// Takes note of a fact of the journal that the ledger has taken in.
    pub fn read(&mut self, ledger: &Ledger, entry: &Entry) {
        self.fact(ledger, entry.at, &entry.fact);
    }

    /// How things stood until a fact of the journal that the ledger has yet to take in, a sample a minute. Costs O(machines)
    /// for each.
    pub fn pass(&mut self, ledger: &Ledger, Entry { at, fact }: &Entry) {
        // How things stood while it was not up, or slept, nobody knows.
        let until = match fact {
            Fact::CoordinatorStarted { .. } => Time::ZERO,
            Fact::CoordinatorSlept { length } => Time::from_nanos(at.nanos().saturating_sub(length.nanos())),
            _ => *at,
        };
        self.next_sample = self.next_sample.max(before(*at));
        while self.next_sample < until {
            self.sample(ledger, self.next_sample, |machine| {
                let agent = ledger.agent(machine);
                (!agent.lost).then_some(agent.load)
            });
        }
        if until < *at {
            self.next_sample = self.next_sample.max(*at);
        }
    }

    fn fact(&mut self, ledger: &Ledger, at: Time, fact: &Fact) {
        if self.began == Time::ZERO {
            self.began = at;
        }
        match fact {
            Fact::Decided { decisions, .. } => {
                for decision in decisions {
                    match *decision {
                        Decision::Start { task, .. } | Decision::Follow { task, .. } => self.placed(at, task),
                        Decision::Relocate { task, .. } => {
                            if let Some(from) = ledger.record(task).machine {
                                self.machines.moved_away(from);
                            }
                        }
                        Decision::StartWide { .. }
                        | Decision::TakeBack { .. }
                        | Decision::Ask { .. }
                        | Decision::Survey { .. }
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
                let was_given_back = self.given_back.remove(&run.task);
                if run.number == 1 || was_given_back {
                    let wait_s = at.since(job.submitted).seconds();
                    self.started.add(wait_s);
                    self.waits.add(job, wait_s);
                }
                let overhead = self.placed.remove(&run.task).map(|placed| at.since(placed).seconds());
                self.usages.started(ledger, at, run.task, overhead);
                if let Some(on) = ledger.record(run.task).machine {
                    self.runs.started(ledger, at, *run, on);
                }
            }
            Fact::RunEnded { run, agent, end, answer, .. } => {
                self.placed.remove(&run.task);
                self.note_given_back(ledger, *run);
                let state = runs::state(&end.outcome, again(ledger, *run));
                let began = self.runs.ended(ledger, at, (*run, *agent), (state, end.usage.elapsed_s));
                let is_waste = state != RunState::Done && end.checkpoint.is_none();
                // What was given back or lost before it began used nothing.
                if began || matches!(state, RunState::Done | RunState::Failed) {
                    self.usages.ended(ledger, at, run.task, Ran { state, usage: &end.usage, is_waste });
                }
                if let Some(judged) = answer {
                    let lasted_s = if is_waste { 0.0 } else { end.usage.elapsed_s };
                    let outvoted_s = self.outvoted_s((run.task, *agent), judged, lasted_s);
                    self.usages.outvoted(ledger, at, run.task, outvoted_s);
                }
            }
            Fact::ResultRefused { run, agent, end } => {
                let state = runs::state(&end.outcome, again(ledger, *run));
                if self.runs.refused(ledger, at, (*run, *agent), (state, end.usage.elapsed_s)) {
                    let ran = Ran { state: RunState::Lost, usage: &end.usage, is_waste: true };
                    self.usages.ended(ledger, at, run.task, ran);
                }
            }
            Fact::LeaseExpired { agent } => self.runs.lost(at, *agent, &[]),
            Fact::AgentStarted { agent, brings, .. } => self.runs.lost(at, *agent, brings),
            _ => {}
        }
    }

    /// How long runs of a task took that are outvoted now, and that were not for nothing before.
    fn outvoted_s(&mut self, (task, on): (TaskId, MachineId), judged: &Judged, lasted_s: f64) -> f64 {
        if judged.judgement == Judgement::Void {
            return 0.0;
        }
        if self.said.len() >= ON_THEIR_WAY_MAX && !self.said.contains_key(&task) {
            self.said.pop_first();
        }
        self.said.entry(task).or_default().push((on, lasted_s));
        match judged.judgement {
            Judgement::Kept | Judgement::Void => 0.0,
            Judgement::Agreed | Judgement::Disputed => {
                let said = self.said.remove(&task).unwrap_or_default();
                said.iter().filter(|(on, _)| judged.wrong.contains(on)).map(|(_, lasted_s)| lasted_s).sum()
            }
        }
    }

    /// Takes note of a task whose run is over and never began, as no run of it did.
    fn note_given_back(&mut self, ledger: &Ledger, run: RunId) {
        let never_began = run.number == 1 || self.given_back.contains(&run.task);
        if self.runs.is_going_on(run) || !never_began || ledger.record(run.task).phase.is_over() {
            self.given_back.remove(&run.task);
        } else if self.given_back.len() < ON_THEIR_WAY_MAX {
            self.given_back.insert(run.task);
        }
    }

    fn placed(&mut self, at: Time, task: TaskId) {
        if self.placed.len() >= ON_THEIR_WAY_MAX {
            self.placed.clear();
        }
        self.placed.insert(task, at);
    }

    fn sample(&mut self, ledger: &Ledger, now: Time, owner: impl Fn(MachineId) -> Option<f64>) {
        let tally = ledger.tally();
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
        self.machines.sample(ledger, now, owner);
        self.forget(before(now));
        self.next_sample = now + STEP;
    }

    /// Costs O(what is forgotten), and O(jobs and runs that were lost).
    fn forget(&mut self, until: Time) {
        while self.queue.front().is_some_and(|sample| sample.at_s < until.seconds()) {
            self.queue.pop_front();
        }
        self.runs.forget(until);
        self.usages.forget(until);
    }

    /// Since when there is anything.
    fn began_s(&self, now: Time) -> f64 {
        self.began.max(before(now)).seconds()
    }

    /// The queue.
    pub fn view(&self, now: Time) -> DayView {
        let queue = self.queue.iter().copied().collect();
        DayView { version: VERSION, began_s: self.began_s(now), step_s: STEP.seconds(), queue }
    }

    /// So many machines, from a position on.
    pub fn machines(&self, from: usize, limit: usize) -> MachineDayList {
        self.machines.view(from, limit)
    }

    /// The latest runs, of one user's tasks or of all.
    pub fn runs(&self, user: Option<&str>, limit: usize, now: Time) -> RunList {
        let (runs, left_out) = self.runs.view(user, limit);
        RunList { version: VERSION, began_s: self.began_s(now), runs, left_out }
    }

    /// How long tasks waited.
    pub fn waits(&self) -> Waits {
        self.waits.clone()
    }

    /// What one user used, or all.
    pub fn usages(&self, user: Option<&str>, now: Time) -> UseList {
        let (users, jobs) = self.usages.view(user, now);
        UseList { version: VERSION, began_s: self.began_s(now), users, jobs }
    }
}

/// A day before a moment.
fn before(now: Time) -> Time {
    Time::from_nanos(now.nanos().saturating_sub(DAY.nanos()))
}

impl Started {
    fn add(&mut self, wait_s: f64) {
        self.tasks += 1;
        self.wait_s += wait_s;
        self.wait_max_s = self.wait_max_s.max(wait_s);
    }
}

/// The exit code by which a run's program says that it is to be run again.
fn again(ledger: &Ledger, run: RunId) -> Option<i32> {
    ledger.find_job_of(run.task)?.1.spec.checkpoint.exit_code
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A policy's alarms are no sleep of its machine.
    #[test]
    fn what_is_made_of_the_journal_has_a_hole_where_the_coordinator_slept() {
        let (mut day, ledger) = (Day::default(), Ledger::new());
        let at = |seconds: u64| Time::from_nanos(2 * DAY.nanos() + seconds * 1_000_000_000);
        let mut pass = |seconds, fact| day.pass(&ledger, &Entry { at: at(seconds), fact });
        let (lineage, program) = (gleaner_wire::Lineage::of([1; 8]), "test".to_owned());
        pass(0, Fact::CoordinatorStarted { epoch: 1, lineage, program, seed: 1, policy: None });
        for half_minute in 1..=6 {
            pass(30 * half_minute, Fact::WokeUp { alarm: gleaner_core::Alarm::Batch });
        }
        pass(780, Fact::CoordinatorSlept { length: Span::from_nanos(600 * 1_000_000_000) });
        pass(870, Fact::TasksRested(Vec::new()));
        let view = day.view(at(870));
        let seen: Vec<f64> = view.queue.iter().map(|sample| sample.at_s - at(0).seconds()).collect();
        assert_eq!(seen, [0.0, 60.0, 120.0, 780.0, 840.0]);
    }

    #[test]
    fn so_many_samples_of_the_queue_are_kept() {
        let (mut day, ledger) = (Day::default(), Ledger::new());
        // Closer to each other than they usually are, so that none is too old.
        let began = DAY.nanos() * 2;
        let mut sample = |number: u64| {
            let at = Time::from_nanos(began + number);
            day.sample(&ledger, at, |_| None);
            let view = day.view(at);
            (view.queue.len(), view.queue[0].at_s)
        };
        for number in 0..QUEUE_SAMPLES_KEPT as u64 {
            sample(number * 1_000_000_000);
        }
        let next = |number: usize| number as u64 * 1_000_000_000;
        let first_s = Time::from_nanos(began).seconds();
        assert_eq!(sample(next(QUEUE_SAMPLES_KEPT)), (QUEUE_SAMPLES_KEPT, first_s + 1.0));
    }
}
