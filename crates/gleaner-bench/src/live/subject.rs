//! What there is to measure, and who measures it.

use super::{Bench, Found, LiveError};
use super::{bwrap, commands, crowd, idle, latency, queue, rate, restart};

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    /// Tasks a second outside the sandbox, beside bare spawning and `HyperQueue`.
    Rate,
    /// Tasks a second in the sandbox, beside bare bubblewrap.
    Sandbox,
    /// From handing a task in to its result, beside syncs of the disk.
    Latency,
    /// A whole command of the command line.
    Commands,
    /// A million tasks in the queue.
    Queue,
    /// Ten thousand connected agents.
    Crowd,
    /// Starting with a million tasks behind it.
    Restart,
    /// An agent with nothing to do.
    Idle,
}

impl Subject {
    /// All of them, in the order in which they are measured.
    pub const ALL: [Self; 8] = [
        Self::Rate,
        Self::Sandbox,
        Self::Latency,
        Self::Commands,
        Self::Queue,
        Self::Crowd,
        Self::Restart,
        Self::Idle,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rate => "rate",
            Self::Sandbox => "sandbox",
            Self::Latency => "latency",
            Self::Commands => "commands",
            Self::Queue => "queue",
            Self::Crowd => "crowd",
            Self::Restart => "restart",
            Self::Idle => "idle",
        }
    }

    /// What it is, in a few words.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Rate => "tasks a second outside the sandbox, beside bare spawning and HyperQueue",
            Self::Sandbox => "tasks a second in the sandbox, beside bare bubblewrap",
            Self::Latency => "from handing a task in to its result, beside syncs of the disk",
            Self::Commands => "a whole command of the command line",
            Self::Queue => "a million tasks in the queue",
            Self::Crowd => "ten thousand connected agents",
            Self::Restart => "starting with a million tasks behind it",
            Self::Idle => "an agent with nothing to do",
        }
    }
}

impl Bench {
    /// Takes from a few seconds to a few minutes.
    pub fn measure(&self, subject: Subject) -> Result<Found, LiveError> {
        match subject {
            Subject::Rate => rate::measure(self),
            Subject::Sandbox => bwrap::measure(self),
            Subject::Latency => latency::measure(self),
            Subject::Commands => commands::measure(self),
            Subject::Queue => queue::measure(self),
            Subject::Crowd => crowd::measure(self),
            Subject::Restart => restart::measure(self),
            Subject::Idle => idle::measure(self),
        }
    }
}
