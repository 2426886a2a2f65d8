//! How much memory this process has had at most, as Linux counts it.

use std::fs;

/// Bytes that the process's memory grew by, at most, during `work`; `None` where the system does not say.
///
/// What was freed before and is used again does not count: call this before other work that takes memory.
pub(crate) fn peak_growth_bytes(work: impl FnOnce()) -> Option<f64> {
    // Has the system take what is there now for the peak so far.
    fs::write("/proc/self/clear_refs", "5").ok()?;
    let before = status_bytes("VmRSS:")?;
    work();
    Some((status_bytes("VmHWM:")? - before).max(0.0))
}

fn status_bytes(key: &str) -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    line.trim().strip_suffix(" kB")?.parse::<f64>().ok().map(|kib| kib * 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_is_written_to_counts_though_it_is_freed() {
        const BYTES: usize = 64 << 20;
        let growth = peak_growth_bytes(|| drop(std::hint::black_box(vec![1_u8; BYTES])));
        if let Some(growth) = growth {
            assert!(growth > 0.9 * BYTES as f64 && growth < 2.0 * BYTES as f64, "{growth}");
        }
    }
}
