//! The arguments of `gleaner replay`.

use super::policy::WordsArguments;
use super::values::file_to_read;
use crate::candidates;
use clap::Args;
use std::path::PathBuf;

const REPLAY_HELP: &str = "\
The journal is read, not changed; a grid may go on using it. The simulator is given the same \
machines, owners, tasks and quotas of cores. A task's work is the time that it ran, times the share of a core that \
its neighbours and the owner left it meanwhile. The simulator is run twice: under the \
policy that was in force at the end, which shows how near it comes to what was, and under the one \
that is asked for. Compare these two. What is not said of the budget is as it was at the end. \
MACHINE TIME is the time that all runs took together.

Examples:
  gleaner replay ~/.local/state/gleaner --policy bertasi/min-num
  gleaner journal export > lab.jsonl
  gleaner replay lab.jsonl --policy bertasi/greedy --set relocate.score=social";

/// `gleaner replay`.
#[derive(Args, Debug)]
#[command(after_long_help = REPLAY_HELP)]
pub(crate) struct ReplayArguments {
    /// A coordinator's folder, its gleaner.db, or what `gleaner journal export` wrote; - is standard input
    #[arg(value_parser = file_to_read())]
    pub(crate) journal: PathBuf,
    /// The preset to try, as `gleaner policy list` has them; keys may follow, as queue/easy:fill=shortest
    #[arg(long, value_name = "PRESET", conflicts_with = "from", required_unless_present = "from")]
    #[arg(add = candidates::policies())]
    pub(crate) policy: Option<String>,
    #[command(flatten)]
    pub(crate) words: WordsArguments,
    /// Write a report there, with both schedules side by side
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the comparison as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
