//! The cgroups of one task, one in each hierarchy that is of use to it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::hierarchy::{Control, Hierarchy, Version};
use super::limits::Limits;

/// The period over which processor time is limited.
const CPU_PERIOD_US: u64 = 100_000;

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

#[derive(Debug)]
pub(crate) struct Group {
    parts: Vec<Part>,
}

/// The cgroup that a minder is in, and every task of its that has none of its own. To enter one takes milliseconds, and a
/// minder does it once. It is removed with the agent's own ([`super::Limiter::remove`]): who is in it cannot.
#[derive(Debug, Clone)]
pub(crate) struct MinderGroup {
    part: Part,
}

#[derive(Debug, Clone)]
struct Part {
    folder: PathBuf,
    version: Version,
    controls: Vec<Control>,
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
        let part = self.part(Control::Memory)?;
        let file = match part.version {
            Version::V1 => "memory.max_usage_in_bytes",
            Version::V2 => "memory.peak",
        };
        part.read(file)?.trim().parse().ok()
    }

    /// How many of its processes the kernel killed because its memory was used up.
    pub(crate) fn killed_for_memory(&self) -> u64 {
        self.part(Control::Memory).map_or(0, Part::killed_for_memory)
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
        part.write("cgroup.procs", "0")?;
        Ok(Self { part })
    }

    /// How many processes in it the kernel ever killed because the memory was used up.
    pub(crate) fn killed_for_memory(&self) -> u64 {
        self.part.killed_for_memory()
    }
}

impl Part {
    fn make(&self, limits: &Limits) -> Result<(), GroupError> {
        fs::create_dir(&self.folder).map_err(|why| GroupError { at: self.folder.clone(), why })?;
        for control in &self.controls {
            match (control, limits) {
                (Control::Memory, Limits { memory_bytes: Some(bytes), .. }) => self.limit_memory(*bytes)?,
                (Control::Processes, Limits { processes: Some(most), .. }) => {
                    self.write("pids.max", &most.to_string())?;
                }
                (Control::Cpu, Limits { cpu_milli: Some(milli), .. }) => self.limit_cpu(u64::from(*milli))?,
                (
                    Control::Memory | Control::Processes | Control::Cpu | Control::Freezer | Control::Kill,
                    _,
                ) => {}
            }
        }
        Ok(())
    }

    fn limit_memory(&self, bytes: u64) -> Result<(), GroupError> {
        let (limit, with_swap, swap) = match self.version {
            Version::V1 => ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", bytes),
            Version::V2 => ("memory.max", "memory.swap.max", 0),
        };
        self.write(limit, &bytes.to_string())?;
        // Absent where the kernel does not count swap.
        let _ = self.write(with_swap, &swap.to_string());
        Ok(())
    }

    fn limit_cpu(&self, milli: u64) -> Result<(), GroupError> {
        let quota = (milli * CPU_PERIOD_US / 1000).max(1000);
        match self.version {
            Version::V1 => {
                self.write("cpu.cfs_period_us", &CPU_PERIOD_US.to_string())?;
                self.write("cpu.cfs_quota_us", &quota.to_string())
            }
            Version::V2 => self.write("cpu.max", &format!("{quota} {CPU_PERIOD_US}")),
        }
    }

    fn killed_for_memory(&self) -> u64 {
        let file = match self.version {
            Version::V1 => "memory.oom_control",
            Version::V2 => "memory.events",
        };
        let counts = self.read(file).unwrap_or_default();
        counts.lines().find_map(|line| line.strip_prefix("oom_kill ")?.parse().ok()).unwrap_or(0)
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

fn remove(folder: &Path) {
    for _ in 0..REMOVALS_MAX {
        match fs::remove_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => thread::sleep(REMOVAL_PAUSE),
            _ => return,
        }
    }
}
