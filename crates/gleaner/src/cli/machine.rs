//! The arguments of `gleaner machine`.

use super::grid::GridArguments;
use crate::candidates;
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};

/// `gleaner machine`.
#[derive(Debug, Subcommand)]
pub(crate) enum MachineArguments {
    /// Suspend all tasks there, as if its owner were back, until `resume`
    Pause(MachineName),
    /// Resume: take back `pause` and `drain`, whoever ordered them, and say which
    Resume(MachineName),
    /// Start nothing new there; what runs may end
    Drain(DrainArguments),
    /// Measure its speed again, when its owner does not need it, ten minutes after the last time at the earliest
    Measure(MachineName),
    /// Revoke it: it can never connect again
    Revoke(MachineName),
    /// Revoke it, remove it from the list, and free its name for another machine
    Forget(MachineName),
    /// Set the price of a machine, for policies that follow a budget
    Price(PriceArguments),
    /// Say whose a machine is: where answers are compared, all machines of one owner have one vote
    Owner(MachineOwnerArguments),
}

/// `gleaner machine drain`.
#[derive(Args, Debug)]
pub(crate) struct DrainArguments {
    /// What for, in 500 bytes at most: `gleaner machines` and `gleaner audit` show it
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) why: Option<String>,
    #[command(flatten)]
    pub(crate) machine: MachineName,
}

/// `gleaner machine price`.
#[derive(Args, Debug)]
pub(crate) struct PriceArguments {
    /// Its name, as `gleaner machines` has it
    #[arg(add = candidates::machines())]
    pub(crate) name: String,
    /// Credits for a million operations; 0 for nothing
    #[arg(value_parser = credits, allow_negative_numbers = true)]
    pub(crate) credits: f64,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}

fn credits(text: &str) -> Result<f64, String> {
    let credits = text.parse().ok().filter(|credits: &f64| credits.is_finite() && *credits >= 0.0);
    credits.ok_or_else(|| "expected a number of credits, 0 or more".to_owned())
}

/// `gleaner machine owner`.
#[derive(Args, Debug)]
pub(crate) struct MachineOwnerArguments {
    /// Its name, as `gleaner machines` has it
    #[arg(add = candidates::machines())]
    pub(crate) name: String,
    /// The owner's name
    #[arg(required_unless_present = "none")]
    pub(crate) owner: Option<String>,
    /// It is nobody's but its own, and has a vote of its own
    #[arg(long, conflicts_with = "owner")]
    pub(crate) none: bool,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}

/// The machine that a command is for.
#[derive(Args, Debug)]
pub(crate) struct MachineName {
    /// Its name, as `gleaner machines` has it
    #[arg(add = candidates::machines())]
    pub(crate) name: String,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}
