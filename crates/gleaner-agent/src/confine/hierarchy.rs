//! A hierarchy of cgroups in which the agent may make some, and how its controls are written in either version.

use std::fs;
use std::path::PathBuf;

use gleaner_units::Span;
use serde::{Deserialize, Serialize};

/// The two forms of cgroups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Version {
    /// A hierarchy for each controller.
    V1,
    /// One for all.
    V2,
}

/// What a hierarchy can do for a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Control {
    /// Limit memory.
    Memory,
    /// Limit processes.
    Processes,
    /// Limit processor time.
    Cpu,
    /// Suspend.
    Freezer,
    /// Kill all at once.
    Kill,
}

/// A folder in which the agent makes cgroups, and what they are good for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hierarchy {
    /// The agent's own folder in it.
    pub folder: PathBuf,
    /// Its form.
    pub version: Version,
    /// What it is used for: no other hierarchy of the [`super::Limiter`] is for the same.
    pub controls: Vec<Control>,
}

impl Hierarchy {
    /// The CPU time of all that was ever in the agent's folder or below it, if the hierarchy counts it.
    pub(super) fn cpu_used(&self) -> Option<Span> {
        let read = |file: &str| fs::read_to_string(self.folder.join(file)).ok();
        let nanos = match self.version {
            Version::V1 => read("cpuacct.usage")?.trim().parse().ok()?,
            Version::V2 => {
                let text = read("cpu.stat")?;
                let micros = text.lines().find_map(|line| line.strip_prefix("usage_usec "))?;
                micros.parse::<u64>().ok()?.saturating_mul(1_000)
            }
        };
        Some(Span::from_nanos(nanos))
    }
}

impl Control {
    /// All of them.
    pub(super) const ALL: [Self; 5] = [Self::Memory, Self::Processes, Self::Cpu, Self::Freezer, Self::Kill];

    /// The file by whose presence in a cgroup the control is known to be there.
    pub(super) fn file(self, version: Version) -> Option<&'static str> {
        Some(match (self, version) {
            (Self::Memory, Version::V1) => "memory.limit_in_bytes",
            (Self::Memory, Version::V2) => "memory.max",
            (Self::Processes, _) => "pids.max",
            (Self::Cpu, Version::V1) => "cpu.cfs_quota_us",
            (Self::Cpu, Version::V2) => "cpu.max",
            (Self::Freezer, Version::V1) => "freezer.state",
            (Self::Freezer, Version::V2) => "cgroup.freeze",
            (Self::Kill, Version::V1) => return None,
            (Self::Kill, Version::V2) => "cgroup.kill",
        })
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Processes => "processes",
            Self::Cpu => "cpu",
            Self::Freezer => "freezer",
            Self::Kill => "kill",
        }
    }
}
