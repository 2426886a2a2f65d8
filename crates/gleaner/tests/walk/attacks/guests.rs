//! Tasks that do not obey the owner.

use crate::grid::{Grid, PATIENCE, USER};
use crate::processes::until;
use serde_json::Value;
use std::fs;
use std::time::Duration;

const RULES: &str =
    "sessions = \"ignore\"\nprograms = \"ignore\"\nnot_on_battery = false\ngrace_max_seconds = 2\n";
/// Long enough for a process that may run to show it.
const WHILE: Duration = Duration::from_millis(800);

/// Forty processes that wake each other as fast as they can. With an argument each also goes on as another all the time,
/// so that whoever goes through a list of them is too late.
const WAKING: &str = "\
import os, signal, sys
for number in range(39):
    if os.fork() == 0:
        break
else:
    sys.argv = ['']
ours = os.getpgid(0)
while True:
    os.killpg(ours, signal.SIGCONT)
    try:
        if len(sys.argv) > 1 and os.fork() > 0:
            os._exit(0)
    except OSError:
        pass
";

/// Goes on after it was stopped, with the help of nobody: the kernel's timer sends what wakes it. So this shows for sure,
/// with however many cores, that to stop a task by a signal is not enough.
const SLEEPLESS: &str = "\
import ctypes, signal
signal.signal(signal.SIGCONT, lambda *_: None)
libc = ctypes.CDLL(None)
event = (ctypes.c_int * 16)()
event[2] = signal.SIGCONT
timer = ctypes.c_void_p()
assert libc.timer_create(1, event, ctypes.byref(timer)) == 0
often = (ctypes.c_long * 4)(0, 300000000, 0, 300000000)
assert libc.timer_settime(timer, 0, often, None) == 0
while True:
    pass
";

fn submit(grid: &Grid, options: &[&str], command: &[&str]) -> String {
    grid.json(&[&["submit"], options, &["--"], command].concat())["job"].to_string()
}

fn phase(grid: &Grid, job: &str, phase: &str) -> bool {
    grid.json(&["status", job])["tasks"][phase] == 1
}

fn history(grid: &Grid, job: &str) -> String {
    grid.ok(&["history", &format!("{job}/0")])
}

/// What the processes of a machine have used of its processors so far, in ticks.
fn used(grid: &mut Grid, machine: &str) -> u64 {
    let tasks = grid.machine(machine).processes();
    let of = |pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let after_name = stat.rsplit_once(')').map_or("", |(_, rest)| rest);
        after_name
            .split_whitespace()
            .skip(11)
            .take(2)
            .filter_map(|ticks| ticks.parse::<u64>().ok())
            .sum::<u64>()
    };
    let is_python =
        |pid: &u32| crate::processes::words(*pid).first().is_some_and(|word| word.contains("python3"));
    tasks.into_iter().filter(is_python).map(of).sum()
}

fn stands_still(grid: &mut Grid, machine: &str) {
    until("the machine is quiet", PATIENCE, || {
        let before = used(grid, machine);
        std::thread::sleep(WHILE);
        (used(grid, machine) == before).then_some(())
    });
}

/// How far such processes come depends on how many of them run at once: with a few cores, stopping them one by one may do.
/// What shows that for sure is [`SLEEPLESS`]; this is what it takes to stop many.
#[test]
fn processes_that_wake_each_other_do_not_outlast_the_owners_pause() {
    let mut grid = Grid::new("waking", 60);
    grid.start();
    grid.add("lab", 100, RULES, &["--as", USER]);
    for options in [&[][..], &["--no-sandbox"]] {
        let more = if options.is_empty() { &["on"][..] } else { &[] };
        let job = submit(&grid, options, &[&["/usr/bin/python3", "-c", WAKING], more].concat());
        until("it runs", PATIENCE, || (used(&mut grid, "lab") > 5).then_some(()));
        grid.machine("lab").owner("pause");
        stands_still(&mut grid, "lab");
        // Also where nobody is there whom the agent could ask.
        if options.is_empty() {
            let before = used(&mut grid, "lab");
            grid.machine("lab").owner("resume");
            until("it goes on", PATIENCE, || (used(&mut grid, "lab") != before).then_some(()));
            grid.kill_coordinator();
            grid.machine("lab").owner("pause");
            stands_still(&mut grid, "lab");
            grid.start();
        } else {
            until("it was ended or met at once", PATIENCE, || {
                let told = history(&grid, &job);
                (told.contains("it ignored the owner's pause") || phase(&grid, &job, "suspended"))
                    .then_some(())
            });
        }
        resume_and_cancel(&mut grid, &job);
    }
    grid.wind_up();
}

