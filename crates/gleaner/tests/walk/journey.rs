//! The whole walk: three machines of different speed, a bag of programs, owners who come back, a task that moves with its
//! checkpoint, and a coordinator that is killed in the middle.

use crate::grid::{Grid, PATIENCE};
use crate::processes::until;
use gleaner_agent::probes::Benchmark;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

/// The fastest first: each has so many hundredths of a core.
const MACHINES: [(&str, u32); 3] = [("lab", 60), ("office", 30), ("attic", 10)];
/// The owner's programs are noticed at once, and forgotten soon.
const RULES: &str = "sessions = \"ignore\"\nnot_on_battery = false\nidle_seconds = 2\n";
const BAG: u32 = 18;
/// What each task of the bag does, in a sandbox: `$1` is its number.
const PROGRAM: &str = "seq 1 $((1000 * $1)) | sort -rn | sha256sum > sum; wc -c < sum; sleep 1";
/// Counts up from where it stopped, in a file that is always whole.
const COUNTER: &str = "\
cd \"$GLEANER_CHECKPOINT\"
n=$(cat count 2>/dev/null || echo 0)
echo \"run $GLEANER_ATTEMPT goes on from $n\"
while [ $n -lt $1 ]; do
    n=$((n + 1)); echo $n > new; mv new count; echo $n; sleep 0.1
done";
const COUNT: u32 = 250;

#[test]
fn the_whole_walk() {
    let mut grid = Grid::new("walk", 8).measuring();
    grid.start();
    for (name, percent) in MACHINES {
        grid.add(name, percent, RULES, &[]);
    }
    for (name, percent) in MACHINES {
        check_measured(&mut grid, name, percent);
    }

    let counter = count(&grid);
    let first = machine_of_running(&grid, &counter, &[]);
    eprintln!("task {counter}/0 counts on {first}");
    let bag = submit_bag(&grid);

    eprintln!("the owner's programs run on {first}");
    let burner = grid.machine(&first).burn();
    let second = machine_of_running(&grid, &counter, &[&first]);
    eprintln!("it went on on {second}");
    drop(burner);

    grid.kill_coordinator();
    eprintln!("the coordinator is killed");
    std::thread::sleep(std::time::Duration::from_secs(1));
    grid.start();

    eprintln!("the owner of {second} says that they are there");
    grid.machine(&second).owner("here");
    let third = machine_of_running(&grid, &counter, &[&second]);
    eprintln!("it went on on {third}");
    grid.machine(&second).owner("away");

    for job in [&bag, &counter] {
        grid.ok(&["wait", job]);
    }
    check_bag(&grid, &bag);
    check_counter(&grid, &counter, 3);
    grid.wind_up();
    let home = grid.home.display().to_string();
    let advised = grid.ok(&["advise", "--home", &home, "--seeds", "2"]);
    assert!(advised.contains("as it is now") && advised.contains("FLOW_MEAN_S"), "{advised}");
    let replayed = grid.ok(&["replay", &home, "--policy", "bertasi/social"]);
    eprintln!("{replayed}");
    assert!(replayed.contains("MAKESPAN") && replayed.contains("as asked   social"), "{replayed}");
    let log = grid.home.with_file_name("live.swf").display().to_string();
    let written = grid.ok(&["workload", "convert", &home, "--out", &log]);
    assert!(written.contains("jobs ") && written.contains("written"), "{written}");
    let simulated = grid.ok(&["simulate", "--swf", &log, "--policy", "queue/easy"]);
    eprintln!("{simulated}");
}

/// What its agent measured of so much of a core, and says. Other programs that want the cores may make this less, and
/// nothing makes it more.
fn check_measured(grid: &mut Grid, name: &str, percent: u32) {
    let of_agent = fs::read_to_string(grid.machine(name).home.join("speeds.json")).expect("it measured");
    let measured: Benchmark = serde_json::from_str(&of_agent).expect("its own file");
    eprintln!("{name}: {measured:?}");
    let share = measured.cpu.speed / measured.cpu_on_core;
    // The kernel gives a quota out in slices, and may be one late at each end of a window.
    assert!(share < 1.3 * f64::from(percent) / 100.0, "{name} has {percent} %, and measured {share}");
    assert_eq!(told_speed(grid, name), measured.speeds().rounded().cpu, "{name}");
}

