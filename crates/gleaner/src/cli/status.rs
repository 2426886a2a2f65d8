//! The arguments of `gleaner status`.

use super::grid::GridArguments;
use super::names::Which;
use crate::candidates;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use gleaner_wire::api::TaskPhase;

const STATUS_HELP: &str = "\
Examples:
  gleaner status                        # all jobs, newest first
  gleaner status 7                      # one, and why tasks failed
  gleaner status 7/3                    # a task, with its own command
  gleaner status last --failed          # its tasks that failed
  gleaner status 7 --tasks --from 1000  # its tasks from the thousandth on
  gleaner status 7 --jsonl              # its tasks, a JSON document a line";

/// `gleaner status`.
#[derive(Args, Debug)]
#[command(after_help = STATUS_HELP)]
pub(crate) struct StatusArguments {
    /// The job: its number, its name, or `last`, which is all that was submitted together last; a task of it, as 7/3; all jobs, newest first, if none is named
    #[arg(add = candidates::jobs())]
    pub(crate) job: Option<Which>,
    /// The jobs in this state
    #[arg(long, value_name = "STATE", conflicts_with = "job", value_parser = phases())]
    pub(crate) state: Option<TaskPhase>,
    /// The jobs of this user
    #[arg(long, value_name = "NAME", conflicts_with = "job", add = candidates::users())]
    pub(crate) user: Option<String>,
    /// The job's tasks too
    #[arg(long, requires = "job")]
    pub(crate) tasks: bool,
    /// The job's tasks that failed
    #[arg(long, requires = "job", conflicts_with = "phase")]
    pub(crate) failed: bool,
    /// The job's tasks in this phase
    #[arg(long, value_name = "PHASE", requires = "job", value_parser = phases())]
    pub(crate) phase: Option<TaskPhase>,
    /// The place in the job of the first task to list, from 0
    #[arg(long, value_name = "N", requires = "job", default_value_t = 0)]
    pub(crate) from: u32,
    /// Print all of these tasks, or all jobs if no job is named, a JSON document a line
    #[arg(long, conflicts_with = "json")]
    pub(crate) jsonl: bool,
    /// How many jobs or tasks to list at most
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    #[command(flatten)]
    pub(crate) grid: GridArguments,
}

/// Where a task is in its life. A job is in one of these phases too.
fn phases() -> impl TypedValueParser<Value = TaskPhase> {
    PossibleValuesParser::new(TaskPhase::ALL.map(TaskPhase::name)).map(|name| {
        let found = TaskPhase::ALL.into_iter().find(|phase| phase.name() == name);
        found.expect("no other name is let through")
    })
}
