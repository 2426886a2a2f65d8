//! Which policy tasks are placed and moved by: for the live grid, and for what it would have been under another.

use super::grid::GridArguments;
use crate::candidates;
use clap::Args;
use std::path::PathBuf;

/// A policy in the words of a scenario's `[policy]` section.
#[derive(Args, Debug)]
pub(crate) struct WordsArguments {
    /// Take the policy from the policy section of this file: a scenario, or what `gleaner policy show` prints
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,
    /// Set a key of the policy, as `relocate.gain_min=0.05`; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) overrides: Vec<String>,
}

const SET_HELP: &str = "\
The keys are those of a scenario's [policy] section, and `gleaner policy keys` explains their values. \
What is not said is as the preset has it, but for what may be spent, which stays as it is until it is \
set or taken away with `--set budget=none`. Without a preset or a file, the policy in force is changed.

Examples:
  gleaner policy set bertasi/social --set relocate.score=social
  gleaner policy set elleuch/btt-min-min --set budget.recharge=1e6 \\
    --set budget.period_s=120
  gleaner policy set --set relocate.gain_min=0.05
  gleaner policy show bertasi/min-num > rule.toml
  gleaner policy set --from rule.toml";

/// `gleaner policy set`.
#[derive(Args, Debug)]
#[command(after_long_help = SET_HELP)]
pub(crate) struct PolicySetArguments {
    /// A preset, as `gleaner policy list` has them
    #[arg(conflicts_with = "from", required_unless_present_any = ["from", "overrides"], add = candidates::policies())]
    pub(crate) preset: Option<String>,
    #[command(flatten)]
    pub(crate) words: WordsArguments,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}

const REPLAY_HELP: &str = "\
The journal is read, not changed; a grid may go on using it. The simulator is given the same \
machines, owners and tasks. A task's work is the time that it ran, times the share of a core that \
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
    /// A coordinator's folder, its gleaner.db, or what `gleaner journal export` wrote
    pub(crate) journal: PathBuf,
    /// The preset to try, as `gleaner policy list` has them
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
