//! What a machine has room for at a time, and what a task takes of it.

use crate::size::size;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How much a machine takes in at a time, or still could; nothing where it has no bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Room {
    /// Cores that tasks may have to themselves.
    pub slots: Option<u32>,
    /// Bytes.
    pub memory: Option<u64>,
    /// Bytes.
    pub disk: Option<u64>,
}

/// What a task takes of a machine's [`Room`] for as long as it is there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Needs {
    /// At least 1; as many slots.
    pub cores: u32,
    /// Bytes.
    pub memory: u64,
    /// Bytes.
    pub disk: u64,
}

impl Default for Needs {
    fn default() -> Self {
        Self { cores: 1, memory: 0, disk: 0 }
    }
}

impl Needs {
    /// What a part with so many of the cores takes: of memory and disk what falls to these, rounded up.
    #[must_use]
    #[inline]
    pub fn of_part(self, cores: u32) -> Self {
        if cores == self.cores {
            return self;
        }
        // The share of a number is no more than the number, since a part has no more cores than there are.
        let share =
            |bytes: u64| (u128::from(bytes) * u128::from(cores)).div_ceil(u128::from(self.cores)) as u64;
        Self { cores, memory: share(self.memory), disk: share(self.disk) }
    }
}

impl Room {
    /// Whether there are as many slots.
    #[inline]
    pub fn has_slots(&self, cores: u32) -> bool {
        self.slots.is_none_or(|slots| cores <= slots)
    }

    /// Whether there are as many bytes.
    #[inline]
    pub fn has_memory(&self, bytes: u64) -> bool {
        self.memory.is_none_or(|memory| bytes <= memory)
    }

    /// Whether there are as many bytes on disk.
    #[inline]
    pub fn has_disk(&self, bytes: u64) -> bool {
        self.disk.is_none_or(|disk| bytes <= disk)
    }

    /// Whether a task with these needs has its place in it.
    #[inline]
    pub fn holds(&self, needs: Needs) -> bool {
        self.has_slots(needs.cores) && self.has_memory(needs.memory) && self.has_disk(needs.disk)
    }
}

fn plural(count: u32) -> &'static str {
    if count == 1 { "" } else { "s" }
}

impl fmt::Display for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.slots {
            Some(slots) => write!(f, "{slots} core{}", plural(slots))?,
            None => f.write_str("any number of cores")?,
        }
        match self.memory {
            Some(memory) => write!(f, " and {}", size(memory))?,
            None => f.write_str(" and any number of bytes")?,
        }
        match self.disk {
            Some(disk) => write!(f, " and {} of disk", size(disk)),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Needs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} core{} and {}", self.cores, plural(self.cores), size(self.memory))?;
        if self.disk > 0 { write!(f, " and {} of disk", size(self.disk)) } else { Ok(()) }
    }
}
