//! `gleaner work`: an agent.

use crate::cli::WorkArguments;
use crate::failure::Failure;
use crate::serve::{LOGGED, start_log, stop_requested};
use crate::{Outcome, files, home, stdout};
use gleaner_agent::home::HomeError;
use gleaner_agent::work::{Announced, Join, Stop, WorkError, WorkOptions, work};
use gleaner_classad::Expr;
use gleaner_net::read_text;
use gleaner_wire::text::is_name;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The tags and attributes that were given last, in the agent's folder.
const SAID_FILE: &str = "said.json";

pub(crate) fn run(arguments: &WorkArguments) -> Outcome {
    start_log(arguments.log, LOGGED);
    home::keep_private();
    let (stop, stopped) = tokio::sync::watch::channel(Stop::No);
    let options = options(arguments)?;
    // The agent's own runtime lives on this thread: signals get a small one of their own.
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let Ok(runtime) = runtime else { return };
        runtime.block_on(async {
            stop_requested().await;
            stop.send_replace(Stop::Orderly);
            stop_requested().await;
            stop.send_replace(Stop::AtOnce);
        });
    });
    Ok(work(options, stopped)?)
}

/// The folder of this machine's agent.
pub(crate) fn folder(given: Option<&PathBuf>) -> Result<PathBuf, Failure> {
    given.map_or_else(|| Ok(home::folder(None)?.join("agent")), |folder| Ok(folder.clone()))
}

fn options(arguments: &WorkArguments) -> Result<WorkOptions, Failure> {
    let home = folder(arguments.home.as_ref())?;
    let Said { tags, attributes } = Said::of(arguments)?.kept(&home, arguments.no_tags)?;
    let join = join(arguments, has_joined(&home))?;
    Ok(WorkOptions {
        home,
        // Not by the path of the program, which may be replaced by a newer one while the agent runs.
        program: PathBuf::from("/proc/self/exe"),
        join,
        user: arguments.user.clone().unwrap_or_default(),
        name: arguments.name.clone(),
        slots: arguments.slots,
        tags,
        attributes,
        cache_bytes: bytes(arguments.cache_gb),
        task_memory: arguments.task_memory_gb.map(bytes),
        measure_cgroup: arguments.measure_cgroup.clone(),
        speeds: None,
        announce: if arguments.json { announce } else { |_| {} },
    })
}

/// For programs, once. There is no secret in it.
fn announce(Announced { machine, coordinator, slots, home }: &Announced) {
    let document = json!({
        "version": 1,
        "machine": machine,
        "coordinator": coordinator,
        "slots": slots,
        "pid": std::process::id(),
        "home": home,
    });
    // Where nobody reads, there is nobody to tell.
    let _ = stdout::print_json(&document);
}

/// What the machine says of itself besides what it was found to be.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Said {
    tags: Vec<String>,
    attributes: BTreeMap<String, String>,
}

impl Said {
    fn of(arguments: &WorkArguments) -> Result<Self, Failure> {
        Ok(Self { tags: arguments.tags.clone(), attributes: attributes(&arguments.attributes)? })
    }

    /// What was said the last time that something was; what is said now is kept for the next time.
    fn kept(self, home: &Path, takes_back: bool) -> Result<Self, Failure> {
        let file = home.join(SAID_FILE);
        if self == Self::default() && !takes_back {
            return match read_text(&file) {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(self),
                Err(error) => Err(Failure::io("read", &file, error)),
                Ok(text) => serde_json::from_str(&text).map_err(|error| {
                    Failure::Usage(format!("{} makes no sense: {error}; give the tags again", file.display()))
                }),
            };
        }
        files::write_json(home, SAID_FILE, &self)?;
        Ok(self)
    }
}

fn bytes(gigabytes: f64) -> u64 {
    (gigabytes.clamp(0.0, 1e6) * 1e9) as u64
}

/// Whether an agent that works there is one of a grid's already.
pub(crate) fn has_joined(home: &Path) -> bool {
    home.join("identity.json").exists()
}

