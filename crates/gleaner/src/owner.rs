//! `gleaner owner`: what a machine's owner says to the agent there by hand, and the rules that they set.

use crate::cli::{OwnMachineArguments, OwnerArguments, OwnerSetArguments};
use crate::failure::Failure;
use crate::{Outcome, home, stdout, work};
use gleaner_agent::owner::{self, DISK_FREE_MIN, FileError, Reason, Rules, Sign, Word};
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
            let (rules, note) = match owner::read_if_there(&file)? {
                Some(rules) => (rules, None),
                None => match in_force_without(&file)? {
                    Some(rules) => (rules, Some(gone(&file))),
                    None => (
                        Rules::default(),
                        Some(format!("there is no such file, and no agent runs: {NAME_IT}")),
                    ),
                },
            };
            return show_rules(of, (&file, &rules), note, None);
        }
        OwnerArguments::Set(set) => return set_rule(set),
    };
    show(of, &tell(&agent_folder(of.home.as_ref())?, word)?)
}

/// What to do where no agent is found.
const START_IT: &str = "start it with `gleaner work`, a service with `systemctl start gleaner-agent`";
/// What to do where another folder is meant.
const NAME_IT: &str =
    "name the agent's folder with --home or GLEANER_AGENT_HOME; a service has /var/lib/gleaner-agent";

fn set_rule(OwnerSetArguments { key, value, of }: &OwnerSetArguments) -> Outcome {
    let file = rules_file(of)?;
    let folder = folder_of(&file);
    if !folder.is_dir() {
        return Err(Failure::Usage(format!("there is no folder {}: {NAME_IT}", folder.display())));
    }
    // One rule that is set is not to drop those that the agent goes by.
    let in_force = if file.exists() { None } else { in_force_without(&file)? };
    let note = in_force.is_some().then(|| {
        "the file was gone, and is written again: the rules that the agent goes by are in it".to_owned()
    });
    let rules = owner::set_over(&file, &in_force.unwrap_or_default(), key, value)?;
    show_rules(of, (&file, &rules), note, Some(key))
}

