//! The wall clock jumps a day, either way, under a grid that works; and while the coordinator is down.

use crate::grid::{Grid, PATIENCE};
use crate::processes::until;
use std::time::Duration;

const HALF_A_DAY: Duration = Duration::from_hours(12);
const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\nsuspend_on_return = false\nrun_below_load = 1.0\n\
                     busy_cores = 64.0\nidle_seconds = 1\n";
/// Longer than a lease and its margin: who took the jump for passed time would have given up by then.
const LONG: &str = "i=0; while [ $i -lt 60 ]; do sleep 0.1; i=$((i + 1)); done; echo run $GLEANER_ATTEMPT";

/// Hands in a task that runs, and returns what its history calls it.
fn start_one(grid: &Grid) -> String {
    let job = grid.json(&["submit", "--", "sh", "-c", LONG])["job"].to_string();
    until("it runs", PATIENCE, || (phase(grid, &job) == "running").then_some(()));
    job
}

fn phase(grid: &Grid, job: &str) -> String {
    let task = grid.json(&["status", job, "--tasks"])["list"][0].take();
    task["phase"].as_str().expect("a word").to_owned()
}

/// Waits for it; it must not have been begun again, and its machine must never have been given up.
fn expect_undisturbed(grid: &Grid, job: &str) {
    grid.ok(&["wait", job]);
    assert_eq!(grid.ok(&["logs", &format!("{job}/0")]), "run 1\n");
    let expired = grid.facts().into_iter().filter(|fact| fact["lease_expired"].is_object()).count();
    assert_eq!(expired, 0, "a machine was given up");
}

#[test]
fn a_clock_that_jumps_a_day_under_a_grid_moves_nothing() {
    let (mut grid, clock) = Grid::by_a_clock("clock", 4);
    grid.start();
    grid.add("lab", 80, RULES, &[]);
    for ahead in ["+1d", "-1d", "+0"] {
        let job = start_one(&grid);
        clock.set(ahead);
        expect_undisturbed(&grid, &job);
    }
    grid.wind_up();
    assert!(time_in_the_journal(&grid) < HALF_A_DAY, "time is what passed, not what a clock shows");
}

#[test]
fn a_clock_that_was_set_while_the_coordinator_was_down_moves_nothing_either() {
    let (mut grid, clock) = Grid::by_a_clock("clock-down", 30);
    grid.start();
    grid.add("lab", 80, RULES, &[]);
    for ahead in ["-1d", "+1d", "+0"] {
        let job = start_one(&grid);
        grid.kill_coordinator();
        clock.set(ahead);
        grid.start();
        expect_undisturbed(&grid, &job);
    }
    grid.wind_up();
    assert!(
        time_in_the_journal(&grid) > HALF_A_DAY,
        "a start takes the time from the clock, and never goes back"
    );
}

/// From the first fact to the last; none is older than the one before it, whatever the clock showed.
fn time_in_the_journal(grid: &Grid) -> Duration {
    let lines = grid.ok(&["journal", "export"]);
    let at = |line: &str| serde_json::from_str::<serde_json::Value>(line).expect("JSON")["at_ns"].as_u64();
    let times: Vec<_> = lines.lines().map(|line| at(line).expect("a time")).collect();
    assert!(times.is_sorted(), "times go back");
    Duration::from_nanos(times.last().expect("facts") - times[0])
}
