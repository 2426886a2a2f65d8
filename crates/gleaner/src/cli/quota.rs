//! The arguments of `gleaner quota`.

use super::live::{GridArguments, PlainArguments};
use clap::{Args, Subcommand};

/// `gleaner quota`.
#[derive(Debug, Subcommand)]
pub(crate) enum QuotaArguments {
    /// Show your quota and what you use of it; for administrators, everybody's
    Show(PlainArguments),
    /// Set the quota of a user, or of everyone without one (for administrators)
    Set(QuotaSetArguments),
}

impl QuotaArguments {
    pub(crate) fn json(&self) -> bool {
        match self {
            Self::Show(arguments) => arguments.grid.json,
            Self::Set(arguments) => arguments.grid.json,
        }
    }
}

const SET_HELP: &str = "\
Examples:
  gleaner quota set --tasks 100000
  gleaner quota set --user ada --tasks 5000000";

/// `gleaner quota set`.
#[derive(Args, Debug)]
#[command(after_long_help = SET_HELP)]
pub(crate) struct QuotaSetArguments {
    /// The user; everyone without a quota of their own if nobody is named
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// How many unfinished tasks a user may have
    #[arg(long, value_name = "N", required_unless_present = "requests")]
    pub(crate) tasks: Option<u64>,
    /// How many requests in a second a user may send, on average
    #[arg(long, value_name = "N")]
    pub(crate) requests: Option<u32>,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}
