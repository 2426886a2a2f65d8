//! `gleaner owner`: what a machine's owner says to the agent there by hand.

use crate::cli::{OwnMachineArguments, OwnerArguments};
use crate::failure::Failure;
use crate::{Outcome, home, stdout, work};
use gleaner_agent::owner::Word;
use gleaner_agent::owner_socket::{Answer, OwnerError, State, tell};
use std::path::PathBuf;

pub(crate) fn run(arguments: &OwnerArguments) -> Outcome {
    let (word, of) = match arguments {
        OwnerArguments::Here(of) => (Some(Word::Here), of),
        OwnerArguments::Away(of) => (Some(Word::Away), of),
        OwnerArguments::Pause(of) => (Some(Word::Pause), of),
        OwnerArguments::Drain(of) => (Some(Word::Drain), of),
        OwnerArguments::Resume(of) => (Some(Word::Resume), of),
        OwnerArguments::Status(of) => (None, of),
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

fn show(of: &OwnMachineArguments, answer: &Answer) -> Outcome {
    if of.json {
        return stdout::print_json(answer);
    }
    let tasks = if answer.tasks == 1 { "1 task".to_owned() } else { format!("{} tasks", answer.tasks) };
    let state = match answer.state {
        State::Open => "may run, and new ones may start",
        State::Closed => "may run; no new ones start",
        State::Suspended => "stand still",
    };
    stdout::print(format!("{tasks} here {state}\n"))
}

impl OwnerArguments {
    pub(crate) fn json(&self) -> bool {
        match self {
            Self::Here(of)
            | Self::Away(of)
            | Self::Pause(of)
            | Self::Drain(of)
            | Self::Resume(of)
            | Self::Status(of) => of.json,
        }
    }
}
