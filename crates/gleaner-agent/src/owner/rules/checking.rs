//! Whether rules make sense: what is refused of them, always or on this machine, and what is only doubted.

use super::{FOLDERS, GIGABYTE, Network, REQUIREMENTS, Rules, listed};
use crate::confine::MEMORY_BYTES_MIN;
use crate::owner::shown::{Hidden, may_be_shown};
use crate::probes::{Root, temperature};
use gleaner_net::Disk;
use gleaner_wire::limits::{EXPRESSION_BYTES_MAX, PROFILE_BYTES_MAX};
use gleaner_wire::session::Profile;
use gleaner_wire::text::{is_hidden, is_label, is_name};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

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
/// What is said of a rule that keeps all tasks away for good.
const NEVER: &str = "something that can be met, since no task could ever run: leave it out, or keep tasks away with \
                     `gleaner owner drain`";

/// A rule whose value makes no sense.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{key} is {found}; it must be {expected}")]
pub struct RulesError {
    key: &'static str,
    found: String,
    expected: &'static str,
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
    pub(in crate::owner) fn check_on_machine(&self, home: &Path) -> Result<(), RulesError> {
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
        if self.cores_max.is_some_and(|most| f64::from(most) > cores) {
            doubts.push(format!("cores_max: there are {cores} cores here, so that it limits nothing"));
        }
        if self.labels.iter().flatten().any(|label| label == "*") {
            let all =
                "`gleaner owner set labels default` lets tasks of all labels come, and those without one";
            doubts.push(format!("labels: * is a label like any other, and does not stand for all; {all}"));
        }
        doubts
    }
}

/// Whether the machine says how warm it is.
fn has_thermometer() -> bool {
    matches!(temperature(&Root::new("/")), Ok(Some(_)))
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
