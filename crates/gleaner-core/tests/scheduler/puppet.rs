//! A policy that wishes what a test tells it, and how a test tells a scheduler what happens.

use gleaner_core::{
    Alarm, Cause, Change, Command, Decision, Event, Grid, Occasion, Policy, Refusal, Scheduler,
};
use gleaner_units::{RunId, Time};

/// When all happens where time is not what is tested.
pub(crate) const NOW: Time = Time::from_nanos(5);

/// Wishes what it is told, starts nothing on its own, and notes what it hears.
#[derive(Clone, Debug, Default)]
pub(crate) struct Puppet {
    /// The next one last.
    wishes: Vec<Decision>,
    pub(crate) refusals: Vec<Refusal>,
    pub(crate) stale: Vec<RunId>,
    /// What it was asked about, each time.
    pub(crate) asked: Vec<Cause>,
}

impl Puppet {
    /// Wishes these, in this order.
    pub(crate) fn wishing(wishes: &[Decision]) -> Self {
        Self { wishes: wishes.iter().rev().cloned().collect(), ..Self::default() }
    }
}

impl Policy for Puppet {
    fn observe(&mut self, _: &Grid, change: &Change) {
        match *change {
            Change::Refused(refusal) => self.refusals.push(refusal),
            Change::StaleReply(run) => self.stale.push(run),
            _ => {}
        }
    }

    fn propose(&mut self, _: &Grid, _: Time, occasion: Occasion) -> Option<Decision> {
        self.asked.push(occasion.cause);
        self.wishes.pop()
    }

    fn rebuild(&mut self, _: &Grid) {}

    fn check(&self, _: &Grid) -> Result<(), String> {
        Ok(())
    }
}

/// What an event changes, before the policy decides.
pub(crate) fn tell<P: Policy>(scheduler: &mut Scheduler<P>, event: &Event) -> Vec<Change> {
    tell_at(scheduler, NOW, event)
}

pub(crate) fn tell_at<P: Policy>(scheduler: &mut Scheduler<P>, now: Time, event: &Event) -> Vec<Change> {
    let changes = scheduler.apply(now, event).to_vec();
    scheduler.decide(now, &mut Vec::new());
    scheduler.check().unwrap_or_else(|broken| panic!("after {event:?}: {broken}"));
    changes
}

/// Why a wish is refused, if it is.
pub(crate) fn wish(scheduler: &mut Scheduler<Puppet>, decision: Decision) -> Option<Refusal> {
    wish_at(scheduler, NOW, decision)
}

pub(crate) fn wish_at(scheduler: &mut Scheduler<Puppet>, now: Time, decision: Decision) -> Option<Refusal> {
    scheduler.set_policy(Puppet::wishing(&[decision]));
    tell_at(scheduler, now, &Event::WokeUp { alarm: Alarm::Batch });
    scheduler.policy().refusals.first().copied()
}

pub(crate) fn orders<P: Policy>(scheduler: &mut Scheduler<P>) -> Vec<Command> {
    scheduler.take_orders().collect()
}
