//! What the owner configured. `docs/owner.md` says the same to owners.

mod checking;

pub use checking::RulesError;

use gleaner_net::Signer;
use gleaner_units::Span;
use gleaner_wire::job::Confinement;
use gleaner_wire::session::{Profile, Run};
use gleaner_wire::text::as_part;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

use super::bounds::Bounds;
use super::hours::Hours;
use super::shown::{Hidden, look};
use crate::confine::{Limits, can_be_apart};
use crate::keeper::{self, Input};

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

/// The part of a small machine that is never asked of the owner's programs before they count.
const BUSY_SHARE_MAX: f64 = 0.25;
pub(super) const GIGABYTE: f64 = 1e9;
/// How a machine says which of its folders tasks may read.
const FOLDERS: &str = "Folders";
/// How a machine says which network it lets tasks have.
const NETWORK: &str = "Network";
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
    /// The lists of whom the owner takes, each with what it asks of a task, if it is set.
    fn members(&self) -> [(&'static str, Option<String>); 3] {
        let member = |attribute: &str, names: Option<Vec<String>>| {
            let names: Vec<String> = names?.iter().map(|name| quoted(name)).collect();
            Some(format!("member(TARGET.{attribute}, {{{}}})", names.join(", ")))
        };
        let signers = self.signed_by.as_ref().map(|signers| signers.iter().map(Signer::to_string).collect());
        [
            ("users", member("Owner", self.users.clone())),
            ("labels", member("Label", self.labels.clone())),
            ("signed_by", member("SignedBy", signers)),
        ]
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
    pub(crate) fn profile(&self, found: &Profile, home: &Path) -> Profile {
        let mut profile = found.clone();
        if let Some(cores) = self.cores_max {
            (profile.cores, profile.slots) = (profile.cores.min(cores), profile.slots.min(cores));
        }
        if let Some(gigabytes) = self.memory_max_gb {
            profile.memory = profile.memory.min((gigabytes * GIGABYTE) as u64);
        }
        profile.disk = found.disk.map(|free| self.disk_for_tasks(free));
        let apart = self.network == Network::Internet && can_be_apart().is_ok();
        profile.network = apart || self.network == Network::All;
        if profile.network {
            let network = if apart { "internet" } else { "all" };
            profile.attributes.insert(NETWORK.to_owned(), quoted(network));
        }
        let asked = profile.attributes.get(REQUIREMENTS).map(|text| as_part(text));
        let members = self.members().map(|(_, text)| text);
        let all: Vec<String> = std::iter::once(asked).chain(members).flatten().collect();
        if !all.is_empty() {
            profile.attributes.insert(REQUIREMENTS.to_owned(), all.join(" && "));
        }
        let shown: Vec<Input> = self.looked_at(home).filter_map(|(_, found)| found.ok()).collect();
        if let Some(folders) = listed(shown.iter().map(|folder| folder.at.as_path())) {
            profile.attributes.insert(FOLDERS.to_owned(), folders);
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

    /// Whether a task that these rules let come may not stay by them: those that were `before` let it. Whether it is signed is not asked.
    pub(crate) fn forbid(&self, run: &Run, before: &Self) -> bool {
        let has_all = before.network == Network::All && self.network != Network::All;
        let is_cut_off =
            run.confinement == Confinement::SandboxWithNetwork && (has_all || self.network().is_err());
        is_cut_off || self.admit(&run.user, run.label.as_deref()).is_err()
    }

    /// The folders that tasks may read, each as it is found now: one on a server that is away is not there.
    pub(crate) fn looked_at(&self, home: &Path) -> impl Iterator<Item = (&Path, Result<Input, Hidden>)> {
        self.folders.iter().flatten().map(move |folder| (folder.as_path(), look(folder, home)))
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

/// Folders as a machine says them, if there are any.
fn listed<'a>(folders: impl Iterator<Item = &'a Path>) -> Option<String> {
    let folders: Vec<String> = folders.map(|folder| quoted(&folder.to_string_lossy())).collect();
    (!folders.is_empty()).then(|| format!("{{{}}}", folders.join(", ")))
}

/// As the `ClassAd` language writes text.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_says_which_of_its_folders_are_there() {
        // Not below /tmp, which no task is shown of the machine's.
        let folder = tempfile::tempdir_in("/var/tmp").expect("a folder");
        let home = Path::new("/no/such/agent");
        let rules =
            Rules { folders: Some(vec![folder.path().into(), "/no/such/folder".into()]), ..Rules::default() };
        let found = Profile::new([1.0; 3], 1);
        let shown = rules.profile(&found, home);
        assert_eq!(shown.attributes["Folders"], format!("{{\"{}\"}}", folder.path().display()));
        assert!(!Rules::default().profile(&found, home).attributes.contains_key("Folders"));
    }

    #[test]
    fn what_a_machine_asks_may_end_in_a_comment() {
        let rules = Rules { users: Some(vec!["ann".to_owned()]), ..Rules::default() };
        let mut found = Profile::new([1.0; 3], 1);
        found.attributes.insert(REQUIREMENTS.to_owned(), "TARGET.RequestCpus < 2 // small ones".to_owned());
        let asked = rules.profile(&found, Path::new("/no/such/agent")).attributes.remove(REQUIREMENTS);
        let expected = "(TARGET.RequestCpus < 2 // small ones\n) && member(TARGET.Owner, {\"ann\"})";
        assert_eq!(asked.as_deref(), Some(expected));
    }
}
