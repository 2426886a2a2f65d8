//! What the owner configured. `docs/owner.md` says the same to owners.

use gleaner_net::{Disk, Signer};
use gleaner_units::Span;
use gleaner_wire::job::Confinement;
use gleaner_wire::limits::{EXPRESSION_BYTES_MAX, PROFILE_BYTES_MAX};
use gleaner_wire::session::{Profile, Run};
use gleaner_wire::text::{as_part, is_hidden, is_label, is_name};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use super::bounds::Bounds;
use super::hours::Hours;
use super::shown::{Hidden, look, may_be_shown};
use crate::confine::{Limits, MEMORY_BYTES_MIN, can_be_apart};
use crate::keeper::{self, Input};
use crate::probes::{Root, temperature};

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
pub(super) const GIGABYTE: f64 = 1e9;
/// How a machine says which of its folders tasks may read.
const FOLDERS: &str = "Folders";
/// How a machine says which network it lets tasks have.
const NETWORK: &str = "Network";
/// What is said of a folder that cannot be shown.
const SHOWN: &str =
    "the whole path of a folder, without . and .., outside of /etc, /usr, /run, /tmp, /root and the like";
/// What is said of a folder that has the agent's own in it.
const WITHOUT_THE_AGENTS: &str = "without the agent's own folder, which has its key and what other tasks leave: name those below it that tasks need";
/// What is said of a name that nobody has.
const USERS: &str =
    "names that somebody can have (letters, digits and -_.@, not a - first), since no task of others runs";
const LABELS: &str =
    "names that somebody can have (characters that are seen, not a - first), since no other task has them";
