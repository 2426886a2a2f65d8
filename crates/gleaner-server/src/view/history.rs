//! A task's life, told from the rows of the journal that are about it.

use crate::desk::Desk;
use crate::ledger::{Verdict, Wish};
use crate::life::{Life, Loss, Step, Told};
use crate::store::StoredRow;
use gleaner_units::{MachineId, TaskId, Time};
use gleaner_wire::VERSION;
use gleaner_wire::api::{Actor, History, Transition};
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::{End, Outcome};
use std::collections::VecDeque;
use std::sync::Arc;

/// What the rows alone do not say.
#[derive(Clone, Debug)]
pub struct HistoryNames {
    task: TaskId,
    spec: Arc<JobSpec>,
    machines: Vec<String>,
}

/// What is needed to tell of a task. Costs O(machines).
///
/// # Panics
/// For a task that no job has.
pub fn history_names(desk: &Desk, task: TaskId) -> HistoryNames {
    let ledger = desk.ledger();
    let machines = ledger.agents().iter().map(|agent| agent.name.clone()).collect();
    HistoryNames { task, spec: Arc::clone(&ledger.job_of(task).1.spec), machines }
}

/// A task's life as it is read, in words. Of a long one the latest steps are told.
pub struct Story<'a> {
    names: &'a HistoryNames,
    life: Life,
    told: VecDeque<Transition>,
    told_max: usize,
    left_out: u64,
}

impl<'a> Story<'a> {
    /// A story of which nothing was read yet, and of which so many steps are to be told at most.
    pub fn new(names: &'a HistoryNames, told_max: usize) -> Self {
        let life = Life::of(names.task, Arc::clone(&names.spec));
        Self { names, life, told: VecDeque::new(), told_max, left_out: 0 }
    }

    /// Reads on. Rows that say nothing of the task are passed over.
    pub fn read(&mut self, rows: &[StoredRow]) {
        for StoredRow { row, .. } in rows {
            // A damaged row is named by `gleaner journal verify`; the rest is still worth telling.
            if let Ok(fact) = serde_json::from_str(&row.body) {
                for told in self.life.take(row.at, &fact) {
                    self.tell(row.at, told);
                }
            }
        }
    }

    /// What was read.
    pub fn end(self) -> History {
        History { version: VERSION, left_out: self.left_out, transitions: self.told.into() }
    }

    fn tell(&mut self, at: Time, Told { step, phase, run }: Told) {
        let name = |machine: MachineId| self.names.machines[machine.index()].clone();
        let machine = run.map(|(_, on)| name(on));
        let agent = || machine.clone().map_or(Actor::Coordinator, Actor::Agent);
        let coordinator = |cause: &str| (cause.to_owned(), Actor::Coordinator);
        let (cause, actor) = match step {
            Step::Submitted(by) => ("submitted".to_owned(), by),
            Step::Placed => coordinator("placed by the policy"),
            Step::Moves { from, to } => {
                coordinator(&format!("the policy moves it from {} to {}", name(from), name(to)))
            }
            Step::Copied { on } => coordinator(&format!("the policy runs it on {} too", name(on))),
            Step::Started => ("its program started".to_owned(), agent()),
            Step::Ended(end, verdict) => (ended(&end, verdict), agent()),
            Step::Wasted(end) => {
                let seconds = end.usage.elapsed_s;
                let told = format!(
                    "stopped, since another run of it came to its end first; {seconds:.1} s of work were for nothing"
                );
                (told, agent())
            }
            Step::Refused => {
                let number = run.map_or(0, |(run, _)| run.number);
                (format!("a late result of run {number} was refused"), agent())
            }
            Step::Lost(Loss::Silence) => {
                ("its machine was not heard of until its lease ended".to_owned(), agent())
            }
            Step::Lost(Loss::Restart) => ("its machine's agent was started afresh".to_owned(), agent()),
            Step::TargetLost => {
                coordinator("the machine that it was to go to was not heard of until its lease ended")
            }
            Step::OwnerCame(why) if why.is_empty() => {
                ("the owner's use of the machine changed".to_owned(), agent())
            }
            Step::OwnerCame(why) => (why, agent()),
            Step::ToBe(wish, by) => (format!("to be {}; its run is being stopped", wished(wish)), by),
            Step::Is(wish, by) => (wished(wish).to_owned(), by),
            Step::NotToBeHeld(by) => ("not to be held after all".to_owned(), by),
            Step::Released(by) => ("released".to_owned(), by),
            Step::Rested => coordinator("to be tried again"),
            Step::Awaited => (
                "the machine of its last run is back: what it brings is heard before another gets the task"
                    .to_owned(),
                agent(),
            ),
            Step::Rerun(by) => ("to run again from its beginning".to_owned(), by),
        };
        if self.told.len() == self.told_max {
            self.told.pop_front();
            self.left_out += 1;
        }
        let run = run.map(|(run, _)| run.number);
        self.told.push_back(Transition { at_s: at.seconds(), phase, cause, actor, run, machine });
    }
}

fn wished(wish: Wish) -> &'static str {
    match wish {
        Wish::Cancel => "cancelled",
        Wish::Hold => "held",
    }
}

/// In words.
pub(super) fn outcome(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Exited { code } => format!("its program ended with exit code {code}"),
        Outcome::Signalled { signal } => format!("signal {signal} ended its program"),
        Outcome::Stopped => "its run was stopped".to_owned(),
        Outcome::TimedOut => "it took longer than its time limit".to_owned(),
        Outcome::OverLimit { what } => format!("it used more than it may: {what}"),
        Outcome::Abandoned { why } => format!("its run was given up: {why}"),
        Outcome::NotStarted { why } => format!("it could not be started: {why}"),
    }
}

fn ended(end: &End, verdict: Verdict) -> String {
    let mut told = outcome(&end.outcome);
    if end.checkpoint.is_some() {
        told.push_str("; its checkpoint is stored");
    }
    for note in &end.notes {
        told.push_str("; ");
        told.push_str(note);
    }
    if verdict == Verdict::GivenUp {
        told.push_str("; too many runs in a row came to nothing");
    }
    told
}
