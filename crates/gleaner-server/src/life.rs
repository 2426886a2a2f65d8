//! A task's life: one fold over the facts that name it, which says what each of them was for the task.
//!
//! **The phase it comes to is that of the ledger's record**, which is folded together with the grid; but for whether a machine on
//! which the task begins is suspended, which no fact about the task says. The fault suite holds one to the other.

use crate::journal::Fact;
use crate::ledger::{Ended, Tries, Verdict, Wish};
use gleaner_core::{Decision, Stage};
use gleaner_units::{MachineId, RunId, Span, TaskId, Time};
use gleaner_wire::api::{Actor, TaskPhase};
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::{End, Stored};
use std::sync::Arc;

/// What a fact was for a task.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// A user handed it in.
    Submitted(Actor),
    /// It was given to a machine.
    Placed,
    /// It is to go on elsewhere.
    Moves {
        /// From there.
        from: MachineId,
        /// To there.
        to: MachineId,
    },
    /// It is to run on another machine too.
    Copied {
        /// Where.
        on: MachineId,
    },
    /// Its program started.
    Started,
    /// A run of it ended, and that counts.
    Ended(Box<End>, Verdict),
    /// A run of it ended after another had: what it did was for nothing.
    Wasted(Box<End>),
    /// A run ended that did not count any more.
    Refused,
    /// A run is out of reach, or vanished.
    Lost(Loss),
    /// The machine that it was to go to is out of reach.
    TargetLost,
    /// The owner's use of its machine changed, for this reason.
    OwnerCame(String),
    /// A user wants it gone or held, and its runs are being stopped.
    ToBe(Wish, Actor),
    /// A user has it gone or held.
    Is(Wish, Actor),
    /// It is not to be held after all.
    NotToBeHeld(Actor),
    /// It waits again since a user said so.
    Released(Actor),
    /// It waits again after a failure.
    Rested,
    /// The machine of a run that was given up is back: what it brings is heard before another gets the task.
    Awaited,
    /// It waits to run again from its beginning.
    Rerun(Actor),
}

/// Why nothing more is heard of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loss {
    /// Its machine was not heard of.
    Silence,
    /// Its agent was started afresh.
    Restart,
}

/// A step, and what things were like with it.
#[derive(Clone, PartialEq, Debug)]
pub struct Told {
    /// What happened.
    pub step: Step,
    /// The phase since.
    pub phase: TaskPhase,
    /// The run that it is about, and where that is; else one that the task has.
    pub run: Option<(RunId, MachineId)>,
}

#[derive(Clone, Copy, PartialEq, Debug)]
struct LiveRun {
    id: RunId,
    on: MachineId,
    stage: Stage,
    is_superseded: bool,
}

impl LiveRun {
    fn goes_on(&self) -> bool {
        matches!(self.stage, Stage::Sent | Stage::Running | Stage::Stopping)
    }
}

/// A task's life so far.
#[derive(Clone, Debug)]
pub struct Life {
    task: TaskId,
    spec: Arc<JobSpec>,
    phase: TaskPhase,
    tries: Tries,
    /// How many runs it was given.
    given: u32,
    /// Those that are not over, in order; what is missing among them.
    runs: Vec<LiveRun>,
    /// When its program started last, if it did since it was sent out.
    started: Option<Time>,
    checkpoint: Option<Stored>,
    wish: Option<Wish>,
    told: Vec<Told>,
}

impl Life {
    /// Before it was submitted.
    pub fn of(task: TaskId, spec: Arc<JobSpec>) -> Self {
        Self {
            task,
            spec,
            phase: TaskPhase::Waiting,
            tries: Tries::default(),
            given: 0,
            runs: Vec::new(),
            started: None,
            checkpoint: None,
            wish: None,
            told: Vec::new(),
        }
    }

    /// Where it is by now.
    pub fn phase(&self) -> TaskPhase {
        self.phase
    }

    /// The runs that a machine is at, or may be.
    pub fn live(&self) -> impl Iterator<Item = (RunId, MachineId)> {
        self.runs.iter().filter(|run| run.goes_on()).map(|run| (run.id, run.on))
    }

