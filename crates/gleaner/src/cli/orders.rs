//! The arguments of `gleaner cancel`, `hold`, `release` and `rerun`.

use super::grid::GridArguments;
use super::names::Which;
use crate::candidates;
use clap::Args;

/// `gleaner cancel`, `hold`, `release` and `rerun`.
#[derive(Args, Debug)]
pub(crate) struct OrderArguments {
    /// Jobs (numbers, as 7 or 1-4, names, or `last`), or tasks of jobs, as 7/42, 7/150-160 or 7/1,3,5
    #[arg(value_name = "JOB[/TASK]", required = true, add = candidates::jobs())]
    pub(crate) of: Vec<Which>,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}

/// `gleaner rerun`.
#[derive(Args, Debug)]
pub(crate) struct RerunArguments {
    /// Only tasks that failed
    #[arg(long)]
    pub(crate) failed: bool,
    #[command(flatten)]
    pub(crate) order: OrderArguments,
}
