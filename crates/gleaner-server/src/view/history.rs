//! A task's life, told from the rows of the journal that are about it.

use crate::desk::Desk;
use crate::journal::Fact;
use crate::ledger::{Ended, Tries, Verdict, Wish};
use crate::store::StoredRow;
use gleaner_core::Decision;
use gleaner_units::{MachineId, Span, TaskId, Time};
use gleaner_wire::VERSION;
use gleaner_wire::api::{Actor, History, TaskPhase, Transition};
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::{End, Outcome, Stored};
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

/// A task's life as it is read. Of a long one the latest steps are told.
pub struct Story<'a> {
    names: &'a HistoryNames,
    phase: TaskPhase,
    tries: Tries,
    /// How many runs it was given.
    runs: u32,
    /// The run that was sent out last and has not ended.
    run: Option<(u32, MachineId)>,
    /// The run that follows it elsewhere.
    next: Option<(u32, MachineId)>,
    /// When its program started, if it did.
    started: Option<Time>,
    checkpoint: Option<Stored>,
    wish: Option<Wish>,
    told: VecDeque<Transition>,
    told_max: usize,
    left_out: u64,
}

impl<'a> Story<'a> {
    /// A story of which nothing was read yet, and of which so many steps are to be told at most.
    pub fn new(names: &'a HistoryNames, told_max: usize) -> Self {
        Self {
            names,
            phase: TaskPhase::Waiting,
            tries: Tries::default(),
            runs: 0,
            run: None,
            next: None,
            started: None,
            checkpoint: None,
            wish: None,
            told: VecDeque::new(),
            told_max,
            left_out: 0,
        }
    }

    /// Reads on. Rows that say nothing of the task are passed over.
    pub fn read(&mut self, rows: &[StoredRow]) {
        for StoredRow { row, .. } in rows {
            // A damaged row is named by `gleaner journal verify`; the rest is still worth telling.
            if let Ok(fact) = serde_json::from_str(&row.body) {
                self.tell(row.at, &fact);
            }
        }
    }

    /// What was read.
    pub fn end(self) -> History {
        History { version: VERSION, left_out: self.left_out, transitions: self.told.into() }
    }

    fn tell(&mut self, at: Time, fact: &Fact) {
        match fact {
            Fact::JobSubmitted { user, spec, .. } => {
                self.phase = if spec.hold { TaskPhase::Held } else { TaskPhase::Waiting };
                self.add(at, "submitted".to_owned(), Actor::User(user.clone()));
            }
            Fact::Decided { decisions, .. } => {
                for decision in decisions {
                    self.decided(at, decision);
                }
            }
            Fact::RunStarted(run) if self.is_run(run.number) => {
                self.phase = TaskPhase::Running;
                self.started = Some(at);
                let actor = self.agent();
                self.add(at, "its program started".to_owned(), actor);
            }
            Fact::RunEnded { run, agent, end } => {
                self.run = Some((run.number, *agent));
                let verdict = self.verdict(at, end);
                self.over(at, ended(end, verdict), verdict);
            }
            Fact::ResultRefused { run, agent, .. } => {
                let machine = self.names.machines[agent.index()].clone();
                let cause = format!("a late result of run {} was refused", run.number);
                self.add(at, cause, Actor::Agent(machine));
            }
            Fact::LeaseExpired { agent } if self.next.is_some_and(|(_, to)| to == *agent) => {
                self.next = None;
                let cause = "the machine that it was to go to was not heard of until its lease ended";
                self.add(at, cause.to_owned(), Actor::Coordinator);
            }
            Fact::LeaseExpired { .. } => self.lost(at, "its machine was not heard of until its lease ended"),
            Fact::AgentStarted { .. } => self.lost(at, "its machine's agent was started afresh"),
            Fact::OwnerLoadReported { load, why, .. } => {
                self.phase = if *load >= 1.0 { TaskPhase::Suspended } else { TaskPhase::Running };
                let actor = self.agent();
                let cause = if why.is_empty() { "the owner's use of the machine changed" } else { why };
                self.add(at, cause.to_owned(), actor);
            }
            Fact::TasksCancelled(chosen) => self.wished(at, Wish::Cancel, chosen.by.clone()),
            Fact::TasksHeld(chosen) => self.wished(at, Wish::Hold, chosen.by.clone()),
            // It was to be held once its run ended, and is not any more.
            Fact::TasksReleased(chosen) if self.wish.take().is_some() => {
                self.add(at, "not to be held after all".to_owned(), chosen.by.clone());
            }
            Fact::TasksReleased(chosen) => self.again(at, "released", chosen.by.clone()),
            Fact::TasksRested(_) => self.again(at, "to be tried again after its failure", Actor::Coordinator),
            Fact::TasksRerun(chosen) => self.again(at, "to run again from its beginning", chosen.by.clone()),
            _ => {}
        }
    }

