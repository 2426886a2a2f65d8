//! `gleaner explain`: why a task is where it is.

mod kept;
mod length;
mod live;
mod log;
mod scenario;
mod sites;

pub(crate) use live::describe as describe_live;

use crate::Outcome;
use crate::cli::ExplainArguments;
use crate::failure::Failure;
use crate::simulate::Choice;
use gleaner_workload::PeersScenario;
use gleaner_workload::logs::Format;
use gleaner_workload::sites::{self as over, OverSites};
use std::path::Path;

pub(crate) fn run(arguments: &ExplainArguments) -> Outcome {
    if let Some(task) = &arguments.task {
        let file = Path::new(&arguments.subject);
        let is_log = Format::of_name(file).is_some();
        if is_log && arguments.svg.is_none() {
            return log::run(arguments, task);
        }
        arguments.reading.check_no_log()?;
        if arguments.cores.is_some() {
            return Err(Failure::Usage("--cores: found no log; expected one, as KTH-SP2.swf.gz".to_owned()));
        }
        if !is_log && over::is_at(file)? {
            let choice = Choice::named(&arguments.overrides, arguments.policy.as_ref())?;
            return match choice.load(|set| over::load(file, set))? {
                OverSites::Split(scenario) => sites::run(arguments, &scenario, task),
                OverSites::Brokered(_) => Err(not_explained(file, "brokers")),
            };
        }
        if !is_log && PeersScenario::is_at(file)? {
            return Err(not_explained(file, "peers"));
        }
        check_no_map(arguments)?;
        return scenario::run(arguments, task);
    }
    arguments.reading.check_no_log()?;
    let subject = &arguments.subject;
    if Path::new(subject).is_file() {
        return Err(Failure::Usage(format!(
            "{subject} is a file; expected one of its tasks too, as `gleaner explain {subject} TASK`"
        )));
    }
    check_no_map(arguments)?;
    let wrong = |expected| {
        Failure::Usage(format!("found \"{subject}\" alone; {expected}, or a scenario and then its task"))
    };
    live::run(arguments, &subject.parse().map_err(wrong)?)
}

fn not_explained(file: &Path, what: &str) -> Failure {
    let file = file.display();
    Failure::Usage(format!("{file}: found {what}; expected machines, jobs over sites, or a log"))
}

fn check_no_map(arguments: &ExplainArguments) -> Outcome {
    match arguments.svg {
        None => Ok(()),
        Some(_) => Err(Failure::Usage("--svg: only jobs over sites have a virtual map".to_owned())),
    }
}
