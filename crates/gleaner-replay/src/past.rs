//! What was, noted while the journal is read.

mod again;
mod caps;
mod end;
mod figures;
mod log;

pub use caps::CapChange;
pub use end::{LeftOut, Past, Placed};
pub use figures::Figures;
pub use log::{LoggedJob, LoggedTask, TaskLog};

use crate::coming::Coming;
use crate::shares::Shares;
use caps::Caps;
use gleaner_server::journal::{Entry, Fact};
use gleaner_server::ledger::{Agent, Ledger, ReplayError, Step, Told};
use gleaner_server::store::TaskRange;
use gleaner_sim::LoadChange;
use gleaner_units::{MachineId, Span, TaskClassId, TaskId, Time};
use gleaner_wire::JobId;
use gleaner_wire::api::TaskPhase;
use gleaner_wire::session::End;
use std::collections::{BTreeMap, btree_map};

/// The journal so far.
pub struct Reading {
    ledger: Ledger,
    begun: Option<Time>,
    last: Time,
    /// When tasks came, less those that are of no interest any more.
    came: Coming,
    /// By task: those of them of which a run started, ended or moved since.
    tasks: BTreeMap<TaskId, Noted>,
    /// What a log says of their jobs, where one is to be made.
    jobs: Option<BTreeMap<JobId, LoggedJob>>,
    /// What came before is of no interest once it is long over.
    since: Time,
    loads: Vec<LoadChange>,
    /// By machine: what its owner uses, and whether it is there and takes tasks.
    machines: Vec<Presence>,
    shares: Shares,
    /// What users might have, and when.
    caps: Caps,
    /// Moves that came to an end, and how long they took together.
    moved: (u32, f64),
}

impl Default for Reading {
    fn default() -> Self {
        Self::of(Ledger::new())
    }
}

#[derive(Clone, Debug)]
struct Noted {
    came: Time,
    job: JobId,
    number: u32,
    class: TaskClassId,
    /// When the coordinator heard that its first run began.
    started: Option<Time>,
    /// How many of its runs began.
    runs: u32,
    ended: Option<Time>,
    moves: u32,
    /// Where it ran last.
    on: Option<MachineId>,
    /// When the move that is under way was ordered.
    moving: Option<Time>,
    /// Where work was done that was not lost, and how many seconds it takes there with cores of its own.
    work: Vec<(MachineId, f64)>,
    /// Seconds on machines, lost work included.
    machine_s: f64,
    /// Seconds of processors, of runs that were not in vain.
    cpu_s: f64,
    /// Of the last of them, at its peak.
    memory_bytes: u64,
}

#[derive(Clone, Copy, Debug)]
struct Presence {
    owner: f64,
    is_there: bool,
    is_open: bool,
    told: f64,
}

impl Reading {
    /// One of which no more is to be asked than how it went with what came since a moment.
    pub fn since(ledger: Ledger, since: Time) -> Self {
        Self { since, ..Self::begun_with(ledger) }
    }

    /// One that goes on from a state: what it says of machines is known, of tasks those are noted that come later.
    pub fn begun_with(ledger: Ledger) -> Self {
        let presence = |agent: &Agent| {
            let (is_there, is_open) = (!agent.lost && !agent.forgotten, agent.open);
            let told = if is_there && is_open { agent.load } else { 1.0 };
            Presence { owner: agent.load, is_there, is_open, told }
        };
        let machines: Vec<Presence> = ledger.agents().iter().map(presence).collect();
        let told = machines.iter().enumerate().map(|(index, machine)| LoadChange {
            time: Time::ZERO,
            machine: MachineId::new(index),
            load: machine.told,
        });
        let loads = told.collect();
        let shares = Shares::begun_with(ledger.grid());
        let caps = Caps::begun_with(ledger.people());
        Self { loads, machines, shares, caps, ..Self::of(ledger) }
    }

    fn of(mut ledger: Ledger) -> Self {
        // What a task was is asked at the end.
        ledger.keep_classes();
        Self {
            ledger,
            begun: None,
            last: Time::ZERO,
            came: Coming::default(),
            tasks: BTreeMap::new(),
            jobs: None,
            since: Time::ZERO,
            loads: Vec::new(),
            machines: Vec::new(),
            shares: Shares::default(),
            caps: Caps::default(),
            moved: (0, 0.0),
        }
    }

