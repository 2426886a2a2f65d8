//! What one bad machine may do among good ones, judged by what was seen of it and by the journal's rows: it fails no task that
//! another could take, it gets nothing more once it is known, and nobody believes it alone.

use super::agent::AGAIN;
use super::history::{History, Seen};
use super::journal::{Journal, Written};
use gleaner_core::{Decision, Judgement};
use gleaner_server::journal::{Chosen, Fact};
use gleaner_units::{MachineId, RunId, TaskId};
use gleaner_wire::api::Actor;
use gleaner_wire::job::JobSpec;
use gleaner_wire::session::{Obstacle, Outcome, Profile};
use std::collections::{BTreeMap, BTreeSet};

/// Runs in a row that a machine may fail to start, and answers of its that may be outvoted.
const NOT_STARTED: u32 = 5;
const OUTVOTED: usize = 3;
/// After so many answers in a row that stand, earlier ones are forgiven.
const FORGIVEN: u32 = 10;
/// Within so many rows of the last straw a machine is closed.
const ROWS: usize = 4;

/// What the rows so far say of a machine.
#[expect(clippy::struct_excessive_bools, reason = "each is a state of its own")]
struct Machine {
    profile: Profile,
    is_heard_of: bool,
    is_revoked: bool,
    is_closed_by_owner: bool,
    is_closed_by_order: bool,
    is_paused: bool,
    /// Since which row it has taken tasks.
    open_since: Option<usize>,
    not_started: u32,
    /// In whose tasks it was outvoted: nobody but users asks for a quorum here.
    outvoted_by: BTreeSet<String>,
    agreed_in_a_row: u32,
}

impl Machine {
    fn new(profile: Profile) -> Self {
        Self {
            profile,
            is_heard_of: false,
            is_revoked: false,
            is_closed_by_owner: false,
            is_closed_by_order: false,
            is_paused: false,
            open_since: None,
            not_started: 0,
            outvoted_by: BTreeSet::new(),
            agreed_in_a_row: 0,
        }
    }

    fn is_closed(&self) -> bool {
        self.is_revoked || self.is_closed_by_owner || self.is_closed_by_order || self.is_paused
    }

    /// Whether it surely could take a task, if it had nothing else to do.
    fn could_take(&self, spec: &JobSpec) -> bool {
        let cores = if spec.requirements.is_some() { 2 } else { spec.needs.cores };
        self.profile.cores.min(self.profile.slots) >= cores.max(spec.needs.cores)
            && self.profile.memory >= spec.needs.memory
    }
}

/// All machines, as the rows so far say.
#[derive(Default)]
struct Machines(Vec<Machine>);

impl Machines {
    fn take(&mut self, row: usize, fact: &Fact) {
        match fact {
            Fact::AgentEnrolled { profile, .. } => self.0.push(Machine::new(profile.clone())),
            Fact::AgentStarted { agent, .. } | Fact::AgentReturned { agent, .. } => {
                self.of(*agent).is_heard_of = true;
            }
            Fact::LeaseExpired { agent } => self.of(*agent).is_heard_of = false,
            Fact::AgentRevoked { agent, .. } => self.of(*agent).is_revoked = true,
            Fact::MachinePaused { agent, paused, .. } => self.of(*agent).is_paused = *paused,
            Fact::MachineOpened { agent, open, by, .. } => {
                let machine = self.of(*agent);
                match by {
                    Actor::Agent(_) => machine.is_closed_by_owner = !open,
                    Actor::User(_) | Actor::Coordinator => machine.is_closed_by_order = !open,
                }
                if *open {
                    machine.not_started = 0;
                }
            }
            _ => return,
        }
        for machine in &mut self.0 {
            let is_open = machine.is_heard_of && !machine.is_closed();
            machine.open_since = machine.open_since.filter(|_| is_open).or(is_open.then_some(row));
        }
    }

    fn of(&mut self, id: MachineId) -> &mut Machine {
        &mut self.0[id.index()]
    }
}

/// The last that was heard of a task that may be tried again.
#[derive(Default)]
struct Tries {
    /// The run that was sent last, until somebody orders something about it.
    last: Option<u32>,
    /// The row of the end that calls for another try, and where it failed.
    failed: Option<(usize, MachineId)>,
    /// Where tries failed so far.
    all: BTreeSet<MachineId>,
}

