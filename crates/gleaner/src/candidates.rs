//! What a shell is told that asks how a line may go on: the words that may stand there.

use crate::api::Api;
use crate::cli::GridArguments;
use crate::failure::Failure;
use clap_complete::engine::{
    ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter,
};
use gleaner_agent::owner::Rules;
use gleaner_policy::Preset;
use gleaner_wire::api::JobView;
use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::Duration;

/// A shell waits no longer for a coordinator.
const PATIENCE: Duration = Duration::from_secs(1);
/// The newest jobs are proposed.
const JOBS: u32 = 50;

/// Jobs of the grid that the line, the variables or the usual folder name.
pub(crate) fn jobs() -> ArgValueCandidates {
    ArgValueCandidates::new(known_jobs)
}

/// Those, or a file.
pub(crate) fn jobs_and_files() -> ArgValueCompleter {
    ArgValueCompleter::new(|current: &OsStr| {
        let starts = |candidate: &CompletionCandidate| {
            candidate.get_value().as_encoded_bytes().starts_with(current.as_encoded_bytes())
        };
        let jobs = known_jobs().into_iter().filter(starts);
        jobs.chain(PathCompleter::file().complete(current)).collect()
    })
}

fn known_jobs() -> Vec<CompletionCandidate> {
    let jobs = asked(|grid| grid.jobs(JOBS, None, None)).map_or(Vec::new(), |list| list.jobs);
    let last =
        jobs.first().map(|_| CompletionCandidate::new("last").help(Some("what was submitted last".into())));
    let told = |job: &JobView| {
        let JobView { job, name, state, .. } = job;
        CompletionCandidate::new(job.to_string()).help(Some(format!("{name} {state:?}").into()))
    };
    last.into_iter().chain(jobs.iter().map(told)).collect()
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

/// The owner's rules.
pub(crate) fn rules() -> ArgValueCandidates {
    ArgValueCandidates::new(|| {
        let rules = serde_json::to_value(Rules::default()).expect("rules are plain data");
        rules.as_object().into_iter().flatten().map(|(key, _)| CompletionCandidate::new(key)).collect()
    })
}

/// What is always the same.
pub(crate) fn words(words: &'static [&'static str]) -> ArgValueCandidates {
    ArgValueCandidates::new(|| words.iter().map(CompletionCandidate::new).collect())
}

/// What a coordinator says, if it says it soon.
fn asked<T: Send + 'static>(ask: impl FnOnce(&Api) -> Result<T, Failure> + Send + 'static) -> Option<T> {
    let line: Vec<String> =
        env::args_os().skip_while(|word| word != "--").filter_map(|word| word.into_string().ok()).collect();
    let given = |option: &str, name: &str| on_line(&line, option).or_else(|| env::var(name).ok());
    let grid = GridArguments {
        home: given("--home", "GLEANER_HOME").map(from_home),
        server: given("--server", "GLEANER_SERVER"),
        fingerprint: given("--fingerprint", "GLEANER_FINGERPRINT"),
        token: given("--token", "GLEANER_TOKEN"),
        json: false,
    };
    let (tell, told) = channel();
    std::thread::spawn(move || tell.send(Api::open(&grid).and_then(|grid| ask(&grid))));
    told.recv_timeout(PATIENCE).ok()?.ok()
}

/// What the line so far gives an option. Bash parts `--home=DIR` into three words.
fn on_line(line: &[String], option: &str) -> Option<String> {
    let at = line.iter().position(|word| {
        word.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
    })?;
    if let Some((_, value)) = line[at].split_once('=') {
        return Some(value.to_owned());
    }
    line[at + 1..].iter().find(|word| *word != "=").cloned()
}

/// A folder as the shell would name it: it expands `~` only when the line is run.
fn from_home(folder: String) -> PathBuf {
    match (folder.strip_prefix("~/"), env::var_os("HOME")) {
        (Some(below), Some(home)) => PathBuf::from(home).join(below),
        _ => folder.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::on_line;

    #[test]
    fn an_option_on_the_line_is_heeded_however_the_shell_parts_it() {
        let given = |line: &str| on_line(&line.split(' ').map(str::to_owned).collect::<Vec<_>>(), "--home");
        for (line, expected) in [
            ("-- gleaner status --home /a 7", Some("/a")),
            ("-- gleaner status --home=/a 7", Some("/a")),
            ("-- gleaner status --home = /a 7", Some("/a")),
            ("-- gleaner status --homes /a 7", None),
            ("-- gleaner status 7", None),
        ] {
            assert_eq!(given(line).as_deref(), expected, "{line}");
        }
    }
}