    /// Takes note of the next entry. Fails where the journal contradicts itself. Costs as much as the ledger's reading: **what users order
    /// about tasks is noted by range**.
    pub fn read(&mut self, entry: &Entry) -> Result<(), ReplayError> {
        let steps = self.ledger.replay(entry)?;
        let at = entry.at;
        let begun = *self.begun.get_or_insert(at);
        self.last = at;
        let at = Time::from_nanos(at.since(begun).nanos());
        if let Fact::TasksRetired(ranges) = &entry.fact {
            let since = Time::from_nanos(self.since.since(begun).nanos());
            for &range in ranges {
                self.shares.forget(self.ledger.grid(), at, range);
                self.came.forget(range, |came| came < since);
                self.forget_noted(range, |noted| noted.came < since);
            }
        }
        for told in steps {
            let share = self.share(at, &told);
            self.step(at, (&told, share), &entry.fact);
        }
        self.machine_changed(at, &entry.fact);
        self.caps.note(at, &entry.fact);
        Ok(())
    }

    /// Follows what runs where; of a run that is over, the mean share of the cores that it wanted.
    fn share(&mut self, at: Time, told: &Told) -> f64 {
        let (Some((run, on)), grid) = (told.run, self.ledger.grid()) else { return 1.0 };
        match told.step {
            Step::Started | Step::Awaited => self.shares.began(grid, at, run, on),
            Step::Lost(_) => self.shares.lost(grid, at, run),
            Step::Ended(_) | Step::Wasted | Step::Refused => return self.shares.ended(grid, at, run),
            Step::Submitted
            | Step::Placed
            | Step::Moves { .. }
            | Step::Copied
            | Step::TakenBack
            | Step::TargetLost
            | Step::OwnerCame
            | Step::ToBe(_)
            | Step::Is(_)
            | Step::NotToBeHeld
            | Step::Released
            | Step::Rested
            | Step::Rerun => {}
        }
        1.0
    }

    fn forget_noted(&mut self, tasks: TaskRange, is_meant: impl Fn(&Noted) -> bool) {
        let noted = self.tasks.range(tasks.first()..=tasks.last());
        let meant: Vec<TaskId> = noted.filter(|(_, noted)| is_meant(noted)).map(|(task, _)| *task).collect();
        for task in meant {
            self.tasks.remove(&task);
        }
    }

    /// A task that came, and of which more is to be noted.
    fn noted(&mut self, task: TaskId) -> Option<&mut Noted> {
        let unknown = match self.tasks.entry(task) {
            btree_map::Entry::Occupied(known) => return Some(known.into_mut()),
            btree_map::Entry::Vacant(unknown) => unknown,
        };
        let came = self.came.find(task)?;
        let (job, of) = self.ledger.find_job_of(task)?;
        if let Some(jobs) = &mut self.jobs {
            jobs.entry(job).or_insert_with(|| LoggedJob::of(of));
        }
        Some(unknown.insert(Noted::new(came, (job, of.number(task)), of.class)))
    }

    fn step(&mut self, at: Time, (told, share): (&Told, f64), fact: &Fact) {
        // What is about a run is about one task.
        let task = told.tasks.first();
        match told.step {
            // As if they came now.
            Step::Submitted | Step::Released | Step::Rerun => {
                self.forget_noted(told.tasks, |_| true);
                self.came.put(told.tasks, at);
            }
            Step::Started => self.started(at, task),
            Step::Ended(_) | Step::Wasted | Step::Refused => {
                let Some(noted) = self.noted(task) else { return };
                let (Fact::RunEnded { end, agent, .. } | Fact::ResultRefused { end, agent, .. }) = fact
                else {
                    unreachable!("a run ends by a fact that says how");
                };
                noted.machine_s += end.usage.elapsed_s;
                // What does not count is what the grid spent, and did nothing.
                if let Step::Ended(_) = told.step {
                    self.ended((at, task), told.phase, (*agent, end), share);
                }
            }
            Step::Moves { .. } => {
                let Some(noted) = self.noted(task) else { return };
                noted.moves += 1;
                noted.moving = Some(at);
            }
            Step::Placed
            | Step::Copied
            | Step::TakenBack
            | Step::Lost(_)
            | Step::TargetLost
            | Step::OwnerCame
            | Step::ToBe(_)
            | Step::Is(_)
            | Step::NotToBeHeld
            | Step::Rested
            | Step::Awaited => {}
        }
    }

