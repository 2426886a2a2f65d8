//! The file of the owner's rules: read, written with all that there is to say, changed by hand.

use super::rules::{Rules, RulesError};
use gleaner_net::{read_text, replace_file};
use gleaner_wire::meant::with_meant;
use gleaner_wire::session::Profile;
use std::io;
use std::path::{Path, PathBuf};

/// All rules as comments, each with what it is good for and its default.
const COMMENTED: &str = include_str!("rules.toml");

/// Nothing in it is secret.
const MODE: u32 = 0o666;

/// Why the rules cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system refused.
    #[error("{path}: {why}", path = path.display())]
    File {
        /// What it was about.
        path: PathBuf,
        /// What the system said.
        why: io::Error,
    },
    /// There is nothing in it, which is no way to ask for the usual rules: so does a write look that was cut short.
    #[error(
        "{path}: it is empty: write the rules into it again, or remove it for the default rules",
        path = path.display()
    )]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// It is no TOML, or has a key that there is not, or a value of another kind.
    #[error("{path}: {why}", path = path.display(), why = said(&why.to_string()))]
    Toml {
        /// The file.
        path: PathBuf,
        /// What is wrong, where, and what is expected.
        why: Box<toml::de::Error>,
    },
    /// A rule that was to be set is none, or its value is of another kind.
    #[error("{key}: {why}")]
    Value {
        /// The rule.
        key: String,
        /// The value, and what is expected.
        why: String,
    },
    /// A value makes no sense.
    #[error("{path}: {why}", path = path.display())]
    Rule {
        /// The file.
        path: PathBuf,
        /// The value, and what is wrong with it.
        why: RulesError,
    },
}

/// In the owner's words, and with the key that was meant.
fn said(why: &str) -> String {
    with_meant(why).replace("expected a sequence", "expected a list, as [\"…\", \"…\"]")
}

/// For whom a file is written where there is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Preset {
    /// A machine whose owner may sit down at it at any time.
    Machine,
    /// The machine of whoever submits from it: their logins would stop everything until they left.
    Submitters,
    /// The machine of whoever looks at a demonstration: their programs would stop it as well.
    Demonstration,
}

/// The rules in a file; the usual ones if there is none.
pub fn read(path: &Path) -> Result<Rules, FileError> {
    read_if_there(path).map(Option::unwrap_or_default)
}

