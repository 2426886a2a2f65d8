//! A task's life, folded from the facts that name it alone: the steps that the ledger says of it, for whoever has no ledger
//! of that time.
//!
//! What a step makes of a task is [`Record`]'s own; which runs the task has, the ledger asks the grid, and a life notes.
//! **Both tell the same steps of the same facts**, but for whether a machine on which a task begins is suspended, which no
//! fact about the task says. The fault suite holds each to the other.

mod words;

pub(crate) use words::words;

use crate::journal::{Chosen, Fact, Judged};
use crate::ledger::{Ending, Loss, Others, Record, Step, Told, Wish};
use crate::store::TaskRange;
use gleaner_core::{Decision, Stage};
use gleaner_units::{MachineId, RunId, TaskId, Time};
use gleaner_wire::api::TaskPhase;
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::End;
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Clone, Copy, PartialEq, Debug)]
struct LiveRun {
    id: RunId,
    on: MachineId,
    stage: Stage,
    is_superseded: bool,
    /// Unless it has begun.
    is_asked_back: bool,
    /// Of what is missing: whether it had begun.
    is_silent: bool,
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
    record: Record,
    /// How many runs it was given.
    given: u32,
    /// Those that are not over, in order; what is missing among them.
    runs: Vec<LiveRun>,
    /// Machines whose owners came while a run was there, and have not left since.
    suspended: BTreeSet<MachineId>,
    told: Vec<Told>,
}

impl Life {
    /// Before it was submitted.
    pub fn of(task: TaskId, spec: Arc<JobSpec>) -> Self {
        let (runs, suspended, told) = (Vec::new(), BTreeSet::new(), Vec::new());
        Self { task, spec, record: Record::default(), given: 0, runs, suspended, told }
    }

    /// Where it is by now.
    pub fn phase(&self) -> TaskPhase {
        self.record.phase
    }

    /// The runs that a machine is at, or may be.
    pub fn live(&self) -> impl Iterator<Item = (RunId, MachineId)> {
        self.runs.iter().filter(|run| run.goes_on()).map(|run| (run.id, run.on))
    }

    /// What the next of the facts that name the task was for it.
    pub fn take(&mut self, at: Time, fact: &Fact) -> Vec<Told> {
        match fact {
            Fact::JobSubmitted { spec, .. } => {
                self.record.phase = if spec.hold { TaskPhase::Held } else { TaskPhase::Waiting };
                self.tell(None, Step::Submitted);
            }
            Fact::Decided { decisions, .. } => decisions.iter().for_each(|decision| self.decided(decision)),
            Fact::RunStarted(run) => self.run_started(at, *run),
            Fact::RunEnded { run, agent, end, answer, is_left } => {
                self.run_ended(at, (*run, *agent), end, (answer.as_deref(), *is_left));
            }
            Fact::ResultRefused { run, agent, .. } => self.refused((*run, *agent)),
            Fact::LeaseExpired { agent } => self.given_up(*agent),
            Fact::AgentStarted { agent, brings, .. } => self.vanished(*agent, brings),
            Fact::OwnerLoadReported { agent, load, .. } => self.owner_came(*agent, *load),
            Fact::TasksCancelled(chosen) => self.wished(Wish::Cancel, chosen),
            Fact::TasksHeld(chosen) => self.wished(Wish::Hold, chosen),
            Fact::TasksReleased(chosen) => self.released(chosen),
            Fact::TasksRested(tasks) if tasks.contains(&self.task) => {
                self.tell(self.first_run(), Step::Rested);
            }
            Fact::AgentReturned { agent, brings } => self.await_brought(*agent, brings.iter().copied()),
            Fact::TasksRerun(chosen) => self.rerun(chosen),
            Fact::TasksRested(_)
            | Fact::TasksRetired(_)
            | Fact::TasksRevived(_)
            | Fact::ResultsKept { .. }
            | Fact::ResultsRemoved { .. }
            | Fact::ResultsGone(_)
            | Fact::JobsForgotten { .. }
            | Fact::CoordinatorStarted { .. }
            | Fact::PolicySet { .. }
            | Fact::PriceSet { .. }
            | Fact::MachineOwnerSet { .. }
            | Fact::QuotaSet { .. }
            | Fact::UserAdded { .. }
            | Fact::UserRemoved { .. }
            | Fact::JoinTokenIssued { .. }
            | Fact::JoinTokenRemoved { .. }
            | Fact::JournalRestored { .. }
            | Fact::JournalCompacted { .. }
            | Fact::AgentForgotten { .. }
            | Fact::SpeedDoubted { .. }
            | Fact::AgentEnrolled { .. }
            | Fact::AgentRevoked { .. }
            | Fact::MachineProfiled { .. }
            | Fact::MachineOpened { .. }
            | Fact::MachinePaused { .. }
            | Fact::WokeUp { .. } => {}
        }
        std::mem::take(&mut self.told)
    }

