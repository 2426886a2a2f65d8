//! The arguments of `gleaner man`.

use clap::Args;
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
