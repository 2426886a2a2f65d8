//! `gleaner simulate` as its users meet it: files in, files and exit codes out.

use crate::scratch::{Scratch, gleaner, json};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const MACHINES: &str = "id,cpu,disk,net\nm0,4,100,250\nm1,2,100,250\nm2,1,800,250\n";
const TASKS: &str = "id,arrival_s,length,cpu,disk,net\n\
                     t0,0,200000,1,0,0\n\
                     t1,0,50000,0.7,0.1,0.2\n\
                     t2,1,120000,0.2,0.8,0\n";

fn scenario(folder: &Scratch) {
    folder.write("machines.csv", MACHINES);
    folder.write("tasks.csv", TASKS);
    folder.write(
        "scenario.toml",
        "[grid]\nmachines = \"machines.csv\"\n\
         [work]\ntasks = \"tasks.csv\"\nweights = { cpu = 2e-5, disk = 0.1, net = 0.1 }\n\
         [policy]\npreset = \"bertasi/greedy\"\n",
    );
}

#[test]
fn a_scenario_without_weights_says_so() {
    let folder = Scratch::new();
    scenario(&folder);
    let said = |folder: &Scratch| {
        let run = gleaner(folder, &["simulate", "scenario.toml"]).success();
        String::from_utf8(run.get_output().stderr.clone()).expect("text")
    };
    assert!(!said(&folder).contains("weights"));
    let without: String = folder
        .read("scenario.toml")
        .lines()
        .filter(|line| !line.starts_with("weights"))
        .map(|line| format!("{line}\n"))
        .collect();
    folder.write("scenario.toml", &without);
    assert!(said(&folder).contains("weights = { cpu = 1.0, disk = 1.0, net = 1.0 }"), "{}", said(&folder));
}

/// A rank decides where a task goes only where the policy reads it; the others say so.
#[test]
fn a_rank_that_the_policy_does_not_read_is_told_of() {
    let folder = Scratch::new();
    scenario(&folder);
    let ranked = "id,arrival_s,length,cpu,disk,net,ad\nt0,0,200000,1,0,0,[Rank = TARGET.Cpus]\n";
    folder.write("tasks.csv", ranked);
    for (policy, is_read) in [("bertasi/greedy", true), ("immediate/mct", false), ("queue/fcfs", false)] {
        let set = "--set=grid.sharing=exclusive";
        let run = gleaner(&folder, &["simulate", "scenario.toml", "--policy", policy, set]).success();
        let said = String::from_utf8(run.get_output().stderr.clone()).expect("text");
        assert_eq!(!said.contains("does not read a task's Rank"), is_read, "{policy}: {said}");
    }
}

#[test]
fn a_run_leaves_the_tables_of_the_contract() {
    let folder = Scratch::new();
    scenario(&folder);
    let run = gleaner(&folder, &["simulate", "scenario.toml", "--out", "out", "--json"]).success();
    let summary = json(&run.get_output().stdout);
    assert_eq!(summary, json(folder.read("out/summary.json").as_bytes()));
    for key in ["version", "policy", "seed", "tasks", "unfinished", "makespan_s", "lower_bound_s", "moves"] {
        assert!(!summary[key].is_null(), "{key} in {summary}");
    }
    assert!(summary["lower_bound_s"].as_f64() <= summary["makespan_s"].as_f64());
    assert_eq!(
        folder.read("out/tasks.csv"),
        "task,machine,arrived_s,started_s,finished_s,moves\n\
         t0,m0,0.000000000,0.000000000,1.000000000,0\n\
         t1,m2,0.000000000,0.000000000,9.650000000,0\n\
         t2,m2,1.000000000,1.000000000,17.805000000,0\n"
    );
    assert_eq!(
        folder.read("out/machines.csv"),
        "machine,busy_s,tasks\nm0,1.000000000,1\nm1,0.000000000,0\nm2,17.805000000,2\n"
    );
    assert!(folder.read("out/machines_over_time.csv").starts_with("time_s,machine,tasks\n"));
    let report = folder.read("out/report.html");
    assert!(report.starts_with("<!DOCTYPE html>") && !report.contains("src=\"http"));
}

