//! `gleaner owner`: what a machine's owner says to the agent there by hand, and the rules that they set.

use crate::cli::{OwnMachineArguments, OwnerArguments};
use crate::failure::Failure;
use crate::{Outcome, home, stdout, work};
use gleaner_agent::owner::{self, FileError, Reason, Rules, Sign, Word};
use gleaner_agent::owner_socket::{Answer, OwnerError, State, tell};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub(crate) fn run(arguments: &OwnerArguments) -> Outcome {
    let (word, of) = match arguments {
        OwnerArguments::Here(of) => (Some(Word::Here), of),
        OwnerArguments::Away(of) => (Some(Word::Away), of),
        OwnerArguments::Pause(of) => (Some(Word::Pause), of),
        OwnerArguments::Drain(of) => (Some(Word::Drain), of),
        OwnerArguments::Evict(of) => (Some(Word::Evict), of),
        OwnerArguments::Resume(of) => (Some(Word::Resume), of),
        OwnerArguments::Status(of) => (None, of),
        OwnerArguments::Show(of) => {
            let file = rules_file(of)?;
            return show_rules(of, &file, &owner::read(&file)?, None);
        }
        OwnerArguments::Set(set) => {
            let file = rules_file(&set.of)?;
            return show_rules(&set.of, &file, &owner::set(&file, &set.key, &set.value)?, Some(&set.key));
        }
    };
    let answer = tell(&agent_folder(of.home.as_ref())?, word).map_err(|error| match error {
        OwnerError::NoAgent { .. } => Failure::NoGrid(error.to_string()),
        OwnerError::Answer(_) => Failure::Agent(error.to_string()),
    });
    show(of, &answer?)
}

/// How the reason begins where an administrator had all stand still.
const PAUSED_THERE: &str = "paused at the coordinator";

/// What the answer means: what tasks do here, whether more come, and what takes that back.
fn told(answer: &Answer, grace_max_s: Option<u32>) -> String {
    let Answer { tasks, ending, state, why, .. } = answer;
    let several = |count: usize| if count == 1 { "1 task".to_owned() } else { format!("{count} tasks") };
    let going_on = tasks.saturating_sub(*ending);
    let mut parts = Vec::new();
    if *ending > 0 {
        let grace =
            grace_max_s.map_or("their grace".to_owned(), |longest| format!("a grace of {longest} s at most"));
        let (are, run) = if *ending == 1 { ("is", "runs") } else { ("are", "run") };
        parts.push(format!(
            "{} here {are} told to end, within {grace}, and {run} again elsewhere",
            several(*ending)
        ));
    }
    parts.extend(match (state, going_on) {
        (_, 0) if *ending > 0 => None,
        (_, 0) => Some("no task is here".to_owned()),
        (State::Open | State::Closed, _) => Some(format!("{} here may run", several(going_on))),
        (State::Suspended, 1) => Some("1 task here stands still".to_owned()),
        (State::Suspended, _) => Some(format!("{} here stand still", several(going_on))),
    });
    let more = if *state == State::Open { "new ones may start" } else { "no new ones start" };
    let why = why.as_ref().map_or(String::new(), |why| format!(": {}", with_ways_back(why)));
    let not_kept = answer.not_kept.as_ref().map_or_else(String::new, |why| {
        format!("note: the agent forgets this when it is started again, since it could not be written down: {why}\n")
    });
    format!("{}; {more}{why}\n{not_kept}", parts.join("; "))
}

/// Each of the reasons with what takes it back.
fn with_ways_back(why: &str) -> String {
    let told = why.split("; ").map(|reason| match way_back(reason) {
        Some(way) => format!("{reason}; {way}"),
        None => reason.to_owned(),
    });
    told.collect::<Vec<_>>().join("; also: ")
}

fn way_back(reason: &str) -> Option<&'static str> {
    let is = |known: Reason| reason == known.to_string();
    if is(Reason::Paused) || is(Reason::Draining) {
        Some("`gleaner owner resume` takes that back")
    } else if is(Reason::OwnerHere(Sign::ByHand)) {
        Some("`gleaner owner away` takes that back")
    } else if reason.starts_with(PAUSED_THERE) {
        Some("an administrator takes that back, with `gleaner machine resume`")
    } else if is(Reason::OwnerHere(Sign::Programs)) {
        Some("`gleaner owner set programs ignore` lets tasks run beside them")
    } else {
        None
    }
}

/// The folder is the agent's, or that of a `gleaner up` which has an agent in it.
fn agent_folder(given: Option<&PathBuf>) -> Result<PathBuf, Failure> {
    let folder = work::folder(given)?;
    let inner = folder.join("agent");
    Ok(if home::is_coordinators(&folder) && inner.is_dir() { inner } else { folder })
}

fn rules_file(of: &OwnMachineArguments) -> Result<PathBuf, Failure> {
    Ok(agent_folder(of.home.as_ref())?.join("rules.toml"))
}

