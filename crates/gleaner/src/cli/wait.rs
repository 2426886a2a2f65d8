//! The arguments of `gleaner wait`.

use super::grid::GridArguments;
use super::names::Which;
use crate::candidates;
use clap::Args;

/// `gleaner wait`.
#[derive(Args, Debug)]
pub(crate) struct WaitArguments {
    /// The jobs: numbers, as 7 or 1-4, names, or `last`
    #[arg(required = true, value_name = "JOB", add = candidates::jobs())]
    pub(crate) jobs: Vec<Which>,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}
