//! Finds the cgroups that this agent may make: version 2 where it is given, version 1 for what that lacks.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use gleaner_units::Span;
use serde::{Deserialize, Serialize};

use super::group::{Group, GroupError, MinderGroup, bound, sweep};
use super::hierarchy::{Control, Hierarchy, Version};
use super::limits::Limits;

/// How the names of agents' folders begin.
const PREFIX: &str = "gleaner-";
/// How the name of the leaf ends into which an agent's own processes go.
const ASIDE: &str = ".agent";

/// By what limits are held. The empty one has no cgroups: then each process is limited, not the task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limiter {
    hierarchies: Vec<Hierarchy>,
}

/// A mounted hierarchy and the agent's own place in it.
struct Mounted {
    version: Version,
    place: PathBuf,
}

impl Limiter {
    /// Tries what this process may do, makes its folders, and kills and removes what an agent of the same name left.
    ///
    /// `agent` must be this agent's alone, and be a file name.
    pub fn find(agent: &str) -> Self {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let places = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        Self::among(mounted(&mounts, &places), &format!("{PREFIX}{agent}"))
    }

    fn among(mut mounted: Vec<Mounted>, name: &str) -> Self {
        mounted.sort_by_key(|mounted| mounted.version == Version::V1);
        let mut missing = BTreeSet::from(Control::ALL);
        let mut hierarchies = Vec::new();
        for Mounted { version, place } in mounted {
            let Some((folder, has)) = prepare(&place, name, version) else { continue };
            let controls: Vec<Control> = has.into_iter().filter(|control| missing.remove(control)).collect();
            if controls.is_empty() {
                let _ = fs::remove_dir(&folder);
            } else {
                hierarchies.push(Hierarchy { folder, version, controls });
            }
        }
        Self { hierarchies }
    }

    /// Of these, whatever they are.
    #[cfg(test)]
    pub(crate) fn over(hierarchies: Vec<Hierarchy>) -> Self {
        Self { hierarchies }
    }

    /// Where the cgroups are.
    pub fn hierarchies(&self) -> &[Hierarchy] {
        &self.hierarchies
    }

    /// Holds all tasks together to what their owner lets them have. What the kernel does not take is said, and the first of it
    /// returned; the limits of each task hold all the same.
    pub(crate) fn bound(&self, all: &Limits) -> Result<(), GroupError> {
        let bounds = self.hierarchies.iter().map(|hierarchy| bound(hierarchy, all));
        bounds.fold(Ok(()), Result::and)
    }

    /// Makes the cgroups of a task: those that hold its limits, and the one by which it is suspended.
    pub(crate) fn group(&self, task: u64, limits: &Limits) -> Result<Option<Group>, GroupError> {
        if self.hierarchies.is_empty() {
            return Ok(None);
        }
        Group::make(&self.hierarchies, &format!("task-{task}-{}", std::process::id()), limits).map(Some)
    }

    /// Has this process, a minder, enter a cgroup of its own with so much memory, if there can be one.
    pub(crate) fn group_of_minder(&self, bytes: u64) -> Result<Option<MinderGroup>, GroupError> {
        let memory = self.hierarchies.iter().find(|hierarchy| hierarchy.controls.contains(&Control::Memory));
        memory
            .map(|memory| MinderGroup::take(memory, &format!("minder-{}", std::process::id()), bytes))
            .transpose()
    }

    /// Removes the agent's own folders; no task may be running.
    pub fn remove(&self) {
        for hierarchy in &self.hierarchies {
            sweep(&hierarchy.folder);
            let _ = fs::remove_dir(&hierarchy.folder);
        }
    }

    /// The CPU time of all tasks so far, where it is counted.
    pub(crate) fn cpu_used(&self) -> Option<Span> {
        self.hierarchies.iter().find_map(Hierarchy::cpu_used)
    }

    pub(super) fn version_of(&self, control: Control) -> Option<Version> {
        self.hierarchies
            .iter()
            .find(|hierarchy| hierarchy.controls.contains(&control))
            .map(|found| found.version)
    }
}

/// What holds which limit, for people.
impl fmt::Display for Limiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for control in [Control::Memory, Control::Processes, Control::Cpu, Control::Freezer] {
            let by = match (self.version_of(control), control) {
                (Some(Version::V1), _) => "cgroup v1",
                (Some(Version::V2), _) => "cgroup v2",
                (None, Control::Memory) => {
                    "looked at, and the address space of each process; not what sockets and pipes hold"
                }
                (None, Control::Processes) => "rlimit in the sandbox, else none",
                (None, Control::Freezer | Control::Kill) => "signals",
                (None, Control::Cpu) => "none",
            };
            write!(f, "{separator}{}: {by}", control.name())?;
            separator = ", ";
        }
        Ok(())
    }
}

