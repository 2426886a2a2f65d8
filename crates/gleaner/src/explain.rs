//! `gleaner explain`: why a task is where it is.

mod live;
mod scenario;

pub(crate) use live::describe as describe_live;

use crate::Outcome;
use crate::cli::ExplainArguments;
use crate::failure::Failure;

pub(crate) fn run(arguments: &ExplainArguments) -> Outcome {
    if let Some(task) = &arguments.task {
        return scenario::run(arguments, task);
    }
    match arguments.subject.parse() {
        Ok(of) => live::run(arguments, of),
        Err(expected) => Err(Failure::Usage(format!(
            "found \"{}\" alone; {expected}, or a scenario and then its task",
            arguments.subject
        ))),
    }
}