fn join(arguments: &WorkArguments, has_joined: bool) -> Result<Option<Join>, Failure> {
    // A variable that is empty says as much as one that is not there.
    let token = arguments.token.as_ref().filter(|token| !token.is_empty());
    let Some(address) = &arguments.join else {
        return match token {
            Some(_) if has_joined => {
                tracing::warn!("the token is not needed: this agent has joined already");
                Ok(None)
            }
            Some(_) => Err(Failure::Usage("--token needs --join URL, the coordinator's address".to_owned())),
            None => Ok(None),
        };
    };
    let token = token.map(|token| token.parse());
    let name = arguments.name.clone().unwrap_or_else(host_name);
    if !has_joined && !is_name(&name) {
        let why = format!(
            "this machine is called {name:?}, which cannot be its name in a grid: say one with --name"
        );
        return Err(Failure::Usage(why));
    }
    Ok(Some(Join {
        address: address.parse().map_err(|error| Failure::Usage(format!("--join: {error}")))?,
        token: token.transpose().map_err(|error| Failure::Usage(format!("--token: {error}")))?,
        name,
        replace: arguments.replace,
    }))
}

fn attributes(given: &[String]) -> Result<BTreeMap<String, String>, Failure> {
    let attribute = |text: &String| {
        let (name, value) = text.split_once('=').ok_or_else(|| {
            Failure::Usage(format!("--attribute {text}: expected NAME=EXPR, as 'Building=\"B2\"'"))
        })?;
        Expr::parse(value).map_err(|error| Failure::Usage(format!("--attribute {name}: {error}")))?;
        Ok((name.to_owned(), value.to_owned()))
    };
    given.iter().map(attribute).collect()
}

fn host_name() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "machine".to_owned() } else { name.to_owned() }
}

impl From<WorkError> for Failure {
    fn from(error: WorkError) -> Self {
        let message = error.to_string();
        match error {
            WorkError::Rules(error) => error.into(),
            WorkError::NotJoined
            | WorkError::NoToken
            | WorkError::MeasureCgroup(_)
            | WorkError::Home(HomeError::InUse(..) | HomeError::NotOurs(_)) => Self::Usage(message),
            WorkError::Joining(_) | WorkError::Refused(_) => Self::NotTaken(message),
            _ => Self::Agent(message),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_needed_to_join_and_an_empty_one_is_none() {
        let token = format!("glj_{}.{}", "a".repeat(43), "0".repeat(64));
        let url = ["--join", "https://lab:7717"];
        for (given, has_joined, expected) in [
            (vec!["--token", ""], false, "no"),
            (vec!["--token", ""], true, "no"),
            (vec!["--token", &token], true, "no"),
            (vec!["--token", &token], false, "--token needs --join URL, the coordinator's address"),
            ([&url[..], &["--token", ""]].concat(), false, "without a token"),
        ] {
            let words = ["gleaner", "work"].into_iter().chain(given.iter().copied());
            let crate::cli::Command::Work(arguments) =
                <crate::cli::Cli as clap::Parser>::parse_from(words).command
            else {
                panic!("it is `gleaner work`")
            };
            let found = match join(&arguments, has_joined) {
                Ok(None) => "no".to_owned(),
                Ok(Some(join)) if join.token.is_none() => "without a token".to_owned(),
                Ok(Some(_)) => "with a token".to_owned(),
                Err(Failure::Usage(why)) => why,
                Err(_) => "another failure".to_owned(),
            };
            assert_eq!(found, expected, "{given:?}");
        }
    }

    /// systemd starts a service with a mistake in its settings no more, and one with a fault of its own for ever.
    #[test]
    fn a_cgroup_that_is_none_is_a_wrong_option() {
        let none = gleaner_agent::probes::ProbeError::NotAccounted { path: "/nowhere".to_owned() };
        let Failure::Usage(said) = Failure::from(WorkError::MeasureCgroup(none)) else {
            panic!("another failure")
        };
        assert!(said.starts_with("--measure-cgroup: no CPU time is accounted for"), "{said}");
    }

    #[test]
    fn tags_last_until_others_are_given_or_they_are_taken_back() {
        let home = tempfile::tempdir().expect("a folder");
        let said = |tags: &[&str], takes_back| {
            let said = Said { tags: tags.iter().map(ToString::to_string).collect(), ..Said::default() };
            said.kept(home.path(), takes_back).expect("what was said").tags.join(" ")
        };
        assert_eq!(said(&[], false), "");
        assert_eq!(said(&["gpu", "lab-3"], false), "gpu lab-3");
        assert_eq!(said(&[], false), "gpu lab-3");
        assert_eq!(said(&["fast"], false), "fast");
        assert_eq!(said(&[], true), "");
        assert_eq!(said(&[], false), "");
    }
}
