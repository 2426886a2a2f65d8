//! What live views are told of facts.

use crate::desk::Recorded;
use crate::journal::Fact;
use crate::ledger::{Ledger, Step, Told};
use crate::view::words;
use gleaner_units::{MachineId, TaskId};
use gleaner_wire::api::LiveEvent;
use std::collections::BTreeMap;

/// Tasks of one fact that are told of one by one; more are told of as one, for each job.
const TASKS_MAX: usize = 256;

/// Tells `each` what became of tasks and machines by some facts. Nothing more is said of what is not news to people.
pub(crate) fn events(ledger: &Ledger, recorded: &[Recorded], mut each: impl FnMut(LiveEvent)) {
    let name = |machine: MachineId| ledger.agent(machine).name.clone();
    for Recorded { entry, steps } in recorded {
        let (at_s, text) = (entry.at.seconds(), text(&entry.fact).to_owned());
        let blank = LiveEvent { at_s, job: None, task: None, machine: None, phase: None, text };
        if let Some(agent) = machine(&entry.fact) {
            let machine = Some(name(agent));
            each(LiveEvent { machine, ..blank.clone() });
        }
        if let Fact::JobSubmitted { job, .. } = &entry.fact {
            each(LiveEvent { job: Some(*job), ..blank.clone() });
        }
        let mut left = TASKS_MAX;
        let mut more = BTreeMap::new();
        for told in steps.iter().filter(|told| told.step != Step::Submitted) {
            let text = || words(told, &entry.fact, name).0;
            for task in told.tasks.tasks().take(left) {
                let blank = LiveEvent { text: text(), ..blank.clone() };
                of_task(ledger, task, told, blank).into_iter().for_each(&mut each);
            }
            let count = told.tasks.count() as usize;
            if count > left
                && let Some((job, _)) = ledger.find_job_of(told.tasks.last())
            {
                more.entry(job).or_insert_with(text);
            }
            left = left.saturating_sub(count);
        }
        for (job, text) in more {
            let text = text + ": more tasks than are told of one by one";
            each(LiveEvent { job: Some(job), text, ..blank.clone() });
        }
    }
}

/// Nothing of a task whose job is retired: a result that comes so late is no news.
fn of_task(ledger: &Ledger, task: TaskId, told: &Told, blank: LiveEvent) -> Option<LiveEvent> {
    let (id, job) = ledger.find_job_of(task)?;
    let on = told.run.map(|(_, on)| on).or(ledger.record(task).machine);
    let machine = on.map(|on| ledger.agent(on).name.clone());
    Some(LiveEvent { job: Some(id), task: Some(job.number(task)), machine, phase: Some(told.phase), ..blank })
}

/// The machine that a fact is about.
pub(crate) fn machine(fact: &Fact) -> Option<MachineId> {
    match *fact {
        Fact::AgentEnrolled { agent, .. }
        | Fact::AgentRevoked { agent, .. }
        | Fact::AgentForgotten { agent, .. }
        | Fact::SpeedDoubted { agent, .. }
        | Fact::AgentStarted { agent, .. }
        | Fact::MachineProfiled { agent, .. }
        | Fact::LeaseExpired { agent }
        | Fact::AgentReturned { agent, .. }
        | Fact::MachineOpened { agent, .. }
        | Fact::MachinePaused { agent, .. }
        | Fact::PriceSet { agent, .. }
        | Fact::MachineOwnerSet { agent, .. }
        | Fact::OwnerLoadReported { agent, .. } => Some(agent),
        _ => None,
    }
}

/// What happened, for people.
pub(crate) fn text(fact: &Fact) -> &'static str {
    match fact {
        Fact::CoordinatorStarted { .. } => "the coordinator started",
        Fact::JournalRestored { .. } => "the journal was put back by order",
        Fact::CoordinatorSlept { .. } => "the coordinator's machine slept",
        Fact::JournalCompacted { .. } => "the journal was compacted by order",
        Fact::PolicySet { .. } => "another policy was set",
        Fact::PriceSet { .. } => "the machine's price was set",
        Fact::MachineOwnerSet { .. } => "it was said whose the machine is",
        Fact::QuotaSet { .. } => "a quota was set",
        Fact::UserAdded { was: None, .. } => "a user was added",
        Fact::UserAdded { was: Some(was), role, .. } if was == role => "a user's token was renewed",
        Fact::UserAdded { .. } => "a user's role was changed",
        Fact::UserRemoved { .. } => "a user was removed",
        Fact::JoinTokenIssued { .. } => "a join token was issued",
        Fact::JoinTokenRemoved { .. } => "a join token was removed",
        Fact::AgentEnrolled { .. } => "the machine was enrolled",
        Fact::AgentRevoked { .. } => "the machine was revoked",
        Fact::AgentForgotten { .. } => "the machine was forgotten",
        Fact::AgentStarted { .. } => "the machine joined",
        Fact::SpeedDoubted { .. } => "the machine's tasks show another speed than it says",
        Fact::MachineProfiled { .. } => "the machine was measured",
        Fact::LeaseExpired { .. } => "the machine's lease ended",
        Fact::AgentReturned { .. } => "the machine is back",
        Fact::MachineOpened { open: true, .. } => "the machine takes new tasks",
        Fact::MachineOpened { open: false, .. } => "the machine takes no new tasks",
        Fact::MachinePaused { paused: true, .. } => "the machine was paused",
        Fact::MachinePaused { paused: false, .. } => "the machine was resumed",
        Fact::OwnerLoadReported { .. } => "the owner's load changed",
        Fact::JobSubmitted { .. } => "submitted",
        Fact::TasksCancelled(_) => "cancelled",
        Fact::TasksHeld(_) => "held",
        Fact::TasksReleased(_) => "released",
        Fact::TasksRerun(_) => "to run again",
        Fact::TasksRetired(_) => "long over",
        Fact::TasksRevived(_) => "back from the past",
        Fact::ResultsKept { keep: true, .. } => "results are to be kept",
        Fact::ResultsKept { keep: false, .. } => "results are not to be kept for longer than others",
        Fact::ResultsRemoved { .. } => "results were removed",
        Fact::ResultsGone(_) => "files of removed results are gone",
        Fact::JobsForgotten { .. } => "records of jobs were removed",
        Fact::TasksRested(_) => "to be tried again",
        Fact::RunStarted(_) => "started",
        Fact::RunEnded { .. } => "ended",
        Fact::ResultRefused { .. } => "a late result was refused",
        Fact::WokeUp { .. } => "the scheduler woke up",
        Fact::Decided { .. } => "placed",
    }
}