#[test]
fn each_seed_has_a_folder_of_its_own() {
    let folder = Scratch::new();
    scenario(&folder);
    gleaner(&folder, &["simulate", "scenario.toml", "--seed", "7", "--seeds", "2", "--out", "out"]).success();
    let summary = json(folder.read("out/summary.json").as_bytes());
    assert_eq!(summary["seeds"], serde_json::json!([7, 8]));
    for seed in [7, 8] {
        let one = json(folder.read(&format!("out/seed-{seed}/summary.json")).as_bytes());
        assert_eq!(one["seed"], seed);
    }
}

#[test]
fn bad_input_says_where_and_writes_nothing() {
    let folder = Scratch::new();
    scenario(&folder);
    folder.write("tasks.csv", "id,arrival_s,length,cpu,disk,net\nt0,0,200000,1,0,0.5\n");
    let run = gleaner(&folder, &["simulate", "scenario.toml", "--out", "out"]).code(2);
    let error = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(error.contains("tasks.csv:2"), "{error}");
    assert!(!folder.path("out").exists());

    let run = gleaner(&folder, &["simulate", "scenario.toml", "--json"]).code(2);
    assert!(run.get_output().stdout.is_empty());
    let error = json(&run.get_output().stderr);
    assert_eq!(
        (&error["version"], &error["code"], &error["input"]["line"]),
        (&1.into(), &2.into(), &2.into())
    );
}

#[test]
fn what_has_no_meaning_here_is_refused_at_its_key() {
    let folder = Scratch::new();
    scenario(&folder);
    for (setting, field) in [
        ("policy.preset=bertasi/gredy", "policy.preset"),
        ("policy.budget={ rule = \"b\", recharge = 10, period_s = 60 }", "price"),
        ("policy.budget={ rule = \"b\", recharge = 0, period_s = 60 }", "policy.budget.recharge"),
        ("policy.budget={ rule = \"lbtt\", recharge = 10, period_s = 60 }", "policy.budget.rule"),
        ("policy.preset=elleuch/min-min", "grid.sharing"),
        ("policy.aging=3", "policy.aging"),
        ("policy.relocate.scores=greedy", "policy.relocate"),
        ("policy.favours=nof", "policy.favours"),
        ("policy.queue=peer", "policy.queue"),
        ("policy.recall=never", "policy.recall"),
    ] {
        let run = gleaner(&folder, &["simulate", "scenario.toml", "--json", "--set", setting]).code(2);
        let error = json(&run.get_output().stderr);
        let found = error["input"]["field"].as_str().expect("a field");
        assert!(found.starts_with(field), "{setting}: {error}");
    }
    // A task would move in every period, and each move takes one.
    let moves = "policy.relocate={ score = \"min-num\", difference_min = 1, period_s = 5 }";
    let endless = ["simulate", "scenario.toml", "--json", "--set", "migration.seconds=5", "--set", moves];
    let error = json(&gleaner(&folder, &endless).code(2).get_output().stderr);
    assert_eq!(error["input"]["field"], "policy.relocate.difference_min", "{error}");
}

#[test]
fn a_place_that_cannot_be_written_is_named_before_the_run() {
    let folder = Scratch::new();
    scenario(&folder);
    folder.write("taken", "a file");
    for arguments in [["--out", "taken"], ["--checkpoint", "nowhere/run.save"], ["--resume", "nothing"]] {
        let run = gleaner(&folder, &[&["simulate", "scenario.toml"], &arguments[..]].concat()).code(2);
        let error = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert!(error.contains(arguments[1]), "{error}");
        assert!(!error.contains("os error 2"), "{error}");
    }
}

#[test]
fn a_full_device_is_no_fault_of_ours() {
    let folder = Scratch::new();
    scenario(&folder);
    let full = fs::File::options().write(true).open("/dev/full").expect("a device that is always full");
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("gleaner"));
    command.current_dir(folder.path("")).args(["simulate", "scenario.toml"]).stdout(full);
    let output = command.output().expect("it runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("cannot write to standard output"), "{error}");
}

/// A run that takes long enough to be stopped.
fn long_scenario(folder: &Scratch) {
    scenario(folder);
    let rows = (0..60_000).map(|index| {
        let (arrival, length) = (f64::from(index) * 0.01, 10_000 + index * 7919 % 100_000);
        format!("t{index},{arrival},{length},0.7,0.1,0.2")
    });
    let header = std::iter::once("id,arrival_s,length,cpu,disk,net".to_owned());
    folder.write("tasks.csv", &(header.chain(rows).collect::<Vec<_>>().join("\n") + "\n"));
}

