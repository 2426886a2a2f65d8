//! The arguments of `gleaner fetch`.

use super::grid::GridArguments;
use super::names::Which;
use crate::candidates;
use clap::Args;
use std::path::PathBuf;

/// `gleaner fetch`.
#[derive(Args, Debug)]
pub(crate) struct FetchArguments {
    /// Jobs (numbers, as 7 or 1-4, names, or `last`) for all their tasks, or tasks of jobs, as 7/42, 7/150-160 or 7/1,3,5: each into a folder of its own, but for a task that alone is named of its job; of several jobs below one for each
    #[arg(value_name = "JOB[/TASK]", required = true, add = candidates::jobs())]
    pub(crate) of: Vec<Which>,
    /// The folder to put them in
    #[arg(long, value_name = "DIR")]
    pub(crate) to: PathBuf,
    /// Replace files that are there
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}
