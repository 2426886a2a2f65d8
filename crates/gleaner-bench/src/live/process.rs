//! What the kernel knows of processes: their private memory and the processor time they have used.

use super::LiveError;
use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;
use std::fs;
use std::io;

/// A process, and all that it started and that lives, parents first.
pub(super) fn family(first: u32) -> Vec<u32> {
    let mut found = vec![first];
    let mut looked_at = 0;
    while looked_at < found.len() {
        let threads = fs::read_dir(format!("/proc/{}/task", found[looked_at]));
        looked_at += 1;
        for thread in threads.into_iter().flatten().flatten() {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            found.extend(children.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
        }
    }
    found
}

/// Bytes of memory that are a process's own: what is not backed by a file.
pub(super) fn private_bytes(pid: u32) -> Result<u64, LiveError> {
    let path = format!("/proc/{pid}/status");
    let status = fs::read_to_string(&path).map_err(LiveError::system(&path))?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    let missing = || LiveError::system(path)(io::Error::other("it has no RssAnon"));
    kib.map(|kib| kib << 10).ok_or_else(missing)
}

/// Seconds of processor time that a process has used, threads that ended included.
pub(super) fn processor_seconds(pid: u32) -> Result<f64, LiveError> {
    let clock = clock_getcpuclockid(Pid::from_raw(pid.cast_signed()));
    let time = clock.and_then(clock_gettime);
    let time = time.map_err(|why| LiveError::system(format!("the clock of process {pid}"))(why.into()))?;
    Ok(time.tv_sec() as f64 + time.tv_nsec() as f64 / 1e9)
}
