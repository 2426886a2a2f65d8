//! What the owner configured. `docs/owner.md` says the same to owners.

use gleaner_net::Signer;
use gleaner_units::Span;
use gleaner_wire::limits::NAME_BYTES_MAX;
use gleaner_wire::session::Profile;
use rustix::fs::statvfs;
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::path::{Component, Path, PathBuf};

use super::bounds::Bounds;
use super::hours::Hours;
use crate::confine::{Limits, can_be_apart};
use crate::keeper::{self, TASK_FOLDER};

/// How many bytes must be free where tasks have their folders, or nothing new starts, unless the rules ask for more: it
/// could keep nothing.
pub const DISK_FREE_MIN: u64 = 16 << 20;

/// The owner's rules. Each has a default, so that a machine without any configuration gives way to its owner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rules {
    /// The hours of the local week in which tasks run; outside of them they are suspended. Default: always.
    pub hours: Option<Vec<Hours>>,
    /// How long a session must be untouched, and other programs quiet, until the owner counts as away. Default 60.
    pub idle_seconds: u32,
    /// Whether people who are logged in count as the owner. Default: watch.
    pub sessions: Sessions,
    /// Whether other programs count as the owner's. Default: watch.
    pub programs: Programs,
    /// From how many busy cores on other programs are the owner at work; at most a quarter of all there are, since
    /// programs that share a small machine with tasks may not get more. Default 0.5.
    pub busy_cores: f64,
    /// Nothing new starts while the owner's load, from 0 to 1, is this or more. Default 0.5.
    pub run_below_load: f64,
    /// Suspend while the machine lives on its battery. Default true.
    pub not_on_battery: bool,
    /// Suspend at this many degrees Celsius or more. Default: no limit.
    pub temperature_max: Option<f64>,
    /// Whether the owner's return suspends what runs; otherwise it only keeps new tasks away. What the owner says by
    /// hand always suspends. Default true.
    pub suspend_on_return: bool,
    /// How long a task may be suspended before it has to leave; 0 for ever. Default 1800.
    pub evict_after_seconds: u32,
    /// The most that a task gets between being asked to end and being killed, whoever asks. Default 60.
    pub grace_max_seconds: u32,
    /// Cores for tasks, all together. Default: all.
    pub cores_max: Option<u32>,
    /// Gigabytes of memory for tasks, all together, as far as they say what they need. Default: what is free at the start.
    pub memory_max_gb: Option<f64>,
    /// Gigabytes that must be free where tasks have their folders, or nothing new starts. Default: 16 MiB.
    pub disk_free_min_gb: Option<f64>,
    /// Processes and threads of one sandboxed task. Default 512: enough to compile with all cores, and for an interpreter's threads.
    pub processes_max: u32,
    /// Files that one process of a sandboxed task has open. Default 4096.
    pub open_files_max: u32,
    /// Hours that one run may take, without those in which it was suspended; 0 without a limit. Default 168.
    pub run_hours_max: f64,
    /// Users who may come. Default: all.
    pub users: Option<Vec<String>>,
    /// Labels of tasks that may come; without one none may. Default: all.
    pub labels: Option<Vec<String>>,
    /// Users with their keys, of whom only what they signed may come. Default: nothing has to be signed.
    pub signed_by: Option<Vec<Signer>>,
    /// Whether sandboxed tasks may use the network. Default: no.
    pub network: Network,
    /// Millions of bits a second, each way, of each task where the network is the internet only. Default: no limit.
    pub bandwidth_max_mbit: Option<f64>,
    /// Folders of the machine that sandboxed tasks may read, each where it is. Default: none.
    pub folders: Option<Vec<PathBuf>>,
}

/// Whether sandboxed tasks may use the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Network {
    /// None of them.
    #[default]
    No,
    /// Those that ask for it: the internet, but neither the machine's own services nor the networks that it is in.
    Internet,
    /// Those that ask for it: all that the machine reaches, its own services and its local network among that.
    All,
}

/// Whether people who are logged in count as the owner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sessions {
    /// A session that is not idle is the owner.
    #[default]
    Watch,
    /// People who type are no reason to stop; for servers, and for a machine whose user also submits from it.
    Ignore,
}

/// Whether other programs count as the owner's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Programs {
    /// What they use is the owner's load, and much of it the owner.
    #[default]
    Watch,
    /// Whatever they use, tasks run; for machines that are there for tasks, and for measuring.
    Ignore,
}

/// A rule whose value makes no sense.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{key} is {found}; it must be {expected}")]
pub struct RulesError {
    key: &'static str,
    found: String,
    expected: &'static str,
}