/// The rules in a file, if there is one.
pub fn read_if_there(path: &Path) -> Result<Option<Rules>, FileError> {
    match read_there(path) {
        Err(FileError::File { why, .. }) if why.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

/// The rules in a file, for an agent that says of its machine what was `found`, and what follows from the rules.
pub(crate) fn read_beside(path: &Path, found: &Profile) -> Result<Rules, FileError> {
    check_beside(path, read(path)?, found)
}

/// Likewise, for an agent that has rules: that the file is gone is an error, since it may be on its way.
pub(crate) fn read_again(path: &Path, found: &Profile) -> Result<Rules, FileError> {
    check_beside(path, read_there(path)?, found)
}

fn check_beside(path: &Path, rules: Rules, found: &Profile) -> Result<Rules, FileError> {
    let checked = rules.check_beside(found, home_of(path));
    checked.map_err(|why| FileError::Rule { path: path.into(), why })?;
    Ok(rules)
}

/// Writes a file with all rules as comments, if there is none.
pub fn write_if_none(path: &Path, preset: Preset) -> Result<(), FileError> {
    if path.exists() {
        return Ok(());
    }
    let text = match preset {
        Preset::Machine => COMMENTED.to_owned(),
        Preset::Submitters => with(COMMENTED, "sessions = \"ignore\""),
        Preset::Demonstration => {
            let alone = with(COMMENTED, "sessions = \"ignore\"");
            with(&with(&alone, "programs = \"ignore\""), "not_on_battery = false")
        }
    };
    replace(path, &text)
}

/// Sets one rule, and leaves the rest of the file as it is. What is no TOML by itself is taken for a text; `default` takes
/// the rule back.
pub fn set(path: &Path, key: &str, value: &str) -> Result<Rules, FileError> {
    set_over(path, &Rules::default(), key, value)
}

/// Likewise for an agent that goes by the rules `in_force`: where their file is gone, they are in the one that is written.
pub fn set_over(path: &Path, in_force: &Rules, key: &str, value: &str) -> Result<Rules, FileError> {
    let text = match text_of(path) {
        Err(FileError::File { why, .. }) if why.kind() == io::ErrorKind::NotFound => text_with(in_force),
        read => read?,
    };
    let alone = toml::from_str::<toml::Table>(&format!("x = {value}"));
    // A line more would be another rule.
    let is_toml = alone.is_ok_and(|table| table.len() == 1);
    let commented = COMMENTED.lines().find(|line| is_about(key, line)).filter(|_| value == "default");
    let line = match commented {
        Some(commented) => commented.to_owned(),
        None if is_toml => format!("{key} = {value}"),
        None => format!("{key} = {value:?}"),
    };
    // What is wrong with it alone is said of it, and not of a line that the file does not have.
    let alone = toml::from_str::<Rules>(&line);
    let in_words = |why: toml::de::Error| said(&why.message().replace('\n', ": "));
    alone.map_err(|why| FileError::Value { key: key.to_owned(), why: in_words(why) })?;
    let text = with(&text, &line);
    let rules = parse(path, &text)?;
    replace(path, &text)?;
    Ok(rules)
}

/// All rules as comments, but for those that are not the default.
fn text_with(rules: &Rules) -> String {
    let listed = |rules: &Rules| serde_json::to_value(rules).expect("rules are plain data");
    let (rules, usual) = (listed(rules), listed(&Rules::default()));
    let others =
        rules.as_object().into_iter().flatten().filter(|(key, value)| usual[key.as_str()] != **value);
    // Texts, numbers and lists are written alike in JSON and in TOML.
    others.fold(COMMENTED.to_owned(), |text, (key, value)| with(&text, &format!("{key} = {value}")))
}

fn read_there(path: &Path) -> Result<Rules, FileError> {
    parse(path, &text_of(path)?)
}

fn text_of(path: &Path) -> Result<String, FileError> {
    match read_text(path) {
        Ok(text) if text.is_empty() => Err(FileError::Empty { path: path.into() }),
        read => read.map_err(|why| FileError::File { path: path.into(), why }),
    }
}

fn parse(path: &Path, text: &str) -> Result<Rules, FileError> {
    let rules: Rules =
        toml::from_str(text).map_err(|why| FileError::Toml { path: path.into(), why: Box::new(why) })?;
    let checked = rules.check().and_then(|()| rules.check_on_machine(home_of(path)));
    checked.map_err(|why| FileError::Rule { path: path.into(), why })?;
    Ok(rules)
}

/// The folder of the agent whose rules these are.
fn home_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

/// Whether a line sets a rule, be it as a comment.
fn is_about(key: &str, line: &str) -> bool {
    let line = line.trim_start_matches(['#', ' ']);
    line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with('='))
}

/// The text with this line where the rule was set, else where it was a comment, else behind all.
fn with(text: &str, line: &str) -> String {
    let key = line.trim_start_matches('#').split('=').next().unwrap_or_default().trim();
    let set = |line: &str| is_about(key, line) && !line.starts_with('#');
    let at = text.lines().position(set).or_else(|| text.lines().position(|line| is_about(key, line)));
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    match at {
        Some(at) => line.clone_into(&mut lines[at]),
        None => lines.push(line.to_owned()),
    }
    lines.join("\n") + "\n"
}

fn replace(path: &Path, text: &str) -> Result<(), FileError> {
    let written = replace_file(path, MODE, |out| out.write_all(text.as_bytes()));
    written.map_err(|why| FileError::File { path: path.into(), why })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn uncommented() -> String {
        let rule = |line: &&str| line.starts_with('#') && !line.starts_with("# ");
        COMMENTED.lines().filter(rule).map(|line| format!("{}\n", &line[1..])).collect()
    }

    #[test]
    fn the_file_that_is_written_has_every_rule_with_its_default() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rules.toml");
        write_if_none(&path, Preset::Machine).unwrap();
        assert_eq!(read(&path).unwrap(), Rules::default());
        let named = toml::from_str::<toml::Table>(&uncommented()).unwrap();
        let known = serde_json::to_value(Rules::default()).unwrap();
        for (key, value) in known.as_object().unwrap() {
            let written = serde_json::to_value(&named[key]).unwrap();
            assert!(value.is_null() || written == *value, "{key}: {written} is not the default {value}");
        }
        assert_eq!(named.len(), known.as_object().unwrap().len());
        let examples: Rules = toml::from_str(&uncommented()).unwrap();
        examples.check().unwrap();
    }

    #[test]
    fn one_rule_is_set_and_no_other_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rules.toml");
        write_if_none(&path, Preset::Machine).unwrap();
        let before = fs::read_to_string(&path).unwrap();
        set(&path, "cores_max", "1\nsessions = \"ignore\"").unwrap_err();
        let why = set(&path, "idle_seconds", "-5").unwrap_err().to_string();
        let expected = "idle_seconds: invalid value: integer `-5`, expected a whole number, 0 or more";
        assert_eq!(why, expected, "no line of the file is wrong");
        let why = set(&path, "users", "glu1").unwrap_err().to_string();
        assert!(why.starts_with("users: ") && why.contains("\"glu1\", expected a list"), "{why}");
        let why = set(&path, "signed_by", "[\"ann key\"]").unwrap_err().to_string();
        assert_eq!((why.lines().count(), why.matches("ann key").count()), (1, 1), "{why}");
        assert_eq!(fs::read_to_string(&path).unwrap(), before);
    }

    #[test]
    fn an_empty_file_has_no_rules() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rules.toml");
        assert_eq!(read(&path).unwrap(), Rules::default(), "there is none");
        fs::write(&path, "").unwrap();
        for refused in [read(&path), set(&path, "cores_max", "1")] {
            let why = refused.unwrap_err().to_string();
            assert!(why.contains("rules.toml: it is empty: write the rules"), "{why}");
        }
        assert_eq!(fs::read(&path).unwrap(), b"", "nothing is made up");
    }

    #[test]
    fn rules_in_force_whose_file_is_gone_are_in_the_next_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rules.toml");
        write_if_none(&path, Preset::Demonstration).unwrap();
        for (key, value) in [
            ("users", "[\"ann\"]"),
            ("hours", "[\"mon-fri 18:00-07:30\"]"),
            ("run_below_load", "0.25"),
            ("labels", "[\"a \\\"b\\\"\"]"),
        ] {
            set(&path, key, value).unwrap();
        }
        let in_force = read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        assert!(set_over(&path, &in_force, "cores_max", "0").is_err() && !path.exists());
        let rules = set_over(&path, &in_force, "cores_max", "1").unwrap();
        assert_eq!(rules, Rules { cores_max: Some(1), ..in_force });
        assert_eq!(read_if_there(&path).unwrap(), Some(rules));
        fs::remove_file(&path).unwrap();
        assert_eq!(read_if_there(&path).unwrap(), None);
    }

    #[test]
    fn a_rule_is_set_where_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rules.toml");
        write_if_none(&path, Preset::Submitters).unwrap();
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        for (key, value) in
            [("network", "all"), ("cores_max", "2"), ("network", "\"no\""), ("users", "[\"ann\"]")]
        {
            set(&path, key, value).unwrap();
        }
        let rules = read(&path).unwrap();
        assert_eq!((rules.cores_max, rules.users), (Some(2), Some(vec!["ann".to_owned()])));
        assert_eq!(
            (rules.network, rules.sessions),
            (super::super::Network::No, super::super::Sessions::Ignore)
        );
        for key in ["network", "cores_max", "users"] {
            set(&path, key, "default").unwrap();
        }
        let rules = read(&path).unwrap();
        assert_eq!((rules.cores_max, rules.users), (None, None));
        assert_eq!(rules.network, Rules::default().network);
        assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), lines);
    }

    #[test]
    fn a_mistake_is_named_and_changes_nothing() {
        let many = |name: &str| {
            format!("{:?}", (1..=2_000).map(|number| format!("{name}{number}")).collect::<Vec<_>>())
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rules.toml");
        for (key, value, parts) in [
            (
                "core_max",
                "2",
                &["core_max", "unknown field", "expected one of", "did you mean cores_max?"][..],
            ),
            ("core_max", "default", &["core_max", "did you mean cores_max?"]),
            ("cores_max", "two", &["cores_max", "\"two\"", "expected a whole number"]),
            ("hours", "mon-fri 18:00-07:30", &["hours", "expected a list, as [\"…\", \"…\"]"]),
            ("hours", "[\"late\"]", &["hours", "\"late\"", "expected HH:MM-HH:MM"]),
            ("hours", "[]", &["hours is an empty list", "it must be", "gleaner owner drain"]),
            ("run_below_load", "0.0", &["run_below_load is 0", "it must be", "no task could ever run"]),
            ("cores_max", "0", &["cores_max is 0", "it must be a number of cores"]),
            (
                "disk_free_min_gb",
                "1e9",
                &["disk_free_min_gb is 1000000000", "the whole disk of", "no task could ever run"],
            ),
            ("disk_free_min_gb", "1e300", &["disk_free_min_gb", "gigabytes above 0"]),
            ("open_files_max", "3", &["open_files_max is 3", "16 or more"]),
            ("temperature_max", "5.0", &["temperature_max is 5", "from 20 to 150"]),
            ("users", "[\"a b\"]", &["users is \"a b\"", "names that somebody can have"]),
            ("users", "[\"ann\", \"-x\"]", &["users is \"-x\"", "names that somebody can have"]),
            ("labels", "[\"-x\"]", &["labels is \"-x\"", "names that somebody can have"]),
            ("labels", "[\"a\\u202eb\"]", &["labels is \"a\\u{202e}b\"", "characters that are seen"]),
            (
                "folders",
                "[\"/opt/a\\u202eb\"]",
                &["folders is \"/opt/a\\u{202e}b\"", "characters that are seen"],
            ),
            ("users", &many("user-of-20-bytes"), &["users is too long", "12288"]),
            ("labels", &many("l"), &["labels is too long", "12288"]),
            ("folders", &many("/opt/data"), &["folders is too long", "12288"]),
            ("busy_cores", "1000", &["busy_cores is 1000", "from 0.01 to 256"]),
            ("memory_max_gb", "1e6", &["memory_max_gb is 1000000", "to 100000"]),
            ("users", "[\"\"]", &["users is \"\"", "names that somebody can have"]),
            ("labels", "[\"render\", \" \"]", &["labels is \" \"", "names that somebody can have"]),
            ("idle_seconds", "1000000000", &["idle_seconds is 1000000000", "a week"]),
            ("memory_max_gb", "0.0001", &["memory_max_gb is 0.0001", "from 0.01"]),
            ("busy_cores", "0.0001", &["busy_cores is 0.0001", "from 0.01"]),
            ("run_below_load", "0.0001", &["run_below_load is 0.0001", "no task could ever run"]),
            ("run_hours_max", "0.00001", &["run_hours_max is 0.00001", "0.001 or more"]),
            ("folders", "[\"/root\"]", &["folders is /root", "outside of"]),
        ] {
            let said = set(&path, key, value).unwrap_err().to_string();
            for part in parts {
                assert!(said.contains(part), "{said:?} has no {part:?}");
            }
            assert!(!path.exists());
        }
    }

    #[test]
    fn a_folder_with_the_agents_own_in_it_is_refused_and_one_that_is_not_there_called_out() {
        // Not below /tmp, which no task is shown of the machine's, and wherever this is built.
        let within = tempfile::tempdir_in("/var/tmp").unwrap();
        let (shown, home) = (within.path().join("shown"), within.path().join("shown/agent"));
        fs::create_dir_all(&home).unwrap();
        let link = within.path().join("link");
        std::os::unix::fs::symlink(&shown, &link).unwrap();
        let path = home.join("rules.toml");
        for folder in [&shown, &home, &link] {
            let said = set(&path, "folders", &format!("[{folder:?}]")).unwrap_err().to_string();
            assert!(said.contains("without the agent's own folder"), "{said}");
        }
        fs::create_dir(shown.join("data")).unwrap();
        let rules = set(&path, "folders", &format!("[{:?}, \"/nosuch\"]", shown.join("data"))).unwrap();
        assert_eq!(rules.doubts(&home), ["folders: /nosuch is no folder here now, so that no task sees it"]);
    }

    #[test]
    fn what_does_nothing_on_this_machine_is_called_out() {
        let home = Path::new("/no/such/agent");
        let said = |rules: Rules| rules.doubts(home).join("\n");
        assert_eq!(said(Rules::default()), "");
        let limited = Rules { bandwidth_max_mbit: Some(1.0), ..Rules::default() };
        assert!(said(limited).starts_with("bandwidth_max_mbit: no task has a network"));
        assert!(said(Rules { busy_cores: 256.0, ..Rules::default() }).starts_with("busy_cores: there are"));
        let many = Rules { cores_max: Some(65_536), ..Rules::default() };
        assert!(said(many).starts_with("cores_max: there are"));
        let all = Rules { labels: Some(vec!["*".to_owned()]), ..Rules::default() };
        assert!(said(all).starts_with("labels: * is a label like any other"));
        let (network, hot) = (super::super::Network::Internet, Some(80.0));
        let said = said(Rules { network, temperature_max: hot, ..Rules::default() });
        let has_thermometer =
            matches!(crate::probes::temperature(&crate::probes::Root::new("/")), Ok(Some(_)));
        assert_eq!(said.contains("temperature_max: "), !has_thermometer, "{said}");
        assert_eq!(said.contains("network: "), crate::confine::can_be_apart().is_err(), "{said}");
    }
}
