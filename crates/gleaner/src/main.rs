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
mod earlier;
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
mod together;
mod token;
mod top;
mod trace;
mod trials;
mod tune;
mod up;
mod usage;
mod user;
mod wait;
mod watch;
mod which;
mod work;
mod workload;

pub(crate) use failure::Outcome;

use cli::{Cli, Command};
use std::process::ExitCode;

fn main() -> ExitCode {
    if let Some(code) = hold::run() {
        return code;
    }
    completions::answer();
    let arguments = match Cli::of_this_process() {
        Ok(arguments) => arguments,
        Err(error) => return failure::usage(error),
    };
    let result = match arguments.command {
        Command::Up(arguments) => up::run(&arguments),
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Work(arguments) => work::run(&arguments),
        Command::Owner(arguments) => owner::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Backup(arguments) => backup::run(&arguments),
        Command::Journal(arguments) => journal::run(&arguments),
        Command::Config(arguments) => config::run(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::Simulate(arguments) => simulate::run(&arguments),
        Command::Advise(arguments) => advise::run(&arguments),
        Command::Tune(arguments) => tune::run(&arguments),
        Command::Submit(arguments) => submit::run(&arguments),
        Command::Status(arguments) => status::run(&arguments),
        Command::Watch(arguments) => watch::run(&arguments),
        Command::Top(arguments) => top::run(&arguments),
        Command::Wait(arguments) => wait::run(&arguments),
        Command::Logs(arguments) => logs::run(&arguments),
        Command::Cancel(arguments) => orders::cancel(&arguments),
        Command::Hold(arguments) => orders::hold(&arguments),
        Command::Release(arguments) => orders::release(&arguments),
        Command::Rerun(arguments) => orders::rerun(&arguments),
        Command::Fetch(arguments) => fetch::run(&arguments),
        Command::Keep(arguments) => keep::run(&arguments),
        Command::History(arguments) => history::run(&arguments),
        Command::Machines(arguments) => machines::list(&arguments),
        Command::Machine(arguments) => machines::order(&arguments),
        Command::Labels(arguments) => labels::run(&arguments),
        Command::Use(arguments) => usage::run(&arguments),
        Command::Login(arguments) => login::run(&arguments),
        Command::Audit(arguments) => audit::run(&arguments),
        Command::Token(arguments) => token::run(&arguments),
        Command::User(arguments) => user::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Map(arguments) => map::run(&arguments),
        Command::Trace(arguments) => trace::run(&arguments),
        Command::Workload(arguments) => workload::run(&arguments),
        Command::Paper(arguments) => paper::run(&arguments),
        Command::Classad(arguments) => classad::run(&arguments),
        Command::Policy(arguments) => policy::run(&arguments),
        Command::Budget(arguments) => budget::run(&arguments),
        Command::Quota(arguments) => quota::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments),
        Command::Man(arguments) => man::run(&arguments),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
