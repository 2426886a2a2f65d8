//! The cgroups of one task, one in each hierarchy that is of use to it.

mod values;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::hierarchy::{Control, Hierarchy, Version};
use super::limits::Limits;
use values::{Must, Setting, V1_WITH_SWAP, memory_settings_over, settings, settings_of_all};

/// What version 1 calls the most that was in use. It begins anew when it is written to.
const V1_PEAK: &str = "memory.max_usage_in_bytes";

/// How often the removal of a cgroup is tried, since the kernel lets go of the dead a little later.
const REMOVALS_MAX: u32 = 250;
const REMOVAL_PAUSE: Duration = Duration::from_millis(2);

/// Why a task's cgroups could not be made.
#[derive(Debug, thiserror::Error)]
#[error("{}: the task's cgroup cannot be used: {why}", at.display())]
pub struct GroupError {
    at: PathBuf,
    why: io::Error,
}

impl GroupError {
    /// What the system said.
    pub(crate) fn why(&self) -> &io::Error {
        &self.why
    }

    fn is_of_no_file(&self) -> bool {
        self.why.kind() == io::ErrorKind::NotFound
    }
}

#[derive(Debug)]
pub(crate) struct Group {
    parts: Vec<Part>,
}

/// The cgroup that a minder is in, and every task of its that has none of its own. To enter one takes milliseconds, and a
/// minder does it once. It is removed with the agent's own ([`super::Limiter::remove`]): who is in it cannot.
#[derive(Debug, Clone)]
pub(crate) struct MinderGroup {
    part: Part,
    /// What it is held to; nothing after the kernel took none or a part of it.
    bytes: Option<u64>,
}

#[derive(Debug, Clone)]
struct Part {
    folder: PathBuf,
    version: Version,
    controls: Vec<Control>,
}

/// How a minder's cgroup stood as a task began in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AtStart {
    kills: Kills,
    /// None where nobody tells what is in use since then.
    in_use: Option<u64>,
}

impl AtStart {
    /// Of one that is made for the task.
    pub(crate) const NEW: Self = Self { kills: Kills { all: 0, at_its_limit: 0 }, in_use: Some(0) };
}

/// What the kernel did in a cgroup for want of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Kills {
    /// Processes in it that were killed, whether its own memory was used up, that of a cgroup around it, or the machine's.
    all: u64,
    /// How often its own was used up.
    at_its_limit: u64,
}

impl Kills {
    /// What was done after that.
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            all: self.all.saturating_sub(before.all),
            at_its_limit: self.at_its_limit.saturating_sub(before.at_its_limit),
        }
    }

    /// The same of who took nearly all it may. Of a limit and one around it that are alike, the outer one is reached first.
    pub(crate) fn as_of_its_limit(self) -> Self {
        Self { at_its_limit: self.at_its_limit.max(self.all), ..self }
    }

    /// How many were killed because it took what it may.
    pub(crate) fn by_its_limit(self) -> u64 {
        if self.at_its_limit > 0 { self.all } else { 0 }
    }

    /// Whether some were killed though it had not taken what it may.
    pub(crate) fn are_for_others(self) -> bool {
        self.all > 0 && self.at_its_limit == 0
    }
}

impl Group {
    pub(super) fn make(hierarchies: &[Hierarchy], name: &str, limits: &Limits) -> Result<Self, GroupError> {
        let mut group = Self { parts: Vec::new() };
        for hierarchy in hierarchies.iter().filter(|hierarchy| of_use(&hierarchy.controls, limits)) {
            let part = Part {
                folder: hierarchy.folder.join(name),
                version: hierarchy.version,
                controls: hierarchy.controls.clone(),
            };
            let made = part.make(limits);
            // Kept before the error is seen, so that what was made is removed.
            group.parts.push(part);
            made?;
        }
        Ok(group)
    }

    pub(crate) fn folders(&self) -> Vec<PathBuf> {
        self.parts.iter().map(|part| part.folder.clone()).collect()
    }

    /// Where `0` is written to enter. The kernel asks who opened these, so they work from inside a sandbox.
    pub(crate) fn entrances(&self) -> Result<Vec<File>, GroupError> {
        let open = |part: &Part| {
            let at = part.folder.join("cgroup.procs");
            OpenOptions::new().write(true).open(&at).map_err(|why| GroupError { at, why })
        };
        self.parts.iter().map(open).collect()
    }

    /// Moves a process into one of the cgroups from outside, if it is still there; it need not be in the others.
    pub(crate) fn admit(&self, pid: u32) {
        if let Some(part) = self.parts.first() {
            let _ = part.write("cgroup.procs", &pid.to_string());
        }
    }

    pub(crate) fn limits_memory(&self) -> bool {
        self.part(Control::Memory).is_some()
    }

    /// Suspends all in it; `false` if it has no freezer.
    pub(crate) fn freeze(&self) -> bool {
        self.set_freezer("FROZEN", "1")
    }

    /// Lets it go on.
    pub(crate) fn thaw(&self) {
        self.set_freezer("THAWED", "0");
    }

