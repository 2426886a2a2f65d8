//! The arguments of `gleaner wait`.

use super::grid::GridArguments;
use super::names::Which;
use super::values::seconds;
use crate::candidates;
use clap::Args;

/// `gleaner wait`.
#[derive(Args, Debug)]
pub(crate) struct WaitArguments {
    /// The jobs: numbers, as 7 or 1-4, names, or `last`
    #[arg(required = true, value_name = "JOB", add = candidates::jobs())]
    pub(crate) jobs: Vec<Which>,
    /// Wait no longer than this, as 30m or 2h: exits with 1 if they are not over by then, and they go on
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub(crate) wait_at_most: Option<f64>,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}