    fn started(&mut self, at: Time, task: TaskId) {
        let Some(noted) = self.noted(task) else { return };
        noted.started.get_or_insert(at);
        noted.runs += 1;
        if let Some(ordered) = noted.moving.take() {
            self.moved = (self.moved.0 + 1, self.moved.1 + at.since(ordered).seconds());
        }
    }

    fn ended(
        &mut self,
        (at, task): (Time, TaskId),
        phase: TaskPhase,
        (on, end): (MachineId, &End),
        share: f64,
    ) {
        let Some(noted) = self.noted(task) else { return };
        noted.on = Some(on);
        noted.cpu_s += end.usage.cpu_s;
        noted.memory_bytes = end.usage.memory_bytes;
        let is_over = matches!(phase, TaskPhase::Done | TaskPhase::Failed);
        // What a run did that left no checkpoint and did not end the task was done again.
        if is_over || end.checkpoint.is_some() {
            noted.work.push((on, end.usage.elapsed_s * share));
        }
        noted.ended = is_over.then_some(at);
    }

    fn machine_changed(&mut self, at: Time, fact: &Fact) {
        if let Fact::AgentEnrolled { agent, .. } = fact {
            self.machines.push(Presence { owner: 0.0, is_there: true, is_open: true, told: 1.0 });
            // Before it was there, there was nothing of it to use.
            self.loads.push(LoadChange { time: Time::ZERO, machine: *agent, load: 1.0 });
        }
        let Some(agent) = machine_of(fact) else { return };
        self.shares.rate(self.ledger.grid(), at, agent);
        let machine = &mut self.machines[agent.index()];
        match fact {
            Fact::AgentReturned { .. } | Fact::AgentStarted { .. } => machine.is_there = true,
            Fact::LeaseExpired { .. } | Fact::AgentRevoked { .. } | Fact::AgentForgotten { .. } => {
                machine.is_there = false;
            }
            Fact::OwnerLoadReported { load, .. } => machine.owner = *load,
            _ => {}
        }
        // Its owner, administrators and the coordinator have a say each.
        machine.is_open = self.ledger.agent(agent).open;
        let used = if machine.is_there && machine.is_open { machine.owner } else { 1.0 };
        if used.to_bits() != machine.told.to_bits() {
            machine.told = used;
            self.loads.push(LoadChange { time: at, machine: agent, load: used });
        }
    }

    /// The moment of the last entry.
    pub fn last(&self) -> Time {
        self.last
    }
}

impl Noted {
    fn new(came: Time, (job, number): (JobId, u32), class: TaskClassId) -> Self {
        let (started, ended, on, moving) = (None, None, None, None);
        Self {
            came,
            job,
            number,
            class,
            started,
            runs: 0,
            ended,
            moves: 0,
            on,
            moving,
            work: Vec::new(),
            machine_s: 0.0,
            cpu_s: 0.0,
            memory_bytes: 0,
        }
    }

    /// How long a task ran that is over: one run as long as its agent measured, since of one that is over in a moment the coordinator
    /// hears start and end at once; several, which may have been beside each other, from the start of the first to the end of the last.
    fn ran(&self) -> Option<Span> {
        let ended = self.ended?;
        let told = self.started.map_or(Span::ZERO, |started| ended.since(started));
        let measured = Span::from_seconds(self.machine_s).filter(|ran| self.runs <= 1 && *ran > Span::ZERO);
        Some(measured.unwrap_or(told))
    }

    /// When the first run began of a task that is over: before the coordinator heard of it, if it ran for longer than from then.
    fn began(&self) -> Option<Time> {
        let (told, ended) = (self.started?, self.ended?);
        let before_its_end = Time::from_nanos(ended.nanos().saturating_sub(self.ran()?.nanos()));
        Some(told.min(before_its_end).max(self.came))
    }
}

/// The machine whose presence or use a fact is about.
fn machine_of(fact: &Fact) -> Option<MachineId> {
    match fact {
        Fact::AgentEnrolled { agent, .. }
        | Fact::AgentReturned { agent, .. }
        | Fact::AgentStarted { agent, .. }
        | Fact::LeaseExpired { agent }
        | Fact::AgentRevoked { agent, .. }
        | Fact::AgentForgotten { agent, .. }
        | Fact::MachineOpened { agent, .. }
        | Fact::MachinePaused { agent, .. }
        | Fact::OwnerLoadReported { agent, .. } => Some(*agent),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
