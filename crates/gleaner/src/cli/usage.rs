//! The arguments of `gleaner use`.

use super::grid::GridArguments;
use crate::candidates;
use clap::Args;

/// `gleaner use`.
#[derive(Args, Debug)]
pub(crate) struct UseArguments {
    /// Only this user
    #[arg(long, value_name = "NAME", add = candidates::users())]
    pub(crate) user: Option<String>,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}
