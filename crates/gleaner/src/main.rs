//! The `gleaner` command: all terminal I/O lives in this crate.

mod advise;
mod alike;
mod api;
mod audit;
mod backup;
mod bench;
mod budget;
mod candidates;
mod classad;
mod cli;
mod columns;
mod completions;
mod config;
mod demo;
mod doctor;
mod explain;
mod failure;
mod failures;
mod fetch;
mod files;
mod history;
mod hold;
mod home;
mod interrupt;
mod journal;
mod keep;
mod labels;
mod lacking;
mod lasting;
mod login;
mod logs;
mod machines;
mod man;
mod map;
mod moments;
mod notes;
mod orders;
mod owner;
mod paper;
mod policy;
mod progress;
mod quota;
mod replay;
mod serve;
mod settings;
mod several;
mod shown;
mod simulate;
mod status;
mod stdout;
mod submit;
mod token;
mod top;
mod trace;
mod trials;
mod tune;
mod up;
mod user;
mod wait;
mod watch;
mod which;
mod work;
mod workload;

pub(crate) use failure::Outcome;

use clap::Parser;
use cli::{Cli, Command};
use failure::Shown;
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = hold::run() {
        return code;
    }
    completions::answer();
    let arguments = match Cli::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => return failure::usage(&error),
    };
    let (json, result) = match arguments.command {
        Command::Up(arguments) => (arguments.serve.json, up::run(&arguments)),
        Command::Serve(arguments) => (arguments.json, serve::run(&arguments)),
        Command::Work(arguments) => (arguments.json, work::run(&arguments)),
        Command::Owner(arguments) => (arguments.json(), owner::run(&arguments)),
        Command::Doctor(arguments) => (arguments.json, doctor::run(&arguments)),
        Command::Backup(arguments) => (arguments.json, backup::run(&arguments)),
        Command::Journal(arguments) => (arguments.json(), journal::run(&arguments)),
        Command::Config(arguments) => (arguments.json(), config::run(&arguments)),
        Command::Replay(arguments) => (arguments.json, replay::run(&arguments)),
        Command::Simulate(arguments) => (arguments.json, simulate::run(&arguments)),
        Command::Advise(arguments) => (arguments.json, advise::run(&arguments)),
        Command::Tune(arguments) => (arguments.json, tune::run(&arguments)),
        Command::Submit(arguments) => (arguments.grid.json, submit::run(&arguments)),
        Command::Status(arguments) => (arguments.grid.json, status::run(&arguments)),
        Command::Watch(arguments) => (arguments.grid.json, watch::run(&arguments)),
        Command::Top(arguments) => (arguments.grid.json, top::run(&arguments)),
        Command::Wait(arguments) => (arguments.grid.json, wait::run(&arguments)),
        Command::Logs(arguments) => (arguments.grid.json, logs::run(&arguments)),
        Command::Cancel(arguments) => (arguments.grid.json, orders::cancel(&arguments)),
        Command::Hold(arguments) => (arguments.grid.json, orders::hold(&arguments)),
        Command::Release(arguments) => (arguments.grid.json, orders::release(&arguments)),
        Command::Rerun(arguments) => (arguments.order.grid.json, orders::rerun(&arguments)),
        Command::Fetch(arguments) => (arguments.grid.json, fetch::run(&arguments)),
        Command::Keep(arguments) => (arguments.grid.json, keep::run(&arguments)),
        Command::History(arguments) => (arguments.grid.json, history::run(&arguments)),
        Command::Machines(arguments) => (arguments.grid.json, machines::list(&arguments)),
        Command::Machine(arguments) => (arguments.json(), machines::order(&arguments)),
        Command::Labels(arguments) => (arguments.grid.json, labels::run(&arguments)),
        Command::Login(arguments) => (arguments.json, login::run(&arguments)),
        Command::Audit(arguments) => (arguments.json, audit::run(&arguments)),
        Command::Token(arguments) => (arguments.json(), token::run(&arguments)),
        Command::User(arguments) => (arguments.json(), user::run(&arguments)),
        Command::Explain(arguments) => (arguments.grid.json, explain::run(&arguments)),
        Command::Map(arguments) => (arguments.json, map::run(&arguments)),
        Command::Trace(arguments) => (arguments.json(), trace::run(&arguments)),
        Command::Workload(arguments) => (arguments.json(), workload::run(&arguments)),
        Command::Paper(arguments) => (arguments.json, paper::run(&arguments)),
        Command::Classad(arguments) => (arguments.json(), classad::run(&arguments)),
        Command::Policy(arguments) => (arguments.json(), policy::run(&arguments)),
        Command::Budget(arguments) => (arguments.json(), budget::run(&arguments)),
        Command::Quota(arguments) => (arguments.json(), quota::run(&arguments)),
        Command::Bench(arguments) => (arguments.json(), bench::run(&arguments)),
        Command::Completions(arguments) => (false, completions::run(&arguments)),
        Command::Man(arguments) => (false, man::run(&arguments)),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(if json { Shown::AsJson } else { Shown::AsText }),
    }
}
