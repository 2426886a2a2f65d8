//! The arguments of `gleaner quota`.

use super::grid::GridArguments;
use super::grid::PlainArguments;
use super::values::bytes;
use clap::{ArgGroup, Args, Subcommand};
use std::str::FromStr;

/// `gleaner quota`.
#[derive(Debug, Subcommand)]
pub(crate) enum QuotaArguments {
    /// Show your quota and what you use of it; for administrators, everybody's
    Show(PlainArguments),
    /// Set the quota of a user, or of everyone without one (for administrators)
    Set(QuotaSetArguments),
}

const SET_HELP: &str = "\
Examples:
  gleaner quota set --tasks 100000
  gleaner quota set --user ada --tasks 5000000
  gleaner quota set --user bob --cores 16 --bytes 200G
  gleaner quota set --priority 0
  gleaner quota set --user bob --default
  gleaner quota set --default";

/// `gleaner quota set`.
#[derive(Args, Debug)]
#[command(after_long_help = SET_HELP, group(ArgGroup::new("quota").required(true).multiple(true)))]
pub(crate) struct QuotaSetArguments {
    /// The user; everyone without a quota of their own if nobody is named
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// How many unfinished tasks a user may have
    #[arg(long, value_name = "N", group = "quota")]
    pub(crate) tasks: Option<u64>,
    /// How many tasks a user may submit in all, those that are over included
    #[arg(long, value_name = "N", group = "quota")]
    pub(crate) tasks_ever: Option<u64>,
    /// Cores that their tasks run on at a time; what needs more waits
    #[arg(long, value_name = "N", group = "quota")]
    pub(crate) cores: Option<u32>,
    /// Bytes of files and output that are kept for them, as 500G
    #[arg(long, value_name = "SIZE", value_parser = bytes, group = "quota")]
    pub(crate) bytes: Option<u64>,
    /// Bytes of requirements, ranks and labels of their unfinished jobs, as 4M: equal ones count once, and each 256 more
    #[arg(long, value_name = "SIZE", value_parser = bytes, group = "quota")]
    pub(crate) requirements: Option<u64>,
    /// Memory that descriptions of their unfinished jobs take at the coordinator, as 2G: commands, variables, tables, lists of files
    #[arg(long, value_name = "SIZE", value_parser = bytes, group = "quota")]
    pub(crate) descriptions: Option<u64>,
    /// How many requests in a second a user may send, on average
    #[arg(long, value_name = "N", group = "quota")]
    pub(crate) requests: Option<u32>,
    /// The highest priority that they may give a job; `any` for no bound. Administrators may give any
    #[arg(long, value_name = "N", allow_negative_numbers = true, group = "quota")]
    pub(crate) priority: Option<HighestPriority>,
    /// Take the user's own quota back: what everyone may have who has none holds for them again. Without a user, everyone's: it is as
    /// it was at first
    #[arg(
        long,
        group = "quota",
        conflicts_with_all = [
            "tasks", "tasks_ever", "cores", "bytes", "requirements", "descriptions", "requests", "priority",
        ]
    )]
    pub(crate) default: bool,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}

/// The highest priority of a user's jobs; none where there is no bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct HighestPriority(pub(crate) Option<i32>);

impl FromStr for HighestPriority {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "any" {
            return Ok(Self(None));
        }
        let number = text.parse().map_err(|_| "expected a whole number, as 0 or -5, or any".to_owned())?;
        Ok(Self(Some(number)))
    }
}
