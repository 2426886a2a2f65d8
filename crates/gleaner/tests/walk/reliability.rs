//! A machine on which runs fail comes last by its reliability, and not by its power.

use crate::grid::{Grid, PATIENCE, USER};
use crate::processes::until;

const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\nsuspend_on_return = false\nrun_below_load = 1.0\n\
                     busy_cores = 64.0\nidle_seconds = 1\n";

/// Where a task runs that prints it.
fn place(grid: &Grid) -> &'static str {
    let submit = ["submit", "--no-sandbox", "--", "cat", "/proc/self/cgroup"];
    let job = grid.json(&submit)["job"].to_string();
    grid.ok(&["wait", &job]);
    let told = grid.ok(&["logs", &job]);
    ["one", "two"].into_iter().find(|name| told.contains(&format!("-{name}"))).expect("one of both")
}

#[test]
fn a_machine_on_which_runs_fail_comes_last() {
    let mut grid = Grid::new("reliability", 30);
    grid.start();
    for name in ["one", "two"] {
        grid.add(name, 60, RULES, &["--as", USER, "--slots", "1"]);
    }
    let by = |score: &str| {
        grid.ok(&["policy", "set", "dasilva/greedy", "--set", &format!("score={score}")]);
    };
    by("power");
    let strong = place(&grid);
    assert_eq!(place(&grid), strong, "power does not change");
    let other = if strong == "one" { "two" } else { "one" };
    // With the other one away a run fails there, that would be tried again.
    grid.ok(&["machine", "pause", other]);
    let submit = ["submit", "--no-sandbox", "--retries", "4", "--", "sh", "-c", "exit 3"];
    let job = grid.json(&submit)["job"].to_string();
    until("a run fails", PATIENCE, || {
        let facts = grid.facts();
        let mut ends = facts.iter().map(|fact| fact["run_ended"]["end"]["outcome"].to_string());
        ends.any(|outcome| outcome.contains(":3")).then_some(())
    });
    grid.ok(&["cancel", &job]);
    grid.ok(&["machine", "resume", other]);
    assert_eq!(place(&grid), strong, "by power nothing changed");
    by("reliable-power");
    assert_eq!(place(&grid), other);
    grid.wind_up();
}
