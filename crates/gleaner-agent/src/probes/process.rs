//! One process's CPU time, from `/proc/PID`.

use gleaner_units::Span;

use super::error::ProbeError;
use super::machine::TICK;
use super::root::Root;

/// User and system time, of the process and of its children that were waited for, counted after the process's name.
const TIMES: [usize; 4] = [11, 12, 13, 14];

/// The CPU time of a process and of those of its children that ended and were waited for; `None` once it is gone.
pub(crate) fn cpu_used(root: &Root, pid: u32) -> Result<Option<Span>, ProbeError> {
    let Some(stat) = root.read(&format!("/proc/{pid}/stat"))? else { return Ok(None) };
    let garbled = || stat.first().garbled("PID (NAME) STATE and at least fourteen numbers");
    let numbers = stat.after_name().ok_or_else(garbled)?;
    let mut ticks = 0u64;
    for field in TIMES {
        let word = numbers.split_whitespace().nth(field);
        let time: u64 = word.and_then(|word| word.parse().ok()).ok_or_else(garbled)?;
        ticks = ticks.saturating_add(time);
    }
    Ok(Some(Span::from_nanos(ticks.saturating_mul(TICK))))
}
