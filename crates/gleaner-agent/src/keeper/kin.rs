//! The processes below this one: found in `/proc`, signalled, ended.
//!
//! A subreaper's orphans become its children, so a walk down from this process finds every process of a task. New ones
//! can appear during the walk; what is stopped first cannot fork, so rounds of stopping come to an end.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, getpid, kill_process, pidfd_open, waitid,
};

use crate::kernel_text;

/// Rounds of stopping before killing begins anyway.
const STOP_ROUNDS_MAX: usize = 64;

/// The longest pause between two rounds of killing: what is stuck in the kernel needs no hurry.
const PAUSE_MAX: Duration = Duration::from_millis(100);

/// Whom a walk passes over.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Passing<'a> {
    /// Nobody.
    Nobody,
    /// These processes and all below them.
    Trees(&'a [Pid]),
    /// The process of this id and its children, but not those below: the frame of a sandbox. And what carries its packets.
    Frame(Pid, Option<Pid>),
}

/// How all threads of all processes stood at a look.
pub(crate) type Stance = HashMap<(Pid, u32), Thread>;

/// How a thread stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Thread {
    /// Whether it runs, or waits for something that may come.
    may_run: bool,
    /// How often a processor was taken from it.
    turns: u64,
    /// How long it has had one, as the kernel counts: one that has it all the time is not asked to give it back.
    ticks: u64,
}

impl Thread {
    /// Whether it has moved though it was told to stand still, given how it stood before, if it was there. It takes a turn to come
    /// to a stop, and on a busy machine a while until it gets that.
    fn has_moved(self, was: Option<Self>) -> bool {
        was.is_none_or(|was| {
            let had_a_turn = (was.turns, was.ticks) != (self.turns, self.ticks);
            let came_to_a_stop = was.may_run && !self.may_run;
            had_a_turn && !came_to_a_stop
        })
    }
}

/// All processes below this one, parents before children.
pub(crate) fn below(passing: Passing<'_>) -> Vec<Pid> {
    let mut children: HashMap<Pid, Vec<Pid>> = HashMap::new();
    for (pid, parent) in parents() {
        children.entry(parent).or_default().push(pid);
    }
    let mut found = Vec::new();
    let mut open = vec![getpid()];
    while let Some(parent) = open.pop() {
        for &pid in children.get(&parent).into_iter().flatten() {
            match passing {
                Passing::Trees(roots) if roots.contains(&pid) => continue,
                Passing::Frame(_, Some(forwarder)) if pid == forwarder => continue,
                Passing::Frame(frame, _) if pid == frame || parent == frame => {}
                Passing::Nobody | Passing::Trees(_) | Passing::Frame(..) => found.push(pid),
            }
            open.push(pid);
        }
    }
    found
}

/// Whether something is below this process, or cannot be looked for now.
pub(crate) fn is_left(passing: Passing<'_>) -> bool {
    // One that sees no process at all does not see itself.
    parents().next().is_none() || !below(passing).is_empty()
}

/// Sends a signal to all processes below this one.
pub(crate) fn signal(passing: Passing<'_>, signal: Signal) {
    for pid in below(passing) {
        // One that has just ended needs no signal.
        let _ = kill_process(pid, signal);
    }
}

/// Stops all processes below this one, those that appear meanwhile as well.
pub(crate) fn stop(passing: Passing<'_>) {
    let mut stopped = HashSet::new();
    for _ in 0..STOP_ROUNDS_MAX {
        let new: Vec<Pid> = below(passing).into_iter().filter(|pid| stopped.insert(*pid)).collect();
        if new.is_empty() {
            return;
        }
        for pid in new {
            let _ = kill_process(pid, Signal::STOP);
        }
    }
}

/// Stops again what does not stand still; how many processes have moved since the look before, whose stance is `before`: none at the
/// first. What waits in the kernel and cannot be interrupted does nothing meanwhile, and stops before it comes back.
pub(crate) fn stop_again(passing: Passing<'_>, before: &mut Option<Stance>) -> usize {
    let stance: Stance = below(passing).into_iter().flat_map(threads).collect();
    let was = |of| before.as_ref().map(|before| before.get(of).copied());
    let moved = stance.iter().filter(|(of, thread)| was(*of).is_some_and(|was| thread.has_moved(was)));
    let moved: HashSet<Pid> = moved.map(|(of, _)| of.0).collect();
    let may_run = stance.iter().filter(|(_, thread)| thread.may_run).map(|(of, _)| of.0);
    for pid in may_run.chain(moved.iter().copied()).collect::<HashSet<_>>() {
        let _ = kill_process(pid, Signal::STOP);
    }
    *before = Some(stance);
    moved.len()
}

/// Kills all processes below this one once.
pub(crate) fn kill(passing: Passing<'_>) {
    stop(passing);
    signal(passing, Signal::KILL);
}

/// Waits for children that are ending by themselves, where the kernel lists children; [`end`] makes sure.
pub(crate) fn wait(at_most: Timespec) {
    let listed = fs::read_to_string("/proc/thread-self/children").unwrap_or_default();
    for pid in listed.split_ascii_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)) {
        if let Ok(exit) = pidfd_open(pid, PidfdFlags::empty()) {
            let _ = poll(&mut [PollFd::new(&exit, PollFlags::IN)], Some(&at_most));
        }
    }
}