/// The part of a small machine that is never asked of the owner's programs before they count.
const BUSY_SHARE_MAX: f64 = 0.25;
const GIGABYTE: f64 = 1e9;
/// How a machine says which of its folders tasks may read.
const FOLDERS: &str = "Folders";
/// How a machine says which network it lets tasks have.
const NETWORK: &str = "Network";
/// What the sandbox makes by itself, or shows anyway.
const OWN_PLACES: [&str; 13] = [
    "/bin", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run", "/sbin", "/sys", "/tmp",
    "/usr",
];
/// What is said of a folder that cannot be shown.
const SHOWN: &str =
    "the whole path of a folder, without . and .., outside of /etc, /usr, /run, /tmp, /root and the like";
/// The folder of root's own, which has the machine's keys.
const ROOTS: &str = "/root";
/// What is said of a folder that has the agent's own in it.
const WITHOUT_THE_AGENTS: &str = "without the agent's own folder, which has its key and what other tasks leave: name those below it that tasks need";
/// What is said of a name that nobody has.
const NAMES: &str = "names that somebody can have, since no task could ever run: leave it out, or keep tasks away with \
                     `gleaner owner drain`";
/// Every machine's owner has more load than less of it.
const LOAD_MIN: f64 = 0.01;
/// How a machine says whom it takes.
const REQUIREMENTS: &str = "Requirements";

impl Default for Rules {
    fn default() -> Self {
        Self {
            hours: None,
            idle_seconds: 60,
            sessions: Sessions::Watch,
            programs: Programs::Watch,
            busy_cores: 0.5,
            run_below_load: 0.5,
            not_on_battery: true,
            temperature_max: None,
            suspend_on_return: true,
            evict_after_seconds: 1_800,
            grace_max_seconds: 60,
            cores_max: None,
            memory_max_gb: None,
            disk_free_min_gb: None,
            processes_max: 512,
            open_files_max: 4_096,
            run_hours_max: 168.0,
            users: None,
            labels: None,
            signed_by: None,
            network: Network::No,
            bandwidth_max_mbit: None,
            folders: None,
        }
    }
}

impl Rules {
    /// Refuses what can never be meant, and what no task could ever meet.
    pub fn check(&self) -> Result<(), RulesError> {
        let refuse =
            |key, found: &dyn ToString, expected| Err(RulesError { key, found: found.to_string(), expected });
        let lists = [
            ("hours", self.hours.as_ref().map(Vec::len)),
            ("users", self.users.as_ref().map(Vec::len)),
            ("labels", self.labels.as_ref().map(Vec::len)),
            ("signed_by", self.signed_by.as_ref().map(Vec::len)),
        ];
        for (key, length) in lists {
            if length == Some(0) {
                return refuse(key, &"an empty list", NEVER);
            }
        }
        if !(0.0..=1.0).contains(&self.run_below_load) {
            return refuse("run_below_load", &self.run_below_load, "a share from 0 to 1");
        }
        if self.run_below_load < LOAD_MIN {
            return refuse("run_below_load", &self.run_below_load, NEVER);
        }
        for (key, names) in [("users", &self.users), ("labels", &self.labels)] {
            if let Some(name) = names.iter().flatten().find(|name| !is_a_name(name)) {
                return refuse(key, &format!("{name:?}"), NAMES);
            }
        }
        if let Some(folder) = self.folders.iter().flatten().find(|folder| !may_be_shown(folder)) {
            return refuse("folders", &folder.display(), SHOWN);
        }
        for (key, value, meant, expected) in self.numbers() {
            if let Some(value) = value.filter(|value| !meant.contains(value)) {
                return refuse(key, &value, expected);
            }
        }
        if let Some(most) = self.bandwidth_max_mbit.filter(|_| self.network == Network::All) {
            let expected =
                "left out where network is \"all\": only with \"internet\" a task has a network of its own";
            return refuse("bandwidth_max_mbit", &most, expected);
        }
        Ok(())
    }

