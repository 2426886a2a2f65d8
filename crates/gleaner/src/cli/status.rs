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
  gleaner status 1-4 render 7/150-160   # several jobs and tasks
  gleaner status last --failed          # its tasks that failed
  gleaner status 7 --tasks --from 1000  # its tasks from the thousandth on
  gleaner status 7 --jsonl              # its tasks, a JSON document a line";

/// `gleaner status`.
#[derive(Args, Debug)]
#[command(after_help = STATUS_HELP)]
pub(crate) struct StatusArguments {
    /// Jobs (numbers, as 7 or 1-4, names, or `last`, which is all that was submitted together last), or tasks of jobs, as 7/42, 7/150-160 or 7/1,3,5; all jobs, newest first, if none is named
    #[arg(value_name = "JOB[/TASK]", add = candidates::jobs())]
    pub(crate) of: Vec<Which>,
    /// The jobs in this state
    #[arg(long, value_name = "STATE", conflicts_with = "of", value_parser = phases())]
    pub(crate) state: Option<TaskPhase>,
    /// The jobs of this user
    #[arg(long, value_name = "NAME", conflicts_with = "of", add = candidates::users())]
    pub(crate) user: Option<String>,
    /// The job's tasks too
    #[arg(long, requires = "of")]
    pub(crate) tasks: bool,
    /// The job's tasks that failed
    #[arg(long, requires = "of", conflicts_with = "phase")]
    pub(crate) failed: bool,
    /// The job's tasks in this phase
    #[arg(long, value_name = "PHASE", requires = "of", value_parser = phases())]
    pub(crate) phase: Option<TaskPhase>,
    /// The place in the job of the first task to list, from 0
    #[arg(long, value_name = "N", requires = "of", default_value_t = 0)]
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