/// Makes the agent's folder in a hierarchy, and says which controls cgroups in it have.
fn prepare(place: &Path, name: &str, version: Version) -> Option<(PathBuf, Vec<Control>)> {
    let folder = place.join(name);
    if !folder.is_dir() {
        fs::create_dir(&folder).ok()?;
    }
    sweep(&folder);
    if version == Version::V2 {
        hand_down(place, &folder, name);
    }
    let trial = folder.join("trial");
    fs::create_dir(&trial).ok()?;
    let has = Control::ALL
        .into_iter()
        .filter(|control| control.file(version).is_some_and(|file| may_write(&trial.join(file))))
        .collect();
    let _ = fs::remove_dir(&trial);
    Some((folder, has))
}

fn may_write(file: &Path) -> bool {
    fs::OpenOptions::new().write(true).open(file).is_ok()
}

/// Passes version 2's controllers down to the agent's folder and below. What fails shows as a missing control.
fn hand_down(place: &Path, folder: &Path, name: &str) {
    let offered = fs::read_to_string(place.join("cgroup.controllers")).unwrap_or_default();
    for controller in ["memory", "pids", "cpu"]
        .into_iter()
        .filter(|wanted| offered.split_whitespace().any(|one| one == *wanted))
    {
        let enable = format!("+{controller}");
        if fs::write(place.join("cgroup.subtree_control"), &enable).is_err() {
            // A cgroup with processes of its own hands nothing down, so ours move into a leaf.
            step_aside(place, name);
            let _ = fs::write(place.join("cgroup.subtree_control"), &enable);
        }
        let _ = fs::write(folder.join("cgroup.subtree_control"), &enable);
    }
}

fn step_aside(place: &Path, name: &str) {
    let leaf = place.join(format!("{name}{ASIDE}"));
    let _ = fs::create_dir(&leaf);
    for pid in fs::read_to_string(place.join("cgroup.procs")).unwrap_or_default().lines() {
        let _ = fs::write(leaf.join("cgroup.procs"), pid);
    }
}

/// The hierarchies in `/proc/self/mountinfo`, each with our place in it by `/proc/self/cgroup`.
fn mounted(mounts: &str, places: &str) -> Vec<Mounted> {
    mounts.lines().filter_map(|line| mount(line, places)).collect()
}

/// Reads `… root mountpoint options … - type source super-options`.
fn mount(line: &str, places: &str) -> Option<Mounted> {
    let (mount, file_system) = line.split_once(" - ")?;
    let mut fields = mount.split(' ').skip(3);
    let (root, at) = (fields.next()?, fields.next()?);
    let mut file_system = file_system.split(' ');
    let (version, controllers) = match file_system.next()? {
        "cgroup2" => (Version::V2, ""),
        "cgroup" => (Version::V1, file_system.nth(1)?),
        _ => return None,
    };
    let ours = places.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (names, place) = (fields.next()?, fields.next()?);
        let named = |name: &str| controllers.split(',').any(|controller| controller == name);
        (names.is_empty() && version == Version::V2 || names.split(',').any(named)).then_some(place)
    })?;
    let place = Path::new(ours).strip_prefix(root).unwrap_or(Path::new(""));
    Some(Mounted { version, place: Path::new(at).join(before_agents(place)) })
}

