//! Requests that are small on the wire and large in memory or time.

use crate::grid::{Grid, PATIENCE, USER};
use crate::processes::until;
use gleaner_server::desk::Recorded;
use gleaner_server::journal::{Entry, Fact};
use gleaner_server::ledger::Ledger;
use gleaner_server::store::{Home, NetworkFolder, SqliteStore, Store as _};
use gleaner_units::Time;
use gleaner_wire::job::{JobSpec, TaskList};
use gleaner_wire::{JobId, Lineage};
use serde_json::{Value, json};
use std::fs;
use std::process::Stdio;
use std::sync::Arc;

const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\nsuspend_on_return = false\nrun_below_load = 1.0\n\
                     busy_cores = 64.0\nidle_seconds = 1\n";
/// Ten million tasks, and what the coordinator may have at its peak with them. A debug build takes no more.
const TASKS: u32 = 10_000_000;
const MEGABYTES_MAX: u64 = 400;

/// The most memory that the coordinator ever had.
fn peak_megabytes(grid: &Grid) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", grid.coordinator_pid())).expect("it runs");
    let line = status.lines().find(|line| line.starts_with("VmHWM")).expect("a peak");
    let kilobytes = line.split_whitespace().nth(1).expect("a number");
    kilobytes.parse::<u64>().expect("a number") / 1024
}

fn refusal(answer: &(u16, Value), status: u16) -> String {
    assert_eq!(answer.0, status, "{}", answer.1);
    answer.1["error"]["message"].as_str().expect("a message").to_owned()
}

/// Whoever else uses the grid notices nothing.
fn expect_others_are_served(grid: &mut Grid) {
    let job = grid.json(&["submit", "--", "true"])["job"].to_string();
    grid.ok(&["wait", &job]);
    grid.expect_all_alive();
}

