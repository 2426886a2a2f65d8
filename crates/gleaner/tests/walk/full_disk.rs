//! Disks that fill up in the middle of work: the coordinator's, and an agent's.

use crate::disk::SmallDisk;
use crate::grid::{Grid, PATIENCE, PROGRAM};
use crate::processes::until;
use serde_json::Value;
use std::fs;
use std::process::Stdio;

const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\nsuspend_on_return = false\nrun_below_load = 1.0\n\
                     idle_seconds = 1\n";
const TASKS: u32 = 40;

fn submit(grid: &Grid, arguments: &[&str]) -> String {
    grid.json(&[&["submit"], arguments].concat())["job"].to_string()
}

fn tally(grid: &Grid, job: &str, phase: &str) -> u64 {
    grid.json(&["status", job])["tasks"][phase].as_u64().expect("a number")
}

#[test]
fn the_coordinators_disk_fills_up() {
    let disk = SmallDisk::new(24);
    let mut grid = Grid::at("full", 30, disk.path().join("coordinator"));
    grid.start();
    grid.add("lab", 100, RULES, &["--slots", "2"]);
    let array = format!("1-{TASKS}");
    let long = "seq $GLEANER_INDEX 20000; sleep 0.1";
    let job = submit(&grid, &["--array", &array, "--", "sh", "-c", long]);
    until("some tasks are done", PATIENCE, || (tally(&grid, &job, "done") >= 3).then_some(()));
    let before = tally(&grid, &job, "done");
    disk.fill();
    let status = until("the coordinator ends", PATIENCE, || grid.coordinator_ended());
    let said = grid.said();
    let last = said.lines().last().unwrap_or_default();
    eprintln!("{last}");
    assert_eq!(status.code(), Some(4), "{last}");
    assert!(last.contains("ree some space"), "what to do: {last}");
    assert!(last.contains("kept") || last.contains("nothing that was acknowledged is lost"), "{last}");

    // Without room it starts for questions, and lets no agent in.
    grid.start();
    assert!(tally(&grid, &job, "done") >= before);
    let said = grid.said();
    assert!(said.contains("is full: it can be asked"), "{said}");
    until("the agent is told why", PATIENCE, || {
        let log = fs::read_to_string(&grid.machine("lab").log).expect("a log");
        log.contains("the coordinator's disk is full").then_some(())
    });
    let why = machine(&grid, "lab")["why"].to_string();
    assert!(why.contains("the coordinator's disk is full"), "{why}");
    let refused = grid.cli(&["submit", "--", "true"]);
    let error = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(3), "{error}");
    eprintln!("{error}");

    // With room it goes on by itself.
    disk.clear();
    assert!(tally(&grid, &job, "done") >= before, "what was done is not done any more");
    grid.ok(&["wait", &job]);
    let logs = grid.json(&["logs", &job]);
    for output in logs["outputs"].as_array().expect("a list") {
        let first = output["task"].as_u64().expect("a number");
        let expected: String = (first..=20_000).map(|number| format!("{number}\n")).collect();
        assert!(output["text"] == expected, "the output of task {first} is not what it wrote");
    }
    grid.wind_up();
}

/// What tasks print takes the room that the journal needs no more: it waits at the machine, and the grid goes on.
#[test]
fn what_tasks_print_fills_the_coordinators_disk() {
    let disk = SmallDisk::new(160);
    let mut grid = Grid::at("printed", 30, disk.path().join("coordinator"));
    grid.start();
    grid.add("lab", 100, RULES, &["--slots", "4"]);
    disk.fill_but(60);
    let print = "head -c 50000000 /dev/zero | tr '\\0' x; echo $GLEANER_INDEX";
    let job = submit(&grid, &["--array", "1-2", "--", "sh", "-c", print]);
    let unwanted = submit(&grid, &["--", "sh", "-c", print]);
    let small = submit(&grid, &["--array", "1-40", "--", "sh", "-c", "sleep 0.2; echo ok"]);
    until("what it prints waits", PATIENCE, || {
        let status = grid.ok(&["status", &job]);
        status.contains("space on the coordinator's disk").then_some(())
    });
    grid.ok(&["wait", &small]);
    let said = grid.said();
    assert!(said.contains("no room left for what tasks print"), "{said}");
    assert!(grid.coordinator_ended().is_none(), "{said}");

    // Whoever does not want it any more gets rid of it.
    let waits = (1..=2).find(|task| {
        let history = grid.ok(&["explain", &format!("{job}/{task}")]);
        history.contains("no space is left on the coordinator's disk")
    });
    let waits = format!("{job}/{}", waits.expect("one of the two waits"));
    until("it waits too", PATIENCE, || {
        let explained = grid.ok(&["explain", &format!("{unwanted}/0")]);
        explained.contains("no space is left on the coordinator's disk").then_some(())
    });
    grid.ok(&["cancel", &unwanted]);
    until("it is over", PATIENCE, || {
        (tally(&grid, &unwanted, "done") + tally(&grid, &unwanted, "cancelled") == 1).then_some(())
    });

    // With room it goes on by itself, and nothing is missing.
    disk.clear();
    grid.ok(&["wait", &job]);
    let printed = grid.ok(&["logs", &waits]);
    assert_eq!(printed.trim_end().len(), 50_000_001);
    assert!(printed.trim_end().ends_with(&waits[job.len() + 1..]));
    grid.wind_up();
}

