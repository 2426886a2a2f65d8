//! `gleaner advise` from outside: a rule that is better is found and its gain measured anew, and bad input is refused.

use crate::program::{self, document, gleaner};
use serde_json::Value;
use std::path::Path;

fn example(name: &str) -> String {
    program::example(name).display().to_string()
}

/// A fast machine and four slow ones: a rule that counts tasks sends most of them to slow machines.
fn uneven(dir: &Path) -> String {
    let machines = (1..5).map(|number| format!("slow{number},1\n")).collect::<String>();
    let tasks = (0..40).map(|number| format!("t{number},{},50,1\n", 2 * number)).collect::<String>();
    let files = [
        ("machines.csv", format!("id,cpu\nfast,20\n{machines}")),
        ("tasks.csv", format!("id,arrival_s,length,cpu\n{tasks}")),
        (
            "grid.toml",
            "[grid]\nmachines = \"machines.csv\"\n[work]\ntasks = \"tasks.csv\"\nweights = { cpu = 1.0 }\n[policy]\n\
             preset = \"bertasi/min-num\"\n"
                .to_owned(),
        ),
    ];
    for (name, text) in files {
        std::fs::write(dir.join(name), text).expect("a file is written");
    }
    dir.join("grid.toml").display().to_string()
}

/// A rule that, as its seeds have it, moves a task to a machine whose owner takes it for good.
fn stranding(dir: &Path) -> String {
    let files = [
        ("machines.csv", "id,cpu\nm0,1\nm1,2\n"),
        ("tasks.csv", "id,arrival_s,length,cpu\nt0,0,5,1\nt1,3,50,1\n"),
        ("load.csv", "time_s,machine,load\n4,m1,1.0\n"),
        (
            "grid.toml",
            "[grid]\nmachines = \"machines.csv\"\nowner_load = \"load.csv\"\n[work]\ntasks = \"tasks.csv\"\n\
             weights = { cpu = 1 }\n[policy]\npreset = \"bertasi/greedy\"\n\
             relocate = { score = \"min-num\", difference_min = 2 }\n",
        ),
    ];
    for (name, text) in files {
        std::fs::write(dir.join(name), text).expect("a file is written");
    }
    dir.join("grid.toml").display().to_string()
}

/// What comes of a command that was advised.
fn run(command: &str) -> Value {
    let words = command.split(' ').skip(1).map(|word| word.trim_matches('\''));
    document(&gleaner(&words.chain(["--json"]).collect::<Vec<_>>()))
}

#[test]
fn a_rule_that_leaves_work_undone_is_not_to_be_kept() {
    let dir = tempfile::tempdir().expect("a folder");
    let scenario = stranding(dir.path());
    let said = gleaner(&["advise", &scenario]);
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(text.starts_with("Use ") && text.contains("the rule as it is leaves work unfinished"), "{text}");
    let advice = document(&gleaner(&["advise", &scenario, "--json"]));
    assert!(advice["command"].is_string() && advice["gain"].is_null(), "{advice}");
}

/// A makespan of moved arrivals is not the scenario's own.
#[test]
fn advice_says_by_how_much_arrivals_were_moved() {
    let dir = tempfile::tempdir().expect("a folder");
    let scenario = uneven(dir.path());
    let with = |more: &[&str]| {
        let arguments = ["advise", &scenario, "--seeds", "2", "--policy", "bertasi/greedy"];
        gleaner(&[&arguments[..], more].concat())
    };
    let cases: [(&[&str], f64); 3] = [(&[], 60.0), (&["--shake", "2.5"], 2.5), (&["--shake", "0"], 0.0)];
    for (more, shake_s) in cases {
        let text = String::from_utf8_lossy(&with(more).stdout).into_owned();
        let line = format!("\narrivals moved by up to {shake_s} s in each run (--shake)\n");
        assert_eq!(text.contains(&line), shake_s > 0.0, "{more:?}: {text}");
        let advice = document(&with(&[more, &["--json"]].concat()));
        assert_eq!(advice["shake_s"], shake_s, "{more:?}: {advice}");
    }
}

