//! What a task may use of its machine.

use serde::{Deserialize, Serialize};

/// What a task may use; `None` is without limit. Time is the agent's affair.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Memory of all processes together, in bytes; without a memory cgroup, address space of each.
    pub memory_bytes: Option<u64>,
    /// The same for a task that names none. It is held by the minder's own cgroup, which costs the task nothing, or by the
    /// task's where that is in the same hierarchy; without either by the address space of each process in a sandbox.
    pub memory_unless_named: Option<u64>,
    /// What all tasks of the machine may have together. Nothing here holds it.
    pub memory_of_all: Option<u64>,
    /// Processes and threads.
    pub processes: Option<u32>,
    /// Processor time per second of all processes together, in thousandths of a core.
    pub cpu_milli: Option<u32>,
    /// Size of each file it writes, in bytes.
    pub file_bytes: Option<u64>,
    /// Files that each of its processes has open.
    pub open_files: Option<u32>,
    /// In a user namespace: the task's part, one of so many, of what its user may have of inotify's instances and watches, of
    /// pending signals and of POSIX message queues.
    pub user_parts: Option<u32>,
}

/// The memory that any task may use: no program starts in less, nor does what puts it into its sandbox.
pub const MEMORY_BYTES_MIN: u64 = 10_000_000;

/// Bubblewrap's own processes, one on either side of the wall, which may be in the task's cgroups.
const FRAME_PROCESSES: u32 = 2;

impl Limits {
    /// Whether anything is limited by what is made for the task alone.
    pub fn any(&self) -> bool {
        Self { memory_unless_named: None, memory_of_all: None, ..*self } != Self::default()
    }

    /// How much memory the task may use.
    pub(crate) fn memory(&self) -> Option<u64> {
        self.memory_bytes.or(self.memory_unless_named)
    }

    /// How much memory it takes to have taken what it may, where that is nearly all that all tasks may have: it comes to their bound
    /// before its own. Of others the kernel counts how often their own was used up, which says more: the most that a task ever had
    /// has files in it that were only cached.
    pub(crate) fn memory_of_who_takes_all(&self) -> Option<u64> {
        let (own, all) = (self.memory()?, self.memory_of_all?);
        (own >= nearly_all(all)).then(|| nearly_all(own))
    }

    /// What of a sandboxed task's limits its cgroups hold, besides the freezer's, which each has where there is one. To
    /// enter one takes milliseconds, so there is none where the limit on processes is the only one that it could hold: that
    /// holds without. The memory of a task that names none needs no cgroup of the task's, but is held where there is one.
    pub(crate) fn by_group_of_a_sandbox(&self) -> Self {
        let others = Self {
            memory_of_all: None,
            processes: None,
            file_bytes: None,
            open_files: None,
            user_parts: None,
            ..*self
        };
        if !others.any() {
            return others;
        }
        Self { processes: self.processes.map(|most| most.saturating_add(FRAME_PROCESSES)), ..others }
    }
}

/// All memory but a sixteenth.
pub(crate) fn nearly_all(all: u64) -> u64 {
    all - all / 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cgroups_of_a_sandbox_hold_memory_that_no_one_named() {
        let held = Limits { memory_unless_named: Some(9), ..Limits::default() };
        let unnamed = Limits {
            memory_of_all: Some(9),
            processes: Some(5),
            file_bytes: Some(1),
            open_files: Some(1),
            user_parts: Some(1),
            ..held
        };
        assert_eq!(unnamed.by_group_of_a_sandbox(), held);
        let named = Limits { memory_bytes: Some(7), ..unnamed };
        let expected = Limits { memory_bytes: Some(7), processes: Some(7), ..held };
        assert_eq!(named.by_group_of_a_sandbox(), expected);
        assert!(!Limits { memory_of_all: Some(9), ..held }.any(), "nothing is made for what holds nothing");
    }

    /// Else who read files, and is killed since others filled the machine, took too much.
    #[test]
    fn who_may_take_less_than_nearly_all_memory_takes_it_only_where_the_kernel_says_so() {
        for (named, unless_named, all, expected) in [
            (Some(1_600), None, Some(1_600), Some(1_500)),
            (Some(1_500), None, Some(1_600), Some(1_407)),
            (Some(1_499), None, Some(1_600), None),
            (None, Some(1_500), Some(1_600), Some(1_407)),
            (Some(100), Some(1_500), Some(1_600), None),
            (Some(1_600), None, None, None),
            (None, None, Some(1_600), None),
        ] {
            let limits = Limits {
                memory_bytes: named,
                memory_unless_named: unless_named,
                memory_of_all: all,
                ..Limits::default()
            };
            assert_eq!(limits.memory_of_who_takes_all(), expected, "{limits:?}");
        }
    }
}
