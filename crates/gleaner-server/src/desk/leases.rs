//! Until when agents are waited for. Ten thousand of them renew a thousand times a second, and each time it is asked who
//! is due: both cost O(log agents).

use gleaner_units::{MachineId, Span, Time};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, Default)]
pub(super) struct Leases {
    until: BTreeMap<MachineId, Time>,
    /// The same, the next to end first.
    ends: BTreeSet<(Time, MachineId)>,
}

impl Leases {
    /// The agent is waited for until then, whatever was said before.
    pub(super) fn renew(&mut self, agent: MachineId, until: Time) {
        self.end(agent);
        self.until.insert(agent, until);
        self.ends.insert((until, agent));
    }

    /// The agent is not waited for any more.
    pub(super) fn end(&mut self, agent: MachineId) {
        if let Some(until) = self.until.remove(&agent) {
            self.ends.remove(&(until, agent));
        }
    }

    /// How long the agent is still waited for.
    pub(super) fn left(&self, agent: MachineId, now: Time) -> Span {
        self.until.get(&agent).filter(|until| **until > now).map_or(Span::ZERO, |until| until.since(now))
    }

    /// The agent whose lease ends first, if it has ended.
    pub(super) fn find_due(&self, now: Time) -> Option<MachineId> {
        self.ends.first().filter(|(until, _)| *until <= now).map(|&(_, agent)| agent)
    }

    /// When the first of them ends.
    pub(super) fn next_end(&self) -> Time {
        self.ends.first().map_or(Time::NEVER, |&(until, _)| until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_to_end_is_due_first() {
        let (agent, at) = (MachineId::new, Time::from_nanos);
        let mut leases = Leases::default();
        assert_eq!((leases.find_due(at(9)), leases.next_end()), (None, Time::NEVER));
        for (number, until) in [(0, 5), (1, 4), (2, 4), (0, 7), (3, 3)] {
            leases.renew(agent(number), at(until));
        }
        leases.end(agent(3));
        for (now, due) in [(3, None), (4, Some(agent(1)))] {
            assert_eq!(leases.find_due(at(now)), due, "at {now}");
        }
        leases.end(agent(1));
        leases.end(agent(2));
        assert_eq!((leases.find_due(at(6)), leases.next_end()), (None, at(7)));
    }
}
