//! Which rule tasks are placed and moved by: for the live grid, and for what it would have been under another.

use super::live::{GridArguments, seconds};
use crate::moments::parse_moment;
use clap::{Args, ValueEnum};
use gleaner_wire::api::{PolicySpec, RelocateSpec, ReplanSpec};
use std::path::PathBuf;

/// Whether and how running tasks are moved.
#[derive(Args, Debug)]
pub(crate) struct RelocateArguments {
    /// Move running tasks by this score: greedy, social or min-num
    #[arg(long, value_name = "SCORE")]
    relocate: Option<String>,
    /// The most moves at one occasion
    #[arg(long, value_name = "N", default_value_t = 3, requires = "relocate")]
    moves_max: u32,
    /// What the gain of a move must exceed
    #[arg(long, value_name = "SHARE", default_value_t = 0.10, requires = "relocate")]
    gain_min: f64,
    /// With min-num: how many tasks more the source must have
    #[arg(long, value_name = "N", default_value_t = 2, requires = "relocate")]
    difference_min: u32,
    /// Move at this interval instead of at events
    #[arg(long, value_name = "TIME", value_parser = seconds, requires = "relocate")]
    period: Option<f64>,
}

impl RelocateArguments {
    /// The rule that places by `preset` and moves so.
    pub(crate) fn with(&self, preset: &str) -> PolicySpec {
        let relocate = self.relocate.as_ref().map(|score| RelocateSpec {
            score: score.clone(),
            moves_max: self.moves_max,
            gain_min: self.gain_min,
            difference_min: self.difference_min,
            period_s: self.period.unwrap_or(0.0),
        });
        PolicySpec { relocate, ..PolicySpec::new(preset) }
    }
}

/// `gleaner policy set`.
#[derive(Args, Debug)]
pub(crate) struct PolicySetArguments {
    /// A preset, as `gleaner policy list` has them
    pub(crate) preset: String,
    #[command(flatten)]
    pub(crate) relocate: RelocateArguments,
    /// Spend the budget by this rule, where the preset has none of its own: b, bt, btt or btt-as-derived,
    /// and for batches also bt-within-period, lbtt or lbtt-as-derived
    #[arg(long, value_name = "RULE", conflicts_with = "relocate")]
    spend: Option<String>,
    /// From one batch to the next; as the budget has it, if there is one that the preset heeds
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    batch: Option<f64>,
    /// So many of the oldest tasks of a batch come first, so that none starves
    #[arg(long, value_name = "N")]
    aging: Option<u32>,
    /// By when all should be done, for nimrod's presets
    #[arg(long, value_name = "MOMENT", value_parser = parse_moment)]
    deadline: Option<f64>,
    /// Which planned tasks a batch plans anew: all that have not begun, or those whose machine was lost
    #[arg(long, value_name = "WHICH")]
    replan: Option<Replanned>,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Replanned {
    Unbegun,
    Lost,
}

impl PolicySetArguments {
    pub(crate) fn spec(&self) -> PolicySpec {
        PolicySpec {
            spend: self.spend.clone(),
            period_s: self.batch,
            aging: self.aging,
            deadline_s: self.deadline,
            replan: self.replan.map(|replan| match replan {
                Replanned::Unbegun => ReplanSpec::Unbegun,
                Replanned::Lost => ReplanSpec::Lost,
            }),
            ..self.relocate.with(&self.preset)
        }
    }
}

const REPLAY_HELP: &str = "\
The journal is read, not changed; a grid may go on using it. The simulator is given the same
machines, owners and tasks, each task as long as it turned out to be. It is run twice: under the
policy that was in force at the end, which shows how near it comes to what was, and under the one
that is asked for. Compare these two.

Examples:
  gleaner replay ~/.local/state/gleaner --policy bertasi/min-num
  gleaner journal export > lab.jsonl; gleaner replay lab.jsonl --policy bertasi/greedy --relocate social";

/// `gleaner replay`.
#[derive(Args, Debug)]
#[command(after_long_help = REPLAY_HELP)]
pub(crate) struct ReplayArguments {
    /// A coordinator's folder, its gleaner.db, or what `gleaner journal export` wrote
    pub(crate) journal: PathBuf,
    /// The preset to try, as `gleaner policy list` has them
    #[arg(long, value_name = "PRESET")]
    pub(crate) policy: String,
    #[command(flatten)]
    pub(crate) relocate: RelocateArguments,
    /// Print the comparison as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
