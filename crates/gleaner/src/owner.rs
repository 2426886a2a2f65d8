//! `gleaner owner`: what a machine's owner says to the agent there by hand.

use crate::cli::{OwnMachineArguments, OwnerArguments};
use crate::failure::Failure;
use crate::{Outcome, stdout, work};
use gleaner_agent::owner::Word;
use gleaner_agent::owner_socket::{Answer, State, tell};

pub(crate) fn run(arguments: &OwnerArguments) -> Outcome {
    let (word, of) = match arguments {
        OwnerArguments::Here(of) => (Some(Word::Here), of),
        OwnerArguments::Away(of) => (Some(Word::Away), of),
        OwnerArguments::Pause(of) => (Some(Word::Pause), of),
        OwnerArguments::Drain(of) => (Some(Word::Drain), of),
        OwnerArguments::Resume(of) => (Some(Word::Resume), of),
        OwnerArguments::Status(of) => (None, of),
    };
    let folder = work::folder(of.home.as_ref())?;
    let answer = tell(&folder, word);
    show(of, &answer.map_err(|error| Failure::Agent(error.to_string()))?)
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