    /// What the next of the facts that name the task was for it.
    pub fn take(&mut self, at: Time, fact: &Fact) -> Vec<Told> {
        match fact {
            Fact::JobSubmitted { user, spec, .. } => {
                self.phase = if spec.hold { TaskPhase::Held } else { TaskPhase::Waiting };
                self.tell(Step::Submitted(Actor::User(user.clone())));
            }
            Fact::Decided { decisions, .. } => decisions.iter().for_each(|decision| self.decided(decision)),
            Fact::RunStarted(run) => self.run_started(at, *run),
            Fact::RunEnded { run, agent, end } => self.run_ended(at, (*run, *agent), end),
            Fact::ResultRefused { run, agent, end } => self.refused((*run, *agent), end),
            Fact::LeaseExpired { agent } => self.given_up(*agent),
            Fact::AgentStarted { agent, .. } => self.vanished(*agent),
            Fact::OwnerLoadReported { agent, load, why } => self.owner_came(*agent, *load, why),
            Fact::TasksCancelled(chosen) => self.wished(Wish::Cancel, chosen.by.clone()),
            Fact::TasksHeld(chosen) => self.wished(Wish::Hold, chosen.by.clone()),
            Fact::TasksReleased(chosen) => self.released(chosen.by.clone()),
            Fact::TasksRested(_) => self.tell(Step::Rested),
            Fact::AgentReturned { agent, brings } => {
                if let Some(run) = brings.iter().find(|run| run.task == self.task) {
                    self.tell_of(Some((*run, *agent)), Step::Awaited);
                }
            }
            Fact::TasksRerun(chosen) => self.rerun(chosen.by.clone()),
            Fact::CoordinatorStarted { .. }
            | Fact::PolicySet { .. }
            | Fact::PriceSet { .. }
            | Fact::QuotaSet { .. }
            | Fact::UserAdded { .. }
            | Fact::UserRemoved { .. }
            | Fact::JoinTokenIssued { .. }
            | Fact::JoinTokenRemoved { .. }
            | Fact::JournalRestored { .. }
            | Fact::AgentForgotten { .. }
            | Fact::SpeedDoubted { .. }
            | Fact::AgentEnrolled { .. }
            | Fact::AgentRevoked { .. }
            | Fact::MachineProfiled { .. }
            | Fact::MachineOpened { .. }
            | Fact::WokeUp { .. } => {}
        }
        std::mem::take(&mut self.told)
    }

    fn decided(&mut self, decision: &Decision) {
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
        if task != self.task {
            return;
        }
        // Runs are numbered in the order in which they are decided.
        self.given += 1;
        let id = RunId::new(task, self.given);
        let new = |stage| LiveRun { id, on, stage, is_superseded: false };
        match decision {
            Decision::Relocate { .. } => {
                let before = self.runs.iter_mut().find(|run| run.stage == Stage::Running);
                let from = before.map_or(on, |run| {
                    run.stage = Stage::Stopping;
                    run.on
                });
                self.tell(Step::Moves { from, to: on });
                self.runs.push(new(Stage::Held));
            }
            Decision::Replicate { .. } | Decision::ReplicateWide { .. } => {
                self.tell(Step::Copied { on });
                self.runs.push(new(Stage::Sent));
                self.sent();
            }
            _ => {
                self.runs = vec![new(Stage::Sent)];
                self.sent();
                self.tell(Step::Placed);
            }
        }
    }

    /// When the task's program started is asked for as long as one runs.
    fn sent(&mut self) {
        let runs = self.runs.iter().any(|run| run.stage == Stage::Running);
        self.started = self.started.filter(|_| runs);
    }

    fn run_started(&mut self, at: Time, id: RunId) {
        let sent = self.runs.iter_mut().find(|run| run.id == id && run.stage == Stage::Sent);
        let Some(run) = sent else { return };
        run.stage = Stage::Running;
        let about = (run.id, run.on);
        (self.started, self.phase) = (Some(at), TaskPhase::Running);
        self.tell_of(Some(about), Step::Started);
    }

    fn run_ended(&mut self, at: Time, (id, on): (RunId, MachineId), end: &End) {
        let run = self.take_out(id);
        let others = self.runs.iter().any(|run| run.stage != Stage::Missing);
        let stops = run.is_some_and(|run| run.stage == Stage::Stopping);
        let ended = Ended {
            outcome: &end.outcome,
            lasted: self.started.map_or(Span::ZERO, |started| at.since(started)),
            was_asked_for: stops || others || self.wish.is_some(),
            got_further: end.checkpoint.is_some() && end.checkpoint != self.checkpoint,
        };
        let verdict = self.tries.verdict(&self.spec, ended);
        if end.checkpoint.is_some() {
            self.checkpoint.clone_from(&end.checkpoint);
        }
        match verdict {
            Verdict::Done => self.finish(TaskPhase::Done),
            Verdict::Failed | Verdict::GivenUp if self.wish.is_none() => self.finish(TaskPhase::Failed),
            Verdict::Failed | Verdict::GivenUp | Verdict::Again | Verdict::AgainAfter(_) => self.over(),
        }
        self.tell_of(Some((id, on)), Step::Ended(Box::new(end.clone()), verdict));
    }

    /// What is left of it counts no more.
    fn finish(&mut self, phase: TaskPhase) {
        (self.phase, self.wish) = (phase, None);
        self.runs.retain(LiveRun::goes_on);
        for run in &mut self.runs {
            (run.stage, run.is_superseded) = (Stage::Stopping, true);
        }
    }