/// A disk with room that can hold hardly more files takes none and no output; the journal goes on, and the coordinator starts on it.
#[test]
fn the_coordinators_disk_has_no_inodes_left() {
    let disk = SmallDisk::with_inodes(160, 2_000);
    let mut grid = Grid::at("inodes", 30, disk.path().join("coordinator"));
    grid.start();
    grid.add("lab", 100, RULES, &["--slots", "2"]);
    let print = "sleep 0.2; head -c 20000 /dev/zero | tr '\\0' x; echo $GLEANER_INDEX";
    let job = submit(&grid, &["--array", "1-60", "--", "sh", "-c", print]);
    until("some tasks are done", PATIENCE, || (tally(&grid, &job, "done") >= 3).then_some(()));
    disk.take_inodes_but(200);
    until("what they print waits", PATIENCE, || {
        let status = grid.ok(&["status", &job]);
        status.contains("space on the coordinator's disk").then_some(())
    });
    let said = grid.said();
    assert!(said.contains("no room left for what tasks print (no inodes are left for more files)"), "{said}");
    let input = grid.folder.path().join("input");
    fs::write(&input, "an input").expect("a file");
    let input = input.to_str().expect("text");
    for what in [&["submit", "--", "true"][..], &["submit", "--input", input, "--", "true"]] {
        let refused = grid.cli(what);
        let error = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(3), "{error}");
        assert!(error.contains("no inodes are left") && error.contains("df -i"), "{error}");
    }
    // What is ordered is in the journal.
    grid.ok(&["token", "join"]);
    grid.expect_all_alive();

    // Others take the rest: it starts for questions.
    let done = tally(&grid, &job, "done");
    grid.kill_coordinator();
    disk.take_inodes_but(0);
    grid.start();
    assert!(tally(&grid, &job, "done") >= done);
    let said = grid.said();
    assert!(said.contains("is full: it can be asked") && said.contains("no inodes are left"), "{said}");
    until("the agent is told why", PATIENCE, || {
        let log = fs::read_to_string(&grid.machine("lab").log).expect("a log");
        log.contains("the coordinator's disk is full (no inodes are left for more files)").then_some(())
    });

    // With inodes it goes on by itself, and nothing is missing.
    disk.give_inodes_back();
    grid.ok(&["wait", &job]);
    let logs = grid.json(&["logs", &job]);
    let outputs = logs["outputs"].as_array().expect("a list");
    assert_eq!(outputs.len(), 60);
    for output in outputs {
        let (task, text) = (&output["task"], output["text"].as_str().expect("text").trim_end());
        assert_eq!(text.get(20_000..).and_then(|last| last.parse().ok()), task.as_u64(), "task {task}");
    }
    grid.wind_up();
}

#[test]
fn output_for_which_there_will_never_be_room_ends_its_run() {
    let disk = SmallDisk::new(24);
    let mut grid = Grid::at("never", 30, disk.path().join("coordinator"));
    grid.start();
    grid.add("lab", 100, RULES, &["--slots", "1"]);
    let leave = "head -c 40000000 /dev/urandom > x";
    let job = submit(&grid, &["--output", "x", "--", "sh", "-c", leave]);
    until("it is given up", PATIENCE, || (tally(&grid, &job, "failed") == 1).then_some(()));
    let task = &grid.json(&["status", &job, "--tasks"])["list"][0];
    assert_eq!(task["runs"], 1, "{task}");
    let history = grid.ok(&["history", &job]);
    assert!(history.contains("the coordinator's disk holds"), "{history}");
    assert!(history.contains("name fewer or smaller ones with --output"), "what to do: {history}");
    grid.wind_up();
}

