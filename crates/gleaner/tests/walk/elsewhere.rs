//! One machine on which every program fails, among good ones.

use crate::grid::{Grid, PATIENCE, USER};
use crate::processes::until;
use std::thread;
use std::time::Duration;

const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\nsuspend_on_return = false\nrun_below_load = 1.0\n\
                     busy_cores = 64.0\nidle_seconds = 1\n";
const TASKS: u64 = 40;
/// Longer than an agent takes to say that it does not know its owner's load.
const LOAD_KNOWN: Duration = Duration::from_secs(1);

#[test]
fn one_bad_machine_does_not_fail_the_job() {
    let mut grid = Grid::new("elsewhere", 30);
    grid.start();
    // It is the first that is asked, and always free.
    for name in ["bad", "good"] {
        grid.add(name, 60, RULES, &["--as", USER, "--slots", "2"]);
    }
    // An agent takes nothing until it knows its owner's load, and only says so once it has joined. A task that no other machine
    // could take comes back to the bad one.
    thread::sleep(LOAD_KNOWN);
    until("both take tasks", PATIENCE, || {
        ["bad", "good"].into_iter().all(|name| grid.state_of(name).as_deref() == Some("open")).then_some(())
    });
    let array = format!("1-{TASKS}");
    let script = "grep -q -- -bad /proc/self/cgroup && exit 3; sleep 0.1; echo fine";
    let submit = ["submit", "--no-sandbox", "--array", &array, "--retries", "2", "--", "sh", "-c", script];
    let job = grid.json(&submit)["job"].to_string();
    grid.ok(&["wait", &job]);
    assert_eq!(grid.json(&["status", &job])["tasks"]["done"], TASKS);
    let facts = grid.facts();
    let failures = facts.iter().filter(|fact| fact["run_ended"]["end"]["outcome"].to_string().contains(":3"));
    let failures = failures.count() as u64;
    eprintln!("{failures} runs failed on the bad machine");
    assert!(failures > 0, "the bad machine was never asked");
    assert!(failures <= TASKS, "a task came back to it");
    grid.wind_up();
}
