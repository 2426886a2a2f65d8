//! The whole machine's CPU time and memory, from `/proc`.

use gleaner_units::Span;

use super::error::ProbeError;
use super::root::Root;

/// A tick of `/proc` in nanoseconds. The kernel counts in its own ticks and shows hundredths of a second to programs
/// on every architecture that Rust's standard library runs on.
pub(crate) const TICK: u64 = 10_000_000;

/// User, nice, system, interrupts and soft interrupts; what is left out is idle time, waiting for a disk, and what
/// other guests of the same host took. Time of our own guests is in "user" already.
const BUSY: [usize; 5] = [1, 2, 3, 6, 7];

/// The CPU time that all programs and the kernel have used since the machine started.
pub(crate) fn cpu_used(root: &Root) -> Result<Option<Span>, ProbeError> {
    let Some(stat) = root.read("/proc/stat")? else { return Ok(None) };
    let Some(line) = stat.find_line("cpu") else {
        return Err(stat.first().garbled("a line \"cpu\" with ticks"));
    };
    let mut ticks = 0u64;
    for field in BUSY {
        ticks = ticks.saturating_add(line.number(field, "cpu and at least seven numbers of ticks")?);
    }
    Ok(Some(Span::from_nanos(ticks.saturating_mul(TICK))))
}

/// How many cores are on line; 1 where nothing says so.
pub(crate) fn cores(root: &Root) -> Result<f64, ProbeError> {
    let Some(stat) = root.read("/proc/stat")? else { return Ok(1.0) };
    let is_core = |word: &str| word.strip_prefix("cpu").is_some_and(|number| !number.is_empty());
    let cores = stat.lines().filter(|line| line.words().next().is_some_and(is_core)).count();
    Ok(cores.max(1) as f64)
}

/// Bytes that programs could still take without swapping.
pub(crate) fn memory_available(root: &Root) -> Result<Option<u64>, ProbeError> {
    let Some(meminfo) = root.read("/proc/meminfo")? else { return Ok(None) };
    let kib = meminfo.find_number("MemAvailable:")?;
    Ok(kib.map(|kib| kib.saturating_mul(1024)))
}
