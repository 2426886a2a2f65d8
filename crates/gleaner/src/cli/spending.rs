//! The arguments of `gleaner budget`.

use super::live::{GridArguments, PlainArguments, seconds};
use clap::{Args, Subcommand, ValueEnum};
use gleaner_wire::api::{BudgetSpec, ChargedSpec, PerSpec};

/// `gleaner budget`.
#[derive(Debug, Subcommand)]
pub(crate) enum BudgetArguments {
    /// What may be spent in each period, and what became of it in this one
    Show(PlainArguments),
    /// Let so much be spent in each period from now on
    Set(BudgetSetArguments),
    /// Let running cost nothing
    None(PlainArguments),
}

impl BudgetArguments {
    pub(crate) fn json(&self) -> bool {
        match self {
            Self::Show(arguments) | Self::None(arguments) => arguments.grid.json,
            Self::Set(arguments) => arguments.grid.json,
        }
    }
}

const SET_HELP: &str = "\
A task costs its declared length times the price of its machine, rounded up to whole credits:
`gleaner submit --length 5G` on a machine of 2 credits for a million operations costs 10000. A task
that fails or is lost costs nothing. What is not spent in a period is not kept for the next.

A policy has to heed it: `gleaner policy set elleuch/btt-min-min`, or `bertasi/greedy --spend b`.

Examples:
  gleaner machine price lab-3 2
  gleaner budget set 1000000 --period 2min
  gleaner budget set 50000 --period 1h --per user --charged ended";

/// `gleaner budget set`.
#[derive(Args, Debug)]
#[command(after_long_help = SET_HELP)]
pub(crate) struct BudgetSetArguments {
    /// Credits that there are at the start of each period
    #[arg(value_name = "CREDITS")]
    recharge: u64,
    /// How long a period is, which is also the time from one batch to the next
    #[arg(long, value_name = "TIME", value_parser = seconds, default_value = "2min")]
    period: f64,
    /// When a task's cost leaves what may be spent
    #[arg(long, value_enum, default_value_t)]
    charged: Charged,
    /// Whose it is
    #[arg(long, value_enum, default_value_t)]
    per: Per,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum Charged {
    /// As it is planned, or else as it starts
    #[default]
    Planned,
    /// As it starts
    Started,
    /// As it ends; while it runs, its cost is held
    Ended,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum Per {
    /// Everyone's together
    #[default]
    Grid,
    /// Each user's by themselves
    User,
}

impl BudgetSetArguments {
    pub(crate) fn spec(&self) -> BudgetSpec {
        BudgetSpec {
            recharge: self.recharge,
            period_s: self.period,
            charged: match self.charged {
                Charged::Planned => ChargedSpec::Planned,
                Charged::Started => ChargedSpec::Started,
                Charged::Ended => ChargedSpec::Ended,
            },
            per: match self.per {
                Per::Grid => PerSpec::Grid,
                Per::User => PerSpec::User,
            },
        }
    }
}
