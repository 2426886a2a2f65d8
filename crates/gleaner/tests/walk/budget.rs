//! Batches within a budget: two machines with prices, tasks with lengths, and what was spent in the end.

use crate::grid::{Grid, PATIENCE};
use crate::processes::until;
use serde_json::Value;
use std::collections::BTreeMap;

/// Credits for a million operations.
const PRICES: [(&str, u32, u64); 2] = [("lab", 50, 2), ("attic", 40, 1)];
const TASKS: u32 = 12;
/// A million operations.
const LENGTH: u64 = 1000;
const RECHARGE: u64 = 6000;

#[test]
fn tasks_end_within_a_budget() {
    let mut grid = priced("budget");
    let recharge = RECHARGE.to_string();
    grid.ok(&["budget", "set", &recharge, "--period", "2s", "--per", "user", "--charged", "ended"]);

    // What runs when the policy changes goes on.
    let before = submit(&grid, &["--", "sleep", "3"]);
    until("it runs", PATIENCE, || (grid.json(&["status", &before])["tasks"]["running"] == 1).then_some(()));
    grid.ok(&["policy", "set", "elleuch/bt-min-min"]);
    assert_eq!(grid.json(&["status", &before])["tasks"]["running"], 1);

    let last = (TASKS - 1).to_string();
    let array = format!("0-{last}");
    let job = submit(&grid, &["--array", &array, "--length", "1G", "--", "sleep", "0.2"]);
    let unknown = submit(&grid, &["--", "true"]);
    let most = spending(&grid, &job);
    eprintln!("at most {most} credits were spent or held at a time");
    assert!(most <= RECHARGE);
    grid.ok(&["wait", &before]);

    let told = grid.ok(&["explain", &format!("{unknown}/0")]);
    assert!(told.contains("no length was declared") && told.contains("--length"), "{told}");
    grid.ok(&["policy", "set", "bertasi/greedy"]);
    grid.ok(&["wait", &unknown]);

    eprintln!("by machine: {:?}", costs(&grid, &job));
    let late = submit(&grid, &["--array", "0-3", "--length", "1G", "--", "true"]);
    grid.ok(&["policy", "set", "nimrod/cost"]);
    grid.ok(&["wait", &late]);
    let replayed = grid.ok(&["replay", &grid.home.display().to_string(), "--policy", "elleuch/b-max-min"]);
    assert!(replayed.contains("as asked"), "{replayed}");
    grid.wind_up();
}

/// `gleaner/budget` by a price that moves: what is planned is held until it starts, what is spent and held is never more than the
/// recharge, and `budget show` says both. Then a policy that plans without a declared length, by what ran before.
#[test]
fn a_price_moves_and_lengths_are_learnt() {
    let mut grid = priced("price");
    let recharge = RECHARGE.to_string();
    grid.ok(&["budget", "set", &recharge, "--period", "2s", "--charged", "reserved"]);
    grid.ok(&["policy", "set", "gleaner/budget"]);
    let told = grid.ok(&["budget", "show"]);
    assert!(told.contains("their cost is held from when they are planned"), "{told}");
    let last = (TASKS - 1).to_string();
    let job = submit(&grid, &["--array", &format!("0-{last}"), "--length", "1G", "--", "sleep", "1"]);
    let most = spending(&grid, &job);
    eprintln!("at most {most} credits were spent or held at a time; by machine: {:?}", costs(&grid, &job));
    assert!((1..=RECHARGE).contains(&most));
    let told = grid.ok(&["budget", "show"]);
    assert!(told.contains("everyone"), "{told}");

    let refused = grid.cli(&["policy", "set", "gleaner/budget", "--set", "lengths=learnt"]);
    let why = String::from_utf8_lossy(&refused.stderr);
    assert!(!refused.status.success() && why.contains("charged by declared lengths"), "{why}");
    let learning = ["lengths=learnt", "availability=learnt", "period_s=1", "budget=none"];
    let learning = learning.iter().flat_map(|key| ["--set", key]);
    grid.ok(&["policy", "set", "elleuch/min-min"].into_iter().chain(learning).collect::<Vec<_>>());
    let told = grid.ok(&["policy", "current"]);
    assert!(told.contains("learnt"), "{told}");
    for _ in 0..2 {
        let undeclared = submit(&grid, &["--array", "0-3", "--label", "nap", "--", "sleep", "0.2"]);
        grid.ok(&["wait", &undeclared]);
    }
    grid.wind_up();
}

/// Two machines with prices.
fn priced(name: &str) -> Grid {
    let mut grid = Grid::new(name, 8);
    grid.start();
    for (name, percent, price) in PRICES {
        grid.add(name, percent, "sessions = \"ignore\"\nnot_on_battery = false\n", &[]);
        grid.ok(&["machine", "price", name, &price.to_string()]);
    }
    grid
}

fn submit(grid: &Grid, arguments: &[&str]) -> String {
    grid.json(&[&["submit"], arguments].concat())["job"].to_string()
}

/// Until the job is over: what is spent and held at most; and in the end, that what was paid is what its tasks cost.
fn spending(grid: &Grid, job: &str) -> u64 {
    let mut most = 0;
    until("all tasks are done", PATIENCE, || {
        let account = account(grid);
        most = most
            .max(account["spent"].as_u64().expect("credits") + account["held"].as_u64().expect("credits"));
        (grid.json(&["status", job])["state"] == "done").then_some(())
    });
    assert_eq!(paid(grid), costs(grid, job).values().sum::<u64>());
    most
}

fn account(grid: &Grid) -> Value {
    let budget = grid.json(&["budget", "show"]);
    assert_eq!((&budget["version"], &budget["heeded"]), (&1.into(), &true.into()), "{budget}");
    budget["accounts"][0].clone()
}

fn paid(grid: &Grid) -> u64 {
    grid.json(&["budget", "show"])["accounts"][0]["paid"].as_u64().unwrap_or(0)
}

/// ⌈length × price⌉ of each task, by the machine that it ended on.
fn costs(grid: &Grid, job: &str) -> BTreeMap<String, u64> {
    let status = grid.json(&["status", job, "--tasks"]);
    let mut costs = BTreeMap::new();
    for task in status["list"].as_array().expect("tasks") {
        let machine = task["machine"].as_str().expect("a machine");
        let price = PRICES.iter().find(|(name, ..)| *name == machine).expect("one of the two").2;
        *costs.entry(machine.to_owned()).or_default() += LENGTH * price;
    }
    costs
}
