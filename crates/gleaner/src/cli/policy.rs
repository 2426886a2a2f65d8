//! The arguments of `gleaner policy`.

use super::grid::{GridArguments, PlainArguments};
use crate::candidates;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `gleaner policy`.
#[derive(Debug, Subcommand)]
pub(crate) enum PolicyArguments {
    /// List all presets
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Explain the keys of a policy and their values
    Keys {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show a preset as a scenario's policy section, with what each part does
    Show {
        /// Its name
        #[arg(add = candidates::policies())]
        name: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show the policy in force on the grid, in the same form
    Current(PlainArguments),
    /// Set another policy, or change the one in force; running tasks stay where they are
    Set(PolicySetArguments),
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