fn told_speed(grid: &Grid, name: &str) -> f64 {
    let machines = grid.json(&["machines"]);
    let list = machines["machines"].as_array().expect("a list");
    let found = list.iter().find(|machine| machine["machine"] == name).expect("it joined");
    assert!(found["profile"]["sandbox"]["Ok"].is_string(), "no sandbox: {}", found["profile"]["sandbox"]);
    assert_eq!(found["profile"]["user"], "", "an agent of nobody takes sandboxed tasks only");
    found["profile"]["speeds"][0].as_f64().expect("a speed")
}

fn submit(grid: &Grid, arguments: &[&str]) -> String {
    grid.json(&[&["submit"], arguments].concat())["job"].to_string()
}

fn count(grid: &Grid) -> String {
    let goal = COUNT.to_string();
    submit(grid, &["--checkpoint", "--grace", "3s", "--", "sh", "-c", COUNTER, "sh", &goal])
}

fn submit_bag(grid: &Grid) -> String {
    let array = format!("1-{BAG}");
    let command = ["--", "sh", "-c", PROGRAM, "sh", "{GLEANER_INDEX}"];
    submit(grid, &[&["--array", &array, "--output", "sum"], command.as_slice()].concat())
}

/// Where the only task of a job runs, once that is on none of these.
fn machine_of_running(grid: &Grid, job: &str, but: &[&str]) -> String {
    until(&format!("job {job} runs elsewhere than on {but:?}"), PATIENCE, || {
        let task = only_task(grid, job);
        assert_ne!(task["phase"], "done", "it ended too early to be moved");
        let machine = task["machine"].as_str().filter(|_| task["phase"] == "running")?;
        (!but.contains(&machine)).then(|| machine.to_owned())
    })
}

fn only_task(grid: &Grid, job: &str) -> Value {
    grid.json(&["status", job, "--tasks"])["list"][0].take()
}

fn check_bag(grid: &Grid, job: &str) {
    let to = grid.folder.path().join("fetched");
    grid.ok(&["fetch", job, "--to", to.to_str().expect("text")]);
    let status = grid.json(&["status", job, "--tasks"]);
    let list = status["list"].as_array().expect("a list");
    assert_eq!(list.len(), BAG as usize);
    let machines: BTreeSet<&str> = list.iter().filter_map(|task| task["machine"].as_str()).collect();
    eprintln!("the bag ran on {machines:?}");
    assert!(machines.len() > 1, "all on {machines:?}");
    for task in list {
        let number = task["task"].as_u64().expect("a number");
        let command = format!("seq 1 $((1000 * {number})) | sort -rn | sha256sum");
        let expected = Command::new("sh").args(["-c", &command]).output().expect("sh").stdout;
        let found = fs::read(to.join(number.to_string()).join("sum")).expect("the task's output");
        assert_eq!(found, expected, "task {number}");
        assert_eq!(grid.ok(&["logs", &format!("{job}/{number}")]).trim(), "68");
    }
}

/// It was on at least so many machines, went on above where it stopped each time, and came to its end.
fn check_counter(grid: &Grid, job: &str, machines: usize) {
    let facts = grid.facts();
    let stored = |fact: &&Value| fact["run_ended"]["end"]["checkpoint"].is_object();
    let stops = facts.iter().filter(stored).count();
    assert!(stops + 1 >= machines, "{stops} checkpoints were stored");
    let last = grid.ok(&["logs", &format!("{job}/0")]);
    let mut lines = last.lines();
    let start = lines.next().expect("where it went on from");
    let from: u32 = start.rsplit(' ').next().and_then(|word| word.parse().ok()).expect("a number");
    assert!(from > 0, "{start}");
    let counted: Vec<u32> = lines.map(|line| line.parse().expect("a number")).collect();
    assert!(counted.iter().copied().eq(from + 1..=COUNT), "{start}: {counted:?}");
    eprintln!("{start}, and to {COUNT}");
}
