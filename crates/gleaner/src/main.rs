//! The `gleaner` command: all terminal I/O lives in this crate.

mod bench;
mod classad;
mod cli;
mod completions;
mod explain;
mod failure;
mod interrupt;
mod map;
mod paper;
mod policy;
mod progress;
mod simulate;
mod stdout;

use clap::Parser;
use cli::{Cli, Command};
use failure::{Failure, Shown};
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match Cli::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return failure::usage(&error),
    };
    let (json, result) = match arguments.command {
        Command::Simulate(arguments) => (arguments.json, simulate::run(&arguments)),
        Command::Explain(arguments) => (arguments.json, explain::run(&arguments)),
        Command::Map(arguments) => (arguments.json, map::run(&arguments)),
        Command::Paper(arguments) => (arguments.json, paper::run(&arguments)),
        Command::Classad(arguments) => (arguments.json(), classad::run(&arguments)),
        Command::Policy(arguments) => (arguments.json(), policy::run(&arguments)),
        Command::Bench(arguments) => (arguments.json, bench::run(&arguments)),
        Command::Completions(arguments) => (false, completions::run(&arguments)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(if json { Shown::AsJson } else { Shown::AsText }),
    }
}

/// What a command ends with.
type Outcome = Result<(), Failure>;
