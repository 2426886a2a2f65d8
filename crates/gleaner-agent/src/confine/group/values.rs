//! What is written into the files of a cgroup to hold it to limits.

use crate::confine::hierarchy::{Control, Version};
use crate::confine::limits::Limits;

/// The period over which processor time is limited.
const CPU_PERIOD_US: u64 = 100_000;

/// The processor time of all tasks together where others want it too: a tenth of what others get, in either version.
const GUESTS_SHARES: &str = "102";
const GUESTS_WEIGHT: &str = "10";

/// What is written into a file of a cgroup.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) file: &'static str,
    pub(super) value: String,
    pub(super) must: Must,
}

/// Whether the kernel has to take a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Must {
    Hold,
    /// The file is absent where the kernel does not count swap.
    HoldWhereThereIsSwap,
}

/// With swap, what version 1 never takes for less than without.
pub(super) const V1_WITH_SWAP: &str = "memory.memsw.limit_in_bytes";
/// How much swap comes on top there: more than the kernel counts at a time. So the limit without swap is reached first, the only one of which
/// newer kernels count how often it was reached.
const V1_SWAP_BYTES: u64 = 1 << 20;

/// What a control has of the limits, in the order in which it is written.
///
/// A cgroup that limits memory also holds the memory of a task that names none. In version 2 that is the one by which the
/// task is frozen, and a process in it is not in the minder's.
pub(super) fn settings(control: Control, version: Version, limits: &Limits) -> Vec<Setting> {
    let hold = |file, value| Setting { file, value, must: Must::Hold };
    match control {
        Control::Memory => limits.memory().map_or_else(Vec::new, |bytes| memory_settings(version, bytes)),
        Control::Processes => {
            limits.processes.map(|most| hold("pids.max", most.to_string())).into_iter().collect()
        }
        Control::Cpu => limits.cpu_milli.map_or_else(Vec::new, |milli| {
            let quota = (u64::from(milli) * CPU_PERIOD_US / 1000).max(1000);
            match version {
                Version::V1 => vec![
                    hold("cpu.cfs_period_us", CPU_PERIOD_US.to_string()),
                    hold("cpu.cfs_quota_us", quota.to_string()),
                ],
                Version::V2 => vec![hold("cpu.max", format!("{quota} {CPU_PERIOD_US}"))],
            }
        }),
        Control::Freezer | Control::Kill => Vec::new(),
    }
}

/// What the cgroup around all tasks has of what its owner lets them have, in the order in which it is written: what is not
/// limited now may have been before, and what is limited is not opened in between. Of memory it has `held` now, with swap.
pub(super) fn settings_of_all(
    control: Control,
    version: Version,
    limits: &Limits,
    held: u64,
) -> Vec<Setting> {
    let given = |file, value: &str| Setting { file, value: value.to_owned(), must: Must::Hold };
    let open = match control {
        Control::Memory => return memory_settings_over(held, version, limits.memory_bytes),
        Control::Cpu => {
            let (weight, quota) = match version {
                Version::V1 => (("cpu.shares", GUESTS_SHARES), ("cpu.cfs_quota_us", "-1")),
                Version::V2 => (("cpu.weight", GUESTS_WEIGHT), ("cpu.max", "max")),
            };
            let none = limits.cpu_milli.is_none().then_some(quota);
            [weight].into_iter().chain(none).map(|(file, value)| given(file, value)).collect()
        }
        Control::Processes | Control::Freezer | Control::Kill => Vec::new(),
    };
    open.into_iter().chain(settings(control, version, limits)).collect()
}

fn memory_settings(version: Version, bytes: u64) -> Vec<Setting> {
    let swap = match version {
        Version::V1 => bytes.saturating_add(V1_SWAP_BYTES),
        Version::V2 => 0,
    };
    memory_and_swap(version, &bytes.to_string(), &swap.to_string())
}

