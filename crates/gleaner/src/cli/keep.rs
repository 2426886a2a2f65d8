//! The arguments of `gleaner keep`.

use super::grid::GridArguments;
use super::names::Which;
use crate::candidates;
use clap::Args;

const HELP: &str = "\
What a job read, left and wrote is removed some time after the job is over: `gleaner keep` shows when, and how much that is. \
Removed results cannot be had back; the coordinator's settings keep_results_for and keep_for say how long things are kept.

Examples:
  gleaner keep                # what is due when
  gleaner keep 7 render       # keep the results of two jobs
  gleaner keep 7 --undo       # let them go when they are due";

/// `gleaner keep`.
#[derive(Args, Debug)]
#[command(after_help = HELP)]
pub(crate) struct KeepArguments {
    /// Keep the results of these jobs (numbers, as 7 or 1-4, names, or `last`); show what is due if nothing is said
    #[arg(value_name = "JOB", add = candidates::jobs())]
    pub(crate) jobs: Vec<Which>,
    /// Let their results be removed when they are due
    #[arg(long, requires = "jobs")]
    pub(crate) undo: bool,
    /// How many jobs to list at most
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}
