//! What is going to happen, in order of time; what happens at one moment, in the order in which it was put in.

use super::scene::Timer;
use super::users::Asked;
use gleaner_server::desk::{Answer, OrderId, Rejection, SessionId};
use gleaner_units::{RunId, Time};
use gleaner_wire::BlobHash;
use gleaner_wire::session::{End, FromAgent, ToAgent};
use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// A process of the coordinator handles what came, commits what follows, or looks at the time.
    Turn(u64),
    Commit(u64),
    Tick(u64),
    /// The coordinator is started again.
    Restart,
    ToServer(usize, Box<FromAgent>),
    ToAgent(usize, Box<ToAgent>),
    /// A side notices that a connection is gone.
    ServerLoses(usize),
    AgentLoses(usize),
    Timer(usize, u64, Timer),
    Wake(usize),
    /// An agent's program is started again.
    Reborn(usize),
    Order(OrderId, Box<Asked>),
    Answer(OrderId, Box<Result<Answer, Rejection>>),
    /// A process of the coordinator has found out what a run answered.
    Compared(u64, SessionId, RunId, Box<(End, BlobHash)>),
    /// A user has waited long enough for an answer.
    Impatient(OrderId),
    UserActs,
    OwnerActs,
    Trouble,
    /// In the calm at the end, someone sees to it that nothing is left lying.
    Care,
}

impl Event {
    /// Whether it counts as something that happened.
    pub(crate) fn counts(&self) -> bool {
        match self {
            Self::ToServer(_, frame) => !matches!(**frame, FromAgent::Heartbeat { .. }),
            Self::ToAgent(_, message) => !matches!(**message, ToAgent::Beat { .. }),
            Self::Timer(_, _, timer) => !matches!(timer, Timer::Heartbeat(_) | Timer::Lease),
            Self::Turn(_) | Self::Commit(_) | Self::Tick(_) | Self::Impatient(_) | Self::Care => false,
            _ => true,
        }
    }
}

struct Due {
    at: Time,
    number: u64,
    event: Event,
}

#[derive(Default)]
pub(crate) struct Queue {
    heap: BinaryHeap<Reverse<Due>>,
    put: u64,
}

impl Queue {
    pub(crate) fn put(&mut self, at: Time, event: Event) {
        self.put += 1;
        self.heap.push(Reverse(Due { at, number: self.put, event }));
    }

    pub(crate) fn next(&mut self) -> Option<(Time, Event)> {
        self.heap.pop().map(|Reverse(due)| (due.at, due.event))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Due {}