    /// Numbers, each with what can be meant by it: below, no task could ever run, or the owner never be away; above, the rule would never
    /// do anything.
    fn numbers(&self) -> [(&'static str, Option<f64>, RangeInclusive<f64>, &'static str); 10] {
        let hours = Some(self.run_hours_max).filter(|hours| *hours != 0.0);
        [
            ("busy_cores", Some(self.busy_cores), 0.01..=1e6, "a number of cores, 0.01 or more"),
            ("temperature_max", self.temperature_max, 20.0..=150.0, "degrees Celsius, from 20 to 150"),
            ("cores_max", self.cores_max.map(f64::from), 1.0..=f64::MAX, "a number of cores, 1 or more"),
            (
                "memory_max_gb",
                self.memory_max_gb,
                0.01..=1e9,
                "gigabytes, 0.01 or more, since no program starts in less",
            ),
            ("disk_free_min_gb", self.disk_free_min_gb, f64::MIN_POSITIVE..=1e9, "gigabytes above 0"),
            (
                "processes_max",
                Some(self.processes_max.into()),
                1.0..=f64::MAX,
                "a number of processes, 1 or more",
            ),
            (
                "bandwidth_max_mbit",
                self.bandwidth_max_mbit,
                0.01..=1e9,
                "millions of bits a second, 0.01 or more",
            ),
            (
                "open_files_max",
                Some(self.open_files_max.into()),
                16.0..=f64::MAX,
                "a number of files, 16 or more, since a program needs some for itself",
            ),
            (
                "idle_seconds",
                Some(self.idle_seconds.into()),
                0.0..=604_800.0,
                "seconds, 604800 (a week) or fewer, since you would hardly ever be away",
            ),
            ("run_hours_max", hours, 0.001..=1e9, "hours, 0.001 or more, or 0 for no limit"),
        ]
    }

    /// Refuses what cannot be meant on this machine, for an agent whose folder is `home`.
    pub(super) fn check_on_machine(&self, home: &Path) -> Result<(), RulesError> {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let own = real(home);
        if let Some(folder) = self.folders.iter().flatten().find(|folder| own.starts_with(real(folder))) {
            let (found, expected) = (folder.display().to_string(), WITHOUT_THE_AGENTS);
            return Err(RulesError { key: "folders", found, expected });
        }
        let size = statvfs(home).map(|about| about.f_blocks.saturating_mul(about.f_frsize));
        match self.disk_free_min_gb.zip(size.ok()) {
            Some((most, size)) if self.disk_free_min() > size => {
                let found = format!(
                    "{most}, and the whole disk of {} has {}",
                    home.display(),
                    size as f64 / GIGABYTE
                );
                Err(RulesError { key: "disk_free_min_gb", found, expected: NEVER })
            }
            _ => Ok(()),
        }
    }

    /// What does nothing as the machine is now, in words for its owner: it may be other tomorrow.
    pub fn doubts(&self) -> Vec<String> {
        let missing = self.folders.iter().flatten().filter(|folder| !folder.is_dir());
        let doubt = |folder: &PathBuf| {
            format!("folders: {} is no folder here now, so that no task sees it", folder.display())
        };
        missing.map(doubt).collect()
    }

    /// What they say of each run.
    pub fn bounds(&self) -> Bounds {
        let limit = |seconds: f64| Span::from_seconds(seconds).filter(|limit| *limit > Span::ZERO);
        Bounds {
            grace_max: limit(self.grace_max_seconds.into()).unwrap_or(Span::ZERO),
            suspended_max: limit(self.evict_after_seconds.into()),
            time_max: limit(self.run_hours_max * 3_600.0),
        }
    }

    /// What all tasks may use together, where the kernel can hold them to it.
    pub(crate) fn limits_of_all(&self) -> Limits {
        Limits {
            memory_bytes: self.memory_max_gb.map(|gigabytes| (gigabytes * GIGABYTE) as u64),
            cpu_milli: self.cores_max.map(|cores| cores.saturating_mul(1_000)),
            ..Limits::default()
        }
    }

    /// The machine as tasks may have it.
    pub fn profile(&self, found: &Profile) -> Profile {
        let mut profile = found.clone();
        if let Some(cores) = self.cores_max {
            (profile.cores, profile.slots) = (profile.cores.min(cores), profile.slots.min(cores));
        }
        if let Some(gigabytes) = self.memory_max_gb {
            profile.memory = profile.memory.min((gigabytes * GIGABYTE) as u64);
        }
        let apart = self.network == Network::Internet && can_be_apart().is_ok();
        profile.network = apart || self.network == Network::All;
        if profile.network {
            let network = if apart { "internet" } else { "all" };
            profile.attributes.insert(NETWORK.to_owned(), quoted(network));
        }
        let member = |attribute: &str, names: Option<Vec<String>>| {
            let names: Vec<String> = names?.iter().map(|name| quoted(name)).collect();
            Some(format!("member(TARGET.{attribute}, {{{}}})", names.join(", ")))
        };
        let signers = self.signed_by.as_ref().map(|signers| signers.iter().map(Signer::to_string).collect());
        let asked = profile.attributes.get(REQUIREMENTS).map(|text| format!("({text})"));
        let members = [("Owner", self.users.clone()), ("Label", self.labels.clone()), ("SignedBy", signers)];
        let members = members.map(|(attribute, names)| member(attribute, names));
        let all: Vec<String> = std::iter::once(asked).chain(members).flatten().collect();
        if !all.is_empty() {
            profile.attributes.insert(REQUIREMENTS.to_owned(), all.join(" && "));
        }
        let folders: Vec<String> =
            self.shown_folders().map(|folder| quoted(&folder.to_string_lossy())).collect();
        if !folders.is_empty() {
            profile.attributes.insert(FOLDERS.to_owned(), format!("{{{}}}", folders.join(", ")));
        }
        profile
    }

