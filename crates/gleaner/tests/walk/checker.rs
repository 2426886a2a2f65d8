//! Says whether anything was lost or done twice, from what the tasks witnessed, the journal's facts, and what the command
//! line shows. Shares no code with the coordinator.

use crate::grid::Grid;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::Path;

/// A job that was acknowledged, and what must come of it.
pub(crate) struct Promise {
    pub(crate) job: String,
    pub(crate) key: String,
    pub(crate) arguments: Vec<String>,
    tasks: (u32, u32),
    /// To what each task counts; none for those in the sandbox.
    goal: Option<u32>,
}

/// What was seen, for people.
#[derive(Default)]
pub(crate) struct Report {
    tasks: usize,
    runs: usize,
    refused: usize,
    resumed: usize,
    starts: usize,
    expired: usize,
    /// Tasks without a result, with several, and that ran twice at one time; processes that outlived their agents.
    lost: Vec<String>,
    doubled: Vec<String>,
    overlapped: Vec<String>,
    orphans: usize,
}

/// What the journal has of one task.
#[derive(Default)]
struct Life {
    /// Runs that counted, in order: number, whether it ended the task well, whether a checkpoint was stored.
    ends: Vec<(u64, bool, bool)>,
}

/// One run as its program saw it.
#[derive(Clone, Copy, Debug)]
struct Run {
    number: u64,
    from: u32,
    to: u32,
}

impl Promise {
    pub(crate) fn counting(key: &str, tasks: (u32, u32), goal: u32, arguments: Vec<String>) -> Self {
        Self { job: String::new(), key: key.to_owned(), arguments, tasks, goal: Some(goal) }
    }

    pub(crate) fn count(&self) -> u32 {
        self.tasks.1 - self.tasks.0 + 1
    }

    pub(crate) fn boxed(key: &str, tasks: (u32, u32), arguments: Vec<String>) -> Self {
        Self { job: String::new(), key: key.to_owned(), arguments, tasks, goal: None }
    }
}

/// Panics with what was lost or done twice.
pub(crate) fn check(grid: &Grid, witnesses: &Path, promises: &[Promise]) -> Report {
    let facts = grid.facts();
    let count = |name: &str| facts.iter().filter(|fact| !fact[name].is_null()).count();
    let mut report = Report {
        starts: count("coordinator_started"),
        expired: count("lease_expired"),
        refused: count("result_refused"),
        ..Report::default()
    };
    check_submissions(&facts, promises);
    let mut lives = lives(&facts);
    let mut first = 0;
    for promise in promises {
        let (low, high) = promise.tasks;
        check_answers(grid, promise);
        for number in low..=high {
            // Tasks have their ids in the order in which jobs were submitted.
            let life = lives.remove(&(first + u64::from(number - low))).unwrap_or_default();
            let task = format!("{}/{number} ({})", promise.job, promise.key);
            let well = life.ends.iter().filter(|(_, well, _)| *well).count();
            let ends = format!("{task}: {:?}", life.ends);
            match well {
                0 => report.lost.push(ends),
                1 => {}
                _ => report.doubled.push(ends),
            }
            if let Some(goal) = promise.goal {
                let file = witnesses.join(number.to_string());
                let text =
                    fs::read_to_string(&file).unwrap_or_else(|error| panic!("{task} never ran: {error}"));
                if is_overlapped(&text) {
                    report.overlapped.push(format!("{task}:\n{text}"));
                    continue;
                }
                let runs = witnessed(&text, &task, goal);
                report.resumed += check_counts(&task, &life, &runs);
                report.runs += runs.len();
            }
            report.tasks += 1;
        }
        first += u64::from(high - low + 1);
    }
    report.orphans = grid.machines.iter().map(|machine| machine.processes().len()).sum();
    eprintln!("{report}");
    let Report { lost, doubled, overlapped, orphans, .. } = &report;
    assert!(lost.is_empty() && doubled.is_empty(), "lost {lost:#?}, doubled {doubled:#?}");
    assert!(overlapped.is_empty() && *orphans == 0, "{orphans} orphans, overlapped {overlapped:#?}");
    report
}

/// Each job that was acknowledged is there, once.
fn check_submissions(facts: &[Value], promises: &[Promise]) {
    let submitted = facts.iter().map(|fact| &fact["job_submitted"]).filter(|fact| fact.is_object());
    let found: Vec<(String, &str)> = submitted
        .map(|fact| (fact["job"].to_string(), fact["key"].as_str().expect("each has a key")))
        .collect();
    let expected: Vec<(String, &str)> =
        promises.iter().map(|promise| (promise.job.clone(), promise.key.as_str())).collect();
    assert_eq!(found, expected, "jobs were lost, or are there twice");
}