    fn set_freezer(&self, v1: &str, v2: &str) -> bool {
        self.part(Control::Freezer).is_some_and(|part| match part.version {
            Version::V1 => part.write("freezer.state", v1).is_ok(),
            Version::V2 => part.write("cgroup.freeze", v2).is_ok(),
        })
    }

    /// Kills all in it at once, where the kernel can.
    pub(crate) fn kill(&self) {
        if let Some(part) = self.part(Control::Kill) {
            // Also found by the walk over processes, which comes after.
            let _ = part.write("cgroup.kill", "1");
        }
    }

    pub(crate) fn memory_peak(&self) -> Option<u64> {
        self.part(Control::Memory)?.memory_peak()
    }

    /// What the kernel did in it for want of memory.
    pub(crate) fn kills(&self) -> Kills {
        self.part(Control::Memory).map(Part::kills).unwrap_or_default()
    }

    fn part(&self, control: Control) -> Option<&Part> {
        self.parts.iter().find(|part| part.controls.contains(&control))
    }
}

impl Drop for Group {
    /// Removes it; nothing may be running in it. What cannot be removed is swept when the agent next starts.
    fn drop(&mut self) {
        for part in &self.parts {
            remove(&part.folder);
        }
    }
}

impl MinderGroup {
    /// Makes it, with so much memory, and has this process enter.
    pub(super) fn take(memory: &Hierarchy, name: &str, bytes: u64) -> Result<Self, GroupError> {
        let Hierarchy { folder, version, .. } = memory;
        let part = Part { folder: folder.join(name), version: *version, controls: vec![Control::Memory] };
        part.make(&Limits { memory_bytes: Some(bytes), ..Limits::default() })?;
        part.write("cgroup.procs", "0").inspect_err(|_| remove(&part.folder))?;
        Ok(Self { part, bytes: Some(bytes) })
    }

    /// Holds it to so much from now on. Version 1 takes no less than what is in use there, as files in memory that earlier tasks left: the
    /// bound before stays then, and what holds all tasks together holds this one too.
    pub(crate) fn hold(&mut self, bytes: u64) -> Result<(), GroupError> {
        if self.bytes == Some(bytes) {
            return Ok(());
        }
        self.bytes = None;
        let settings = memory_settings_over(self.part.memory_held(), self.part.version, Some(bytes));
        match self.part.set(settings.into_iter()) {
            Err(error) if error.why.kind() == io::ErrorKind::ResourceBusy => Ok(()),
            set => {
                set?;
                self.bytes = Some(bytes);
                Ok(())
            }
        }
    }

    /// A task begins in it.
    pub(crate) fn begin(&self) -> AtStart {
        // Version 1 counts the most that is in use from then on. In version 2 a task's own cgroup counts.
        let is_counted = self.part.write(V1_PEAK, "0").is_ok();
        let in_use = is_counted.then(|| self.part.memory_peak()).flatten();
        AtStart { kills: self.part.kills(), in_use }
    }

    /// What the kernel did in it for want of memory since a task began.
    pub(crate) fn kills_since(&self, start: AtStart) -> Kills {
        self.part.kills().since(start.kills)
    }

    /// The most that was in use in it since a task began, less what was then: files in memory that earlier tasks left.
    pub(crate) fn memory_peak_since(&self, start: AtStart) -> Option<u64> {
        Some(self.part.memory_peak()?.saturating_sub(start.in_use?))
    }
}

/// Holds all cgroups in an agent's folder together to these limits, or to none, and gives their owner's programs precedence. What
/// the kernel does not take stays as it was.
pub(super) fn bound(hierarchy: &Hierarchy, limits: &Limits) -> Result<(), GroupError> {
    let Hierarchy { folder, version, controls } = hierarchy;
    let part = Part { folder: folder.clone(), version: *version, controls: controls.clone() };
    let held = part.memory_held();
    part.set(controls.iter().flat_map(|&control| settings_of_all(control, *version, limits, held)))
}

impl Part {
    fn make(&self, limits: &Limits) -> Result<(), GroupError> {
        make_afresh(&self.folder).map_err(|why| GroupError { at: self.folder.clone(), why })?;
        let set = self.set(self.controls.iter().flat_map(|&control| settings(control, self.version, limits)));
        set.inspect_err(|_| remove(&self.folder))
    }

    /// Writes all of them; the first that the kernel does not take is the error.
    fn set(&self, settings: impl Iterator<Item = Setting>) -> Result<(), GroupError> {
        let written = settings.map(|setting| match self.write(setting.file, &setting.value) {
            Err(error) if setting.must == Must::HoldWhereThereIsSwap && error.is_of_no_file() => Ok(()),
            written => written,
        });
        written.fold(Ok(()), Result::and)
    }

    /// What it may have of memory and swap, where version 1 says so.
    fn memory_held(&self) -> u64 {
        self.read(V1_WITH_SWAP).and_then(|bytes| bytes.trim().parse().ok()).unwrap_or(u64::MAX)
    }