/// So much memory, or all, for a cgroup that has `held` now, with swap. That is not opened in between: version 1 does not take less than
/// what is in use, and then leaves it as it was.
pub(super) fn memory_settings_over(held: u64, version: Version, bytes: Option<u64>) -> Vec<Setting> {
    let mut settings = match (bytes, version) {
        (Some(bytes), _) => memory_settings(version, bytes),
        (None, Version::V1) => memory_and_swap(version, "-1", "-1"),
        (None, Version::V2) => memory_and_swap(version, "max", "max"),
    };
    if bytes.is_none_or(|bytes| bytes > held) {
        settings.reverse();
    }
    settings
}

fn memory_and_swap(version: Version, memory: &str, swap: &str) -> Vec<Setting> {
    let (limit, with_swap) = match version {
        Version::V1 => ("memory.limit_in_bytes", V1_WITH_SWAP),
        Version::V2 => ("memory.max", "memory.swap.max"),
    };
    vec![
        Setting { file: limit, value: memory.to_owned(), must: Must::Hold },
        Setting { file: with_swap, value: swap.to_owned(), must: Must::HoldWhereThereIsSwap },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_control_writes_its_limits() {
        let limits = Limits {
            memory_bytes: Some(7),
            processes: Some(5),
            cpu_milli: Some(1500),
            file_bytes: Some(1),
            open_files: Some(1),
            user_parts: None,
            memory_unless_named: Some(9),
            memory_of_all: Some(9),
        };
        let unnamed = Limits { memory_bytes: None, ..limits };
        for (version, limits, expected) in [
            (
                Version::V1,
                limits,
                "memory.limit_in_bytes=7 memory.memsw.limit_in_bytes=1048583 pids.max=5 cpu.cfs_period_us=100000 \
                 cpu.cfs_quota_us=150000",
            ),
            (Version::V2, limits, "memory.max=7 memory.swap.max=0 pids.max=5 cpu.max=150000 100000"),
            // Whoever is in this cgroup is not in the minder's, which would hold it.
            (Version::V2, unnamed, "memory.max=9 memory.swap.max=0 pids.max=5 cpu.max=150000 100000"),
            (Version::V2, Limits::default(), ""),
        ] {
            let written: Vec<String> = Control::ALL
                .into_iter()
                .flat_map(|control| settings(control, version, &limits))
                .map(|setting| format!("{}={}", setting.file, setting.value))
                .collect();
            assert_eq!(written.join(" "), expected, "{version:?}, {limits:?}");
        }
    }

    #[test]
    fn the_cgroup_of_all_tasks_gets_what_their_owner_gives_and_no_more() {
        let given = Limits { memory_bytes: Some(7), cpu_milli: Some(2_000), ..Limits::default() };
        for (version, limits, held, expected) in [
            (
                Version::V1,
                given,
                u64::MAX,
                "memory.limit_in_bytes=7 memory.memsw.limit_in_bytes=1048583 cpu.shares=102 \
                 cpu.cfs_period_us=100000 cpu.cfs_quota_us=200000",
            ),
            (
                Version::V1,
                Limits { cpu_milli: None, ..given },
                6,
                "memory.memsw.limit_in_bytes=1048583 memory.limit_in_bytes=7 cpu.shares=102 cpu.cfs_quota_us=-1",
            ),
            (
                Version::V1,
                Limits::default(),
                7,
                "memory.memsw.limit_in_bytes=-1 memory.limit_in_bytes=-1 cpu.shares=102 cpu.cfs_quota_us=-1",
            ),
            (
                Version::V2,
                given,
                u64::MAX,
                "memory.max=7 memory.swap.max=0 cpu.weight=10 cpu.max=200000 100000",
            ),
            (
                Version::V2,
                Limits::default(),
                u64::MAX,
                "memory.swap.max=max memory.max=max cpu.weight=10 cpu.max=max",
            ),
        ] {
            let written: Vec<String> = Control::ALL
                .into_iter()
                .flat_map(|control| settings_of_all(control, version, &limits, held))
                .map(|setting| format!("{}={}", setting.file, setting.value))
                .collect();
            assert_eq!(written.join(" "), expected, "{version:?}, {limits:?}");
        }
    }
}
