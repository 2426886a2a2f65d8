//! Two machines, of which the more powerful one fails whatever it is given: what came of runs so far, and what a machine takes
//! in watts, decide where tasks go.

use crate::grid::{Grid, USER};
use serde_json::Value;

const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\nsuspend_on_return = false\nrun_below_load = 1.0\n\
                     busy_cores = 64.0\nidle_seconds = 1\n";
const PROGRAM: &str = "grep -q -- -frail /proc/self/cgroup && exit 3; echo fine";
/// Four slots against one: after as many losses the frail machine is worth less, however its speed was measured.
const JOBS_MAX: u32 = 40;

fn score(grid: &Grid, name: &str) {
    let score = format!("score={name}");
    grid.ok(&["policy", "set", "dasilva/greedy", "--set", &score]);
}

/// The machines on which a job of one task ran, one after the other.
fn ran_on(grid: &Grid) -> Vec<String> {
    let submit = ["submit", "--no-sandbox", "--retries", "3", "--", "sh", "-c", PROGRAM];
    let job = grid.json(&submit)["job"].to_string();
    grid.ok(&["wait", &job]);
    let history = grid.ok(&["history", &format!("{job}/0")]);
    let starts = history.lines().filter_map(|line| line.split_once("runs it on ")).map(|(_, on)| on);
    starts.map(|on| on.trim_end_matches(|c: char| !c.is_alphanumeric()).to_owned()).collect()
}

/// What `explain` says that a machine is worth for a task.
fn rating(grid: &Grid, job: &str, machine: &str) -> f64 {
    let explained = grid.json(&["explain", &format!("{job}/0")]);
    let ratings = explained["ratings"].as_array().unwrap_or_else(|| panic!("{explained}"));
    let of = |rating: &&Value| rating["machine"] == machine;
    let found = ratings.iter().find(of).and_then(|rating| rating["score"].as_f64());
    found.unwrap_or_else(|| panic!("{explained}"))
}

#[test]
fn tasks_go_where_runs_come_to_their_end_and_where_they_cost_least() {
    let mut grid = Grid::new("frail", 30);
    grid.start();
    grid.add("sound", 60, RULES, &["--as", USER, "--slots", "1", "--attribute", "Watts=10"]);
    grid.add("frail", 60, RULES, &["--as", USER, "--slots", "4", "--attribute", "Watts=4000"]);

    score(&grid, "power");
    assert_eq!(ran_on(&grid), ["frail", "sound"], "by power alone, and then elsewhere");

    score(&grid, "reliable-power");
    let mut failed = 1;
    while ran_on(&grid) != ["sound"] {
        failed += 1;
        assert!(failed < JOBS_MAX, "tasks still go to the machine that fails");
    }
    assert_eq!(grid.state_of("frail").as_deref(), Some("open"), "nobody closed it");

    // By reliability it is worth what it is by power, over its losses and one.
    let held = grid.json(&["submit", "--hold", "--", "true"])["job"].to_string();
    let (frail, sound) = (rating(&grid, &held, "frail"), rating(&grid, &held, "sound"));
    assert!(frail < sound, "{frail} and {sound} after {failed} losses");
    score(&grid, "power");
    let (power, losses) = (rating(&grid, &held, "frail"), f64::from(failed));
    assert!((frail / power * (1.0 + losses) - 1.0).abs() < 1e-6, "{frail} of {power} after {failed} losses");
    assert!(power > rating(&grid, &held, "sound"));
    assert_eq!(ran_on(&grid), ["frail", "sound"]);

    score(&grid, "energy");
    assert!(rating(&grid, &held, "sound") > rating(&grid, &held, "frail"));
    assert_eq!(ran_on(&grid), ["sound"], "it does more for a joule");
    grid.wind_up();
}
