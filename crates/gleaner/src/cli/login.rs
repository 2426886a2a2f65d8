//! The arguments of `gleaner login`.

use clap::Args;
use std::path::PathBuf;

const LOGIN_HELP: &str = "\
An administrator makes the line with `gleaner token user NAME`. `gleaner login` alone asks for it, and the terminal does not \
show it. Behind the command, others of this machine can see it while the command runs, and it stays in the shell's history.

Examples:
  gleaner login
  gleaner login < line.txt
  gleaner login https://lab:7717 glu_….…";

/// `gleaner login`.
#[derive(Args, Debug)]
#[command(after_help = LOGIN_HELP)]
pub(crate) struct LoginArguments {
    /// The line that `gleaner token user` printed; or the coordinator's new address alone
    #[arg(value_name = "ADDRESS TOKEN", num_args = 0..)]
    pub(crate) line: Vec<String>,
    /// The folder to keep it in
    #[arg(long, value_name = "DIR", env = "GLEANER_HOME")]
    pub(crate) home: Option<PathBuf>,
    /// Print who signed in as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
