//! The arguments of `gleaner fetch`.

use super::grid::GridArguments;
use super::names::Which;
use crate::candidates;
use clap::Args;
use std::path::PathBuf;

/// `gleaner fetch`.
#[derive(Args, Debug)]
pub(crate) struct FetchArguments {
    /// A task, or a job (its number, its name, or `last`) for all its tasks, each into a folder of its own
    #[arg(value_name = "JOB[/TASK]", add = candidates::jobs())]
    pub(crate) of: Which,
    /// The folder to put them in
    #[arg(long, value_name = "DIR")]
    pub(crate) to: PathBuf,
    /// Replace files that are there
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}
