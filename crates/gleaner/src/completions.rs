//! `gleaner completions`, and what a shell is told when it asks how a line may go on.

use crate::api::Api;
use crate::cli::{Cli, CompletionsArguments, GridArguments};
use crate::failure::Failure;
use crate::{Outcome, stdout};
use clap::CommandFactory;
use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::Shells;
use gleaner_policy::Preset;
use gleaner_wire::api::JobView;
use std::env;
use std::sync::mpsc::channel;
use std::time::Duration;

/// The variable by which a shell's script asks.
const VARIABLE: &str = "GLEANER_COMPLETE";
/// A shell waits no longer for a coordinator.
const PATIENCE: Duration = Duration::from_secs(1);
/// The newest jobs are proposed.
const JOBS: u32 = 50;

/// Answers a shell that asks, and ends the program then.
pub(crate) fn answer() {
    CompleteEnv::with_factory(Cli::command).var(VARIABLE).bin("gleaner").completer("gleaner").complete();
}

pub(crate) fn run(arguments: &CompletionsArguments) -> Outcome {
    let shells = Shells::builtins();
    let name = arguments.shell.to_string();
    let shell = shells.completer(&name).expect("each shell that the arguments know");
    let mut script = Vec::new();
    let written = shell.write_registration(VARIABLE, "gleaner", "gleaner", "gleaner", &mut script);
    written.expect("memory takes all that is written");
    stdout::print(script)
}

/// Jobs of the grid that the variables or the usual folder name.
pub(crate) fn jobs() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let jobs = asked(|grid| grid.jobs(JOBS)).map_or(Vec::new(), |list| list.jobs);
        let last = jobs.first().map(|_| CompletionCandidate::new("last").help(Some("the newest".into())));
        let told = |job: &JobView| {
            let JobView { job, name, state, .. } = job;
            CompletionCandidate::new(job.to_string()).help(Some(format!("{name} {state:?}").into()))
        };
        last.into_iter().chain(jobs.iter().map(told)).collect()
    })
}

/// Its machines.
pub(crate) fn machines() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let machines = asked(Api::machines).map_or(Vec::new(), |list| list.machines);
        machines.into_iter().map(|machine| CompletionCandidate::new(machine.machine)).collect()
    })
}

/// Its users.
pub(crate) fn users() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let users = asked(Api::users).map_or(Vec::new(), |list| list.users);
        users.into_iter().map(|user| CompletionCandidate::new(user.name)).collect()
    })
}

/// Presets of policies.
pub(crate) fn policies() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let told = |preset: &Preset| {
            CompletionCandidate::new(preset.name.clone()).help(Some(preset.summary.clone().into()))
        };
        Preset::all().iter().map(told).collect()
    })
}

/// What is always the same.
pub(crate) fn words(words: &'static [&'static str]) -> ArgValueCandidates {
    ArgValueCandidates::new(|| words.iter().map(CompletionCandidate::new).collect())
}

/// What a coordinator says, if it says it soon.
fn asked<T: Send + 'static>(ask: impl FnOnce(&Api) -> Result<T, Failure> + Send + 'static) -> Option<T> {
    let variable = |name: &str| env::var(name).ok();
    let grid = GridArguments {
        home: env::var_os("GLEANER_HOME").map(Into::into),
        server: variable("GLEANER_SERVER"),
        fingerprint: variable("GLEANER_FINGERPRINT"),
        token: variable("GLEANER_TOKEN"),
        json: false,
    };
    let (tell, told) = channel();
    std::thread::spawn(move || tell.send(Api::open(&grid).and_then(|grid| ask(&grid))));
    told.recv_timeout(PATIENCE).ok()?.ok()
}
