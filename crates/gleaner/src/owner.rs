//! `gleaner owner`: what a machine's owner says to the agent there by hand, and the rules that they set.

use crate::cli::{OwnMachineArguments, OwnerArguments};
use crate::failure::Failure;
use crate::{Outcome, home, stdout, work};
use gleaner_agent::owner::{self, FileError, Rules, Word};
use gleaner_agent::owner_socket::{Answer, OwnerError, State, tell};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub(crate) fn run(arguments: &OwnerArguments) -> Outcome {
    let (word, of) = match arguments {
        OwnerArguments::Here(of) => (Some(Word::Here), of),
        OwnerArguments::Away(of) => (Some(Word::Away), of),
        OwnerArguments::Pause(of) => (Some(Word::Pause), of),
        OwnerArguments::Drain(of) => (Some(Word::Drain), of),
        OwnerArguments::Evict(of) => (Some(Word::Evict), of),
        OwnerArguments::Resume(of) => (Some(Word::Resume), of),
        OwnerArguments::Status(of) => (None, of),
        OwnerArguments::Show(of) => {
            let file = rules_file(of)?;
            return show_rules(of, &file, &owner::read(&file)?);
        }
        OwnerArguments::Set(set) => {
            let file = rules_file(&set.of)?;
            return show_rules(&set.of, &file, &owner::set(&file, &set.key, &set.value)?);
        }
    };
    let answer = tell(&agent_folder(of.home.as_ref())?, word).map_err(|error| match error {
        OwnerError::NoAgent { .. } => Failure::NoGrid(error.to_string()),
        OwnerError::Answer(_) => Failure::Agent(error.to_string()),
    });
    show(of, &answer?)
}

/// The folder is the agent's, or that of a `gleaner up` which has an agent in it.
fn agent_folder(given: Option<&PathBuf>) -> Result<PathBuf, Failure> {
    let folder = work::folder(given)?;
    let inner = folder.join("agent");
    Ok(if home::is_coordinators(&folder) && inner.is_dir() { inner } else { folder })
}

fn rules_file(of: &OwnMachineArguments) -> Result<PathBuf, Failure> {
    Ok(agent_folder(of.home.as_ref())?.join("rules.toml"))
}

/// Each rule as it is written in the file; what is not the default is marked.
fn show_rules(of: &OwnMachineArguments, file: &Path, rules: &Rules) -> Outcome {
    let listed = |rules: &Rules| serde_json::to_value(rules).expect("rules are plain data");
    let (rules, usual) = (listed(rules), listed(&Rules::default()));
    if of.json {
        return stdout::print_json(&json!({ "version": 1, "file": file, "rules": rules }));
    }
    let lines = rules.as_object().into_iter().flatten().map(|(key, value)| {
        let mark = if *value == usual[key] { ' ' } else { '*' };
        let value = if *value == Value::Null { "not set".to_owned() } else { value.to_string() };
        format!("{mark} {key:<20} {value}\n")
    });
    stdout::print(format!("{}\n{}", file.display(), lines.collect::<String>()))
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        let message = error.to_string();
        match error {
            FileError::Toml { .. } | FileError::Rule { .. } => Self::Usage(message),
            FileError::File { .. } => Self::Agent(message),
        }
    }
}

fn show(of: &OwnMachineArguments, answer: &Answer) -> Outcome {
    if of.json {
        return stdout::print_json(answer);
    }
    let tasks = if answer.tasks == 1 { "1 task".to_owned() } else { format!("{} tasks", answer.tasks) };
    let state = match (answer.state, answer.tasks) {
        (State::Open, _) => "may run, and new ones may start",
        (State::Closed, _) => "may run; no new ones start",
        (State::Suspended, 1) => "stands still",
        (State::Suspended, _) => "stand still",
    };
    let why = answer.why.as_ref().map_or(String::new(), |why| format!(": {why}"));
    stdout::print(format!("{tasks} here {state}{why}\n"))
}

impl OwnerArguments {
    pub(crate) fn json(&self) -> bool {
        match self {
            Self::Here(of)
            | Self::Away(of)
            | Self::Pause(of)
            | Self::Drain(of)
            | Self::Evict(of)
            | Self::Resume(of)
            | Self::Status(of)
            | Self::Show(of) => of.json,
            Self::Set(set) => set.of.json,
        }
    }
}
