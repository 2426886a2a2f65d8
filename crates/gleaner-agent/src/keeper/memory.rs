//! The watch on a task's memory where no cgroup counts it: all of its processes together, and what is memory though no process has
//! it mapped (files without a name on a disk in memory, and what is in its folders there). What is in swap counts as memory.
//!
//! A look costs little while the task is far from its bound. **What it may take between two looks, and what the kernel keeps for its
//! sockets and pipes, is not bounded.**

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use rustix::fs::{StatFs, statfs};
use rustix::process::Pid;

use super::next_look::NextLook;
use crate::{descriptors, family, kernel_text};

/// While it takes less than half of its memory, and above.
const PAUSE: Duration = Duration::from_secs(1);
const PAUSE_NEAR_THE_BOUND: Duration = Duration::from_millis(100);
const FIRST_LOOK: Duration = Duration::from_millis(200);
/// Descriptors of a task that are looked at. One that has more open counts as one that hides them: a look at all of them would take seconds,
/// and orders wait for it.
const DESCRIPTORS_MAX: usize = 16_384;
const BLOCK_BYTES: u64 = 512;
/// What counts as taken where it cannot be seen.
const HIDDEN: u64 = 1 << 62;
/// What a file in memory takes there besides what is in it.
const NAME_BYTES: u64 = 1 << 10;
/// What a disk in memory calls its kind.
const TMPFS: i64 = 0x0102_1994;
/// Where a sandboxed task may write to memory.
const FOLDERS: [&str; 2] = ["tmp", "dev/shm"];

/// So long processes are looked at closely at a time. Whoever looks has orders to obey, and a task decides how long it takes.
const CLOSELY: Duration = Duration::from_millis(20);

/// The memory of one task.
#[derive(Debug)]
pub(crate) struct Memory {
    bound: u64,
    pub(super) next_look: NextLook,
    /// A close look that is not at its end.
    look: Option<Look>,
}

/// A close look at processes.
#[derive(Debug)]
struct Look {
    left: Vec<Pid>,
    mapped: Mapped,
    /// Of what is memory though nobody has it mapped.
    unmapped: u64,
    took: Duration,
}

/// What processes have in memory and in swap: their own, and what they share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Mapped {
    own: u64,
    shared: u64,
}

impl Memory {
    /// The memory of a task that starts now.
    pub(crate) fn new(bound: u64) -> Self {
        Self { bound, next_look: NextLook::after(FIRST_LOOK), look: None }
    }

    /// Looks, if it is time to; whether the task takes more than it may.
    /// `frame` is the process outside of the sandbox that holds it, if there is one. All processes below this one are the task's.
    pub(crate) fn is_exceeded(&mut self, frame: Option<Pid>) -> bool {
        if !self.next_look.is_due() {
            return false;
        }
        let mut look = match self.look.take() {
            Some(look) => look,
            None => match look_around(frame, self.bound / 2) {
                Ok(little) => {
                    self.next_look = NextLook::after(PAUSE);
                    return little > self.bound;
                }
                Err(look) => look,
            },
        };
        if !look.go_on(CLOSELY) {
            // Others have their turn first.
            self.look = Some(look);
            return false;
        }
        let taken = look.taken();
        let pause = if taken > self.bound / 2 { PAUSE_NEAR_THE_BOUND } else { PAUSE };
        self.next_look = NextLook::after(pause.max(look.took));
        taken > self.bound
    }
}

/// How many bytes the task's processes take together with what is in its folders, if that is not more than `enough`; else the close
/// look that tells what they share.
fn look_around(frame: Option<Pid>, enough: u64) -> Result<u64, Look> {
    let processes: Vec<Pid> =
        family::descendants().filter_map(|pid| Pid::from_raw(pid.cast_signed())).collect();
    // Those of a task without a sandbox are the machine's, and so are those of the frame.
    let in_folders = frame.map_or(0, |frame| folders(processes.iter().filter(|pid| **pid != frame)));
    look_at(processes, in_folders, enough)
}

fn look_at(processes: Vec<Pid>, in_folders: u64, enough: u64) -> Result<u64, Look> {
    let unmapped = unnamed(&processes) + in_folders;
    let roughly: u64 = processes.iter().map(|pid| resident(*pid)).sum();
    if roughly + unmapped <= enough {
        return Ok(roughly + unmapped);
    }
    Err(Look { left: processes, mapped: Mapped::default(), unmapped, took: Duration::ZERO })
}

impl Look {
    /// Looks at more processes for so long, and at one at least; whether it looked at all.
    fn go_on(&mut self, most: Duration) -> bool {
        let begun = Instant::now();
        while let Some(pid) = self.left.pop() {
            let of = mapped(pid);
            let Mapped { own, shared } = self.mapped;
            self.mapped = Mapped { own: own + of.own, shared: shared + of.shared };
            if begun.elapsed() >= most {
                break;
            }
        }
        self.took += begun.elapsed();
        self.left.is_empty()
    }

    /// What all take. What is in a file without a name may be mapped too.
    fn taken(&self) -> u64 {
        self.mapped.own + self.mapped.shared.max(self.unmapped)
    }
}

/// The memory of a process, what it shares counted as if it were its own.
fn resident(pid: Pid) -> u64 {
    resident_by(&read(pid, "status"))
}

