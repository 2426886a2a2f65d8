//! The watch on a task's memory where no cgroup counts it: all of its processes together, and what is memory though no process has
//! it mapped (files without a name on a disk in memory, and what is in its folders there).
//!
//! A look costs little while the task is far from its bound. **What it may take between two looks, and what the kernel keeps for its
//! sockets and pipes, is not bounded.**

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use rustix::fs::{StatFs, statfs};
use rustix::process::Pid;

use crate::family;

/// While it takes less than half of its memory, and above.
const PAUSE: Duration = Duration::from_secs(1);
const PAUSE_NEAR_THE_BOUND: Duration = Duration::from_millis(100);
const FIRST_LOOK: Duration = Duration::from_millis(200);
/// Descriptors of a task that are looked at; one that opens more has them counted in part.
const DESCRIPTORS_MAX: usize = 16_384;
const BLOCK_BYTES: u64 = 512;
/// What a file in memory takes there besides what is in it.
const NAME_BYTES: u64 = 1 << 10;
/// What a disk in memory calls its kind.
const TMPFS: i64 = 0x0102_1994;
/// Where a sandboxed task may write to memory.
const FOLDERS: [&str; 2] = ["tmp", "dev/shm"];

/// The memory of one task.
#[derive(Debug)]
pub(crate) struct Memory {
    bound: u64,
    next_look: Instant,
}

/// What processes have in memory: their own, and what they share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Mapped {
    own: u64,
    shared: u64,
}

impl Memory {
    /// The memory of a task that starts now.
    pub(crate) fn new(bound: u64) -> Self {
        Self { bound, next_look: Instant::now() + FIRST_LOOK }
    }

    /// How long until the next look.
    pub(crate) fn patience(&self) -> Duration {
        self.next_look.saturating_duration_since(Instant::now())
    }

    /// Looks, if it is time to; whether the task takes more than it may.
    /// `frame` is the process outside of the sandbox that holds it, if there is one. All processes below this one are the task's.
    pub(crate) fn is_exceeded(&mut self, frame: Option<Pid>) -> bool {
        if self.patience() > Duration::ZERO {
            return false;
        }
        let processes: Vec<Pid> =
            family::descendants().filter_map(|pid| Pid::from_raw(pid.cast_signed())).collect();
        // Those of a task without a sandbox are the machine's, and so are those of the frame.
        let in_folders = frame.map_or(0, |frame| folders(processes.iter().filter(|pid| **pid != frame)));
        let taken = taken(&processes, in_folders, self.bound / 2);
        let pause = if taken > self.bound / 2 { PAUSE_NEAR_THE_BOUND } else { PAUSE };
        self.next_look = Instant::now() + pause;
        taken > self.bound
    }
}

/// How many bytes processes take together with what they have in folders. What they share counts once, if it is more than `enough`;
/// else it is not looked at so closely.
fn taken(processes: &[Pid], in_folders: u64, enough: u64) -> u64 {
    let unmapped = unnamed(processes) + in_folders;
    let roughly: u64 = processes.iter().map(|pid| resident(*pid)).sum();
    if roughly + unmapped <= enough {
        return roughly + unmapped;
    }
    let mapped = processes
        .iter()
        .map(|pid| mapped(*pid))
        .fold(Mapped::default(), |sum, of| Mapped { own: sum.own + of.own, shared: sum.shared + of.shared });
    // What is in such a file may be mapped too.
    mapped.own + mapped.shared.max(unmapped)
}

/// The memory of a process, what it shares counted as if it were its own.
fn resident(pid: Pid) -> u64 {
    kilobytes(&read(pid, "status")).get("VmRSS").map_or(0, |resident| resident << 10)
}

/// The memory of a process, of what it shares with others its part.
fn mapped(pid: Pid) -> Mapped {
    let text = read(pid, "smaps_rollup");
    let told = kilobytes(&text);
    match (told.get("Pss_Anon"), told.get("Pss_Shmem")) {
        (Some(own), Some(shared)) => Mapped { own: own << 10, shared: shared << 10 },
        // A kernel that does not tell them apart, or has none of it.
        _ => Mapped { own: told.get("Pss").map_or_else(|| resident(pid), |all| all << 10), shared: 0 },
    }
}

/// The amounts in a text of the kernel's, by their names.
fn kilobytes(text: &str) -> BTreeMap<&str, u64> {
    let amount = |line| {
        let (name, value) = str::split_once(line, ':')?;
        Some((name, value.trim().strip_suffix(" kB")?.parse().ok()?))
    };
    text.lines().filter_map(amount).collect()
}

/// Bytes of files in memory that have no name and that processes have open, each once.
fn unnamed(processes: &[Pid]) -> u64 {
    let descriptors = processes.iter().flat_map(|pid| {
        fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero())).into_iter().flatten().flatten()
    });
    let mut seen = BTreeSet::new();
    let bytes = descriptors.take(DESCRIPTORS_MAX).filter_map(|open| {
        let is_in_memory =
            fs::read_link(open.path()).is_ok_and(|to| to.to_string_lossy().starts_with("/memfd:"));
        let about = is_in_memory.then(|| fs::metadata(open.path()).ok())??;
        seen.insert((about.dev(), about.ino())).then_some(about.blocks() * BLOCK_BYTES)
    });
    bytes.sum()
}

/// Bytes in the folders in memory that a sandboxed task sees. They are the sandbox's own: one look is one for all processes.
fn folders<'a>(mut processes: impl Iterator<Item = &'a Pid>) -> u64 {
    let used = |about: StatFs| {
        let bytes = (about.f_blocks - about.f_bfree) * about.f_bsize.cast_unsigned();
        bytes + (about.f_files - about.f_ffree) * NAME_BYTES
    };
    let of = |pid: &Pid| {
        let found =
            FOLDERS.map(|folder| statfs(format!("/proc/{}/root/{folder}", pid.as_raw_nonzero())).ok());
        let [temporary, shared] = found.map(|about| about.filter(|about| about.f_type == TMPFS));
        Some(used(temporary?) + used(shared?))
    };
    processes.find_map(of).unwrap_or(0)
}

fn read(pid: Pid, file: &str) -> String {
    fs::read_to_string(format!("/proc/{}/{file}", pid.as_raw_nonzero())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{MemfdFlags, memfd_create};
    use std::fs::File;
    use std::io::Write;
    use std::process::{Command, Stdio};

    #[test]
    fn what_a_file_without_a_name_holds_counts_once_however_many_have_it_open() {
        const SIZE: usize = 32 << 20;
        let mut file = File::from(memfd_create("held", MemfdFlags::CLOEXEC).unwrap());
        file.write_all(&vec![1; SIZE]).unwrap();
        let holding =
            || Command::new("sleep").arg("60").stdin(Stdio::from(file.try_clone().unwrap())).spawn().unwrap();
        let mut children = [holding(), holding()];
        let pids = children.each_ref().map(Pid::from_child);
        let (closely, roughly) = (taken(&pids, 0, 0), taken(&pids, 0, u64::MAX));
        let with_folders = taken(&pids, 3 * SIZE as u64, 0);
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let size = SIZE as u64;
        assert!((size..size + (8 << 20)).contains(&closely), "{closely}");
        assert!(closely <= roughly, "{roughly}");
        assert!((4 * size..5 * size).contains(&with_folders), "{with_folders}");
    }
}