#[test]
fn a_better_rule_is_found_with_the_command_that_sets_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let (scenario, out) = (uneven(dir.path()), dir.path().join("out"));
    let out_name = out.display().to_string();
    let arguments =
        ["advise", &scenario, "--measure", "flow_mean_s", "--seeds", "4", "--out", &out_name, "--json"];
    let first = gleaner(&arguments);
    let advice = document(&first);
    let rules = advice["rules"].as_array().expect("a list");
    assert!(rules.len() > 20, "{advice}");
    assert_eq!(rules[0]["preset"], Value::Null, "the rule as it is comes first");
    assert_eq!(rules[0]["is_alike"], false, "{advice}");
    let mean = |rule: &Value| rule["measured"]["mean"].as_f64().expect("a number");
    assert!(rules[1..].is_sorted_by(|one, other| mean(one) <= mean(other)), "{advice}");
    let gain = &advice["gain"];
    assert!(gain["low"].as_f64() > Some(0.2) && gain["high"].as_f64() < Some(1.0), "{advice}");
    // The command does what it says.
    let command = advice["command"].as_str().expect("a command");
    assert!(command.starts_with("gleaner simulate "), "{command}");
    let used = run(command);
    let now = document(&gleaner(&["simulate", &scenario, "--json"]));
    assert!(used["flow_mean_s"].as_f64() < now["flow_mean_s"].as_f64(), "{used} {now}");
    // Presets that need what the scenario has not are left out, with the reason.
    let left_out = advice["left_out"].as_array().expect("a list");
    assert!(left_out.iter().any(|left| left["preset"] == "dasilva/greedy" && left["why"] != ""), "{advice}");
    for name in ["report.html", "advice.json", "rules.csv"] {
        assert!(out.join(name).is_file(), "{name}");
    }
    // What was run is not run again, and comes to the same.
    let kept = std::fs::read_to_string(out.join("simulations.jsonl")).expect("runs are kept");
    assert_eq!(gleaner(&arguments).stdout, first.stdout);
    assert_eq!(std::fs::read_to_string(out.join("simulations.jsonl")).expect("still"), kept);
}

/// What else is as fast believes every answer.
#[test]
fn where_answers_are_compared_no_rule_is_advised_that_compares_none() {
    let advice = document(&gleaner(&["advise", &example("trust"), "--seeds", "2", "--json"]));
    let rules = advice["rules"].as_array().expect("a list");
    assert!(rules.iter().all(|rule| rule["preset"] != "elleuch/max-min"), "{advice}");
    let says_so = |rule: &Value| rule["set"].to_string().contains("replicate");
    assert!(rules.len() > 1 && !rules.iter().any(says_so), "two runs of which the first counts: {advice}");
    let left_out = advice["left_out"].as_array().expect("a list");
    let why =
        left_out.iter().find(|one| one["preset"] == "elleuch/max-min").map(|one| one["why"].to_string());
    assert!(why.is_some_and(|why| why.contains("policy.replicate")), "{advice}");
}

/// Of a scenario's own keys, those go that another rule has no use for, and the command says so.
#[test]
fn the_command_runs_where_the_rule_has_no_use_for_the_scenarios_keys() {
    let dir = tempfile::tempdir().expect("a folder");
    let scenario = uneven(dir.path());
    let text = std::fs::read_to_string(&scenario).expect("it is there");
    let text = text.replace("[work]", "sharing = \"exclusive\"\n[work]");
    let text = text + "relocate = { score = \"min-num\", difference_min = 2 }\n";
    std::fs::write(&scenario, text).expect("a file is written");
    let own = ["--set", "migration.seconds=1", "--policy", "immediate/mct", "--seeds", "4"];
    let asked = ["advise", &scenario, "--measure", "flow_mean_s", "--json"];
    let advice = document(&gleaner(&[&asked[..], &own].concat()));
    let command = advice["command"].as_str().expect("a command");
    let set = "--set 'migration.seconds=1' --set 'policy={preset=\"immediate/mct\"}'";
    assert!(command.ends_with(set), "{command}");
    assert_eq!(run(command)["policy"], "immediate/mct");
}

