//! What a client bounds.

use std::time::Duration;

/// How long a client waits, and how much it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For one address to accept a connection.
    pub connect: Duration,
    /// For the other side to say or take something. It must exceed the pause between a stream's signs of life.
    pub silence: Duration,
    /// For a JSON answer, in bytes.
    pub json_bytes: u64,
    /// For a line of an event stream and for the data of one event, in bytes.
    pub event_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            silence: Duration::from_mins(1),
            json_bytes: 256 << 20,
            event_bytes: 1 << 20,
        }
    }
}