/// Where a place was before agents stepped aside: the shell that an agent was started from stays in the leaf, and with it whatever it
/// starts later.
fn before_agents(place: &Path) -> &Path {
    let is_leaf = |place: &&Path| {
        let name = place.file_name().and_then(OsStr::to_str);
        name.is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(ASIDE))
    };
    let mut before = place;
    while let Some(above) = Some(before).filter(is_leaf).and_then(Path::parent) {
        before = above;
    }
    before
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_place_is_found_in_each_hierarchy() {
        let places = "9:name=systemd:/\n4:memory:/ours\n2:cpu,cpuacct:/ours/too\n0::/slice/agent";
        for (line, expected) in [
            (
                "30 24 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate",
                Some("/sys/fs/cgroup/slice/agent"),
            ),
            ("30 24 0:26 /slice /mnt rw shared:4 - cgroup2 cgroup2 rw", Some("/mnt/agent")),
            ("31 24 0:27 / /cg/memory rw - cgroup cgroup rw,memory", Some("/cg/memory/ours")),
            ("32 24 0:28 / /cg/cpu rw - cgroup cgroup rw,cpu,cpuacct", Some("/cg/cpu/ours/too")),
            ("33 24 0:29 / /cg/pids rw - cgroup cgroup rw,pids", None),
            ("34 24 0:30 / /tmp rw - tmpfs tmpfs rw", None),
            ("nonsense", None),
        ] {
            let found = mount(line, places).map(|mounted| mounted.place);
            assert_eq!(found.as_deref(), expected.map(Path::new), "{line}");
        }
    }

    #[test]
    fn an_agent_has_its_place_beside_those_that_its_shell_started_before() {
        for (ours, expected) in [
            ("/scope/gleaner-a1.agent", "/mnt/scope"),
            ("/scope/gleaner-a1.agent/gleaner-b2.agent", "/mnt/scope"),
            ("/gleaner-a1.agent", "/mnt"),
            ("/gleaner.service", "/mnt/gleaner.service"),
            ("/gleaner-a1.agent/user.slice", "/mnt/gleaner-a1.agent/user.slice"),
        ] {
            let line = "30 24 0:26 / /mnt rw - cgroup2 cgroup2 rw";
            let found = mount(line, &format!("0::{ours}")).map(|mounted| mounted.place);
            assert_eq!(found.as_deref(), Some(Path::new(expected)), "{ours}");
        }
    }

    #[test]
    fn the_kernel_takes_what_all_tasks_get_and_takes_it_back() {
        let limiter = Limiter::find(&format!("bounds-{}", std::process::id()));
        if limiter.hierarchies().is_empty() {
            return eprintln!("SKIPPED: no cgroups can be made here");
        }
        let few = Limits { memory_bytes: Some(64 << 20), cpu_milli: Some(1_000), ..Limits::default() };
        let more = Limits { memory_bytes: Some(128 << 20), cpu_milli: Some(2_000), ..Limits::default() };
        for all in [few, more, few, Limits::default()] {
            limiter.bound(&all).unwrap();
            let memory = limiter.hierarchies.iter().find(|one| one.controls.contains(&Control::Memory));
            let Some(Hierarchy { folder, version, .. }) = memory else { continue };
            let file = if *version == Version::V1 { "memory.limit_in_bytes" } else { "memory.max" };
            let read = fs::read_to_string(folder.join(file)).unwrap();
            let is_taken = all.memory_bytes.is_none_or(|bytes| read.trim() == bytes.to_string());
            assert!(is_taken, "{all:?}: {read}");
        }
        limiter.remove();
    }

    /// Who wants memory back has less of it taken meanwhile, and not more.
    #[test]
    fn a_bound_that_is_below_what_is_in_use_does_not_open_the_one_before() {
        let limiter = Limiter::find(&format!("in-use-{}", std::process::id()));
        let memory = limiter.hierarchies.iter().find(|one| one.controls.contains(&Control::Memory));
        let Some(Hierarchy { folder, version: Version::V1, .. }) = memory else {
            limiter.remove();
            return eprintln!("SKIPPED: no memory by cgroup of version 1 on this machine: {limiter}");
        };
        let most = |bytes| Limits { memory_bytes: Some(bytes), ..Limits::default() };
        let read = |file: &str| fs::read_to_string(folder.join(file)).unwrap().trim().parse::<u64>().unwrap();
        limiter.bound(&most(400 << 20)).unwrap();
        let group = folder.join("used");
        fs::create_dir(&group).unwrap();
        let script = format!(
            "echo $$ > {}/cgroup.procs; head -c 100000000 /dev/zero | tail -c 100000000 | sleep 1000",
            group.display()
        );
        let mut child = std::process::Command::new("/bin/sh").args(["-c", &script]).spawn().unwrap();
        let begun = std::time::Instant::now();
        while read("memory.usage_in_bytes") < 90_000_000 {
            assert!(begun.elapsed().as_secs() < 30, "it takes its memory");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        // Where there is swap the kernel takes the one without it.
        let refused = limiter.bound(&most(32 << 20));
        let held = read("memory.limit_in_bytes");
        assert!(held == 32 << 20 || refused.is_err() && held == 400 << 20, "{held}");
        sweep(folder);
        child.wait().unwrap();
        // What the killed had is given back a little later.
        let begun = std::time::Instant::now();
        while let Err(why) = limiter.bound(&most(32 << 20)) {
            assert!(begun.elapsed().as_secs() < 30, "{why}");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        assert_eq!(read("memory.limit_in_bytes"), 32 << 20);
        limiter.remove();
    }
}