/// Kills and reaps until nothing is below this process.
pub(crate) fn end() {
    let mut pause = Duration::from_millis(1);
    while reap() == Left::Some {
        kill(Passing::Nobody);
        if reap() == Left::None {
            return;
        }
        thread::sleep(pause);
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

/// Whether a process has children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Left {
    None,
    Some,
}

/// Reaps the children that have ended.
pub(crate) fn reap() -> Left {
    loop {
        match waitid(WaitId::All, WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return Left::Some,
            Err(_) => return Left::None,
        }
    }
}

/// Every process of the machine that is shown to us, with its parent.
fn parents() -> impl Iterator<Item = (Pid, Pid)> {
    fs::read_dir("/proc").into_iter().flatten().filter_map(|entry| {
        let pid = entry.ok()?.file_name().to_str()?.parse().ok().and_then(Pid::from_raw)?;
        let stat = kernel_text::read(format!("/proc/{}/stat", pid.as_raw_nonzero()))?;
        Some((pid, parent(&stat)?))
    })
}

/// All threads of a process: the state of its first says nothing of the others once that has ended.
fn threads(pid: Pid) -> Vec<((Pid, u32), Thread)> {
    let tasks = format!("/proc/{}/task", pid.as_raw_nonzero());
    let numbers = fs::read_dir(tasks).into_iter().flatten().flatten().filter_map(|entry| {
        let number = entry.file_name().to_str()?.parse().ok()?;
        let read = |file| kernel_text::read(entry.path().join(file));
        Some(((pid, number), thread(&read("status")?, &read("stat")?)))
    });
    numbers.collect()
}

/// What the texts of `/proc/PID/task/TID/status` and of `stat` beside it say.
fn thread(status: &str, stat: &str) -> Thread {
    let values = |name: &str| {
        let lines = status.lines().filter_map(move |line| line.strip_prefix(name));
        lines.map(str::trim).next_back()
    };
    let count = |name: &str| values(name).and_then(|count| count.parse().ok()).unwrap_or(0_u64);
    Thread {
        may_run: values("State:").is_some_and(|state| state.starts_with(['R', 'S', 'I'])),
        turns: count("voluntary_ctxt_switches:") + count("nonvoluntary_ctxt_switches:"),
        ticks: ticks(stat),
    }
}

/// The processor time, of the program and in the kernel for it, in a line of `/proc/PID/stat`.
fn ticks(stat: &str) -> u64 {
    let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
    // Fields 14 and 15 of proc(5), `utime` and `stime`; the name is field 2.
    after_name.split_ascii_whitespace().skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum()
}

/// The parent in a line of `/proc/PID/stat`, whose second field is a name that may contain anything.
fn parent(stat: &str) -> Option<Pid> {
    let (_, after_name) = stat.rsplit_once(')')?;
    Pid::from_raw(after_name.split_ascii_whitespace().nth(1)?.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_found_behind_any_name() {
        for (stat, expected) in [
            ("7 (cat) R 3 7 7 0", Some(3)),
            ("7 (a) R 9 (b) S 4 1", Some(4)),
            ("7 (x", None),
            ("7 (init) S 0 1", None),
        ] {
            assert_eq!(parent(stat).map(|pid| pid.as_raw_nonzero().get()), expected, "{stat}");
        }
    }

    #[test]
    fn a_thread_is_read_behind_any_name() {
        let status = |name: &str, state: &str| {
            let counts = "voluntary_ctxt_switches:\t3\nnonvoluntary_ctxt_switches:\t4\n";
            format!("Name:\t{name}\nUmask:\t0022\nState:\t{state}\nPid:\t7\n{counts}")
        };
        for (name, state, may_run) in [
            ("cat", "R (running)", true),
            ("cat", "S (sleeping)", true),
            ("State:\\tR", "T (stopped)", false),
            ("cat", "Z (zombie)", false),
            ("cat", "D (disk sleep)", false),
        ] {
            let stat = format!("7 ({name}) {} 1 7 7 0 -1 4 90 91 0 0 30 12 5 5 30 10", &state[..1]);
            let expected = Thread { may_run, turns: 7, ticks: 42 };
            assert_eq!(thread(&status(name, state), &stat), expected, "{name} {state}");
        }
        assert_eq!(thread("", ""), Thread { may_run: false, turns: 0, ticks: 0 });
    }

    #[test]
    fn who_had_a_turn_has_moved_unless_it_came_to_a_stop() {
        let [runs, stands] =
            [true, false].map(|may_run| move |turns, ticks| Thread { may_run, turns, ticks });
        for (was, is, has_moved) in [
            (None, stands(1, 0), true),
            (Some(stands(1, 0)), stands(1, 0), false),
            (Some(stands(1, 0)), stands(2, 0), true),
            (Some(stands(1, 0)), runs(1, 0), false),
            (Some(runs(1, 0)), runs(1, 0), false),
            (Some(runs(1, 0)), runs(1, 5), true),
            (Some(runs(1, 0)), runs(2, 0), true),
            (Some(runs(1, 0)), stands(2, 1), false),
        ] {
            assert_eq!(is.has_moved(was), has_moved, "{was:?} {is:?}");
        }
    }
}