    fn refused(&mut self, (id, on): (RunId, MachineId), end: &End) {
        let is_known = |run: &LiveRun| run.id == id && run.on == on && run.stage != Stage::Held;
        let known = self.runs.iter().copied().find(is_known);
        if known.is_some() {
            self.take_out(id);
            self.over();
        }
        let is_waste = known.is_some_and(|run| run.is_superseded);
        let step = if is_waste { Step::Wasted(Box::new(end.clone())) } else { Step::Refused };
        self.tell_of(Some((id, on)), step);
    }

    fn given_up(&mut self, agent: MachineId) {
        for run in self.runs.clone().into_iter().filter(|run| run.on == agent) {
            let is_other_held =
                self.runs.iter().any(|other| other.stage == Stage::Held && other.id != run.id);
            match run.stage {
                Stage::Missing => continue,
                Stage::Held => {
                    self.take_out(run.id);
                    self.tell(Step::TargetLost);
                    continue;
                }
                Stage::Sent | Stage::Running | Stage::Stopping if is_other_held || self.phase.is_over() => {
                    self.take_out(run.id);
                }
                Stage::Sent | Stage::Running | Stage::Stopping => {
                    let there = self.runs.iter_mut().find(|other| other.id == run.id);
                    there.expect("it was just found").stage = Stage::Missing;
                }
            }
            self.over();
            self.tell_of(Some((run.id, run.on)), Step::Lost(Loss::Silence));
        }
    }

    fn vanished(&mut self, agent: MachineId) {
        for run in self.runs.clone().into_iter().filter(|run| run.on == agent && run.goes_on()) {
            self.take_out(run.id);
            self.over();
            self.tell_of(Some((run.id, run.on)), Step::Lost(Loss::Restart));
        }
    }

    fn take_out(&mut self, id: RunId) -> Option<LiveRun> {
        let place = self.runs.iter().position(|run| run.id == id)?;
        Some(self.runs.remove(place))
    }

    /// A run is over, and the task is not: what was held for it is sent, or the task goes where its user wants it, or back into
    /// the queue.
    fn over(&mut self) {
        if !self.runs.iter().any(LiveRun::goes_on)
            && let Some(held) = self.runs.iter_mut().find(|run| run.stage == Stage::Held)
        {
            held.stage = Stage::Sent;
            self.sent();
        }
        let runs = self.runs.iter().any(|run| run.stage == Stage::Running);
        if runs || self.phase == TaskPhase::Held || self.phase.is_over() {
            return;
        }
        match self.wish {
            Some(_) if self.runs.iter().any(LiveRun::goes_on) => {}
            Some(wish) => (self.wish, self.phase) = (None, wish.phase()),
            None => self.phase = TaskPhase::Waiting,
        }
    }

    fn owner_came(&mut self, agent: MachineId, load: f64, why: &str) {
        if matches!(self.phase, TaskPhase::Running | TaskPhase::Suspended) {
            self.phase = if load >= 1.0 { TaskPhase::Suspended } else { TaskPhase::Running };
        }
        let there = self.runs.iter().find(|run| run.on == agent && run.goes_on());
        self.tell_of(there.map(|run| (run.id, run.on)), Step::OwnerCame(why.to_owned()));
    }

    fn wished(&mut self, wish: Wish, by: Actor) {
        if !self.runs.iter().any(LiveRun::goes_on) {
            self.phase = wish.phase();
            self.tell(Step::Is(wish, by));
            return;
        }
        self.wish = Some(wish);
        self.runs.retain(|run| run.stage != Stage::Held);
        for run in self.runs.iter_mut().filter(|run| run.goes_on()) {
            run.stage = Stage::Stopping;
        }
        self.tell(Step::ToBe(wish, by));
    }

    fn released(&mut self, by: Actor) {
        self.wish = None;
        if self.phase == TaskPhase::Held {
            self.phase = TaskPhase::Waiting;
            self.tell(Step::Released(by));
        } else {
            self.tell(Step::NotToBeHeld(by));
        }
    }

    fn rerun(&mut self, by: Actor) {
        let (task, spec, given) = (self.task, Arc::clone(&self.spec), self.given);
        let runs = self.runs.iter().filter(|run| run.stage != Stage::Missing);
        let runs = runs.map(|run| LiveRun { is_superseded: true, ..*run }).collect();
        *self = Self { given, runs, ..Self::of(task, spec) };
        self.tell(Step::Rerun(by));
    }

    fn tell(&mut self, step: Step) {
        let there = self.runs.iter().find(|run| run.stage != Stage::Missing);
        self.tell_of(there.map(|run| (run.id, run.on)), step);
    }

    fn tell_of(&mut self, run: Option<(RunId, MachineId)>, step: Step) {
        self.told.push(Told { step, phase: self.phase, run });
    }
}