fn start(folder: &Scratch, arguments: &[&str]) -> Child {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("gleaner"));
    command.current_dir(folder.path("")).args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("the program starts")
}

fn wait_for(file: &Path, running: &mut Child) {
    let patience = Instant::now() + Duration::from_mins(2);
    while !file.exists() {
        assert!(running.try_wait().expect("a child").is_none(), "it ended before it could be stopped");
        assert!(Instant::now() < patience, "no checkpoint came");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_run_that_is_interrupted_goes_on_to_the_same_end() {
    let folder = Scratch::new();
    long_scenario(&folder);
    let relocate = "policy.relocate={ score = \"greedy\" }";
    let arguments = ["simulate", "scenario.toml", "--set", relocate];
    gleaner(&folder, &[&arguments[..], &["--out", "whole"]].concat()).success();

    let stopped =
        [&arguments[..], &["--out", "parts", "--checkpoint", "run.save", "--checkpoint-every", "0"]];
    let mut running = start(&folder, &stopped.concat());
    wait_for(&folder.path("run.save"), &mut running);
    let killed = Command::new("sh").args(["-c", &format!("kill -INT {}", running.id())]).status();
    assert!(killed.expect("kill runs").success());
    assert_eq!(running.wait().expect("it ends").code(), Some(130));

    gleaner(&folder, &[&arguments[..], &["--out", "parts", "--resume", "run.save"]].concat()).success();
    for file in fs::read_dir(folder.path("whole")).expect("a folder") {
        let name = file.expect("an entry").file_name().into_string().expect("a name of ours");
        assert_eq!(folder.read(&format!("parts/{name}")), folder.read(&format!("whole/{name}")), "{name}");
    }

    let other = ["simulate", "scenario.toml", "--resume", "run.save"];
    gleaner(&folder, &other).code(2);
    gleaner(&folder, &[&arguments[..], &["--seed", "7", "--resume", "run.save"]].concat()).code(2);
    folder.write("run.save", "no checkpoint");
    gleaner(&folder, &[&arguments[..], &["--resume", "run.save"]].concat()).code(2);
}

#[test]
fn a_budget_is_spent_period_by_period() {
    let folder = Scratch::new();
    folder.write("machines.csv", "id,cpu,price\nslow,1000,1\nfast,4000,4\n");
    let tasks: String = (0..6).map(|task| format!("t{task},0,{},1\n", 10_000 * (task + 1))).collect();
    folder.write("tasks.csv", &format!("id,arrival_s,length,cpu\n{tasks}"));
    folder.write(
        "scenario.toml",
        "[grid]\nmachines = \"machines.csv\"\nsharing = \"exclusive\"\n[work]\ntasks = \"tasks.csv\"\n\
         [policy]\npreset = \"elleuch/b-min-min\"\nbudget = { recharge = 150000, period_s = 20 }\n",
    );
    let run = gleaner(&folder, &["simulate", "scenario.toml", "--out", "out", "--json"]).success();
    let summary = json(&run.get_output().stdout);
    let periods = summary["budget"]["periods"].as_array().expect("periods");
    assert!(periods.iter().all(|period| period["spent"].as_u64() <= Some(150_000)), "{summary}");
    // At 20 s: t0 and t1 on fast for 40,000 and 80,000; then 30,000 are left, for t2 on slow.
    assert_eq!(periods[1]["spent"], 150_000, "{summary}");
    assert_eq!(summary["unfinished"], 0);
    assert!(folder.read("out/spending.csv").starts_with("period_start_s,spent,left\n"));
    let dear = ["simulate", "scenario.toml", "--json", "--set", "policy.budget.recharge=50000"];
    let error = json(&gleaner(&folder, &dear).code(2).get_output().stderr);
    assert_eq!(error["input"]["found"], "50000, where t5 costs 60000 credits at least");
}

/// Two machines on which each task takes 4 seconds and costs 4 credits, and a budget for one task in 10 seconds.
fn spending(folder: &Scratch, users: &str, policy: &str) {
    let tasks: String = users.chars().enumerate().map(|(at, user)| format!("t{at},0,4,1,{user}\n")).collect();
    folder.write("machines.csv", "id,cpu,price\nm0,1,1\nm1,1,1\n");
    folder.write("tasks.csv", &format!("id,arrival_s,length,cpu,user\n{tasks}"));
    folder.write(
        "scenario.toml",
        &format!(
            "[grid]\nmachines = \"machines.csv\"\nsharing = \"exclusive\"\n\
             [work]\ntasks = \"tasks.csv\"\nweights = {{ cpu = 1 }}\n[policy]\n{policy}\n"
        ),
    );
}

/// A column of the table of tasks that a run left.
fn column(folder: &Scratch, number: usize) -> Vec<String> {
    let table = folder.read("out/tasks.csv");
    let cells = table.lines().skip(1).filter_map(|row| row.split(',').nth(number));
    cells.map(str::to_owned).collect()
}

#[test]
fn each_user_spends_their_own_budget() {
    for (users, preset, budget, starts) in [
        ("aab", "bertasi/greedy", "rule = \"b\"", [0, 10, 20]),
        ("aab", "bertasi/greedy", "rule = \"b\", per = \"grid\"", [0, 10, 20]),
        ("aab", "bertasi/greedy", "rule = \"b\", per = \"user\"", [0, 10, 0]),
        ("abc", "bertasi/greedy", "rule = \"bt\", per = \"user\"", [0, 0, 4]),
        ("aab", "elleuch/b-min-min", "per = \"grid\"", [10, 20, 30]),
        ("aab", "elleuch/b-min-min", "per = \"user\"", [10, 20, 10]),
        ("aba", "elleuch/lbtt-sufferage", "per = \"user\"", [10, 10, 20]),
    ] {
        let folder = Scratch::new();
        let policy = format!("preset = \"{preset}\"\nbudget = {{ recharge = 5, period_s = 10, {budget} }}");
        spending(&folder, users, &policy);
        gleaner(&folder, &["simulate", "scenario.toml", "--out", "out"]).success();
        let started = column(&folder, 3);
        let started: Vec<f64> = started.iter().map(|second| second.parse().expect("a number")).collect();
        assert_eq!(started, starts.map(f64::from), "{users} {preset} {budget}");
    }
}

/// Nothing is planned before 10 s; then each user has a task planned, and one of them another in the next period.
#[test]
fn who_has_spent_nothing_yet_has_a_whole_budget_left() {
    let folder = Scratch::new();
    let budget = "{ recharge = 5, period_s = 10, per = \"user\" }";
    spending(&folder, "aab", &format!("preset = \"elleuch/b-min-min\"\nbudget = {budget}"));
    let run = gleaner(&folder, &["simulate", "scenario.toml", "--json"]).success();
    let summary = json(&run.get_output().stdout);
    let periods = summary["budget"]["periods"].as_array().expect("periods");
    let left: Vec<u64> = periods.iter().map(|period| period["left"].as_u64().expect("a sum")).collect();
    assert_eq!(left, [10, 2, 6], "{summary}");
}

/// Tasks take twice as long as they declare. At 3 s all are planned; the third waits for a machine until 7 s, so that at 6 s it is given
/// back, and charged anew in that period.
#[test]
fn what_is_given_back_in_a_later_period_is_said_apart() {
    let folder = Scratch::new();
    spending(&folder, "aaa", "preset = \"elleuch/b-min-min\"\nbudget = { recharge = 100, period_s = 3 }");
    let tasks: String = (0..3).map(|task| format!("t{task},0,4,2,1\n")).collect();
    folder.write("tasks.csv", &format!("id,arrival_s,length,declared,cpu\n{tasks}"));
    let run = gleaner(&folder, &["simulate", "scenario.toml", "--json"]).success();
    let summary = json(&run.get_output().stdout);
    let budget = &summary["budget"];
    let periods = budget["periods"].as_array().expect("periods");
    let spent: u64 = periods.iter().map(|period| period["spent"].as_u64().expect("a sum")).sum();
    assert_eq!((spent, &budget["paid"], &budget["given_back_later"]), (8, &6.into(), &2.into()), "{summary}");
    let said = gleaner(&folder, &["simulate", "scenario.toml"]).success();
    let said = String::from_utf8_lossy(&said.get_output().stdout).into_owned();
    assert!(
        said.contains("6 credits; in one period 6 of 100 at most; 2 given back in a later period"),
        "{said}"
    );
}

#[test]
fn immediate_baselines_plan_each_task_as_it_comes() {
    // A task takes 10 s on m0 and 40 s on m1.
    for (preset, machines) in [
        ("immediate/mct", ["m0", "m0", "m0", "m0", "m1"]),
        ("immediate/met", ["m0", "m0", "m0", "m0", "m0"]),
        ("immediate/olb", ["m0", "m1", "m0", "m0", "m0"]),
        ("immediate/kpb:20", ["m0", "m0", "m0", "m0", "m0"]),
        ("immediate/kpb:100", ["m0", "m0", "m0", "m0", "m1"]),
    ] {
        let folder = Scratch::new();
        let tasks: String = (0..5).map(|task| format!("t{task},0,40,1\n")).collect();
        folder.write("machines.csv", "id,cpu\nm0,4\nm1,1\n");
        folder.write("tasks.csv", &format!("id,arrival_s,length,cpu\n{tasks}"));
        folder.write(
            "scenario.toml",
            &format!(
                "[grid]\nmachines = \"machines.csv\"\nsharing = \"exclusive\"\n\
                 [work]\ntasks = \"tasks.csv\"\nweights = {{ cpu = 1 }}\n[policy]\npreset = \"{preset}\"\n"
            ),
        );
        gleaner(&folder, &["simulate", "scenario.toml", "--out", "out"]).success();
        assert_eq!(column(&folder, 1), machines, "{preset}");
        let refused = ["simulate", "scenario.toml", "--set", "policy.period_s=5"];
        gleaner(&folder, &refused).code(2);
    }
}

#[test]
fn budgets_for_each_user_need_users() {
    let folder = Scratch::new();
    let budget = "{ rule = \"b\", recharge = 5, period_s = 10, per = \"user\" }";
    spending(&folder, "aab", &format!("preset = \"bertasi/greedy\"\nbudget = {budget}"));
    folder.write("tasks.csv", "id,arrival_s,length,cpu\nt0,0,4,1\n");
    let run = gleaner(&folder, &["simulate", "scenario.toml"]).failure().code(2);
    let error = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    assert!(error.contains("policy.budget.per") && error.contains("a column user"), "{error}");
}

#[test]
fn a_task_that_fewer_machines_could_run_than_have_to_agree_is_bad_input() {
    let folder = Scratch::new();
    folder.write("machines.csv", "id,cpu,cores\nbig,10,4\nsmall,10,1\n");
    folder.write("tasks.csv", "id,arrival_s,length,cpu,cores\nt0,0,100,1,1\nt1,1,100,1,4\n");
    folder.write(
        "s.toml",
        "[grid]\nmachines = \"machines.csv\"\nsharing = \"exclusive\"\n[work]\ntasks = \"tasks.csv\"\nweights = { cpu = 1 }\n\
         [policy]\npreset = \"bertasi/greedy\"\n",
    );
    gleaner(&folder, &["simulate", "s.toml", "--set", "policy.replicate=2"]).success();
    let refused =
        gleaner(&folder, &["simulate", "s.toml", "--set", "policy.replicate={ quorum = 2 }"]).code(2);
    let error = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    let says = "tasks.csv:3: found t1, which 1 of the machines could run, where 2 have to agree";
    assert!(error.contains(says), "{error}");
}

#[test]
fn why_a_broker_sends_a_task_nowhere_is_said() {
    let folder = Scratch::new();
    folder.write("machines.csv", "id,cpu\nm0,20\nm1,10\n");
    folder.write("tasks.csv", "id,arrival_s,length,cpu,ad\nt0,3,10,1,[Rank = \"x\"]\nt1,6,10,1,\n");
    folder.write(
        "p.toml",
        "[grid]\nmachines = \"machines.csv\"\nsharing = \"exclusive\"\n[work]\ntasks = \"tasks.csv\"\nweights = { cpu = 1 }\n\
         [policy]\npreset = \"cavalieri/current\"\n",
    );
    let why = "2 of 2 machines have no place in its own rank, which is no number there";
    let text = |arguments: &[&str]| {
        String::from_utf8_lossy(&gleaner(&folder, arguments).success().get_output().stdout).into_owned()
    };
    let run = text(&["simulate", "p.toml"]);
    assert!(run.contains(&format!("held         1 task: {why}\n")), "{run}");
    let explained = text(&["explain", "p.toml", "t0"]);
    assert!(explained.contains(&format!("  passed over: {why}\n")), "{explained}");
    assert!(!text(&["explain", "p.toml", "t1"]).contains("passed over"));
}
