//! Processes by their numbers, and waiting.

use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::time::{Duration, Instant};

/// Ends a process that this test made; one that is gone is gone.
pub(crate) fn kill(pid: u32) {
    signal(pid, Signal::KILL);
}

/// Signals a process that this test made.
pub(crate) fn signal(pid: u32, what: Signal) {
    if let Some(pid) = Pid::from_raw(pid.cast_signed()) {
        let _ = kill_process(pid, what);
    }
}

/// What a process calls itself, word by word; nothing if it is gone.
pub(crate) fn words(pid: u32) -> Vec<String> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = line.split(|&byte| byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    words.filter(|word| !word.is_empty()).collect()
}

/// Its state, its parent, and where in the kernel it waits, as far as that is told.
pub(crate) fn standing(pid: u32) -> String {
    let file = |name: &str| fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
    let status = file("status");
    let told = status.lines().filter(|line| line.starts_with("State:") || line.starts_with("PPid:"));
    told.chain([file("wchan").as_str(), file("syscall").trim()]).collect::<Vec<_>>().join(" ")
}

/// Waits until something is found.
pub(crate) fn until<T>(what: &str, patience: Duration, mut find: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(start.elapsed() < patience, "waited {patience:?} in vain until {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
