//! The arguments of `gleaner up`.

use super::serve::ServeArguments;
use clap::Args;
use gleaner_agent::duties::RUNNING_MAX;

const UP_HELP: &str = "\
Everything is kept in one folder: --home DIR, else GLEANER_HOME, else ~/.local/state/gleaner. \
Start it again, also after a crash, and it goes on where it was.

Examples:
  gleaner up                              # on this machine alone
  gleaner up --listen 0.0.0.0:7717        # others may join
  gleaner up --as $USER                   # run my tasks --no-sandbox here too
  gleaner up --demo                       # and show a few tasks";

/// `gleaner up`.
#[derive(Args, Debug)]
#[command(after_help = UP_HELP)]
pub(crate) struct UpArguments {
    #[command(flatten)]
    pub(crate) serve: ServeArguments,
    /// The user whose tasks may run outside the sandbox here, with all that you may do; nobody if nothing is said
    #[arg(long = "as", value_name = "USER")]
    pub(crate) user: Option<String>,
    /// How many tasks run on this machine at most; as many as it has cores if nothing is said
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(RUNNING_MAX)))]
    pub(crate) slots: Option<u32>,
    /// Show placement, an owner coming back and a task moving, with a few tasks and a second agent
    #[arg(long)]
    pub(crate) demo: bool,
}