/// The rules that an agent goes by whose file is gone, if there is one.
fn in_force_without(file: &Path) -> Result<Option<Rules>, Failure> {
    let not_said = || Failure::Agent("the agent does not say by which rules it goes: try again".to_owned());
    match tell(folder_of(file), None) {
        Ok(answer) => answer.rules.ok_or_else(not_said).map(Some),
        Err(OwnerError::NoAgent { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// What is said where the agent goes by rules whose file is gone.
fn gone(file: &Path) -> String {
    format!(
        "there is no {} any more: the agent goes by the rules as it read them last, until it is started again; `gleaner owner set` \
         writes them into a new one",
        file.display()
    )
}

/// The folder of the agent whose rules are in a file.
fn folder_of(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new("/"))
}

impl From<OwnerError> for Failure {
    fn from(error: OwnerError) -> Self {
        match error {
            OwnerError::NoAgent { .. } => Self::NoGrid(format!("{error}; {START_IT}, or {NAME_IT}")),
            OwnerError::Answer(_) => Self::Agent(error.to_string()),
        }
    }
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
    let apart = answer
        .apart
        .as_ref()
        .map_or_else(String::new, |why| format!("note: there is no connection to the coordinator: {why}\n"));
    format!("{}; {more}{why}\n{not_kept}{apart}", parts.join("; "))
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
fn show_rules(
    of: &OwnMachineArguments,
    (file, rules): (&Path, &Rules),
    note: Option<String>,
    set: Option<&str>,
) -> Outcome {
    let doubts: Vec<String> = note.into_iter().chain(doubts(rules, file)).collect();
    let listed = |rules: &Rules| serde_json::to_value(rules).expect("rules are plain data");
    let (rules, usual) = (listed(rules), listed(&Rules::default()));
    if of.json {
        return stdout::print_json(&json!({ "version": 1, "file": file, "rules": rules, "doubts": doubts }));
    }
    let lines = rules.as_object().into_iter().flatten().map(|(key, value)| {
        let mark = if *value == usual[key] { ' ' } else { '*' };
        let value = if *value == Value::Null { unset(key) } else { value.to_string() };
        format!("{mark} {key:<20} {value}\n")
    });
    let doubts = doubts.iter().map(|doubt| format!("note: {doubt}\n"));
    let follows = set.and_then(follows).map_or(String::new(), |what| format!("{what}\n"));
    let (lines, doubts) = (lines.collect::<String>(), doubts.collect::<String>());
    stdout::print(format!("{}\n{lines}{doubts}{follows}", file.display()))
}

/// What is shown of a rule that is not set: what holds, if that is a number.
fn unset(key: &str) -> String {
    if key == "disk_free_min_gb" {
        return format!("{} (not set)", (DISK_FREE_MIN / 1_000_000) as f64 / 1e3);
    }
    "not set".to_owned()
}

/// What the rules in a file do not do as the machine is now.
fn doubts(rules: &Rules, file: &Path) -> Vec<String> {
    rules.doubts(folder_of(file))
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
            FileError::Empty { .. }
            | FileError::Toml { .. }
            | FileError::Value { .. }
            | FileError::Rule { .. } => Self::Usage(error.to_string()),
            FileError::File { path, why } => Self::io("read or write", &path, why),
        }
    }
}

/// What is to be said of the rules beside what the agent answered. It did as it was told, whatever is wrong with their file. Where
/// that is gone, they are the agent's `in_force`.
fn beside(
    rules: Result<Option<Rules>, FileError>,
    in_force: Option<&Rules>,
    file: &Path,
) -> (Option<u32>, Vec<String>) {
    match rules {
        Ok(Some(rules)) => (Some(rules.grace_max_seconds), doubts(&rules, file)),
        Ok(None) => {
            let further = in_force.map_or_else(Vec::new, |rules| doubts(rules, file));
            let all = std::iter::once(gone(file)).chain(further).collect();
            (in_force.map(|rules| rules.grace_max_seconds), all)
        }
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
    let (grace_max_s, doubts) = beside(owner::read_if_there(&file), answer.rules.as_ref(), &file);
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
    use std::io::{BufRead, BufReader, Write};
    use std::os::unix::net::UnixListener;

    /// The agent did as it was told, and an owner who wants the machine back is not told of a failure.
    #[test]
    fn a_broken_file_of_rules_is_a_note_and_no_failure() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("rules.toml");
        std::fs::write(&file, "users = [\"ada\"\n").expect("a file");
        let (grace_max_s, doubts) = beside(owner::read_if_there(&file), None, &file);
        let [doubt] = &doubts[..] else { panic!("{doubts:?}") };
        assert!(doubt.contains("as it read them last") && doubt.contains("unclosed array"), "{doubt}");
        let why = Some(Reason::Draining.to_string());
        let answer = answered(1, 1, State::Closed, why);
        let said = told(&answer, grace_max_s);
        assert!(said.starts_with("1 task here is told to end, within their grace, and runs"), "{said}");
    }

    fn answered(tasks: usize, ending: usize, state: State, why: Option<String>) -> Answer {
        Answer { version: 1, tasks, ending, state, why, not_kept: None, rules: None, apart: None }
    }

    /// Who is at the machine would see nothing wrong.
    #[test]
    fn an_owner_reads_why_there_is_no_connection() {
        let apart = Some("it is let in again in 20 s".to_owned());
        let answer = Answer { apart, ..answered(0, 0, State::Open, None) };
        let expected = "no task is here; new ones may start\nnote: there is no connection to the coordinator: it is let in again \
                        in 20 s\n";
        assert_eq!(told(&answer, None), expected);
    }

    /// Neither shows what does not hold, nor opens the machine to all.
    #[test]
    fn rules_whose_file_is_gone_are_those_that_the_agent_goes_by() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("rules.toml");
        assert_eq!(in_force_without(&file).expect("nobody to ask"), None);
        let listener = UnixListener::bind(folder.path().join("owner.sock")).expect("a socket");
        let rules = Rules { users: Some(vec!["ann".to_owned()]), grace_max_seconds: 5, ..Rules::default() };
        let answer = Answer { rules: Some(rules.clone()), ..answered(0, 0, State::Open, None) };
        let line = format!("{}\n", serde_json::to_string(&answer).expect("plain data"));
        let agent = std::thread::spawn(move || {
            for _ in 0..2 {
                let (mut stream, _) = listener.accept().expect("somebody asks");
                BufReader::new(&stream).read_line(&mut String::new()).expect("a line");
                stream.write_all(line.as_bytes()).expect("they listen");
            }
        });
        assert_eq!(in_force_without(&file).expect("an answer").as_ref(), Some(&rules));
        let (grace_max_s, doubts) = beside(owner::read_if_there(&file), Some(&rules), &file);
        assert_eq!(grace_max_s, Some(5));
        assert!(doubts[0].contains("as it read them last"), "{doubts:?}");
        let of = OwnMachineArguments { home: Some(folder.path().to_owned()), json: true };
        let set = OwnerSetArguments { key: "cores_max".to_owned(), value: "1".to_owned(), of };
        set_rule(&set).expect("it is set");
        assert_eq!(owner::read(&file).expect("a file"), Rules { cores_max: Some(1), ..rules });
        agent.join().expect("it answered twice");
    }

    #[test]
    fn who_finds_no_agent_is_told_what_to_do() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("agent");
        let said = Failure::from(tell(&home, None).expect_err("nobody is there")).to_string();
        assert!(said.contains("start it with `gleaner work`") && said.contains("--home"), "{said}");
        let of = OwnMachineArguments { home: Some(home), json: false };
        let set = OwnerSetArguments { key: "idle_seconds".to_owned(), value: "5".to_owned(), of };
        let said = set_rule(&set).expect_err("there is no folder").to_string();
        assert!(said.starts_with("there is no folder ") && !said.contains(".part"), "{said}");
    }

    #[test]
    fn a_rule_that_is_not_set_shows_the_number_that_holds() {
        assert_eq!(unset("disk_free_min_gb"), "0.016 (not set)");
        assert_eq!(unset("cores_max"), "not set");
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
            assert_eq!(told(&answered(tasks, ending, state, why), Some(60)), expected);
        }
    }
}
