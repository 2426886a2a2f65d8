//! The arguments of `gleaner completions`.

use clap::Args;
use clap_complete::Shell;

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
