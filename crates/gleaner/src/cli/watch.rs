//! The arguments of `gleaner watch`.

use super::grid::GridArguments;
use super::names::Which;
use crate::candidates;
use clap::Args;

/// `gleaner watch`.
#[derive(Args, Debug)]
pub(crate) struct WatchArguments {
    /// The job (its number, its name, or `last`), until it is over; the whole grid, until Ctrl-C, if none is named
    #[arg(add = candidates::jobs())]
    pub(crate) job: Option<Which>,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}