#[test]
fn parameters_that_would_fill_the_memory_are_refused() {
    let mut grid = Grid::new("parameters", 30);
    grid.start();
    grid.add("lab", 100, RULES, &[]);
    let argument = "{A}".repeat(43_000);
    let value = "x".repeat(120 << 10);
    for (field, body) in [
        ("command", json!({"command": ["echo", argument, argument, argument, argument]})),
        ("env", json!({"command": ["true"], "env": {"LONG": argument}})),
        ("outputs", json!({"command": ["true"], "outputs": [argument]})),
    ] {
        for tasks in [
            json!({"sweep": {"axes": [["A", [value]]]}}),
            json!({"rows": {"names": ["A"], "values": ["", value]}}),
        ] {
            let mut body = body.clone();
            body["tasks"] = tasks;
            for path in ["/api/v1/jobs", "/api/v1/jobs/preview"] {
                let why = refusal(&grid.api("POST", path, Some(&body)), 422);
                assert!(why.contains("with its parameters filled in"), "{field}: {why}");
            }
        }
    }
    // As files have it, no coordinator is needed to see it.
    let file = format!("command = [\"echo\", \"{argument}\"]\n[tasks.sweep]\nA = [\"{value}\"]\n");
    fs::write(grid.folder.path().join("job.toml"), file).expect("a job file");
    let output = grid.cli(&["submit", "-f", "job.toml"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("with its parameters filled in"), "{said}");
    expect_others_are_served(&mut grid);
    grid.wind_up();
}

/// Such as a coordinator of other limits may have admitted.
fn begin_with(grid: &Grid, spec: JobSpec) {
    let home = Home::open(&grid.home, NetworkFolder::Accept).expect("the coordinator's folder");
    let mut store = SqliteStore::open(&home).expect("a new journal");
    let submitted = Fact::JobSubmitted {
        job: JobId(1),
        user: USER.to_owned(),
        spec: Arc::new(spec),
        key: None,
        bytes: 0,
        described: 0,
    };
    let (program, lineage) = ("another".to_owned(), Lineage::of([1; 8]));
    let started = Fact::CoordinatorStarted { epoch: 1, lineage, program, seed: 1, policy: None };
    let mut ledger = Ledger::new();
    let rows = [started, submitted].map(|fact| {
        let entry = Entry { at: Time::from_nanos(1), fact };
        let steps = ledger.apply(&entry);
        Recorded { entry, steps }.row()
    });
    store.commit(&rows).expect("two rows");
}

#[test]
fn an_order_that_is_too_long_fails_its_own_run_only() {
    let mut grid = Grid::new("long-order", 30);
    let mut spec = JobSpec::new(["echo", &"{A}".repeat(43_000)]);
    spec.tasks = TaskList::Sweep { axes: vec![("A".to_owned(), vec!["x".repeat(120 << 10)])] };
    begin_with(&grid, spec);
    grid.start();
    grid.add("lab", 100, RULES, &[]);
    expect_others_are_served(&mut grid);
    until("the long one has failed", PATIENCE, || {
        (grid.json(&["status", "1"])["tasks"]["failed"] == 1).then_some(())
    });
    let history = grid.ok(&["history", "1/0"]);
    assert!(history.contains("can be sent"), "{history}");
    let words = vec!["x".repeat(100 << 10); 100];
    let words = [vec!["true".to_owned()], words].concat();
    let long = json!({ "command": words });
    let why = refusal(&grid.api("POST", "/api/v1/jobs", Some(&long)), 422);
    assert!(why.contains("at most 2097152 are taken"), "{why}");
    grid.wind_up();
}

#[test]
fn no_request_keeps_the_others_waiting() {
    let mut grid = Grid::new("desk", 30);
    grid.start();
    grid.add("lab", 100, RULES, &[]);
    let two = json!(["1", "2"]);
    let axes = |last: Value| -> Value {
        let many = (0..16).map(|axis| json!([format!("A{axis}"), two]));
        [last].into_iter().chain(many).rev().collect()
    };
    // Six million tasks of a hundred lengths, and of which each has another than the one before.
    let lengths: Vec<String> = (1..=100).map(|length| length.to_string()).collect();
    let mut slow = axes(json!(["GLEANER_LENGTH", lengths]));
    let changing = json!({"command": ["true"], "hold": true, "tasks": {"sweep": {"axes": slow}}});
    let why = refusal(&grid.api("POST", "/api/v1/jobs", Some(&changing)), 422);
    assert!(why.contains("GLEANER_LENGTH changes more than 100000 times"), "{why}");
    slow.as_array_mut().expect("axes").reverse();
    let steady = json!({"command": ["true"], "hold": true, "tasks": {"sweep": {"axes": slow}}});
    assert_eq!(grid.api("POST", "/api/v1/jobs", Some(&steady)).0, 201);
    let wide: Vec<Value> = (0..300).map(|axis| json!([format!("A{axis}"), ["1"]])).collect();
    let wide = json!({"command": ["true"], "tasks": {"sweep": {"axes": wide}}});
    let why = refusal(&grid.api("POST", "/api/v1/jobs", Some(&wide)), 422);
    assert!(why.contains("300 parameters"), "{why}");
    // Patterns that try each way to divide a text, at each of its places.
    let endless = format!("regexp(\"(a|aa)+$\", \"{}b\")", "a".repeat(2_000));
    let endless = vec![endless; 7].join(" || ");
    let body = json!({"command": ["true"], "requirements": endless});
    let (status, submitted) = grid.api("POST", "/api/v1/jobs", Some(&body));
    assert_eq!(status, 201, "{submitted}");
    expect_others_are_served(&mut grid);
    let explained = grid.ok(&["explain", &format!("{}/0", submitted["job"])]);
    assert!(explained.contains("steps to evaluate the clause"), "{explained}");
    // A machine that joins is held against all of them.
    grid.add("office", 100, RULES, &[]);
    expect_others_are_served(&mut grid);
    grid.wind_up();
}

#[test]
fn ten_million_held_tasks_are_a_few_megabytes_and_so_are_previews_with_them() {
    let mut grid = Grid::new("held", 30);
    grid.start();
    let array = format!("1-{TASKS}");
    let job = grid.json(&["submit", "--hold", "--array", &array, "--", "true"])["job"].to_string();
    let preview = json!({"command": ["true"], "tasks": {"array": {"first": 1, "last": 1_000, "step": 1}}});
    let ask = || grid.request("POST", "/api/v1/jobs/preview", Some(&preview));
    let asked: Vec<_> = (0..4).map(|_| ask().stdout(Stdio::piped()).spawn().expect("curl")).collect();
    for preview in asked {
        let answer = preview.wait_with_output().expect("it is ours").stdout;
        assert!(String::from_utf8_lossy(&answer).ends_with("200"), "{}", String::from_utf8_lossy(&answer));
    }
    for (order, phase) in
        [("release", "waiting"), ("hold", "held"), ("cancel", "cancelled"), ("rerun", "waiting")]
    {
        grid.ok(&[order, &job]);
        assert_eq!(grid.json(&["status", &job])["tasks"][phase], TASKS, "{order}");
    }
    let peak = peak_megabytes(&grid);
    assert!(peak < MEGABYTES_MAX, "{peak} MB at the peak");
    // Each order is one short fact.
    let longest = grid.facts().iter().map(|fact| fact.to_string().len()).max();
    assert!(longest < Some(10_000), "a fact of {longest:?} bytes");
    // What is left of it after a crash is as small.
    grid.kill_coordinator();
    grid.start();
    assert_eq!(grid.json(&["status", &job])["tasks"]["waiting"], TASKS);
    let peak = peak_megabytes(&grid);
    assert!(peak < MEGABYTES_MAX, "{peak} MB after a crash");
}
