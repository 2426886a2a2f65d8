//! Lengths that nobody declares: two labels whose tasks take very different times, and decisions that follow what was learnt.

use crate::grid::{Grid, PATIENCE};
use crate::processes::until;
use serde_json::Value;

const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\n";
/// What the label's tasks take, and a machine that is busy with other things may add a lot to both.
const LONG: (&str, [&str; 2]) = ("film", ["sleep", "15"]);
const SHORT: (&str, [&str; 2]) = ("still", ["sleep", "0"]);

#[test]
fn decisions_follow_what_ran_before() {
    let mut grid = Grid::new("learnt", 8);
    grid.start();
    grid.add("only", 60, RULES, &["--slots", "1"]);
    plan_by(&grid, "elleuch/min-min");
    let unknown = submit(&grid, &["--label", LONG.0, "--array", "0-1", "--"], &LONG.1);
    let told = explained(&grid, &unknown, 1);
    assert!(told.contains("for nothing was declared, and too little ran before"), "{told}");
    let short = submit(&grid, &["--label", SHORT.0, "--array", "0-1", "--"], &SHORT.1);
    for job in [unknown, short] {
        grid.ok(&["wait", &job]);
    }

    // Each time the order of submission is the other one, which holds where nothing is known of either.
    starts_first(&grid, SHORT.0, LONG.0);
    plan_by(&grid, "elleuch/max-min");
    starts_first(&grid, LONG.0, SHORT.0);
    grid.wind_up();
}

fn plan_by(grid: &Grid, preset: &str) {
    grid.ok(&["policy", "set", preset, "--set", "lengths=learnt", "--set", "period_s=1"]);
}

/// Of two tasks that came in the other order while the only slot was taken, the first of these labels starts first.
fn starts_first(grid: &Grid, first: &str, second: &str) {
    let before = submit(grid, &["--label", "before", "--"], &["sleep", "600"]);
    until("the slot is taken", PATIENCE, || {
        (grid.json(&["status", &before])["tasks"]["running"] == 1).then_some(())
    });
    let second_job = submit(grid, &["--label", second, "--"], &["true"]);
    let first_job = submit(grid, &["--label", first, "--"], &["true"]);
    let seconds = [first, second].map(|label| {
        let job = if label == first { &first_job } else { &second_job };
        let told = explained(grid, job, 0);
        assert!(told.contains("by what its user's tasks took before"), "{label}: {told}");
        (label, taken_for(&told))
    });
    let of = |label: &str| seconds.iter().find(|(other, _)| *other == label).expect("one of the two").1;
    assert!(of(LONG.0) > of(SHORT.0), "{seconds:?}");
    // Both are in the batch that is made, or made anew, after this.
    let decided = batches(grid);
    until("a batch has both", PATIENCE, || (batches(grid) > decided + 1).then_some(()));
    grid.ok(&["cancel", &before]);
    let started = [&first_job, &second_job].map(|job| {
        grid.ok(&["wait", job]);
        let task: Value = grid.json(&["status", job, "--tasks"])["list"][0].take();
        task["started_s"].as_f64().unwrap_or_else(|| panic!("{task}"))
    });
    assert!(started[0] < started[1], "{first} started at {} s, {second} at {} s", started[0], started[1]);
}

/// How many batches were made.
fn batches(grid: &Grid) -> usize {
    let facts = grid.facts();
    let decisions = facts.iter().filter_map(|fact| fact["decided"]["decisions"].as_array()).flatten();
    decisions.filter(|decision| *decision == "Collect").count()
}

fn explained(grid: &Grid, job: &str, task: u32) -> String {
    let told = grid.json(&["explain", &format!("{job}/{task}")]);
    told["summary"].as_str().unwrap_or_else(|| panic!("{told}")).to_owned()
}

/// The seconds in `it is taken for 15.0 s on the fastest machine`.
fn taken_for(told: &str) -> f64 {
    let rest = told.split("it is taken for ").nth(1).unwrap_or_else(|| panic!("{told}"));
    let number = rest.split(' ').next().expect("a word");
    number.parse().unwrap_or_else(|_| panic!("{told}"))
}

fn submit(grid: &Grid, arguments: &[&str], command: &[&str]) -> String {
    grid.json(&[&["submit"], arguments, command].concat())["job"].to_string()
}