#[test]
fn advice_is_given_for_every_kind_of_scenario_and_for_logs() {
    for name in ["brokers", "peers", "sites"] {
        let advice = document(&gleaner(&["advise", &example(name), "--seeds", "2", "--json"]));
        assert!(advice["rules"].as_array().expect("a list").len() > 2, "{name}: {advice}");
        assert_ne!(advice["best"], Value::Null, "{name}: {advice}");
    }
    let dir = tempfile::tempdir().expect("a folder");
    let log = dir.path().join("log.swf").display().to_string();
    let drawn = ["workload", "generate", "lublin", "--jobs", "300", "--cores", "64", "--out", &log];
    assert!(gleaner(&drawn).status.success());
    let told = gleaner(&["advise", "--swf", &log, "--cores", "64", "--seeds", "2"]);
    let told = String::from_utf8(told.stdout).expect("text");
    assert!(told.contains("queue/easy") && told.contains("SLOWDOWN_MEAN"), "{told}");
    // In a log no rule is in force: what others are compared with is named.
    assert!(told.contains("lower than with queue/fcfs.") && !told.contains("now"), "{told}");
    let advice = document(&gleaner(&["advise", "--swf", &log, "--cores", "64", "--seeds", "2", "--json"]));
    assert_eq!(advice["rules"][0]["preset"], "queue/fcfs", "{advice}");
    // A mean hides who waits longest.
    let rules = advice["rules"].as_array().expect("a list");
    let waits: Vec<f64> = rules.iter().map(|rule| rule["wait_max_s"].as_f64().expect("a wait")).collect();
    let best = waits[advice["best"].as_u64().expect("a position") as usize];
    let least = waits.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(best > 1.01 * least, "{waits:?}");
    assert!(told.contains("LONGEST WAIT") && told.contains("Its longest wait is"), "{told}");
    assert!(told.contains("nobody waits longer than"), "{told}");
}

#[test]
fn arrivals_of_peers_jobs_are_moved_too() {
    let arguments = ["advise", &example("peers"), "--seeds", "4", "--shake", "600", "--json"];
    let advised = document(&gleaner(&arguments));
    let measured = &advised["rules"][0]["measured"];
    assert!(measured["low"].as_f64() < measured["high"].as_f64(), "{measured}");
}

/// Five jobs that come at once and take the whole machine wait for each other, unless they are moved apart.
#[test]
fn advice_says_where_moved_arrivals_hardly_wait_any_more() {
    let dir = tempfile::tempdir().expect("a folder");
    let log = dir.path().join("burst.swf");
    let job = |number: u32| format!("{number} 1000 -1 10 4 -1 -1 4 10 -1 1 1 1 -1 -1 -1 -1 -1\n");
    std::fs::write(&log, (1..=5).map(job).collect::<String>()).expect("a log is written");
    let log = log.display().to_string();
    let arguments = |shake| {
        let asked = ["--policy", "queue/easy,queue/conservative", "--seeds", "2", "--shake", shake];
        [&["advise", "--swf", &log, "--cores", "4"][..], &asked].concat()
    };
    for (shake, is_lost) in [("600", true), ("1", false), ("0", false)] {
        let text = String::from_utf8_lossy(&gleaner(&arguments(shake)).stdout).into_owned();
        let says_so = text.contains("of the waiting away") && text.contains("ask again with --shake 0");
        assert_eq!(says_so, is_lost, "{shake}: {text}");
        let advice = document(&gleaner(&[&arguments(shake)[..], &["--json"]].concat()));
        let lost = &advice["lost_wait"];
        assert_eq!(lost.is_object(), is_lost, "{shake}: {advice}");
        if is_lost {
            let [still, moved] =
                ["unshaken_mean_s", "shaken_mean_s"].map(|key| lost[key].as_f64().expect(key));
            assert!((still - 20.0).abs() < 1e-3 && moved < 10.0, "{advice}");
        }
    }
}