/// As long as a machine was there all the time on which no try had failed.
pub(crate) fn tries_go_elsewhere(history: &History, journal: &Journal) -> Result<(), String> {
    let mut machines = Machines::default();
    let mut tries: BTreeMap<TaskId, Tries> = BTreeMap::new();
    let mut runs: BTreeMap<TaskId, u32> = BTreeMap::new();
    // On which machines each job's program was missing.
    let mut missing: BTreeMap<usize, BTreeSet<MachineId>> = BTreeMap::new();
    for (row, written) in journal.facts.iter().enumerate() {
        let fact = &written.fact;
        machines.take(row, fact);
        if let Fact::RunEnded { run, agent, end, .. } = fact
            && matches!(end.outcome, Outcome::NotStarted { obstacle: Obstacle::NotThere, .. })
        {
            missing.entry(journal.job_of(run.task).0).or_default().insert(*agent);
        }
        for (task, on) in sent(fact) {
            let number = runs.entry(task).or_default();
            *number += 1;
            let (job, spec) = journal.job_of(task);
            if spec.quorum > 1 {
                continue;
            }
            let task_tries = tries.entry(task).or_default();
            task_tries.last = Some(*number);
            let Some((since, broken)) = task_tries.failed.take().filter(|(_, broken)| *broken == on) else {
                continue;
            };
            let is_better = |(index, machine): &(usize, &Machine)| {
                machine.open_since.is_some_and(|open| open <= since)
                    && machine.could_take(spec)
                    && !task_tries.all.contains(&MachineId::new(*index))
                    && !missing.get(&job).is_some_and(|missing| missing.contains(&MachineId::new(*index)))
            };
            if let Some((better, _)) = machines.0.iter().enumerate().find(is_better) {
                return Err(format!(
                    "{task} failed on {broken}, and its run {number} is for there again, with {better} open all along"
                ));
            }
        }
        if let Fact::RunEnded { run, agent, .. } = fact
            && seen_of((history, journal), (*run, *agent), written).is_some_and(has_failed)
        {
            let tries = tries.entry(run.task).or_default();
            tries.all.insert(*agent);
            // What was ordered about the task meanwhile may have it tried anywhere.
            if tries.last == Some(run.number) {
                tries.failed = Some((row, *agent));
            }
        }
        for task in taken_back(fact) {
            // How a run ends that is to stop is no try.
            if let Some(tries) = tries.get_mut(&task) {
                tries.last = None;
            }
        }
        if let Some(chosen) = ordered(fact) {
            let named = tries.iter_mut().filter(|(task, _)| journal.chooses(chosen, **task));
            named.for_each(|(_, tries)| (tries.last, tries.failed) = (None, None));
        }
    }
    Ok(())
}

/// How a run ended that counts, as it was seen: the last time, where the journal was put back and it ran again.
fn seen_of<'a>(
    (history, journal): (&'a History, &Journal),
    (ended, machine): (RunId, MachineId),
    written: &Written,
) -> Option<&'a Seen> {
    let mut seen = history.seen.iter().rev().filter(|(at, _)| *at <= written.durable).map(|(_, seen)| seen);
    seen.find(|seen| match seen {
        Seen::NotStarted { run, lineage, on } | Seen::Over { run, lineage, on, .. } => {
            *run == ended && *on as usize == machine.index() && journal.has(*run, *lineage)
        }
        _ => false,
    })
}

/// Whether it ended badly or could not be started, whatever the journal says of it.
fn has_failed(seen: &Seen) -> bool {
    match seen {
        Seen::NotStarted { .. } => true,
        Seen::Over { outcome: Outcome::Exited { code }, .. } => ![0, AGAIN].contains(code),
        _ => false,
    }
}

/// The runs that are decided, each with its machine.
fn sent(fact: &Fact) -> Vec<(TaskId, MachineId)> {
    let Fact::Decided { decisions, .. } = fact else { return Vec::new() };
    let sent = decisions.iter().filter_map(|decision| match *decision {
        Decision::Start { task, on }
        | Decision::Follow { task, on, .. }
        | Decision::Replicate { task, on }
        | Decision::Relocate { task, to: on } => Some((task, on)),
        _ => None,
    });
    sent.collect()
}

/// The tasks that go to another machine before they began.
fn taken_back(fact: &Fact) -> Vec<TaskId> {
    let Fact::Decided { decisions, .. } = fact else { return Vec::new() };
    let taken = decisions.iter().filter_map(|decision| match *decision {
        Decision::TakeBack { task } => Some(task),
        _ => None,
    });
    taken.collect()
}

/// What a user wants of tasks.
fn ordered(fact: &Fact) -> Option<&Chosen> {
    match fact {
        Fact::TasksCancelled(chosen)
        | Fact::TasksHeld(chosen)
        | Fact::TasksReleased(chosen)
        | Fact::TasksRerun(chosen) => Some(chosen),
        _ => None,
    }
}

