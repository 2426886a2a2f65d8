//! A queue on a live grid, with tasks of which nobody says more than how long they may run.

use crate::grid::{Grid, PATIENCE};
use crate::processes::until;

const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\n";

fn phase(grid: &Grid, job: &str) -> String {
    let task = grid.json(&["status", job, "--tasks"])["list"][0].take();
    task["phase"].as_str().expect("a phase").to_owned()
}

/// A task that wants all three cores waits behind one that has two. A short one may fill the gap; a long one that came before
/// it may not, and has its turn after the wide one.
#[test]
fn a_wide_task_has_its_turn_before_a_long_narrow_one() {
    let mut grid = Grid::new("queue", 8);
    grid.start();
    grid.add("m1", 50, RULES, &["--slots", "3"]);
    grid.ok(&["policy", "set", "queue/easy"]);
    let submit = |grid: &Grid, cores: &str, limit: &str, program: &[&str]| {
        let asked = ["submit", "--cores", cores, "--time-limit", limit, "--"];
        grid.json(&[&asked, program].concat())["job"].to_string()
    };
    let first = submit(&grid, "2", "1h", &["sleep", "3600"]);
    until("the first runs", PATIENCE, || (phase(&grid, &first) == "running").then_some(()));
    let wide = submit(&grid, "3", "1h", &["date", "+%s%N"]);
    let long = submit(&grid, "1", "2h", &["date", "+%s%N"]);
    let short = submit(&grid, "1", "10m", &["date", "+%s%N"]);
    grid.ok(&["wait", &short]);
    assert_eq!([&wide, &long].map(|job| phase(&grid, job)), ["waiting", "waiting"]);
    let told = grid.ok(&["explain", &format!("{long}/0")]);
    assert!(told.contains(&format!("may not delay {wide}/0, for which cores are kept on m1")), "{told}");
    grid.ok(&["cancel", &first]);
    grid.ok(&["wait", &wide]);
    grid.ok(&["wait", &long]);
    let moment = |job: &str| -> u64 { grid.ok(&["logs", job]).trim().parse().expect("a moment") };
    assert!(moment(&short) < moment(&wide) && moment(&wide) < moment(&long), "each in its turn");

    // A rule that is gone explains nothing any more.
    let holds = submit(&grid, "2", "1h", &["sleep", "3600"]);
    until("it runs", PATIENCE, || (phase(&grid, &holds) == "running").then_some(()));
    let named = ["submit", "--name", "wide again", "--cores", "3", "--time-limit", "1h", "--", "echo", "ran"];
    let next = grid.json(&named)["job"].to_string();
    let explained = || grid.ok(&["explain", &format!("{next}/0")]);
    let before = explained();
    assert!(before.contains("cores are kept for it on m1"), "{before}");
    grid.ok(&["policy", "set", "bertasi/greedy"]);
    let after = explained();
    assert!(!after.contains("kept") && after.contains("fewer than 3 cores free"), "{after}");
    grid.ok(&["cancel", &holds]);
    grid.ok(&["wait", "last"]);
    assert_eq!(grid.ok(&["logs", "last"]), "ran\n");
    let told = grid.ok(&["status", &next]);
    assert!(told.contains("wide again"), "{told}");
    let held = grid.json(&["submit", "--hold", "--array", "1-3", "--", "true"])["job"].to_string();
    grid.ok(&["cancel", &held]);
    for (of, count) in [("", "3 tasks"), ("/3", "1 task"), ("/2-9", "2 tasks"), ("/1,3", "2 tasks")] {
        let logs = grid.cli(&["logs", &format!("{held}{of}")]);
        let said = String::from_utf8_lossy(&logs.stderr);
        assert!(said.contains(&format!("{count} of job {held} never ran and wrote nothing")), "{said}");
    }
    grid.wind_up();
}
