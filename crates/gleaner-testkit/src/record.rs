//! What passed between the world and the scheduler, to be compared or played again.

use gleaner_core::{Command, Decision, Event, Policy};
use gleaner_sim::{Observer, Setup, Simulation};
use gleaner_units::{PartyId, Time};

/// One thing that passed.
#[derive(Clone, PartialEq, Debug)]
pub enum Entry {
    /// In.
    Event(Event),
    /// What the policy wished, and was granted.
    Decision(Decision),
    /// Out.
    Command(Command),
}

/// All that passed, in order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Record(pub Vec<(Time, Entry)>);

impl Observer for Record {
    fn event(&mut self, now: Time, _: PartyId, event: &Event) {
        self.0.push((now, Entry::Event(event.clone())));
    }

    fn decision(&mut self, now: Time, _: PartyId, decision: &Decision) {
        self.0.push((now, Entry::Decision(decision.clone())));
    }

    fn command(&mut self, now: Time, _: PartyId, command: &Command) {
        self.0.push((now, Entry::Command(command.clone())));
    }
}

/// Runs to the end, with the scheduler's own check after every event.
pub fn run_checked(setup: &Setup, policy: impl Policy) -> Result<Record, String> {
    let mut record = Record::default();
    let mut simulation = Simulation::new(setup, policy).observed_by(&mut record);
    while simulation.step() {
        simulation.scheduler().check()?;
    }
    Ok(record)
}

/// Runs to the end.
pub fn run(setup: &Setup, policy: impl Policy) -> Record {
    let mut record = Record::default();
    Simulation::new(setup, policy).observed_by(&mut record).run();
    record
}

/// The first entry in which two records differ, for a message.
pub fn first_difference(one: &Record, other: &Record) -> Option<String> {
    let length = one.0.len().max(other.0.len());
    let differing = (0..length).find(|&index| one.0.get(index) != other.0.get(index))?;
    let (one, other) = (one.0.get(differing), other.0.get(differing));
    Some(format!("entry {differing}: {one:?}\n   against {other:?}"))
}