fn resume_and_cancel(grid: &mut Grid, job: &str) {
    grid.machine("lab").owner("resume");
    grid.cli(&["cancel", job]);
    until("it is over", PATIENCE, || {
        (phase(grid, job, "cancelled") || phase(grid, job, "failed")).then_some(())
    });
}

#[test]
fn a_program_that_wakes_itself_does_not_outlast_the_owners_pause() {
    let mut grid = Grid::new("sleepless", 60);
    grid.start();
    grid.add("lab", 100, RULES, &["--as", USER]);
    for options in [&[][..], &["--no-sandbox"]] {
        let job = submit(&grid, options, &["/usr/bin/python3", "-c", SLEEPLESS]);
        until("it runs", PATIENCE, || (used(&mut grid, "lab") > 5).then_some(()));
        grid.machine("lab").owner("pause");
        stands_still(&mut grid, "lab");
        resume_and_cancel(&mut grid, &job);
    }
    grid.wind_up();
}

#[test]
fn a_guest_does_not_choose_how_long_it_takes_to_leave() {
    let mut grid = Grid::new("grace", 60);
    grid.start();
    grid.add("lab", 100, RULES, &[]);
    let deaf = "trap '' TERM; echo $GLEANER_GRACE; while :; do sleep 0.1; done";
    let mut jobs = Vec::new();
    for leave in ["cancel", "evict"] {
        let job = submit(&grid, &["--grace", "24h"], &["sh", "-c", deaf]);
        until("it says how long it would have", PATIENCE, || {
            (grid.json(&["logs", &job])["outputs"][0]["text"] == "2\n").then_some(())
        });
        if leave == "cancel" {
            grid.ok(&["cancel", &job]);
            until("it is gone", PATIENCE, || phase(&grid, &job, "cancelled").then_some(()));
        } else {
            grid.machine("lab").owner("evict");
            until("it is gone", PATIENCE, || phase(&grid, &job, "waiting").then_some(()));
        }
        let told = history(&grid, &job);
        assert!(told.contains("allows 2 s of grace, not the 86400 s"), "{told}");
        jobs.push(job);
    }
    // The agent's own end is no longer either; the evicted task runs until then.
    grid.machine("lab").owner("resume");
    until("it runs again", PATIENCE, || phase(&grid, &jobs[1], "running").then_some(()));
    grid.wind_up();
}

#[test]
fn tasks_that_want_to_run_again_rest_ever_longer() {
    let mut grid = Grid::new("again", 60);
    grid.start();
    grid.add("lab", 100, RULES, &[]);
    let again = submit(&grid, &["--checkpoint-exit-code", "85"], &["sh", "-c", "exit 85"]);
    let facts = until("it ran three times", PATIENCE, || {
        let facts = grid.facts();
        (facts.iter().filter(|fact| is(fact, "run_ended")).count() == 3).then_some(facts)
    });
    let steps: Vec<&str> = facts
        .iter()
        .filter_map(|fact| ["run_ended", "tasks_rested"].into_iter().find(|name| is(fact, name)))
        .collect();
    assert_eq!(steps, ["run_ended", "tasks_rested", "run_ended", "tasks_rested", "run_ended"]);
    grid.ok(&["cancel", &again]);
    let refused = grid.cli(&["submit", "--checkpoint-exit-code", "0", "--", "true"]);
    assert_eq!(refused.status.code(), Some(2));
    grid.wind_up();
}

/// Whether a fact is of that kind.
fn is(fact: &Value, kind: &str) -> bool {
    fact.get(kind).is_some()
}

#[test]
fn the_owners_rules_are_heeded_when_they_change_and_mistakes_are_named() {
    let mut grid = Grid::new("rules", 60);
    grid.start();
    grid.add("lab", 100, RULES, &[]);
    let home = grid.machine("lab").home.clone();
    let set = |key: &str, value: &str| {
        grid.cli(&["owner", "set", key, value, "--home", home.to_str().expect("text")])
    };
    let wrong = set("cores_max", "0");
    assert_eq!(wrong.status.code(), Some(2));
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(said.contains("cores_max is 0; it must be a number of cores"), "{said}");
    // Nobody gets the network until its owner says so.
    let network = submit(&grid, &["--network"], &["true"]);
    let sandboxed = submit(&grid, &[], &["true"]);
    grid.ok(&["wait", &sandboxed]);
    assert!(phase(&grid, &network, "waiting"));
    assert!(set("network", "all").status.success());
    grid.ok(&["wait", &network]);
    // Then nobody comes but somebody else.
    assert!(set("users", "[\"somebody\"]").status.success());
    until("the coordinator knows", PATIENCE, || {
        let job = submit(&grid, &["--hold"], &["true"]);
        let explained = grid.ok(&["explain", &format!("{job}/0")]);
        explained.contains("run tasks of certain users only").then_some(())
    });
    grid.wind_up();
}