    /// Whether a task may come, by who sent it and what it is called. The coordinator knows by the machine's
    /// requirements, and does not send what may not.
    pub(crate) fn admit(&self, user: &str, label: Option<&str>) -> Result<(), String> {
        let is_one = |names: &Option<Vec<String>>, name: Option<&str>| {
            names.as_ref().is_none_or(|names| name.is_some_and(|name| names.iter().any(|one| one == name)))
        };
        if !is_one(&self.users, Some(user)) {
            return Err(format!("the machine's owner takes no tasks of {user}"));
        }
        if !is_one(&self.labels, label) {
            return Err("the machine's owner takes no tasks with such a label".to_owned());
        }
        Ok(())
    }

    /// The folders that tasks may read, as far as they are there: one on a server that is away is not.
    pub(crate) fn shown_folders(&self) -> impl Iterator<Item = &PathBuf> {
        self.folders.iter().flatten().filter(|folder| folder.is_dir())
    }

    /// What sandboxed tasks get that ask for the network; the error says why they get none.
    pub(crate) fn network(&self) -> Result<keeper::Network, String> {
        match self.network {
            Network::No => Err("the machine's owner lets no task use the network".to_owned()),
            Network::All => Ok(keeper::Network::Machine),
            Network::Internet => can_be_apart().map(|()| {
                let bytes_per_s = self.bandwidth_max_mbit.map(|most| (most * 1e6 / 8.0) as u64);
                keeper::Network::Internet { bytes_per_s }
            }),
        }
    }

    /// How many bytes must be free.
    pub(crate) fn disk_free_min(&self) -> u64 {
        self.disk_free_min_gb.map_or(DISK_FREE_MIN, |gigabytes| (gigabytes * GIGABYTE) as u64)
    }

    /// From how many busy cores of `cores` on other programs are the owner at work.
    pub(super) fn busy_threshold(&self, cores: f64) -> f64 {
        self.busy_cores.min(cores * BUSY_SHARE_MAX)
    }
}

/// What is said of a rule that keeps all tasks away for good.
const NEVER: &str = "something that can be met, since no task could ever run: leave it out, or keep tasks away with \
                     `gleaner owner drain`";

/// Whether a folder can be shown in the sandbox where it is on the machine.
fn may_be_shown(folder: &Path) -> bool {
    let mut parts = folder.components();
    let is_whole =
        parts.next() == Some(Component::RootDir) && parts.all(|part| matches!(part, Component::Normal(_)));
    let is_own = OWN_PLACES.into_iter().chain([TASK_FOLDER]).any(|place| folder.starts_with(place));
    is_whole && folder.parent().is_some() && folder != Path::new(ROOTS) && !is_own
}

/// Whether a user, or a label, can be called so.
fn is_a_name(name: &str) -> bool {
    let is_plain = |letter: char| !letter.is_control();
    !name.trim().is_empty() && name.len() <= NAME_BYTES_MAX && name.chars().all(is_plain)
}

/// As the `ClassAd` language writes text.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_shown_where_nothing_else_is() {
        for (folder, may) in [
            ("/opt/lab", true),
            ("/srv", true),
            ("/home/ada/data", true),
            ("/root", false),
            ("/root/data", true),
            ("/", false),
            ("opt/lab", false),
            ("/opt/../etc", false),
            ("/etc", false),
            ("/usr/local/lab", false),
            ("/task", false),
            ("/run/docker", false),
            ("", false),
        ] {
            let rules = Rules { folders: Some(vec![folder.into()]), ..Rules::default() };
            assert_eq!(rules.check().is_ok(), may, "{folder}: {:?}", rules.check());
        }
    }

    #[test]
    fn a_machine_says_which_of_its_folders_are_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let rules =
            Rules { folders: Some(vec![folder.path().into(), "/no/such/folder".into()]), ..Rules::default() };
        let found = Profile::new([1.0; 3], 1);
        let shown = rules.profile(&found);
        assert_eq!(shown.attributes["Folders"], format!("{{\"{}\"}}", folder.path().display()));
        assert!(!Rules::default().profile(&found).attributes.contains_key("Folders"));
    }
}