    fn decided(&mut self, decision: &Decision) {
        let (task, on) = match *decision {
            Decision::Start { task, on }
            | Decision::Follow { task, on, .. }
            | Decision::Replicate { task, on } => (task, on),
            Decision::TakeBack { task } => return self.taken_back(task),
            Decision::Relocate { task, to } => (task, to),
            Decision::StartWide { task, ref parts }
            | Decision::ReplicateWide { task, ref parts }
            | Decision::Ask { task, ref parts, .. } => (task, parts[0].on),
            Decision::Collect
            | Decision::Survey { .. }
            | Decision::Plan { .. }
            | Decision::Lending(_)
            | Decision::Wake { .. } => {
                return;
            }
        };
        if task != self.task {
            return;
        }
        // Runs are numbered in the order in which they are decided.
        self.given += 1;
        let id = RunId::new(task, self.given);
        // What was said of the machine before is not known to be so any more.
        self.suspended.remove(&on);
        let new =
            |stage| LiveRun { id, on, stage, is_superseded: false, is_asked_back: false, is_silent: false };
        match decision {
            Decision::Relocate { .. } => {
                self.tell(self.first_run(), Step::Moves { to: on });
                if let Some(before) = self.runs.iter_mut().find(|run| run.stage == Stage::Running) {
                    before.stage = Stage::Stopping;
                }
                self.runs.push(new(Stage::Held));
            }
            Decision::Replicate { .. } | Decision::ReplicateWide { .. } => {
                self.runs.push(new(Stage::Sent));
                self.record.run_ordered(on, self.others());
                self.tell(Some((id, on)), Step::Copied);
            }
            _ => {
                self.runs = vec![new(Stage::Sent)];
                self.record.run_ordered(on, self.others());
                self.tell(Some((id, on)), Step::Placed);
            }
        }
    }

    /// A run that is not known to have begun is asked back: until its machine says so, it may begin yet.
    fn taken_back(&mut self, task: TaskId) {
        if task != self.task {
            return;
        }
        self.tell(self.first_run(), Step::TakenBack);
        let sent = self.runs.iter_mut().filter(|run| run.stage == Stage::Sent);
        sent.for_each(|run| run.is_asked_back = true);
    }

    fn run_started(&mut self, at: Time, id: RunId) {
        let sent = self.runs.iter_mut().find(|run| run.id == id && run.stage == Stage::Sent);
        let Some(run) = sent else { return };
        (run.stage, run.is_asked_back) = (Stage::Running, false);
        let about = (run.id, run.on);
        self.record.run_started(at, about.1);
        self.record.phase = self.standing().unwrap_or(TaskPhase::Running);
        self.tell(Some(about), Step::Started);
    }

    fn run_ended(
        &mut self,
        at: Time,
        (id, on): (RunId, MachineId),
        end: &End,
        (judged, is_left): (Option<&Judged>, Option<bool>),
    ) {
        let run = self.take_out(id);
        let others = self.runs.iter().any(|run| run.stage != Stage::Missing);
        let stops = run.is_some_and(|run| run.stage == Stage::Stopping || run.is_asked_back);
        let ending = Ending { id, on, end, was_asked_for: stops || others, judged, is_left };
        let verdict = self.record.run_ended(at, &self.spec, ending);
        match self.record.over_by(verdict) {
            Some(phase) => self.end(phase),
            None => self.over(),
        }
        self.tell(Some((id, on)), Step::Ended(verdict));
    }