/// What was kept of a log counts for no other that is called the same.
#[test]
fn runs_that_were_kept_are_those_of_the_same_log() {
    let dir = tempfile::tempdir().expect("a folder");
    let [log, out] = ["jobs.swf", "out"].map(|name| dir.path().join(name).display().to_string());
    let rules = |between: u64| {
        let job = |number: u64| {
            let (at, run) = (number * between, 60 + 7 * number);
            format!("{number} {at} -1 {run} 3 -1 -1 3 {run} -1 1 1 1 -1 -1 -1 -1 -1\n")
        };
        std::fs::write(&log, (1..=30).map(job).collect::<String>()).expect("a file is written");
        let arguments = ["advise", "--swf", &log, "--cores", "4", "--seeds", "2", "--out", &out, "--json"];
        document(&gleaner(&arguments))["rules"].clone()
    };
    let (dense, again, sparse) = (rules(10), rules(10), rules(500));
    assert_eq!(dense, again);
    assert_ne!(dense, sparse);
}

#[test]
fn bad_input_is_refused_before_anything_runs() {
    let scenario = example("lab");
    let dir = tempfile::tempdir().expect("a folder");
    let log = dir.path().join("large.swf");
    std::fs::write(&log, "1 0 0 10 8 -1 -1 8 10 -1 1 1 1 -1 1 -1 -1 -1\n").expect("a log is written");
    let log = log.display().to_string();
    let bad: [(&[&str], &[&str]); 7] = [
        (
            &["--swf", &log, "--cores", "2"],
            &[
                "found no job that can run on 2 processors: 1 larger than the machine",
                "expected one, or more --cores",
            ],
        ),
        (&["--home", "nohome"], &["nohome: found nothing there; expected a coordinator's folder"]),
        (
            &[&scenario, "--policy", "bertasi/gredy"],
            &["--policy: found \"bertasi/gredy\"", "did you mean bertasi/greedy?"],
        ),
        (&[&scenario, "--measure", "speed"], &["--measure: found \"speed\"", "makespan_s"]),
        (&["--swf", "none.swf"], &["none.swf"]),
        (&["--journal", "none"], &["none"]),
        (&["--days", "0"], &["expected days, more than 0"]),
    ];
    for (arguments, says) in bad {
        let output = gleaner(&[&["advise"], arguments].concat());
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(says.iter().all(|word| error.contains(word)), "{arguments:?}: {error}");
    }
}

#[test]
fn a_rule_that_the_work_does_not_fit_is_left_out_with_its_reason() {
    let examples = program::example("sites").with_file_name("own.toml");
    let own = examples.display().to_string();
    let found = document(&gleaner(&["advise", &own, "--seeds", "2", "--json"]));
    let left_out = found["left_out"].as_array().expect("a list");
    let why = left_out.iter().find(|one| one["preset"] == "khoo/rep").map(|one| one["why"].to_string());
    assert!(why.is_some_and(|why| why.contains("never have room for 2 copies")), "{left_out:?}");
}

/// Two runs that are the same say nothing of the spread, and no arrival is moved.
#[test]
fn where_all_seeds_give_the_same_run_a_gain_has_no_interval() {
    let own = program::example("sites").with_file_name("own.toml").display().to_string();
    let advice = document(&gleaner(&["advise", &own, "--seeds", "2", "--json"]));
    let gain = &advice["gain"];
    assert!(gain["mean"].as_f64() > Some(0.0) && gain["low"].is_null() && gain["high"].is_null(), "{gain}");
    let refused = gleaner(&["advise", &own, "--seeds", "2", "--shake", "5"]);
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2), "{error}");
    assert!(error.contains("--shake: jobs over sites"), "{error}");
}
