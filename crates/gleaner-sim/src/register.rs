//! Which machines of a trace are there, and what is known of each: the information service of Elleuch et al.
//!
//! - **Those present are in order of their numbers**, and so is what a look finds.
//! - **What a look found is told before time goes on.**

use crate::agenda::Next;
use crate::availability::{Availability, Outlook};
use gleaner_core::Event;
use gleaner_units::{MachineClassId, MachineId, Time};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Who comes, who is there, who goes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Register {
    /// The interval that begins next.
    next: usize,
    departures: BinaryHeap<Reverse<(Time, MachineId)>>,
    present: Vec<(MachineId, Outlook)>,
    looked: Time,
    found: VecDeque<(MachineId, MachineClassId)>,
}

impl Register {
    /// The next departure, arrival of a machine, and look or what one found.
    pub(crate) fn next(&self, availability: &Availability) -> [Option<(Time, Next)>; 3] {
        let departure =
            self.departures.peek().map(|Reverse((time, machine))| (*time, Next::Departure(*machine)));
        let join = availability.trace.intervals().get(self.next).map(|interval| (interval.from, Next::Join));
        let look = match self.found.front() {
            Some((machine, _)) => Some((self.looked, Next::Measured(*machine))),
            None if departure.is_some() || join.is_some() => {
                Some((availability.next_look(self.looked), Next::Look))
            }
            None => None,
        };
        [departure, join, look]
    }

    /// A machine comes.
    pub(crate) fn join(&mut self, availability: &Availability, now: Time) -> Event {
        let machine = MachineId::new(self.next);
        let outlook = Outlook::at_join(availability, self.next, now);
        let class = availability.class(self.next, outlook.speed());
        self.departures.push(Reverse((availability.trace.intervals()[self.next].until, machine)));
        self.present.push((machine, outlook));
        self.next += 1;
        Event::MachineJoined { machine, class }
    }

    /// The machine that is the first to go goes. Costs O(present).
    pub(crate) fn depart(&mut self) -> Event {
        let Reverse((_, machine)) = self.departures.pop().expect("a machine that is there");
        let at = self.present.binary_search_by_key(&machine, |(machine, _)| *machine);
        self.present.remove(at.expect("a machine that goes was there"));
        Event::MachineLost { machine }
    }

    /// Looks at all that are there. Costs O(present).
    pub(crate) fn look(&mut self, availability: &Availability, now: Time) {
        self.looked = now;
        for (machine, outlook) in &mut self.present {
            if outlook.look(availability, machine.index(), now) {
                self.found.push_back((*machine, availability.class(machine.index(), outlook.speed())));
            }
        }
    }

    /// The next thing that the look found.
    pub(crate) fn measured(&mut self) -> Event {
        let (machine, class) = self.found.pop_front().expect("a look found something");
        Event::MachineMeasured { machine, class }
    }
}
