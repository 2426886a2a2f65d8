//! Who waits outlasts a restart of the coordinator; and a coordinator that was moved, whose token was lost, or whose clock
//! was wrong, is reached again.

use crate::grid::{Grid, PATIENCE, PROGRAM, USER};
use crate::network::ADDRESS;
use crate::processes::until;
use std::fs;
use std::io::Read as _;
use std::process::{Child, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\nsuspend_on_return = false\nrun_below_load = 1.0\n\
                     busy_cores = 64.0\nidle_seconds = 1\n";

fn spawn(grid: &Grid, arguments: &[&str]) -> Child {
    let mut command = grid.within();
    command.arg(PROGRAM).args(arguments).env("GLEANER_HOME", &grid.home);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the program")
}

#[test]
fn who_waits_or_looks_outlasts_a_restart() {
    let mut grid = Grid::new("lasting", 30);
    grid.start();
    grid.add("lab", 60, RULES, &["--as", USER, "--slots", "1"]);
    let script = "i=0; while [ $i -lt 60 ]; do echo $i; sleep 0.1; i=$((i + 1)); done";
    let job = grid.json(&["submit", "--no-sandbox", "--", "sh", "-c", script])["job"].to_string();
    until("it has written", PATIENCE, || (!grid.ok(&["logs", &job]).is_empty()).then_some(()));
    let commands: [&[&str]; 3] = [&["wait", &job], &["logs", "-f", "--stdout", &job], &["watch", &job]];
    let waiting: Vec<Child> = commands.iter().map(|arguments| spawn(&grid, arguments)).collect();
    // Until all three are answered: the coordinator has their requests.
    thread::sleep(Duration::from_secs(1));
    grid.kill_coordinator();
    thread::sleep(Duration::from_secs(1));
    grid.start();
    for (arguments, child) in commands.iter().zip(waiting) {
        let output = child.wait_with_output().expect("it is ours");
        let error = String::from_utf8_lossy(&output.stderr);
        eprintln!("{arguments:?}: {error}");
        assert!(output.status.success(), "{arguments:?}: {error}");
        assert!(!error.contains("docs.rs") && !error.contains("close_notify"), "{error}");
        if arguments[0] == "logs" {
            let expected: String = (0..60).map(|number| format!("{number}\n")).collect();
            assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
        }
    }
    grid.wind_up();
}

/// What became of such a task is in the snapshot with which the next start begins, and in what it keeps of tasks that are over.
#[test]
fn a_program_that_is_missing_does_not_keep_the_coordinator_from_starting() {
    let mut grid = Grid::new("missing", 30);
    grid.start();
    grid.add("lab", 60, RULES, &["--as", USER, "--slots", "1"]);
    let job = grid.json(&["submit", "--no-sandbox", "--", "no-such-program"])["job"].to_string();
    assert_eq!(grid.cli(&["wait", &job]).status.code(), Some(1));
    grid.stop_coordinator();
    grid.ok(&["journal", "rebuild"]);
    grid.start();
    let told = grid.ok(&["status", &job]);
    assert!(told.contains("no-such-program: no such program in the task's PATH"), "{told}");
    grid.wind_up();
}

#[test]
fn who_follows_a_task_from_before_its_start_hears_once_that_it_runs_again() {
    let mut grid = Grid::new("followed", 30);
    grid.start();
    grid.add("lab", 60, RULES, &["--as", USER, "--slots", "1"]);
    let script =
        "echo out $GLEANER_ATTEMPT; sleep 1; echo err $GLEANER_ATTEMPT >&2; test $GLEANER_ATTEMPT -gt 1";
    let submit = ["submit", "--hold", "--no-sandbox", "--retries", "1", "--", "sh", "-c", script];
    let job = grid.json(&submit)["job"].to_string();
    let following = spawn(&grid, &["logs", "-f", &job]);
    // It follows before there is a run.
    thread::sleep(Duration::from_millis(1_500));
    grid.ok(&["release", &job]);
    let output = following.wait_with_output().expect("it is ours");
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "out 1\nout 2\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "err 1\n-- run 2 --\nerr 2\n");
    grid.wind_up();
}

/// How the command ended after the first of what it printed was read, if it did.
fn ended_unread(grid: &Grid, arguments: &[&str]) -> Option<ExitStatus> {
    let mut child = spawn(grid, arguments);
    child.stdout.take().expect("a pipe").read_exact(&mut [0]).expect("something is printed");
    for _ in 0..100 {
        if let Some(status) = child.try_wait().expect("it is ours") {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(100));
    }
    child.kill().expect("it is ours");
    child.wait().expect("it is ours");
    None
}

/// As with `| head -1`: whoever goes on printing ends as soon as it has something to print that nobody reads.
#[test]
fn who_follows_ends_when_nobody_reads() {
    let mut grid = Grid::new("unread", 30);
    grid.start();
    grid.add("lab", 60, RULES, &["--as", USER, "--slots", "1"]);
    let script = "while true; do echo more; sleep 0.1; done";
    let job =
        grid.json(&["submit", "--no-sandbox", "--array", "1-2", "--", "sh", "-c", script])["job"].to_string();
    let followers: [&[&str]; 3] = [&["watch"], &["watch", "--json"], &["logs", "-f", &job]];
    let mut others = grid.within();
    others.args(["sh", "-c", "while \"$0\" submit --hold -- true; do :; done", PROGRAM]);
    others.env("GLEANER_HOME", &grid.home).stdin(Stdio::null()).stdout(Stdio::null());
    let mut others = others.spawn().expect("a shell");
    let ends: Vec<Option<ExitStatus>> = followers.map(|arguments| ended_unread(&grid, arguments)).to_vec();
    others.kill().expect("it is ours");
    others.wait().expect("it is ours");
    assert!(ends.iter().all(|end| end.is_some_and(|status| status.success())), "{ends:?}");
    grid.ok(&["cancel", &job]);
    grid.wind_up();
}

#[test]
fn a_coordinator_that_moved_needs_no_new_tokens_and_a_lost_one_is_renewed() {
    let mut grid = Grid::new("moved", 30);
    grid.start();
    grid.add("lab", 60, RULES, &["--slots", "1"]);
    grid.machine("lab").stop();
    grid.stop_coordinator();

    let next = ADDRESS.replace("7717", "7718");
    let settings = grid.home.join("config.toml");
    let text = fs::read_to_string(&settings).expect("settings").replace(ADDRESS, &next);
    fs::write(&settings, text).expect("settings");
    fs::write(grid.home.join("token"), "").expect("a file");
    grid.start();
    assert!(grid.said().contains("held no token"), "{}", grid.said());

    // A service is started with the old address again and again.
    for address in [next.as_str(), ADDRESS] {
        if grid.state_of("lab").is_some_and(|state| state == "open") {
            grid.machine("lab").stop();
            until("it is gone", PATIENCE, || (grid.state_of("lab")? != "open").then_some(()));
        }
        grid.machine("lab").options = vec!["--join".to_owned(), format!("https://{address}")];
        grid.machine("lab").start();
        until("it found the coordinator", PATIENCE, || (grid.state_of("lab")? == "open").then_some(()));
    }
    assert!(!fs::read_to_string(grid.home.join("token")).expect("a token").is_empty());
    grid.wind_up();
}

#[test]
fn a_clock_that_was_400_days_ahead_at_the_start_locks_nobody_out_once_it_is_right() {
    for ahead in ["+400d", "-400d"] {
        let (mut grid, clock) = Grid::by_a_clock("clock-400", 30);
        clock.set(ahead);
        grid.start();
        clock.set("+0");
        let mut said = String::new();
        until(&format!("the coordinator is trusted again after {ahead}: {said}"), PATIENCE, || {
            let output = grid.cli(&["status"]);
            said = String::from_utf8_lossy(&output.stderr).into_owned();
            output.status.success().then_some(())
        });
        grid.add("lab", 60, RULES, &["--slots", "1"]);
        let job = grid.json(&["submit", "--", "echo", "here"])["job"].to_string();
        grid.ok(&["wait", &job]);
        grid.wind_up();
    }
}
