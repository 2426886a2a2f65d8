//! `gleaner explain`: why a task is where it is.

mod live;
mod scenario;
mod sites;

pub(crate) use live::describe as describe_live;

use crate::Outcome;
use crate::cli::ExplainArguments;
use crate::failure::Failure;
use gleaner_workload::sites::SitesScenario;

pub(crate) fn run(arguments: &ExplainArguments) -> Outcome {
    if let Some(task) = &arguments.task {
        if SitesScenario::is_at(&arguments.subject) {
            return sites::run(arguments, task);
        }
        if arguments.svg.is_some() {
            return Err(Failure::Usage("--svg: only jobs over sites have a virtual map".to_owned()));
        }
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
