//! The arguments of the commands that print what goes with a shell.

use clap::Args;
use clap_complete::Shell;
use std::path::PathBuf;

const MAN_HELP: &str = "\
Examples:
  gleaner man | man -l -
  gleaner man --out ~/.local/share/man/man1; man gleaner-submit";

/// `gleaner man`.
#[derive(Args, Debug)]
#[command(after_help = MAN_HELP)]
pub(crate) struct ManArguments {
    /// Write the pages of all commands to this folder
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

const COMPLETIONS_HELP: &str = "\
Example, for bash:
  gleaner completions bash > ~/.local/share/bash-completion/completions/gleaner";

/// `gleaner completions`.
#[derive(Args, Debug)]
#[command(after_help = COMPLETIONS_HELP)]
pub(crate) struct CompletionsArguments {
    /// The shell
    pub(crate) shell: Shell,
}
