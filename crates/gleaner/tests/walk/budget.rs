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
    let mut grid = Grid::new("budget", 8);
    grid.start();
    for (name, percent, price) in PRICES {
        grid.add(name, percent, "sessions = \"ignore\"\nnot_on_battery = false\n", &[]);
        let priced = grid.cli(&["machine", "price", name, &price.to_string()]);
        let said = String::from_utf8_lossy(&priced.stderr).into_owned();
        assert!(priced.status.success() && said.contains("running costs nothing for now"), "{said}");
    }
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
