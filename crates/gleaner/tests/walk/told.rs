//! What the commands tell of a job's files and of its tasks, where there is less than was meant.

use crate::grid::Grid;

const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\nsuspend_on_return = false\nrun_below_load = 1.0\n\
                     busy_cores = 64.0\nidle_seconds = 1\n";

#[test]
fn nobody_is_sent_for_files_that_are_not_there() {
    let mut grid = Grid::new("told", 30);
    grid.start();
    grid.add("lab", 80, RULES, &["--slots", "2"]);
    let leave = |script: &str| grid.ok(&["submit", "--wait", "--output", "x", "--", "sh", "-c", script]);
    let left = leave("echo here > x");
    assert!(left.contains("`gleaner fetch 1 --to DIR` brings its output files"), "{left}");
    let nothing = leave("exit 0");
    assert!(nothing.contains("it left no output file: `gleaner history 2`"), "{nothing}");
    let status = grid.ok(&["status", "2"]);
    assert!(status.ends_with("note       1 task: it left no output file x; it is 2/0\n"), "{status}");
    let tasks = grid.ok(&["status", "2", "--tasks"]);
    assert!(tasks.contains("exit code 0; it left no output file x"), "{tasks}");
    let history = grid.ok(&["history", "2"]);
    assert!(history.starts_with("WHEN") && history.contains("it left no output file x"), "{history}");

    let some = "test $GLEANER_INDEX = 1 || echo here > x";
    grid.ok(&["submit", "--wait", "--array", "1-3", "--output", "x", "--", "sh", "-c", some]);
    let to = grid.folder.path().join("fetched");
    let fetched = grid.ok(&["fetch", "3", "--to", to.to_str().expect("text")]);
    assert!(fetched.starts_with("the files of 2 tasks are in "), "{fetched}");
    assert!(fetched.ends_with("; 1 task left no files\n"), "{fetched}");
    let none = grid.ok(&["submit", "--wait", "--array", "1-3", "--output", "x", "--", "true"]);
    assert!(none.contains("it left no output file: `gleaner history 4`"), "{none}");
    let status = grid.ok(&["status", "3"]);
    assert!(status.ends_with("note       1 task: it left no output file x; it is 3/1\n"), "{status}");
    let history = grid.ok(&["history", "3"]);
    assert!(history.starts_with("task 3/1, one of 3:\n"), "{history}");
    grid.ok(&["submit", "--wait", "--sweep", "scene=a,b", "--", "echo", "{scene}.xml"]);
    let task = grid.ok(&["status", "last/1"]);
    assert!(task.starts_with("task       5/1\n") && task.contains("command    echo b.xml\n"), "{task}");
    let history = grid.ok(&["history", "last/1"]);
    assert!(history.starts_with("command: echo b.xml\nWHEN"), "{history}");
    let all = grid.ok(&["submit", "--wait", "--output", "*", "--", "true"]);
    assert!(all.contains("1 done") && !all.contains("left no output file"), "{all}");
    grid.wind_up();
}