/// What runs there fails and is tried again, a checkpoint is stored all the same, and nothing new starts until there is room.
#[test]
fn an_agents_disk_fills_up() {
    let disk = SmallDisk::new(96);
    let mut grid = Grid::new("agent-full", 30);
    grid.start();
    grid.add_at("lab", disk.path().join("lab"), 100, RULES, &["--slots", "2"]);
    let script = "head -c 4000000 /dev/zero > $GLEANER_CHECKPOINT/note; echo noted; \
                  [ $GLEANER_ATTEMPT -gt 1 ] || sleep 300";
    let counter = submit(&grid, &["--checkpoint", "--grace", "2s", "--", "sh", "-c", script]);
    let writes = "sleep 2; head -c 8000000 /dev/zero > big && echo wrote it";
    let job =
        submit(&grid, &["--array", "1-4", "--retries", "20", "--output", "big", "--", "sh", "-c", writes]);
    until("both run", PATIENCE, || {
        (tally(&grid, &job, "running") + tally(&grid, &counter, "running") == 2).then_some(())
    });
    until("the checkpoint is written", PATIENCE, || {
        grid.ok(&["logs", &counter]).contains("noted").then_some(())
    });
    until("the machine takes nothing new", PATIENCE, || {
        disk.fill();
        (grid.state_of("lab")? == "closed").then_some(())
    });
    let why = machine(&grid, "lab")["why"].as_str().unwrap_or_default().to_owned();
    eprintln!("lab: {why}");
    assert_eq!(why, "its disk is full: free some space");

    grid.ok(&["hold", &counter]);
    until("it is held", PATIENCE, || {
        disk.fill();
        (tally(&grid, &counter, "held") == 1).then_some(())
    });
    let history = grid.ok(&["history", &format!("{counter}/0")]);
    eprintln!("{history}");
    assert!(history.contains("its checkpoint is stored"), "it is packed on its way: {history}");

    disk.clear();
    grid.ok(&["release", &counter]);
    for job in [&job, &counter] {
        grid.ok(&["wait", job]);
    }
    let to = grid.folder.path().join("fetched");
    grid.ok(&["fetch", &job, "--to", to.to_str().expect("text")]);
    for task in 1..=4 {
        let size = fs::metadata(to.join(task.to_string()).join("big")).expect("an output").len();
        assert_eq!(size, 8_000_000, "task {task}");
    }
    grid.wind_up();
}

/// What a task needs of a disk is compared with what the machine's owner leaves there.
#[test]
fn a_task_waits_for_so_much_disk() {
    let disk = SmallDisk::new(128);
    let mut grid = Grid::new("agent-disk", 30);
    grid.start();
    grid.add_at("lab", disk.path().join("lab"), 100, RULES, &["--slots", "2"]);
    let needs = |size: &str| submit(&grid, &["--disk", size, "--", "true"]);
    let waits = |job: &str| grid.json(&["status", job])["waits_for"].as_str().unwrap_or_default().to_owned();
    let wide = needs("1GB");
    let why = waits(&wide);
    assert!(why.contains("1 of 1 machines have less than 1 GiB of disk for tasks"), "{why}");
    grid.ok(&["cancel", &wide]);
    grid.ok(&["submit", "--disk", "50MB", "--wait", "--", "true"]);

    disk.fill_but(48);
    until("the coordinator hears of it", PATIENCE, || {
        (machine(&grid, "lab")["profile"]["disk"].as_u64()? < 50 << 20).then_some(())
    });
    let job = needs("50MB");
    let why = waits(&job);
    assert!(why.contains("have less than 50 MiB of disk for tasks"), "{why}");
    grid.ok(&["submit", "--disk", "20MB", "--wait", "--", "true"]);
    disk.clear();
    grid.ok(&["wait", &job]);
    grid.wind_up();
}

/// Where an agent begins there may be little room: it says so, and ends only where it cannot begin.
#[test]
fn an_agent_begins_on_a_small_disk() {
    let [small, tiny, full] = [48, 12, 12].map(SmallDisk::new);
    full.fill_but(1);
    let mut grid = Grid::new("small-disk", 30);
    grid.start();
    grid.add_at("small", small.path().join("agent"), 100, RULES, &["--slots", "1"]);
    grid.ok(&["submit", "--wait", "--", "true"]);

    let work = |disk: &SmallDisk, name: &str| {
        let home = disk.path().join("agent");
        fs::create_dir(&home).expect("the agent's folder");
        fs::write(home.join("rules.toml"), RULES).expect("the owner's rules");
        let line = grid.join_line();
        let mut command = grid.within();
        command.arg(PROGRAM).args(line.split_whitespace().skip(1)).args(["--name", name, "--home"]);
        command.arg(home).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("an agent")
    };
    let mut agent = work(&tiny, "tiny");
    until("it is closed, with the reason", PATIENCE, || {
        let is_closed = grid.state_of("tiny")? == "closed";
        (is_closed && machine(&grid, "tiny")["why"] == "its disk is full: free some space").then_some(())
    });
    agent.kill().and_then(|()| agent.wait()).expect("it is ours");

    let ended = work(&full, "full").wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(4), "{said}");
    assert!(said.contains("are free on the disk of") && said.contains("free some space"), "{said}");
    grid.wind_up();
}

fn machine(grid: &Grid, name: &str) -> Value {
    let machines = grid.json(&["machines"]);
    let list = machines["machines"].as_array().expect("a list").clone();
    list.into_iter().find(|machine| machine["machine"] == name).expect("it joined")
}
