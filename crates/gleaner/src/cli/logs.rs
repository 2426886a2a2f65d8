//! The arguments of `gleaner logs`.

use super::grid::GridArguments;
use super::names::Which;
use crate::candidates;
use clap::Args;

/// `gleaner logs`.
#[derive(Args, Debug)]
pub(crate) struct LogsArguments {
    /// Jobs (numbers, as 7 or 1-4, names, or `last`) for all their tasks one after the other, or tasks of jobs, as 7/42, 7/150-160 or 7/1,3,5
    #[arg(value_name = "JOB[/TASK]", required = true, add = candidates::jobs())]
    pub(crate) of: Vec<Which>,
    /// Go on until the task is over, across retries
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Only what it wrote to standard output
    #[arg(long, conflicts_with = "stderr")]
    pub(crate) stdout: bool,
    /// Only what it wrote to standard error, to standard output
    #[arg(long)]
    pub(crate) stderr: bool,
    /// Only the last lines of each stream
    #[arg(long, value_name = "LINES", conflicts_with = "follow")]
    pub(crate) tail: Option<usize>,
    /// The run whose output to show, from 1; the last one if nothing is said
    #[arg(long, value_name = "N", conflicts_with = "follow", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) run: Option<u32>,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}
