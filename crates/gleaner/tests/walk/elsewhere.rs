//! One machine on which every program fails, among good ones.

use crate::grid::{Grid, USER};

const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\nsuspend_on_return = false\nrun_below_load = 1.0\n\
                     busy_cores = 64.0\nidle_seconds = 1\n";
const TASKS: u64 = 40;

#[test]
fn one_bad_machine_does_not_fail_the_job() {
    let mut grid = Grid::new("elsewhere", 30);
    grid.start();
    // It is the first that is asked, and always free.
    for name in ["bad", "good"] {
        grid.add(name, 60, RULES, &["--as", USER, "--slots", "2"]);
    }
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