/// What is said of a folder that no coordinator is told of.
const SEEN: &str = "a path of characters that are seen, since the coordinator takes no other";
/// What is said of lists that no coordinator is told of.
const SHORTER: &str = "shorter: 12288 bytes at most, and with what else the machine says 16384, since the coordinator takes no more";
/// Bytes of the lists of whom the owner takes, together, and likewise of `folders`, as the machine says them. What the agent is
/// started with may say more.
const LISTS_BYTES_MAX: usize = EXPRESSION_BYTES_MAX / 4 * 3;
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
        if let Some(name) = self.users.iter().flatten().find(|name| !is_name(name)) {
            return refuse("users", &format!("{name:?}"), USERS);
        }
        if let Some(signer) = self.signed_by.iter().flatten().find(|signer| !is_name(&signer.user)) {
            return refuse("signed_by", &format!("{:?}", signer.user), USERS);
        }
        if let Some(label) = self.labels.iter().flatten().find(|label| !is_label(label)) {
            return refuse("labels", &format!("{label:?}"), LABELS);
        }
        if let Some(folder) = self.folders.iter().flatten().find(|folder| !may_be_shown(folder)) {
            return refuse("folders", &folder.display(), SHOWN);
        }
        let is_unseen = |folder: &&PathBuf| folder.to_string_lossy().chars().any(is_hidden);
        if let Some(folder) = self.folders.iter().flatten().find(is_unseen) {
            return refuse("folders", &format!("{:?}", folder.to_string_lossy()), SEEN);
        }
        self.check_lengths()?;
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

    /// Refuses lists that no coordinator takes: a machine says with them whom it takes.
    fn check_lengths(&self) -> Result<(), RulesError> {
        let lists = self.members().map(|(key, text)| (key, text.map_or(0, |text| text.len())));
        let all: usize = lists.iter().map(|(_, bytes)| bytes).sum();
        let named = self.folders.iter().flatten().map(PathBuf::as_path);
        let folders = listed(named).map_or(0, |text| text.len());
        let longest = lists.into_iter().max_by_key(|(_, bytes)| *bytes).map_or("users", |(key, _)| key);
        let what = [(longest, all, "users, labels and signed_by make"), ("folders", folders, "it makes")];
        match what.into_iter().find(|(_, bytes, _)| *bytes > LISTS_BYTES_MAX) {
            None => Ok(()),
            Some((key, bytes, what)) => {
                let found = format!("too long: {what} {bytes} bytes of what the machine says of itself");
                Err(RulesError { key, found, expected: SHORTER })
            }
        }
    }

    /// Refuses rules that no coordinator takes from a machine which also says of itself what was `found`.
    pub(crate) fn check_beside(&self, found: &Profile, home: &Path) -> Result<(), RulesError> {
        let mut offered = self.profile(found, home);
        // Those that are not there may be there tomorrow.
        let named = listed(self.folders.iter().flatten().map(PathBuf::as_path));
        offered.attributes.extend(named.map(|folders| (FOLDERS.to_owned(), folders)));
        let refuse = |key: &'static str, what: &str, bytes: usize| {
            let found = format!("too long: {what} {bytes} bytes, with what --attribute and --tag say");
            Err(RulesError { key, found, expected: SHORTER })
        };
        let asked = offered.attributes.get(REQUIREMENTS).map_or(0, String::len);
        let has_list = self.members().iter().any(|(_, text)| text.is_some());
        if has_list && asked > EXPRESSION_BYTES_MAX {
            return refuse("users, labels or signed_by", "the machine's requirements have", asked);
        }
        let bytes = |profile: &Profile| {
            let attributes = profile.attributes.iter().map(|(name, text)| name.len() + text.len());
            profile.tags.iter().map(String::len).chain(attributes).sum::<usize>()
        };
        if bytes(&offered) > PROFILE_BYTES_MAX && bytes(found) <= PROFILE_BYTES_MAX {
            return refuse(
                "folders, users, labels or signed_by",
                "all that the machine says has",
                bytes(&offered),
            );
        }
        Ok(())
    }

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

    /// Numbers, each with what can be meant by it: below, no task could ever run, or the owner never be away; above, the rule would never
    /// do anything.
    fn numbers(&self) -> [(&'static str, Option<f64>, RangeInclusive<f64>, &'static str); 10] {
        let hours = Some(self.run_hours_max).filter(|hours| *hours != 0.0);
        [
            ("busy_cores", Some(self.busy_cores), 0.01..=256.0, "a number of cores, from 0.01 to 256"),
            ("temperature_max", self.temperature_max, 20.0..=150.0, "degrees Celsius, from 20 to 150"),
            (
                "cores_max",
                self.cores_max.map(f64::from),
                1.0..=65_536.0,
                "a number of cores, from 1 to 65536",
            ),
            (
                "memory_max_gb",
                self.memory_max_gb,
                MEMORY_BYTES_MIN as f64 / GIGABYTE..=100_000.0,
                "gigabytes, from 0.01, since no program starts in less, to 100000",
            ),
            ("disk_free_min_gb", self.disk_free_min_gb, f64::MIN_POSITIVE..=1e9, "gigabytes above 0"),
            (
                "processes_max",
                Some(self.processes_max.into()),
                1.0..=4_194_304.0,
                "a number of processes, from 1 to 4194304, since no kernel has more",
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
        let agents = self.looked_at(home).find(|(_, found)| *found == Err(Hidden::Agents));
        if let Some((folder, _)) = agents {
            let (found, expected) = (folder.display().to_string(), WITHOUT_THE_AGENTS);
            return Err(RulesError { key: "folders", found, expected });
        }
        let size = Disk::of(home).map(|disk| disk.size);
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

    /// What does nothing as the machine is now, in words for its owner, for an agent whose folder is `home`: it may be other tomorrow.
    pub fn doubts(&self, home: &Path) -> Vec<String> {
        let mut doubts = Vec::new();
        for (folder, found) in self.looked_at(home) {
            if let Err(why) = found {
                doubts.push(format!("folders: {} {why}, so that no task sees it", folder.display()));
            }
        }
        if self.temperature_max.is_some() && !has_thermometer() {
            doubts.push(
                "temperature_max: no temperature can be read here, so that no task is suspended by it"
                    .to_owned(),
            );
        }
        if let (Network::Internet, Err(why)) = (self.network, self.network()) {
            doubts.push(format!("network: {why}, so that tasks which ask for the network do not run here"));
        }
        if self.network == Network::No && self.bandwidth_max_mbit.is_some() {
            doubts.push("bandwidth_max_mbit: no task has a network, so that it limits none".to_owned());
        }
        let cores = std::thread::available_parallelism().map_or(f64::MAX, |cores| cores.get() as f64);
        if self.busy_cores > cores {
            doubts
                .push(format!("busy_cores: there are {cores} cores here, of which a quarter counts instead"));
        }
        doubts
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

/// What is said of a rule that keeps all tasks away for good.
const NEVER: &str = "something that can be met, since no task could ever run: leave it out, or keep tasks away with \
                     `gleaner owner drain`";

/// Whether the machine says how warm it is.
fn has_thermometer() -> bool {
    matches!(temperature(&Root::new("/")), Ok(Some(_)))
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

    #[test]
    fn rules_beside_which_an_agent_says_too_much_are_refused() {
        let home = Path::new("/no/such/agent");
        let rules = Rules { users: Some(vec!["a".repeat(120); 80]), ..Rules::default() };
        rules.check().expect("short enough");
        let mut found = Profile::new([1.0; 3], 1);
        rules.check_beside(&found, home).expect("alone it may say that");
        found.attributes.insert(REQUIREMENTS.to_owned(), format!("true{}", " ".repeat(10_000)));
        let said = rules.check_beside(&found, home).unwrap_err().to_string();
        assert!(said.contains("users, labels or signed_by is too long") && said.contains("16384"), "{said}");
        Rules::default().check_beside(&found, home).expect("that is not the rules' doing");
    }
}
