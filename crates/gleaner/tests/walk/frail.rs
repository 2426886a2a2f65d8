//! Two machines, of which the more powerful one fails whatever it is given: what came of runs so far decides where tasks go.

use crate::grid::{Grid, PATIENCE, USER};
use crate::processes::until;

const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\nsuspend_on_return = false\nrun_below_load = 1.0\n\
                     busy_cores = 64.0\nidle_seconds = 1\n";
const NAMES: [&str; 2] = ["ada", "bob"];
/// More jobs than it takes until a machine that loses all is worth less than half as much.
const JOBS_MAX: u32 = 40;

fn score(grid: &Grid, name: &str) {
    let score = format!("score={name}");
    grid.ok(&["policy", "set", "dasilva/greedy", "--set", &score]);
}

/// The machines on which a job of one task ran, one after the other; on the frail one it fails.
fn ran_on(grid: &Grid, frail: &str) -> Vec<&'static str> {
    let program = format!("grep -q -- -{frail} /proc/self/cgroup && exit 3; echo fine");
    let submit = ["submit", "--no-sandbox", "--retries", "3", "--", "sh", "-c", &program];
    let job = grid.json(&submit)["job"].to_string();
    grid.ok(&["wait", &job]);
    let history = grid.ok(&["history", &format!("{job}/0")]);
    let ends = history.lines().filter(|line| line.contains("ended with exit code"));
    let machine = |line: &str| NAMES.into_iter().find(|name| line.contains(name));
    ends.map(|line| machine(line).unwrap_or_else(|| panic!("{history}"))).collect()
}

/// What `explain` says that a machine is worth for a task, once it takes tasks: its owner's load is unknown for a moment at times.
fn rating(grid: &Grid, job: &str, machine: &str) -> f64 {
    until(&format!("{machine} is rated"), PATIENCE, || {
        let explained = grid.json(&["explain", &format!("{job}/0")]);
        let ratings = explained["ratings"].as_array()?;
        ratings.iter().find(|rating| rating["machine"] == machine)?["score"].as_f64()
    })
}

#[test]
fn tasks_go_where_runs_come_to_their_end() {
    let mut grid = Grid::new("frail", 30);
    grid.start();
    for (name, percent) in NAMES.into_iter().zip([10, 60]) {
        grid.add(name, percent, RULES, &["--as", USER, "--slots", "1"]);
    }
    score(&grid, "power");
    let held = grid.json(&["submit", "--hold", "--", "true"])["job"].to_string();
    let powers = NAMES.map(|name| rating(&grid, &held, name));
    // Of equals the later comes first.
    let [frail, sound] = if powers[0] > powers[1] { NAMES } else { ["bob", "ada"] };
    assert_eq!(ran_on(&grid, frail), [frail, sound], "by power alone, and then elsewhere");

    score(&grid, "reliable-power");
    let mut failed = 1;
    while ran_on(&grid, frail) != [sound] {
        failed += 1;
        assert!(failed < JOBS_MAX, "tasks still go to the machine that fails");
    }
    assert_eq!(grid.state_of(frail).as_deref(), Some("open"), "nobody closed it");

    // By reliability it is worth what it is by power, over its losses and one.
    let worth = rating(&grid, &held, frail);
    assert!(worth < rating(&grid, &held, sound), "{worth} after {failed} losses");
    score(&grid, "power");
    let (power, losses) = (rating(&grid, &held, frail), f64::from(failed));
    eprintln!("{frail}: {power} by power, {worth} after {failed} losses");
    assert!((worth / power * (1.0 + losses) - 1.0).abs() < 1e-6, "{worth} of {power} after {failed} losses");
    assert_eq!(ran_on(&grid, frail), [frail, sound]);
    grid.wind_up();
}
