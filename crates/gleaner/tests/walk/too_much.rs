//! Results that are larger than what is kept: cut, or refused by name; and whatever else the task left is there.

use crate::grid::{Grid, PATIENCE};
use crate::processes::until;

const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\nsuspend_on_return = false\nrun_below_load = 1.0\n\
                     busy_cores = 64.0\nidle_seconds = 1\n";
/// What is kept of one stream.
const STREAM_BYTES: usize = 64 << 20;
const TOO_MANY_BYTES: usize = 1_000;

fn submit(grid: &Grid, options: &[&str], script: &str) -> String {
    grid.json(&[&["submit"], options, &["--", "sh", "-c", script]].concat())["job"].to_string()
}

#[test]
fn what_is_larger_than_the_limit_is_named_and_the_rest_is_kept() {
    let mut grid = Grid::new("too-much", 30);
    grid.start();
    grid.add("lab", 100, RULES, &[]);

    let bytes = STREAM_BYTES + TOO_MANY_BYTES;
    let wordy = submit(&grid, &[], &format!("head -c {bytes} /dev/zero | tr '\\0' x; echo an error >&2"));
    // Holes: it takes no room, but would on its way.
    let large = submit(&grid, &["--output", "*"], "truncate -s 17G large; echo it said so");
    let note = "truncate -s 17G $GLEANER_CHECKPOINT/note; trap 'exit 85' TERM; echo ready; while :; do sleep 0.1; done";
    let stopped = submit(&grid, &["--checkpoint", "--grace", "5s"], note);
    grid.ok(&["wait", &wordy]);

    let logs = grid.cli(&["logs", &format!("{wordy}/0")]);
    assert!(logs.status.success());
    let kept = logs.stdout.split(|byte| *byte == b'x').count() - 1;
    let left_out = bytes - kept;
    assert!((TOO_MANY_BYTES..2_000).contains(&left_out), "{left_out}");
    assert!(logs.stdout.len() <= STREAM_BYTES && logs.stdout.ends_with(b"xx"), "the end is kept too");
    let said = String::from_utf8_lossy(&logs.stderr).into_owned();
    let told = format!(
        "-- {left_out} bytes are not kept, since they were too much or their machine did not send them: let the task write them to a file, \
             and name it with --output --\n"
    );
    assert_eq!(said, format!("{told}an error\n"));
    assert_eq!(grid.ok(&["logs", &format!("{wordy}/0"), "--stderr"]), "an error\n");

    assert!(!grid.cli(&["wait", &large]).status.success());
    let status = grid.ok(&["status", &large, "--tasks"]);
    eprintln!("{status}");
    assert!(status.contains("too much output files: more than the 16 GiB that are kept"), "{status}");
    assert_eq!(grid.ok(&["logs", &format!("{large}/0")]), "it said so\n");

    until("it has left its note", PATIENCE, || {
        let said = grid.json(&["logs", &stopped])["outputs"][0]["text"].take();
        (said == "ready\n").then_some(())
    });
    grid.ok(&["hold", &stopped]);
    until("it is held", PATIENCE, || (grid.json(&["status", &stopped])["tasks"]["held"] == 1).then_some(()));
    let history = grid.ok(&["history", &format!("{stopped}/0")]);
    eprintln!("{history}");
    assert!(
        history.contains("checkpoint: more than the 16 GiB that are kept; the one before it stays"),
        "{history}"
    );
    grid.wind_up();
}
