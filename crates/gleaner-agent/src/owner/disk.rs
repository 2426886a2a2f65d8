//! How much of the machine's disk tasks may have.

use super::Rules;
use gleaner_wire::limits::MEMORY_BYTES_MAX;

impl Rules {
    /// What tasks may have together of a disk with so many bytes free. It is rounded down to three binary digits, so that machines
    /// with nearly as much say the same.
    pub(crate) fn disk_for_tasks(&self, free: u64) -> u64 {
        let left = free.saturating_sub(self.disk_free_min()).min(MEMORY_BYTES_MAX);
        let unsaid = (u64::BITS - left.leading_zeros()).saturating_sub(3);
        left >> unsaid << unsaid
    }

    /// Whether others filled or cleared so much of a disk that tasks are to have another share of it. Free space that comes and goes in
    /// small amounts changes nothing.
    pub(crate) fn has_other_disk(&self, known: u64, free: u64) -> bool {
        let known = self.disk_for_tasks(known);
        self.disk_for_tasks(free) < known || self.disk_for_tasks(free - free / 8) > known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_have_nearly_all_that_is_free_and_not_an_other_share_for_each_byte() {
        let rules = Rules { disk_free_min_gb: Some(0.000_001), ..Rules::default() };
        for (free, share) in [
            (0, 0),
            (1_000, 0),
            (1_007, 7),
            (1_009, 8),
            (1_000 + (1 << 20), 1 << 20),
            (999 + (1 << 20), 7 << 17),
            (u64::MAX, MEMORY_BYTES_MAX),
        ] {
            assert_eq!(rules.disk_for_tasks(free), share, "{free}");
            assert!(!rules.has_other_disk(free, free), "{free}");
        }
        for (known, free, is_other) in [
            (1 << 30, (1 << 30) - (1 << 20), false),
            (1_000 + (1 << 30), 999 + (1 << 30), true),
            (999 + (1 << 30), 1_000 + (1 << 30), false),
            (999 + (1 << 30), 5 << 28, true),
        ] {
            assert_eq!(rules.has_other_disk(known, free), is_other, "{known} {free}");
        }
    }
}
