//! What a task may use of its machine.

use serde::{Deserialize, Serialize};

/// What a task may use; `None` is without limit. Time is the agent's affair.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Memory of all processes together, in bytes; without a memory cgroup, address space of each.
    pub memory_bytes: Option<u64>,
    /// The same for a task that names none. It is held by the minder's own cgroup, which costs the task nothing; without
    /// one by the address space of each process in a sandbox.
    pub memory_unless_named: Option<u64>,
    /// Processes and threads.
    pub processes: Option<u32>,
    /// Processor time per second of all processes together, in thousandths of a core.
    pub cpu_milli: Option<u32>,
    /// Size of each file it writes, in bytes.
    pub file_bytes: Option<u64>,
    /// Files that each of its processes has open.
    pub open_files: Option<u32>,
}

impl Limits {
    /// Whether anything is limited by what is made for the task alone.
    pub fn any(&self) -> bool {
        Self { memory_unless_named: None, ..*self } != Self::default()
    }

    /// How much memory the task may use.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.memory_bytes.or(self.memory_unless_named)
    }
}