    fn refused(&mut self, (id, on): (RunId, MachineId)) {
        let is_known = |run: &LiveRun| run.id == id && run.on == on && run.stage != Stage::Held;
        let known = self.runs.iter().copied().find(is_known);
        if known.is_some() {
            self.take_out(id);
            self.over();
        }
        let is_waste = known.is_some_and(|run| run.is_superseded);
        self.tell(Some((id, on)), if is_waste { Step::Wasted } else { Step::Refused });
    }

    fn given_up(&mut self, agent: MachineId) {
        let there: Vec<LiveRun> = self.runs.iter().copied().filter(|run| run.on == agent).collect();
        for run in &there {
            let is_other_held =
                self.runs.iter().any(|other| other.stage == Stage::Held && other.id != run.id);
            match run.stage {
                Stage::Missing => continue,
                Stage::Held => {
                    self.take_out(run.id);
                    continue;
                }
                Stage::Next | Stage::Asked | Stage::Sent | Stage::Running | Stage::Stopping
                    if is_other_held || self.phase().is_over() =>
                {
                    self.take_out(run.id);
                }
                Stage::Next | Stage::Asked | Stage::Sent | Stage::Running | Stage::Stopping => {
                    let there = self.runs.iter_mut().find(|other| other.id == run.id);
                    let there = there.expect("it was just found");
                    there.is_silent = there.stage == Stage::Running;
                    (there.stage, there.is_asked_back) = (Stage::Missing, false);
                }
            }
            self.over();
        }
        for run in there {
            match run.stage {
                Stage::Missing => {}
                Stage::Held => self.tell(Some((run.id, agent)), Step::TargetLost),
                Stage::Next | Stage::Asked | Stage::Sent | Stage::Running | Stage::Stopping => {
                    self.tell(Some((run.id, agent)), Step::Lost(Loss::Silence));
                }
            }
        }
    }

    fn await_brought(&mut self, agent: MachineId, runs: impl Iterator<Item = RunId>) {
        let task = self.task;
        for run in runs.filter(|run| run.task == task) {
            self.tell(Some((run, agent)), Step::Awaited);
        }
    }

    fn vanished(&mut self, agent: MachineId, brings: &[RunId]) {
        for run in self.runs.iter_mut().filter(|run| brings.contains(&run.id)) {
            run.is_silent = false;
        }
        let there = self.runs.iter().copied().filter(|run| run.on == agent);
        let (brought, there): (Vec<LiveRun>, Vec<LiveRun>) = there.partition(|run| brings.contains(&run.id));
        let there = there.into_iter();
        let (mut there, missing): (Vec<LiveRun>, Vec<LiveRun>) = there.partition(LiveRun::goes_on);
        there.extend(missing.into_iter().filter(|run| run.is_silent));
        for run in &there {
            let mut runs = self.runs.iter().filter(|known| known.stage != Stage::Missing);
            let had_begun = runs.all(|known| known.id == run.id && known.stage == Stage::Running);
            let verdict = if had_begun { self.record.vanished() } else { None };
            self.take_out(run.id);
            match verdict.and_then(|verdict| self.record.over_by(verdict)) {
                Some(phase) => self.end(phase),
                None => self.over(),
            }
        }
        for run in there {
            self.tell(Some((run.id, agent)), Step::Lost(Loss::Restart));
        }
        let given_up = brought.into_iter().filter(|run| run.stage == Stage::Missing);
        self.await_brought(agent, given_up.map(|run| run.id));
    }

    fn take_out(&mut self, id: RunId) -> Option<LiveRun> {
        let place = self.runs.iter().position(|run| run.id == id)?;
        Some(self.runs.remove(place))
    }

    /// What is left of it counts no more.
    fn end(&mut self, phase: TaskPhase) {
        (self.record.phase, self.record.wish) = (phase, None);
        self.runs.retain(LiveRun::goes_on);
        for run in &mut self.runs {
            (run.stage, run.is_superseded) = (Stage::Stopping, true);
        }
    }

