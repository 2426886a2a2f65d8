//! What the commands tell of a job's files and of its tasks, where there is less than was meant.

use crate::grid::Grid;
use std::fs;

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
    assert!(tasks.starts_with(&format!("{status}\n")), "what is said of the job stays: {tasks}");
    let (alone, listed) = (grid.json(&["status", "2"]), grid.json(&["status", "2", "--failed"]));
    let mut keys = alone.as_object().expect("a job").keys();
    assert!(keys.all(|key| listed[key] == alone[key]) && listed["list"].is_array(), "{listed}");
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

#[test]
fn last_is_all_that_a_file_made_and_several_tasks_are_named_at_once() {
    let mut grid = Grid::new("together", 30);
    grid.start();
    grid.add("lab", 80, RULES, &["--slots", "2"]);
    let file = grid.folder.path().join("two.sub");
    let text = "executable = /bin/sh\ntransfer_executable = false\ntransfer_output_files = o\n\
                arguments = \"-c 'echo p $(Process) > o; cat o'\"\nqueue\npriority = 1\nqueue 3\n";
    fs::write(&file, text).expect("a file is written");
    let file = file.to_str().expect("text");
    let submitted = grid.json(&["submit", "-f", file]);
    assert_eq!((&submitted["job"], &submitted["tasks"]), (&1.into(), &4.into()), "{submitted}");
    assert_eq!(submitted["jobs"].as_array().map(Vec::len), Some(2), "{submitted}");
    let waited = grid.ok(&["wait", "last"]);
    assert_eq!(waited, "job 1: 1 done\njob 2: 3 done\n");
    let whole = grid.ok(&["logs", "last"]);
    assert_eq!(whole, "==> 1/0 <==\np 0\n==> 2/1 <==\np 1\n==> 2/2 <==\np 2\n==> 2/3 <==\np 3\n");
    assert_eq!(grid.json(&["status", "last"])["jobs"].as_array().map(Vec::len), Some(2));
    // As of jobs that are forgotten since, or another user's in a journal that was put back.
    let noted = grid.home.join("last.json");
    let text = fs::read_to_string(&noted).expect("what was submitted together");
    fs::write(&noted, text.replace("    2\n", "    2,\n    99\n")).expect("it is written");
    assert_eq!(grid.ok(&["wait", "last"]), waited, "what is there still");
    assert_eq!(grid.ok(&["logs", "2/2-9"]), "==> 2/2 <==\np 2\n==> 2/3 <==\np 3\n");
    assert_eq!(grid.ok(&["logs", "last/3"]), "p 3\n", "of those jobs one has such a task");
    assert_eq!(grid.ok(&["logs", "2/3", "1"]), "==> 2/3 <==\np 3\n==> 1/0 <==\np 0\n");
    what_is_named_together_is_told_together(&grid);
    assert_eq!(grid.ok(&["rerun", "2/1,3"]), "rerun: 2 tasks\n");
    grid.ok(&["wait", "last"]);
    let to = grid.folder.path().join("fetched");
    let fetched = grid.ok(&["fetch", "last", "--to", to.to_str().expect("text")]);
    assert!(
        fetched.starts_with("job 1: the files of 1 task are in ")
            && fetched.contains("\njob 2: the files of 3 ")
    );
    grid.ok(&["fetch", "2/2", "1/0", "--to", to.join("single").to_str().expect("text")]);
    let single = [("single/1/o", "p 0\n"), ("single/2/o", "p 2\n")];
    for (name, expected) in
        [("1/0/o", "p 0\n"), ("2/1/o", "p 1\n"), ("2/3/o", "p 3\n")].into_iter().chain(single)
    {
        assert_eq!(fs::read_to_string(to.join(name)).expect(name), expected);
    }
    let none = grid.cli(&["hold", "2/8-9"]);
    let said = String::from_utf8_lossy(&none.stderr).into_owned();
    assert!(said.contains("job 2 has no task with a number from 8 to 9"), "{said}");
    assert_eq!(none.status.code(), Some(2));
    grid.ok(&["submit", "--wait", "--", "true"]);
    assert_eq!(grid.ok(&["wait", "last"]), "job 3: 1 done\n", "a later one is the last now");
    let late: [&[&str]; 2] = [
        &["submit", "--wait", "--wait-at-most", "1s", "--cores", "100", "--", "true"],
        &["wait", "--wait-at-most", "1s", "last"],
    ];
    for arguments in late {
        let waited = grid.cli(arguments);
        let said = String::from_utf8_lossy(&waited.stderr).into_owned();
        assert!(said.contains("job 4 waits for "), "{said}");
        assert!(said.contains("job 4 is not over after 1.0s: 1 waiting; it goes on"), "{said}");
        assert_eq!(waited.status.code(), Some(1), "{said}");
    }
    grid.ok(&["cancel", "last"]);
    let drain = ["machine", "drain", "lab", "--why", "new disks"];
    assert_eq!(grid.ok(&drain), "drain: lab\n");
    let machines = grid.ok(&["machines"]);
    assert!(machines.contains("lab: closed by user ") && machines.contains(": new disks"), "{machines}");
    assert_eq!(grid.ok(&drain), "drain: lab; nothing changed, it was so before\n");
    grid.ok(&["machine", "pause", "lab"]);
    let machines = grid.ok(&["machines"]);
    assert!(machines.contains("lab: paused by user ") && machines.contains(": new disks"), "{machines}");
    let resumed = grid.json(&["machine", "resume", "lab"]);
    assert_eq!(resumed["changed"], true, "{resumed}");
    assert!(resumed["over"][1].as_str().is_some_and(|order| order.ends_with(": new disks")), "{resumed}");
    assert_eq!(grid.json(&["machine", "resume", "lab"])["changed"], false);
    grid.wind_up();
}

fn what_is_named_together_is_told_together(grid: &Grid) {
    let both = grid.json(&["status", "1", "2/1-2"]);
    assert_eq!((&both["jobs"][0]["job"], &both["tasks"][1]["task"]), (&1.into(), &2.into()), "{both}");
    let tasks = grid.ok(&["status", "2/1-3", "--limit", "2"]);
    assert!(tasks.starts_with("task       2/1\n") && tasks.contains("\n\ntask       2/2\n"), "{tasks}");
    assert!(tasks.ends_with("… and 1 more task: a larger --limit shows them\n"), "{tasks}");
    for (arguments, code, shown, expected) in [
        (&["status", "2/1", "--failed"][..], 2, "", "are for whole jobs"),
        (
            &["status", "1", "99"],
            3,
            "job        1",
            "1 of 2 was refused, and the others are done: 99 (no job 99",
        ),
        // No heading where there is nothing below it.
        (&["logs", "2/2,9"], 1, "==> 2/2 <==\np 2\n", "those of 1 task (9) are missing"),
        (&["logs", "2/1-3", "--run", "9"], 3, "", "; likewise 2 other tasks (2, 3)"),
        (&["logs", "99", "1"], 1, "==> 1/0 <==\np 0\n", "job 99: no job 99"),
    ] {
        let output = grid.cli(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains(expected), "{arguments:?}: {said}");
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        let out = String::from_utf8_lossy(&output.stdout);
        let is_so = if arguments[0] == "logs" { out == shown } else { out.starts_with(shown) };
        assert!(is_so, "{arguments:?}: {out}");
    }
}
