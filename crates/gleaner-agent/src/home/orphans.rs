//! What a task outside the sandbox leaves running when agent, keeper and minder are killed in one instant: nobody is left
//! then who would end it. The next agent in the folder finds it by a variable that every such task gets.
//!
//! A task that clears its environment hides from this; in a sandbox it cannot outlive bubblewrap.

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

/// The variable by which the processes of a folder's agent are known.
pub(crate) const VARIABLE: &str = "GLEANER_AGENT";
/// How often what is left is looked for: something that forks is ended too, if it is not faster than that.
const ROUNDS_MAX: usize = 200;
const PAUSE: Duration = Duration::from_millis(2);

/// The value of the variable for the agent of a folder.
pub(super) fn place(folder: &Path) -> String {
    blake3::hash(folder.as_os_str().as_encoded_bytes()).to_hex().as_str()[..16].to_owned()
}

/// Ends all of them, and says how many they were. Costs a look at each process of the machine.
pub(super) fn end(folder: &Path) -> usize {
    let entry = format!("{VARIABLE}={}", place(folder)).into_bytes();
    let mut ended = 0;
    for round in 0..ROUNDS_MAX {
        let left: Vec<Pid> = processes().filter(|pid| has(*pid, &entry)).collect();
        if left.is_empty() {
            break;
        }
        if round == 0 {
            ended = left.len();
        }
        for pid in left {
            // Its number may be another's by now: what is held open is looked at once more.
            if let Ok(process) = pidfd_open(pid, PidfdFlags::empty())
                && has(pid, &entry)
            {
                let _ = pidfd_send_signal(&process, Signal::KILL);
            }
        }
        thread::sleep(PAUSE);
    }
    ended
}

/// Not this process, which may have been started by a task.
fn processes() -> impl Iterator<Item = Pid> {
    let us = rustix::process::getpid();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw));
    pids.filter(move |pid| *pid != us)
}

/// Of a process that is gone or another user's, nothing can be read.
fn has(pid: Pid, entry: &[u8]) -> bool {
    let environment = fs::read(format!("/proc/{}/environ", pid.as_raw_nonzero())).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|one| one == entry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn only_what_has_the_folders_mark_is_ended() {
        let [ours, others] = [(), ()].map(|()| tempfile::tempdir().unwrap());
        let start = |folder: &Path| {
            let mut command = Command::new("sleep");
            let child = command.arg("600").env(VARIABLE, place(folder)).spawn().unwrap();
            // A program that has just begun shows its environment a moment later.
            let entry = format!("{VARIABLE}={}", place(folder)).into_bytes();
            let shows = || has(Pid::from_child(&child), &entry);
            assert!((0..5_000).any(|_| shows() || (thread::sleep(PAUSE), false).1), "it shows nothing");
            child
        };
        let (mut orphan, mut other) = (start(ours.path()), start(others.path()));
        assert_eq!(end(ours.path()), 1);
        orphan.wait().unwrap();
        let lives = other.try_wait().unwrap().is_none();
        other.kill().unwrap();
        other.wait().unwrap();
        assert!(lives, "another agent's");
        assert_eq!(end(ours.path()), 0);
    }
}