    /// A run is over, and the task is not: what was held for it is sent, or the task goes where its user wants it, or back into
    /// the queue.
    fn over(&mut self) {
        if !self.runs.iter().any(LiveRun::goes_on)
            && let Some(held) = self.runs.iter_mut().find(|run| run.stage == Stage::Held)
        {
            held.stage = Stage::Sent;
            let on = held.on;
            self.record.run_ordered(on, self.others());
        }
        self.record.phase = self.record.after_a_run(self.others());
        if self.has_begun() {
            self.record.phase = self.standing().unwrap_or(self.phase());
        }
    }

    /// How it stands if some run of it has begun: it is suspended where all of them are.
    fn standing(&self) -> Option<TaskPhase> {
        let begun =
            |run: &&LiveRun| matches!(run.stage, Stage::Running | Stage::Stopping) && !run.is_superseded;
        let mut begun = self.runs.iter().filter(begun).peekable();
        begun.peek()?;
        Some(if begun.all(|run| self.suspended.contains(&run.on)) {
            TaskPhase::Suspended
        } else {
            TaskPhase::Running
        })
    }

    fn has_begun(&self) -> bool {
        matches!(self.phase(), TaskPhase::Running | TaskPhase::Suspended)
    }

    fn owner_came(&mut self, agent: MachineId, load: f64) {
        let there = self.runs.iter().find(|run| run.on == agent && run.goes_on());
        let Some(run) = there.map(|run| (run.id, run.on)) else { return };
        let is_suspended = load >= 1.0;
        if is_suspended {
            self.suspended.insert(agent);
        } else {
            self.suspended.remove(&agent);
        }
        if self.has_begun() {
            let here = if is_suspended { TaskPhase::Suspended } else { TaskPhase::Running };
            self.record.phase = self.standing().unwrap_or(here);
            self.tell(Some(run), Step::OwnerCame);
        }
    }

    fn wished(&mut self, wish: Wish, chosen: &Chosen) {
        if !self.is_among(chosen) || !self.record.can_wish(wish) {
            return;
        }
        if !self.runs.iter().any(LiveRun::goes_on) {
            self.record.phase = wish.phase();
            self.tell(None, Step::Is(wish));
            return;
        }
        self.record.wish = Some(wish);
        self.runs.retain(|run| run.stage != Stage::Held);
        for run in self.runs.iter_mut().filter(|run| run.goes_on()) {
            run.stage = Stage::Stopping;
        }
        self.tell(self.first_run(), Step::ToBe(wish));
    }

    fn released(&mut self, chosen: &Chosen) {
        if !self.is_among(chosen) || !self.record.can_release() {
            return;
        }
        self.record.wish = None;
        let is_held = self.phase() == TaskPhase::Held;
        if is_held {
            self.record.phase = TaskPhase::Waiting;
        }
        self.tell(self.first_run(), if is_held { Step::Released } else { Step::NotToBeHeld });
    }

    fn rerun(&mut self, chosen: &Chosen) {
        if !self.is_among(chosen) || !self.phase().is_over() {
            return;
        }
        self.runs.retain(|run| run.stage != Stage::Missing);
        for run in &mut self.runs {
            run.is_superseded = true;
        }
        self.record = std::mem::take(&mut self.record).begun_anew();
        self.record.phase = TaskPhase::Waiting;
        self.tell(self.first_run(), Step::Rerun);
    }

    /// A row may be listed for tasks that it says nothing of.
    fn is_among(&self, chosen: &Chosen) -> bool {
        chosen.tasks.is_empty() || chosen.tasks.iter().any(|range| range.contains(self.task))
    }

    fn others(&self) -> Others {
        Others {
            go_on: self.runs.iter().any(LiveRun::goes_on),
            runs: self.runs.iter().any(|run| run.stage == Stage::Running),
        }
    }

    fn first_run(&self) -> Option<(RunId, MachineId)> {
        let run = self.runs.iter().find(|run| run.stage != Stage::Missing)?;
        Some((run.id, run.on))
    }

    fn tell(&mut self, run: Option<(RunId, MachineId)>, step: Step) {
        self.told.push(Told { tasks: TaskRange::one(self.task), step, phase: self.phase(), run });
    }
}