    fn decided(&mut self, at: Time, decision: &Decision) {
        let (task, on) = match *decision {
            Decision::Start { task, on } | Decision::Replicate { task, on } => (task, on),
            Decision::Relocate { task, to } => (task, to),
            Decision::StartWide { task, ref parts } | Decision::ReplicateWide { task, ref parts } => {
                (task, parts[0].on)
            }
            Decision::Collect | Decision::Plan { .. } | Decision::Lending(_) | Decision::Wake { .. } => {
                return;
            }
        };
        if task != self.names.task {
            return;
        }
        // Runs are numbered in the order in which they are decided.
        self.runs += 1;
        let new = (self.runs, on);
        let name = |machine: MachineId| &self.names.machines[machine.index()];
        match (decision, self.run) {
            (Decision::Relocate { .. }, Some((_, from))) => {
                let cause = format!("the policy moves it from {} to {}", name(from), name(on));
                self.add(at, cause, Actor::Coordinator);
                self.next = Some(new);
            }
            (Decision::Replicate { .. } | Decision::ReplicateWide { .. }, Some(_)) => {
                let cause = format!("the policy runs it on {} too", name(on));
                self.add(at, cause, Actor::Coordinator);
                self.next = Some(new);
            }
            _ => {
                self.run = Some(new);
                self.add(at, "placed by the policy".to_owned(), Actor::Coordinator);
            }
        }
    }

    /// As the ledger has it.
    fn verdict(&mut self, at: Time, end: &End) -> Verdict {
        let run = Ended {
            outcome: &end.outcome,
            lasted: self.started.map_or(Span::ZERO, |started| at.since(started)),
            was_asked_for: self.wish.is_some() || self.next.is_some(),
            got_further: end.checkpoint.is_some() && end.checkpoint != self.checkpoint,
        };
        if end.checkpoint.is_some() {
            self.checkpoint.clone_from(&end.checkpoint);
        }
        self.tries.verdict(&self.names.spec, run)
    }

    fn lost(&mut self, at: Time, cause: &str) {
        if self.run.is_some() {
            self.over(at, cause.to_owned(), Verdict::Again);
        }
    }

    fn over(&mut self, at: Time, cause: String, verdict: Verdict) {
        let wished = self.wish.take().map(|wish| match wish {
            Wish::Cancel => TaskPhase::Cancelled,
            Wish::Hold => TaskPhase::Held,
        });
        self.phase = match verdict {
            Verdict::Done => TaskPhase::Done,
            Verdict::Failed | Verdict::GivenUp => wished.unwrap_or(TaskPhase::Failed),
            Verdict::Again | Verdict::AgainAfter(_) => wished.unwrap_or(TaskPhase::Waiting),
        };
        let actor = self.agent();
        self.add(at, cause, actor);
        self.run = self.next.take();
        self.started = None;
    }

    fn wished(&mut self, at: Time, wish: Wish, by: Actor) {
        let (cause, phase) = match wish {
            Wish::Cancel => ("cancelled", TaskPhase::Cancelled),
            Wish::Hold => ("held", TaskPhase::Held),
        };
        if self.run.is_some() {
            self.wish = Some(wish);
            self.add(at, format!("to be {cause}; its run is being stopped"), by);
        } else {
            self.phase = phase;
            self.add(at, cause.to_owned(), by);
        }
    }

    fn again(&mut self, at: Time, cause: &str, by: Actor) {
        self.phase = TaskPhase::Waiting;
        self.add(at, cause.to_owned(), by);
    }

    fn is_run(&self, number: u32) -> bool {
        self.run.is_some_and(|(run, _)| run == number)
    }

    fn agent(&self) -> Actor {
        let name = self.run.map(|(_, on)| self.names.machines[on.index()].clone());
        name.map_or(Actor::Coordinator, Actor::Agent)
    }

    fn add(&mut self, at: Time, cause: String, actor: Actor) {
        let machine = self.run.map(|(_, on)| self.names.machines[on.index()].clone());
        let run = self.run.map(|(run, _)| run);
        if self.told.len() == self.told_max {
            self.told.pop_front();
            self.left_out += 1;
        }
        let at_s = at.seconds();
        self.told.push_back(Transition { at_s, phase: self.phase, cause, actor, run, machine });
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
