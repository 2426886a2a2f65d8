//! `gleaner completions`.

use crate::Outcome;
use crate::cli::{Cli, CompletionsArguments};
use clap::CommandFactory;

pub(crate) fn run(arguments: &CompletionsArguments) -> Outcome {
    clap_complete::generate(arguments.shell, &mut Cli::command(), "gleaner", &mut std::io::stdout());
    Ok(())
}
