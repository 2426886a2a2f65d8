//! The arguments of `gleaner fetch`.

use super::grid::GridArguments;
use super::names::Which;
use crate::candidates;
use clap::Args;
use std::path::PathBuf;

/// `gleaner fetch`.
#[derive(Args, Debug)]
pub(crate) struct FetchArguments {
    /// A task, tasks, as 7/150-160 or 7/1,3,5, or a job (its number, its name, or `last`) for all its tasks, each into a folder of its own; of several jobs below one for each
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
