//! The programs that an agent starts to hold its tasks with. They start once or more for each task, so nothing else of
//! this program is run for them: no arguments are read, no help is made.

use gleaner_agent::{keeper, launch};
use std::process::ExitCode;

/// What such a program ends with; nothing if this is none.
pub(crate) fn run() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let error = match (arguments.next()?.to_str()?, arguments.next()) {
        ("keeper", None) => keeper::keep().err().map(|error| error.to_string()),
        ("mind", None) => keeper::mind().err().map(|error| error.to_string()),
        ("launch", None) => {
            launch::launch();
            return Some(ExitCode::FAILURE);
        }
        _ => return None,
    };
    Some(error.map_or(ExitCode::SUCCESS, |error| {
        eprintln!("gleaner: {error}");
        ExitCode::FAILURE
    }))
}
