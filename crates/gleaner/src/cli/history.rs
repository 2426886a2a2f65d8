//! The arguments of `gleaner history`.

use super::grid::GridArguments;
use super::names::Which;
use crate::candidates;
use clap::Args;

/// `gleaner history`.
#[derive(Args, Debug)]
pub(crate) struct HistoryArguments {
    /// The task; a job (its number, its name, or `last`) stands for its first
    #[arg(value_name = "JOB[/TASK]", add = candidates::jobs())]
    pub(crate) task: Which,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}
