//! Runs of several parts: one task on several machines at a time, all or none.

use gleaner_units::MachineId;
use serde::{Deserialize, Serialize};

/// The most machines that one run is on.
pub const PARTS_MAX: usize = 1024;

/// What a run has on one machine. The cores of all its parts are those that its task needs; of the memory and disk that
/// the task needs a part takes what falls to its cores, rounded up.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Part {
    /// Where.
    pub on: MachineId,
    /// At least 1.
    pub cores: u32,
}

/// Whether these are parts that make up so many cores: one on each of some machines, in order of machine.
pub(crate) fn make_up(parts: &[Part], cores: u32) -> bool {
    let sum: u64 = parts.iter().map(|part| u64::from(part.cores)).sum();
    (1..=PARTS_MAX).contains(&parts.len())
        && parts.is_sorted_by(|one, next| one.on < next.on)
        && parts.iter().all(|part| part.cores > 0)
        && sum == u64::from(cores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_so_many_parts_at_most() {
        let parts = |count: usize| -> Vec<Part> {
            (0..count).map(|index| Part { on: MachineId::new(index), cores: 1 }).collect()
        };
        assert!(make_up(&parts(PARTS_MAX), PARTS_MAX as u32));
        assert!(!make_up(&parts(PARTS_MAX + 1), PARTS_MAX as u32 + 1));
    }
}
