//! `gleaner completions`: the script by which a shell asks how a line may go on.

use crate::cli::{Cli, CompletionsArguments};
use crate::{Outcome, stdout};
use clap::CommandFactory;
use clap_complete::CompleteEnv;
use clap_complete::env::Shells;

/// The variable by which a shell's script asks.
const VARIABLE: &str = "GLEANER_COMPLETE";

/// Answers a shell that asks, and ends the program then.
pub(crate) fn answer() {
    CompleteEnv::with_factory(Cli::command).var(VARIABLE).bin("gleaner").completer("gleaner").complete();
}

pub(crate) fn run(arguments: &CompletionsArguments) -> Outcome {
    let shells = Shells::builtins();
    let name = arguments.shell.to_string();
    let shell = shells.completer(&name).expect("each shell that the arguments know");
    let mut script = Vec::new();
    let written = shell.write_registration(VARIABLE, "gleaner", "gleaner", "gleaner", &mut script);
    written.expect("memory takes all that is written");
    stdout::print(script)
}
