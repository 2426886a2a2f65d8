//! Two machines that each run the same task: the faster one's result counts, the other's program is stopped.

use crate::grid::{Grid, PATIENCE};
use crate::processes::{until, words};

const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\n";
/// The first run sleeps for longer than anyone waits; the others end at once when the first is there.
const RACE: &str = "if [ \"$GLEANER_ATTEMPT\" = 1 ]; then echo slow; exec sleep 3000; fi; sleep 1; echo fast";

#[test]
fn the_first_result_counts_and_the_slower_run_is_stopped_and_counted_as_waste() {
    let mut grid = Grid::new("replicas", 30);
    grid.start();
    for name in ["one", "two"] {
        grid.add(name, 50, RULES, &["--slots", "1"]);
    }
    let options = ["policy", "set", "bertasi/greedy", "--set", "replicate=2", "--set", "relocate=none"];
    grid.ok(&options);
    let job = grid.json(&["submit", "--", "sh", "-c", RACE])["job"].to_string();
    grid.ok(&["wait", &job]);
    assert_eq!(grid.ok(&["logs", &job]).trim(), "fast");
    let wasted = until("the slower run has ended", PATIENCE, || {
        let job = grid.json(&["status", &job]);
        job["wasted_s"].as_f64().filter(|wasted| *wasted > 0.0)
    });
    assert!(wasted < 3000.0, "{wasted}");
    for name in ["one", "two"] {
        let sleeps = |pid: &u32| words(*pid).iter().any(|word| word == "3000");
        assert!(
            !grid.machine(name).processes().iter().any(sleeps),
            "the slower program still runs on {name}"
        );
    }
    let history = grid.ok(&["history", &format!("{job}/0")]);
    for told in ["runs it on", "ended with exit code 0", "another run of it came to its end first"] {
        assert!(history.contains(told), "{told:?} is not in:\n{history}");
    }
    let told = grid.ok(&["status", &job]);
    assert!(told.contains("wasted"), "{told}");
    grid.wind_up();
}
