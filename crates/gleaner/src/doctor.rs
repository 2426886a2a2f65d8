//! `gleaner doctor`: which walls around tasks stand on this machine.

use crate::cli::DoctorArguments;
use crate::columns::{Side, with_sentences};
use crate::failure::Failure;
use crate::{Outcome, stdout, work};
use gleaner_agent::confine::doctor::{Finding, SANDBOX, examine};
use serde_json::json;
use std::path::Path;

pub(crate) fn run(arguments: &DoctorArguments) -> Outcome {
    // Where an agent would run its tasks: what stands is the file system's matter too.
    let home = work::folder(arguments.home.as_ref())?;
    let there = home.ancestors().find(|folder| folder.is_dir()).unwrap_or(Path::new("."));
    let scratch =
        tempfile::tempdir_in(there).map_err(|error| Failure::io("make a folder in", there, error))?;
    let program = Path::new("/proc/self/exe");
    let found = examine(program, scratch.path()).map_err(|error| Failure::Agent(error.to_string()))?;
    let refused = found.iter().find(|finding| finding.wall == SANDBOX && !finding.stands);
    if arguments.json {
        let takes = refused.is_none();
        stdout::print_json(&json!({ "version": 1, "takes_tasks_of_others": takes, "walls": found }))?;
    } else {
        stdout::print(table(&found))?;
    }
    match refused {
        None => Ok(()),
        Some(sandbox) => Err(Failure::Difference(format!(
            "an agent here would refuse the tasks of others: {}",
            sandbox.why
        ))),
    }
}

fn table(found: &[Finding]) -> String {
    let row = |Finding { wall, stands, why }: &Finding| {
        let stands = if *stands { "stands" } else { "missing" };
        vec![(*wall).to_owned(), stands.to_owned(), why.clone()]
    };
    let headings = [("WALL", Side::Left), ("", Side::Left), ("", Side::Left)];
    with_sentences(&headings, &found.iter().map(row).collect::<Vec<_>>())
}