/// Each rule as it is written in the file; what is not the default is marked, and what follows from the one that was set is said.
fn show_rules(of: &OwnMachineArguments, file: &Path, rules: &Rules, set: Option<&str>) -> Outcome {
    let doubts = doubts(rules, file);
    let listed = |rules: &Rules| serde_json::to_value(rules).expect("rules are plain data");
    let (rules, usual) = (listed(rules), listed(&Rules::default()));
    if of.json {
        return stdout::print_json(&json!({ "version": 1, "file": file, "rules": rules, "doubts": doubts }));
    }
    let lines = rules.as_object().into_iter().flatten().map(|(key, value)| {
        let mark = if *value == usual[key] { ' ' } else { '*' };
        let value = if *value == Value::Null { "not set".to_owned() } else { value.to_string() };
        format!("{mark} {key:<20} {value}\n")
    });
    let doubts = doubts.iter().map(|doubt| format!("note: {doubt}\n"));
    let follows = set.and_then(follows).map_or(String::new(), |what| format!("{what}\n"));
    let (lines, doubts) = (lines.collect::<String>(), doubts.collect::<String>());
    stdout::print(format!("{}\n{lines}{doubts}{follows}", file.display()))
}

/// What the rules in a file do not do as the machine is now.
fn doubts(rules: &Rules, file: &Path) -> Vec<String> {
    rules.doubts(file.parent().unwrap_or(Path::new("/")))
}

/// What becomes of the tasks that are here when a rule is set that says which ones may come.
fn follows(key: &str) -> Option<&'static str> {
    ["users", "labels", "signed_by", "network"].contains(&key).then_some(
        "tasks here that this forbids are told to end within a second, have their grace, and run again elsewhere",
    )
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Empty { .. } | FileError::Toml { .. } | FileError::Rule { .. } => {
                Self::Usage(error.to_string())
            }
            FileError::File { path, why } => Self::io("read or write", &path, why),
        }
    }
}

/// What is to be said of the rules beside what the agent answered. It did as it was told, whatever is wrong with their file.
fn beside(rules: Result<Rules, FileError>, file: &Path) -> (Option<u32>, Vec<String>) {
    match rules {
        Ok(rules) => (Some(rules.grace_max_seconds), doubts(&rules, file)),
        Err(error) => {
            let what = error.to_string();
            (
                None,
                vec![format!(
                    "the agent goes by the rules as it read them last, since there is an error in {}",
                    what.trim_end()
                )],
            )
        }
    }
}

fn show(of: &OwnMachineArguments, answer: &Answer) -> Outcome {
    let file = rules_file(of)?;
    let (grace_max_s, doubts) = beside(owner::read(&file), &file);
    if of.json {
        let mut answer = serde_json::to_value(answer).expect("an answer is plain data");
        answer["doubts"] = doubts.into();
        return stdout::print_json(&answer);
    }
    let notes = doubts.iter().map(|doubt| format!("note: {doubt}\n"));
    stdout::print(told(answer, grace_max_s) + &notes.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The agent did as it was told, and an owner who wants the machine back is not told of a failure.
    #[test]
    fn a_broken_file_of_rules_is_a_note_and_no_failure() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("rules.toml");
        std::fs::write(&file, "users = [\"ada\"\n").expect("a file");
        let (grace_max_s, doubts) = beside(owner::read(&file), &file);
        let [doubt] = &doubts[..] else { panic!("{doubts:?}") };
        assert!(doubt.contains("as it read them last") && doubt.contains("unclosed array"), "{doubt}");
        let why = Some(Reason::Draining.to_string());
        let answer = Answer { version: 1, tasks: 1, ending: 1, state: State::Closed, why, not_kept: None };
        let said = told(&answer, grace_max_s);
        assert!(said.starts_with("1 task here is told to end, within their grace, and runs"), "{said}");
    }

    #[test]
    fn an_owner_reads_what_tasks_do_and_what_takes_it_back() {
        let drained = || Some(Reason::Draining.to_string());
        for (tasks, ending, state, why, expected) in [
            (
                2,
                2,
                State::Closed,
                drained(),
                "2 tasks here are told to end, within a grace of 60 s at most, and run again elsewhere; no new ones start: the owner \
                 wants it back (said by hand); `gleaner owner resume` takes that back\n",
            ),
            (
                2,
                1,
                State::Closed,
                Some("the owner's load is too high".to_owned()),
                "1 task here is told to end, within a grace of 60 s at most, and runs again elsewhere; 1 task here may run; no new \
                 ones start: the owner's load is too high\n",
            ),
            (
                0,
                0,
                State::Closed,
                drained(),
                "no task is here; no new ones start: the owner wants it back (said by hand); `gleaner owner resume` takes that back\n",
            ),
            (
                1,
                0,
                State::Suspended,
                Some(format!("{}; {}", Reason::OwnerHere(Sign::ByHand), Reason::Draining)),
                "1 task here stands still; no new ones start: the owner is here (said by hand); `gleaner owner away` takes that back; \
                 also: the owner wants it back (said by hand); `gleaner owner resume` takes that back\n",
            ),
            (
                0,
                0,
                State::Closed,
                Some("the owner's programs use the CPU".to_owned()),
                "no task is here; no new ones start: the owner's programs use the CPU; `gleaner owner set programs ignore` lets \
                 tasks run beside them\n",
            ),
            (
                1,
                0,
                State::Suspended,
                Some("paused at the coordinator by user boss".to_owned()),
                "1 task here stands still; no new ones start: paused at the coordinator by user boss; an administrator takes that \
                 back, with `gleaner machine resume`\n",
            ),
            (3, 0, State::Open, None, "3 tasks here may run; new ones may start\n"),
            (
                1,
                0,
                State::Suspended,
                Some("the machine is too hot".to_owned()),
                "1 task here stands still; no new ones start: the machine is too hot\n",
            ),
        ] {
            assert_eq!(
                told(&Answer { version: 1, tasks, ending, state, why, not_kept: None }, Some(60)),
                expected
            );
        }
    }
}