pub(crate) fn bad_machines_are_closed(_: &History, journal: &Journal) -> Result<(), String> {
    let mut machines = Machines::default();
    let mut ran: BTreeSet<usize> = BTreeSet::new();
    for (row, Written { fact, .. }) in journal.facts.iter().enumerate() {
        machines.take(row, fact);
        if let Some((task, on)) = sent(fact).into_iter().find(|(_, on)| machines.0[on.index()].is_closed()) {
            return Err(format!("{task} is for {on} in row {}, which is closed", row + 1));
        }
        let Fact::RunEnded { run, agent, end, answer, .. } = fact else { continue };
        let job = journal.job_of(run.task).0;
        let machine = machines.of(*agent);
        match end.outcome {
            Outcome::NotStarted { obstacle: Obstacle::Machine, .. } => {
                machine.not_started += u32::from(ran.contains(&job));
            }
            // It may not have begun, or is not there.
            Outcome::NotStarted { obstacle: Obstacle::NotThere | Obstacle::Task, .. }
            | Outcome::Stopped
            | Outcome::Abandoned { .. } => {}
            _ => {
                ran.insert(job);
                machine.not_started = 0;
            }
        }
        let mut bad = BTreeSet::new();
        if machine.not_started >= NOT_STARTED && !machine.is_closed_by_order {
            bad.insert(*agent);
        }
        if let Some(answer) = answer.as_ref().filter(|answer| answer.judgement == Judgement::Agreed) {
            for (index, machine) in machines.0.iter_mut().enumerate() {
                let id = MachineId::new(index);
                let is_new = machine.count(answer.wrong.contains(&id), journal.user_of(run.task));
                let is_bad = is_new && machine.outvoted_by.len() >= OUTVOTED;
                if is_bad && !machine.is_closed_by_order {
                    bad.insert(id);
                }
            }
        }
        if let Some(bad) = bad.into_iter().find(|bad| !is_closed_soon(&journal.facts[row + 1..], *bad)) {
            return Err(format!("{bad} is bad by row {}, and is not closed", row + 1));
        }
    }
    Ok(())
}

impl Machine {
    /// An answer was agreed on, perhaps with its help: that is not said, so that it is forgiven early rather than late. Whether it was
    /// outvoted for a user for the first time.
    fn count(&mut self, was_wrong: bool, user: &str) -> bool {
        if was_wrong {
            self.agreed_in_a_row = 0;
            return self.outvoted_by.insert(user.to_owned());
        }
        self.agreed_in_a_row += 1;
        if self.agreed_in_a_row >= FORGIVEN {
            self.outvoted_by.clear();
        }
        false
    }
}

/// With a reason; unless the rows end there, or went on elsewhere.
fn is_closed_soon(rows: &[Written], bad: MachineId) -> bool {
    let next = &rows[..rows.len().min(ROWS)];
    rows.len() < ROWS
        || next.iter().any(|written| match &written.fact {
            Fact::MachineOpened { agent, open: false, why, by: Actor::Coordinator } => {
                *agent == bad && !why.is_empty()
            }
            Fact::CoordinatorStarted { .. } | Fact::JournalRestored { .. } => true,
            _ => false,
        })
}

/// Where several machines are to give the same answer, as many right ones were given, and who gave another is named.
pub(crate) fn lies_count_for_nothing(history: &History, journal: &Journal) -> Result<(), String> {
    for task in journal.tasks().filter(|task| journal.quorum(*task) > 1) {
        let (mut right, mut liars) = (BTreeSet::new(), BTreeSet::new());
        // Right ones that an order had forgotten, if it applied.
        let mut before = BTreeSet::new();
        for written in &journal.facts {
            if ordered(&written.fact).is_some_and(|chosen| journal.chooses(chosen, task)) {
                liars.clear();
                before.append(&mut right);
            }
            let Fact::RunEnded { run, agent: on, answer: Some(answer), .. } = &written.fact else { continue };
            let (run, on) = (*run, *on);
            if run.task != task {
                continue;
            }
            if answer.judgement == Judgement::Void {
                continue;
            }
            let is_wrong = seen_of((history, journal), (run, on), written).is_some_and(is_wrong);
            if is_wrong {
                liars.insert(on)
            } else {
                right.insert(on)
            };
            if answer.judgement != Judgement::Agreed {
                continue;
            }
            if is_wrong || (right.union(&before).count() as u32) < journal.quorum(task) {
                return Err(format!("{run:?} on {on} is the answer: {right:?} are right, {liars:?} not"));
            }
            let named: BTreeSet<MachineId> = answer.wrong.iter().copied().collect();
            if !named.is_superset(&liars) || named.intersection(&right).next().is_some() {
                return Err(format!("of {task} {named:?} are said to be wrong, and {liars:?} are"));
            }
            (right, liars) = (BTreeSet::new(), BTreeSet::new());
            before.clear();
        }
    }
    Ok(())
}

/// Whether the machine was bad as the run began, or it did not begin.
fn is_wrong(seen: &Seen) -> bool {
    match seen {
        Seen::NotStarted { .. } => true,
        Seen::Over { flaw, .. } => flaw.is_wrong(),
        _ => false,
    }
}