/// The command line says that all is done, and has each output.
fn check_answers(grid: &Grid, promise: &Promise) {
    let (low, high) = promise.tasks;
    let status = grid.json(&["status", &promise.job]);
    assert_eq!(status["tasks"]["done"], high - low + 1, "job {}: {}", promise.key, status["tasks"]);
    let logs = grid.json(&["logs", &promise.job]);
    let outputs = logs["outputs"].as_array().expect("a list");
    assert_eq!(outputs.len(), (high - low + 1) as usize, "{}", promise.key);
    for output in outputs {
        let expected = match promise.goal {
            Some(goal) => format!("task {} counted to {goal}\n", output["task"]),
            None => format!("task {} left it\n", output["task"]),
        };
        assert_eq!(output["text"], expected, "the output of {}/{}", promise.key, output["task"]);
    }
    if promise.goal.is_none() {
        let to = grid.folder.path().join("fetched");
        grid.ok(&["fetch", &promise.job, "--force", "--to", to.to_str().expect("text")]);
        for number in low..=high {
            let file = to.join(number.to_string()).join("result");
            let text =
                fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            assert_eq!(text, format!("handed in\n{number}\n"));
        }
    }
}

fn lives(facts: &[Value]) -> BTreeMap<u64, Life> {
    let mut lives: BTreeMap<u64, Life> = BTreeMap::new();
    for ended in facts.iter().map(|fact| &fact["run_ended"]).filter(|fact| fact.is_object()) {
        let (run, end) = (&ended["run"], &ended["end"]);
        let number = run["number"].as_u64().expect("a number");
        let well = end["outcome"]["exited"]["code"].as_i64().or(end["outcome"]["Exited"]["code"].as_i64())
            == Some(0);
        let task = run["task"].as_u64().expect("a number");
        lives.entry(task).or_default().ends.push((number, well, end["checkpoint"].is_object()));
    }
    lives
}

/// Whether a run found another there, or wrote between another's lines.
fn is_overlapped(text: &str) -> bool {
    let mut last = "";
    text.lines().any(|line| {
        let run = line.split(' ').nth(1).unwrap_or_default();
        if line.starts_with("start") {
            last = run;
        }
        line.starts_with("overlap") || run != last
    })
}

/// The runs of a task, the last of which came to its end.
fn witnessed(text: &str, task: &str, goal: u32) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let (mut seen, mut is_over) = (BTreeSet::new(), false);
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [what, run, count] = words[..] else {
            panic!("{task} ran twice at one time: {line} in\n{text}");
        };
        let (run, count): (u64, u32) = (run.parse().expect("a number"), count.parse().expect("a number"));
        if what == "start" {
            assert!(seen.insert(run), "{task} was started twice as run {run}:\n{text}");
            runs.push(Run { number: run, from: count, to: count });
        } else {
            let last = runs.last_mut().expect("a start comes first");
            assert_eq!(last.number, run, "{task} ran twice at one time:\n{text}");
            last.to = count;
            is_over |= what == "end" && count == goal;
        }
    }
    assert!(is_over, "{task} never came to its end:\n{text}");
    runs
}

/// Each run went on from the latest checkpoint that was stored before it; how many had one to go on from.
fn check_counts(task: &str, life: &Life, runs: &[Run]) -> usize {
    let mut resumed = 0;
    for run in runs {
        let stored = life.ends.iter().filter(|(number, _, stored)| *stored && *number < run.number);
        // A run that never began hands its checkpoint on: then the one before it counts.
        let numbers: BTreeSet<u64> = stored.map(|(number, ..)| *number).collect();
        let source = runs.iter().rev().find(|run| numbers.contains(&run.number));
        // The checkpoint is written just before the witness, so it may be one ahead.
        let expected = source.map_or(0..=0, |source| source.to..=source.to + 1);
        assert!(
            expected.contains(&run.from),
            "{task}: run {} went on from {}, not {expected:?}: {runs:?}",
            run.number,
            run.from
        );
        resumed += usize::from(run.from > 0);
    }
    resumed
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { tasks, runs, refused, resumed, starts, expired, lost, doubled, overlapped, orphans } =
            self;
        let [lost, doubled, overlapped] = [lost, doubled, overlapped].map(Vec::len);
        write!(
            f,
            "{tasks} tasks, {lost} lost, {doubled} doubled, {overlapped} overlaps, {orphans} orphans; {runs} witnessed runs, {resumed} of them from a checkpoint; \
             {refused} late results refused; {starts} starts of the coordinator, {expired} leases expired"
        )
    }
}
