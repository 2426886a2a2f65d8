//! What ended on a machine while its coordinator was away is handed in, though its agent was started again meanwhile.

use crate::grid::{Grid, PATIENCE, USER};
use crate::processes::until;
use std::fs;
use std::thread;
use std::time::Duration;

const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\nsuspend_on_return = false\nrun_below_load = 1.0\n\
                     busy_cores = 64.0\nidle_seconds = 1\n";

/// How an agent ends before its time.
#[derive(Clone, Copy, PartialEq, Debug)]
enum End {
    Asked,
    Killed,
    WithAllItsParts,
}

#[test]
fn what_an_agent_could_not_hand_in_before_it_ended_the_next_one_hands_in() {
    // The last is started again after its lease.
    for (end, lease_s) in [(End::Asked, 60), (End::Killed, 60), (End::WithAllItsParts, 60), (End::Killed, 8)]
    {
        hands_in(end, lease_s);
    }
}

fn hands_in(end: End, lease_s: u32) {
    eprintln!("---- {end:?}, a lease of {lease_s} s");
    let mut grid = Grid::new("handed-in", lease_s);
    grid.start();
    grid.add("lab", 80, RULES, &["--as", USER, "--slots", "4"]);
    let seen = grid.folder.path().join("runs");
    let count = format!("echo $GLEANER_TASK.$GLEANER_ATTEMPT >> {}", seen.display());
    let submit = |grid: &Grid, options: &[&str], script: &str| {
        let script = format!("{count}; {script}");
        let start = [&["submit", "--no-sandbox"], options, &["--", "sh", "-c", &script]].concat();
        grid.json(&start)["job"].to_string()
    };
    let printed = submit(&grid, &["--array", "1-2"], "sleep 3; seq 1 3000");
    let left = submit(&grid, &["--output", "left"], "sleep 3; echo whole > left");
    // It goes on from what it kept: as it is asked to end with its agent, or long before that is killed.
    let keeps = if end == End::Asked { "trap 'echo kept > kept; exit 9' TERM" } else { "echo kept > kept" };
    let goes_on =
        format!("cd $GLEANER_CHECKPOINT; test -e kept && exec cat kept; {keeps}; sleep 600 & wait $!");
    let goes_on = submit(&grid, &["--checkpoint", "--grace", "5"], &goes_on);
    let running = 4;
    until("all have begun", PATIENCE, || {
        let begun = fs::read_to_string(&seen).unwrap_or_default().lines().count();
        (begun == running).then_some(())
    });
    grid.kill_coordinator();
    // Long enough for what waits to be written down.
    thread::sleep(Duration::from_secs(9));
    let machine = grid.machine("lab");
    match end {
        End::Asked => drop(machine.stop()),
        End::Killed => machine.kill(),
        End::WithAllItsParts => machine.kill_all_parts(),
    }
    if end != End::WithAllItsParts {
        machine.wait_until_quiet();
    }
    // What outlived all parts is ended by the agent that comes next, before it hands anything in.
    machine.start();
    grid.start();
    for job in [&printed, &left, &goes_on] {
        grid.ok(&["wait", job]);
    }
    let expected: String = (1..=3_000).map(|number| format!("{number}\n")).collect();
    for output in grid.json(&["logs", &printed])["outputs"].as_array().expect("a list") {
        assert!(output["text"] == expected, "the output of task {} is not what it wrote", output["task"]);
    }
    let to = grid.folder.path().join("fetched");
    grid.ok(&["fetch", &left, "--to", to.to_str().expect("text")]);
    assert_eq!(fs::read_to_string(to.join("0").join("left")).expect("its output"), "whole\n");
    assert_eq!(grid.ok(&["logs", &goes_on]), "kept\n");
    let begun = fs::read_to_string(&seen).expect("they ran");
    let again = begun.lines().filter(|run| !run.ends_with(".1")).count();
    assert_eq!(again, 1, "what was done did not run again:\n{begun}");
    let home = grid.machine("lab").home.clone();
    until("nothing is kept any more", PATIENCE, || {
        let kept = fs::read_dir(home.join("kept")).into_iter().flatten().count();
        let tasks = fs::read_dir(home.join("tasks")).into_iter().flatten().flatten();
        let tasks = tasks.filter(|entry| !entry.file_name().to_string_lossy().starts_with("shared-")).count();
        (kept + tasks == 0).then_some(())
    });
    grid.wind_up();
}
