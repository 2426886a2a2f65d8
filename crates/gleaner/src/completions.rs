//! `gleaner completions`.

use crate::cli::{Cli, CompletionsArguments};
use crate::{Outcome, stdout};
use clap::CommandFactory;

pub(crate) fn run(arguments: &CompletionsArguments) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "gleaner", &mut script);
    stdout::print(script)
}