/// As a text of `/proc/PID/status` says. A process can have its memory swapped out itself (`MADV_PAGEOUT`).
fn resident_by(status: &str) -> u64 {
    let told = kilobytes(status);
    ["VmRSS", "VmSwap"].into_iter().filter_map(|name| told.get(name)).sum::<u64>() << 10
}

/// The memory of a process, of what it shares with others its part.
fn mapped(pid: Pid) -> Mapped {
    mapped_by(&read(pid, "smaps_rollup")).unwrap_or_else(|| Mapped { own: resident(pid), shared: 0 })
}

/// As a text of `/proc/PID/smaps_rollup` says; none if there is none.
fn mapped_by(rollup: &str) -> Option<Mapped> {
    let told = kilobytes(rollup);
    let swapped = told.get("SwapPss").or_else(|| told.get("Swap")).unwrap_or(&0);
    let (own, shared) = match (told.get("Pss_Anon"), told.get("Pss_Shmem")) {
        (Some(own), Some(shared)) => (own, *shared),
        // A kernel that does not tell them apart.
        _ => (told.get("Pss")?, 0),
    };
    Some(Mapped { own: (own + swapped) << 10, shared: shared << 10 })
}

/// The amounts in a text of the kernel's, by their names.
fn kilobytes(text: &str) -> BTreeMap<&str, u64> {
    let amount = |line| {
        let (name, value) = str::split_once(line, ':')?;
        Some((name, value.trim().strip_suffix(" kB")?.parse().ok()?))
    };
    text.lines().filter_map(amount).collect()
}

/// Bytes of files in memory that have no name and that processes have open, each once; more than there is where one of them hides
/// that, or they have too many open to look at.
fn unnamed(processes: &[Pid]) -> u64 {
    let mut seen = BTreeSet::new();
    let (mut bytes, mut left) = (0, DESCRIPTORS_MAX);
    for pid in processes {
        let Ok(open) = descriptors::of(pid.as_raw_nonzero().get().unsigned_abs()) else { return HIDDEN };
        for link in open {
            if left == 0 {
                return HIDDEN;
            }
            left -= 1;
            let is_in_memory =
                fs::read_link(&link).is_ok_and(|to| to.to_string_lossy().starts_with("/memfd:"));
            let Some(about) = is_in_memory.then(|| fs::metadata(&link).ok()).flatten() else { continue };
            if seen.insert((about.dev(), about.ino())) {
                bytes += about.blocks() * BLOCK_BYTES;
            }
        }
    }
    bytes
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
    kernel_text::read(format!("/proc/{}/{file}", pid.as_raw_nonzero())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{MemfdFlags, memfd_create};
    use std::fs::File;
    use std::io::Write;
    use std::process::{Command, Stdio};

    #[test]
    fn what_is_in_swap_is_taken_too() {
        for (status, expected) in [
            ("Name:\tcat\nVmRSS:\t    3 kB\nRssAnon:\t 2 kB\nVmSwap:\t   40 kB\n", 43),
            ("Name:\tcat\nVmRSS:\t    3 kB\n", 3),
            ("Name:\tkthreadd\n", 0),
        ] {
            assert_eq!(resident_by(status), expected << 10, "{status}");
        }
        let both = "Pss:  9 kB\nPss_Anon: 5 kB\nPss_Shmem: 2 kB\n";
        for (rollup, expected) in [
            (format!("{both}Swap: 70 kB\nSwapPss: 40 kB\n"), Some((45, 2))),
            (format!("{both}Swap: 70 kB\n"), Some((75, 2))),
            (both.to_owned(), Some((5, 2))),
            ("Pss: 9 kB\nSwapPss: 40 kB\n".to_owned(), Some((49, 0))),
            (String::new(), None),
        ] {
            let expected = expected.map(|(own, shared)| Mapped { own: own << 10, shared: shared << 10 });
            assert_eq!(mapped_by(&rollup), expected, "{rollup}");
        }
    }

    #[test]
    fn nothing_hides_behind_many_descriptors() {
        let us = rustix::process::getpid();
        assert!(unnamed(&[us]) < HIDDEN);
        assert_eq!(unnamed(&vec![us; DESCRIPTORS_MAX]), HIDDEN, "each has some");
    }

    #[test]
    fn what_a_file_without_a_name_holds_counts_once_however_many_have_it_open() {
        const SIZE: usize = 32 << 20;
        let mut file = File::from(memfd_create("held", MemfdFlags::CLOEXEC).unwrap());
        file.write_all(&vec![1; SIZE]).unwrap();
        let holding =
            || Command::new("sleep").arg("60").stdin(Stdio::from(file.try_clone().unwrap())).spawn().unwrap();
        let mut children = [holding(), holding()];
        let pids = children.each_ref().map(Pid::from_child);
        let closely = |in_folders: u64| {
            let mut look = look_at(pids.to_vec(), in_folders, 0).expect_err("more than nothing");
            let turns = (1..=pids.len()).find(|_| look.go_on(Duration::from_nanos(1)));
            assert!(turns.is_some(), "{look:?}");
            look.taken()
        };
        let (with_folders, closely) = (closely(3 * SIZE as u64), closely(0));
        let roughly = look_at(pids.to_vec(), 0, u64::MAX).expect("not looked at closely");
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