    fn memory_peak(&self) -> Option<u64> {
        let file = match self.version {
            Version::V1 => V1_PEAK,
            Version::V2 => "memory.peak",
        };
        self.read(file)?.trim().parse().ok()
    }

    /// The kernel counts those that it killed where they were, and a limit that was reached where that limit is.
    fn kills(&self) -> Kills {
        let counted = |file: &str, name: &str| -> u64 {
            let counts = self.read(file).unwrap_or_default();
            counts.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok()).unwrap_or(0)
        };
        match self.version {
            Version::V1 => Kills {
                all: counted("memory.oom_control", "oom_kill "),
                at_its_limit: counted("memory.failcnt", ""),
            },
            Version::V2 => Kills {
                all: counted("memory.events", "oom_kill "),
                at_its_limit: counted("memory.events", "oom "),
            },
        }
    }

    fn write(&self, file: &str, value: &str) -> Result<(), GroupError> {
        let at = self.folder.join(file);
        OpenOptions::new()
            .write(true)
            .open(&at)
            .and_then(|mut file| io::Write::write_all(&mut file, value.as_bytes()))
            .map_err(|why| GroupError { at, why })
    }

    fn read(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.folder.join(file)).ok()
    }
}

/// Whether a hierarchy holds one of the limits, or can freeze or kill.
fn of_use(controls: &[Control], limits: &Limits) -> bool {
    controls.iter().any(|control| match control {
        Control::Memory => limits.memory_bytes.is_some(),
        Control::Processes => limits.processes.is_some(),
        Control::Cpu => limits.cpu_milli.is_some(),
        Control::Freezer | Control::Kill => true,
    })
}

/// Kills and removes every cgroup in an agent's folder: what a killed agent left.
pub(super) fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let group = entry.path();
        if group.is_dir() {
            let _ = fs::write(group.join("cgroup.kill"), "1");
            for pid in fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default().lines() {
                if let Some(pid) = pid.parse().ok().and_then(Pid::from_raw) {
                    let _ = kill_process(pid, Signal::KILL);
                }
            }
            let _ = fs::write(group.join("freezer.state"), "THAWED");
            remove(&group);
        }
    }
}

/// Makes a folder. A process that was killed leaves its own behind, and another one has the same number some day.
fn make_afresh(folder: &Path) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(why) if why.kind() == io::ErrorKind::AlreadyExists => {
            remove(folder);
            fs::create_dir(folder)
        }
        made => made,
    }
}

fn remove(folder: &Path) {
    for _ in 0..REMOVALS_MAX {
        match fs::remove_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => thread::sleep(REMOVAL_PAUSE),
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_is_in_nobodys_way() {
        let at = tempfile::tempdir().unwrap();
        let folder = at.path().join("minder-7");
        fs::create_dir(&folder).unwrap();
        make_afresh(&folder).expect("as if it had not been there");
        fs::create_dir(folder.join("task-1")).unwrap();
        assert_eq!(make_afresh(&folder).unwrap_err().kind(), io::ErrorKind::AlreadyExists, "it is in use");
    }

    #[test]
    fn who_was_killed_for_others_memory_is_told_from_who_used_up_its_own() {
        for (version, files, expected) in [
            (
                Version::V1,
                [("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n")].as_slice(),
                0,
            ),
            (Version::V1, &[("memory.oom_control", "oom_kill 1\n"), ("memory.failcnt", "1515\n")], 1),
            (Version::V2, &[("memory.events", "low 0\nhigh 0\nmax 0\noom 0\noom_kill 1\n")], 0),
            (Version::V2, &[("memory.events", "low 0\nhigh 0\nmax 9\noom 1\noom_kill 2\n")], 2),
        ] {
            let at = tempfile::tempdir().unwrap();
            let part = Part { folder: at.path().to_owned(), version, controls: vec![Control::Memory] };
            assert_eq!(part.kills(), Kills::default());
            for (file, text) in files {
                fs::write(at.path().join(file), text).unwrap();
            }
            let kills = part.kills();
            assert_eq!(
                (kills.by_its_limit(), kills.are_for_others()),
                (expected, expected == 0),
                "{files:?}"
            );
            assert!(!kills.as_of_its_limit().are_for_others(), "{files:?}");
            let after = kills.since(kills).as_of_its_limit();
            assert_eq!((after.by_its_limit(), after.are_for_others()), (0, false), "{files:?}");
        }
    }

    #[test]
    fn a_bound_of_which_the_kernel_took_a_part_is_written_again() {
        let at = tempfile::tempdir().unwrap();
        let part =
            Part { folder: at.path().to_owned(), version: Version::V2, controls: vec![Control::Memory] };
        let mut group = MinderGroup { part, bytes: Some(7) };
        let file = at.path().join("memory.max");
        fs::write(&file, "7").unwrap();
        // Nothing can be written to this.
        fs::create_dir(at.path().join("memory.swap.max")).unwrap();
        for bytes in [5, 7] {
            assert!(group.hold(bytes).is_err());
            assert_eq!(fs::read_to_string(&file).unwrap(), bytes.to_string());
        }
    }
}
