//! Which machines of a trace are present, and what is known of each: the information service of Elleuch et al.
//!
//! - **Machines that are present are sorted by their numbers**, and so are the results of a look.
//! - **News is delivered before the clock advances.**

use crate::agenda::Next;
use crate::availability::{MachineTraces, PredictedSpeed, Pricing};
use crate::demand::PriceLevels;
use crate::reputation::Reputation;
use gleaner_core::Event;
use gleaner_units::{MachineClassId, MachineId, Time};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The machines that arrive, are present and depart.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Register {
    /// The interval that begins next.
    next: usize,
    departures: BinaryHeap<Reverse<(Time, MachineId)>>,
    present: Vec<Present>,
    looked: Time,
    /// Events for the scheduler, with the moments at which they happened.
    news: VecDeque<(Time, Event)>,
    reputation: Reputation,
    /// None where prices do not follow it.
    prices: Option<PriceLevels>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Present {
    machine: MachineId,
    predicted: PredictedSpeed,
    /// What the scheduler takes it for.
    told: MachineClassId,
}

impl Register {
    /// Nobody is there.
    pub(crate) fn new(availability: Option<&MachineTraces>) -> Self {
        let by_demand = availability.filter(|by_trace| by_trace.pricing == Pricing::ByDemand);
        let prices = by_demand.map(|by_trace| PriceLevels::new(by_trace.scale.values().len()));
        Self { prices, ..Self::default() }
    }

    /// The next departure, arrival of a machine, look, and news.
    pub(crate) fn next(&self, availability: &MachineTraces) -> [Option<(Time, Next)>; 4] {
        let departure =
            self.departures.peek().map(|Reverse((time, machine))| (*time, Next::Departure(*machine)));
        let join = availability.trace.intervals().get(self.next).map(|interval| (interval.from, Next::Join));
        let goes_on = departure.is_some() || join.is_some();
        let look = goes_on.then(|| (availability.next_look(self.looked), Next::Look));
        let news = self.news.front().map(|(time, _)| (*time, Next::News));
        [departure, join, look, news]
    }

    /// A machine comes.
    pub(crate) fn join(&mut self, availability: &MachineTraces, now: Time) -> Event {
        let machine = MachineId::new(self.next);
        let predicted = PredictedSpeed::at_join(availability, self.next, now);
        let class = availability.class(self.next, predicted.speed(), level(self.prices.as_ref(), &predicted));
        self.departures.push(Reverse((availability.trace.intervals()[self.next].until, machine)));
        self.present.push(Present { machine, predicted, told: class });
        self.next += 1;
        if self.reputation.is_bad(availability.host(machine)) {
            self.news.push_back((now, Event::MachineClosed { machine }));
        }
        Event::MachineJoined { machine, class }
    }

    /// The machine that is the first to go goes. Costs O(present).
    pub(crate) fn depart(&mut self) -> Event {
        let Reverse((_, machine)) = self.departures.pop().expect("a machine that is there");
        let at = self.present.binary_search_by_key(&machine, |present| present.machine);
        self.present.remove(at.expect("a machine that goes was there"));
        Event::MachineLost { machine }
    }

    /// Looks at all that are there, and at which of them are busy. Costs O(present).
    pub(crate) fn look(
        &mut self,
        availability: &MachineTraces,
        now: Time,
        is_busy: impl Fn(MachineId) -> bool,
    ) {
        self.looked = now;
        for Present { machine, predicted, .. } in &mut self.present {
            predicted.look(availability, machine.index(), now);
        }
        if let Some(prices) = &mut self.prices {
            prices.follow(self.present.iter().map(|there| (there.predicted.speed(), is_busy(there.machine))));
        }
        for Present { machine, predicted, told } in &mut self.present {
            let level = level(self.prices.as_ref(), predicted);
            let class = availability.class(machine.index(), predicted.speed(), level);
            if class != *told {
                *told = class;
                self.news.push_back((now, Event::MachineMeasured { machine: *machine, class }));
            }
        }
    }

    /// The next thing to be told.
    pub(crate) fn news(&mut self) -> Event {
        self.news.pop_front().expect("there are news").1
    }

    /// A machine ended a task.
    pub(crate) fn ended(&mut self, availability: &MachineTraces, machine: MachineId) {
        if availability.aborts_max.is_some() {
            self.reputation.ended(availability.host(machine));
        }
    }

    /// A machine that is still there did not end a task, or one that goes.
    pub(crate) fn aborted(&mut self, availability: &MachineTraces, now: Time, machine: MachineId) {
        let Some(aborts_max) = availability.aborts_max else { return };
        if self.reputation.aborted(availability.host(machine), aborts_max) {
            self.news.push_back((now, Event::MachineClosed { machine }));
        }
    }
}

/// The only one, where prices do not follow demand.
fn level(prices: Option<&PriceLevels>, predicted: &PredictedSpeed) -> usize {
    prices.map_or(0, |prices| prices.level(predicted.speed()))
}
