//! `gleaner explain`, and ads that rule every machine out.

use crate::program::{example, gleaner_on};
use crate::scratch::{Scratch, gleaner, json};
use serde_json::Value;

const MACHINES: &str = "id,cpu,ad\n\
                        m0,4,[Name = 0; Memory = 16]\n\
                        m1,4,[Name = 1; Memory = 32]\n\
                        m2,1,\"[Name = 2; Memory = 64; Requirements = TARGET.Owner =!= \"\"eve\"\"]\"\n";

fn scenario(tasks: &str) -> Scratch {
    let folder = Scratch::new();
    folder.write("machines.csv", MACHINES);
    folder.write("tasks.csv", &format!("id,arrival_s,length,cpu,ad\n{tasks}"));
    folder.write(
        "scenario.toml",
        "[grid]\nmachines = \"machines.csv\"\n[work]\ntasks = \"tasks.csv\"\n\
         [policy]\npreset = \"bertasi/greedy\"\n",
    );
    folder
}

fn explained(folder: &Scratch, task: &str) -> Value {
    let run = gleaner(folder, &["explain", "scenario.toml", task, "--json"]).success();
    json(&run.get_output().stdout)
}

#[test]
fn clauses_count_the_machines_they_rule_out() {
    let folder = scenario(
        "t0,0,100,1,\n\
         t1,1,100,1,[Requirements = TARGET.Memory >= 20]\n\
         t2,2,100,1,\"[Owner = \"\"eve\"\"; Requirements = TARGET.Memory > 16; Rank = TARGET.Memory]\"\n",
    );
    let first = explained(&folder, "t0");
    assert_eq!((&first["able"], &first["ruled_out"]), (&3.into(), &Value::Array(vec![])));
    let last = explained(&folder, "t2");
    assert_eq!(last["able"], 1);
    assert_eq!(last["ruled_out"][0]["condition"]["task_requires"], "TARGET.Memory > 16");
    assert_eq!(last["remedies"][0]["instead"][0], "TARGET.Memory >= 16");
    assert_eq!(last["scores"][0]["machine"], "m1");
    assert_eq!(last["scores"][0]["chosen"], true);
    let text = gleaner(&folder, &["explain", "scenario.toml", "t2"]).success();
    let text = String::from_utf8_lossy(&text.get_output().stdout).into_owned();
    assert!(text.contains("fail the task's clause TARGET.Memory > 16"), "{text}");
    gleaner(&folder, &["explain", "scenario.toml", "t9"]).code(2);
    let under = |more: &[&str]| {
        gleaner(&folder, &[&["explain", "scenario.toml", "t2", "--json"], more].concat()).success()
    };
    let by_name = under(&["--policy", "bertasi/min-num"]);
    let by_key = under(&["--set", "policy.preset=bertasi/min-num"]);
    assert_eq!(by_name.get_output().stdout, by_key.get_output().stdout);
}

/// On two machines, of which one is ten times as fast.
#[test]
fn who_starts_at_once_under_a_queue_does_so_on_the_fastest_machine_that_he_may_have() {
    let folder = Scratch::new();
    folder.write("machines.csv", "id,ops,cores\nslow,1,4\nfast,10,8\n");
    folder.write(
        "tasks.csv",
        "id,arrival_s,length,ops,cores\na,0,1000,1,6\nwide,1,1000,1,8\nb,2,100,1,1\nlong,3,5000,1,2\n",
    );
    for rule in ["easy", "conservative"] {
        folder.write(
            "scenario.toml",
            &format!(
                "[grid]\nmachines = \"machines.csv\"\nsharing = \"exclusive\"\n\
                 [work]\ntasks = \"tasks.csv\"\nweights = {{ ops = 1 }}\n\
                 [policy]\npreset = \"queue/{rule}\"\n"
            ),
        );
        // The third ends before the second can start; the fourth would not, and has the slow one.
        for (task, machine) in [("a", "fast"), ("b", "fast"), ("long", "slow")] {
            let found = explained(&folder, task);
            assert_eq!(found["starts_on"], machine, "{rule}: {found}");
            let text = gleaner(&folder, &["explain", "scenario.toml", task]).success();
            let text = String::from_utf8_lossy(&text.get_output().stdout).into_owned();
            assert!(text.contains(&format!("it starts at once on {machine}")), "{text}");
            assert!(!text.contains("waits"), "{text}");
        }
        let waits = explained(&folder, "wide");
        assert_eq!(waits["starts_on"], Value::Null, "{rule}: {waits}");
        let text = gleaner(&folder, &["explain", "scenario.toml", "wide"]).success();
        let text = String::from_utf8_lossy(&text.get_output().stdout).into_owned();
        assert!(text.contains("it waits") && !text.contains("scores"), "{text}");
    }
}

#[test]
fn of_two_runs_the_first_is_on_the_machine_that_was_chosen() {
    let folder = Scratch::new();
    folder.write("machines.csv", "id,cpu\nm0,1\nm1,2\n");
    folder.write("tasks.csv", "id,arrival_s,length,cpu\na,0,100,1\n");
    folder.write(
        "scenario.toml",
        "[grid]\nmachines = \"machines.csv\"\nsharing = \"exclusive\"\n[work]\ntasks = \"tasks.csv\"\n\
         weights = { cpu = 1 }\n[policy]\npreset = \"bertasi/greedy\"\nrelocate = \"none\"\nreplicate = 2\n",
    );
    let found = explained(&folder, "a");
    assert_eq!((&found["starts_on"], &found["copies_on"][0]), (&"m1".into(), &"m0".into()), "{found}");
    let text = gleaner(&folder, &["explain", "scenario.toml", "a"]).success();
    let text = String::from_utf8_lossy(&text.get_output().stdout).into_owned();
    assert!(text.contains("m1  ← chosen") && text.contains("m0  ← copy"), "{text}");
}

#[test]
fn what_is_not_explained_is_named() {
    for what in ["peers", "brokers"] {
        let output = gleaner_on("explain", &example(what), &["j1"]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{error}");
        let expected = format!("found {what}; expected machines, jobs over sites, or a log");
        assert!(error.contains(&expected), "{error}");
    }
}

#[test]
fn rank_goes_before_the_score() {
    let folder = scenario("t0,0,100,1,[Rank = TARGET.Memory]\nt1,0,100,1,[Rank = -TARGET.Memory]\n");
    gleaner(&folder, &["simulate", "scenario.toml", "--out", "out"]).success();
    let tasks = folder.read("out/tasks.csv");
    assert!(tasks.contains("t0,m2,") && tasks.contains("t1,m0,"), "{tasks}");
}

#[test]
fn a_task_that_no_ad_takes_is_bad_input_with_the_nearest_change() {
    let folder =
        scenario("t0,0,100,1,\nt1,0,100,1,[Requirements = TARGET.Memory >= 100 && TARGET.Memory > 1]\n");
    let run = gleaner(&folder, &["simulate", "scenario.toml"]).code(2);
    let error = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
    for part in [
        "tasks.csv:3: ad:",
        "3 of 3 machines fail the task's clause TARGET.Memory >= 100",
        "TARGET.Memory >= 64",
    ] {
        assert!(error.contains(part), "{part} in {error}");
    }
}

#[test]
fn an_ad_that_does_not_parse_says_where() {
    for (ad, part) in [
        ("[Requirements = TARGET.Memory > ]", "line 1, column 33"),
        ("[Requirements = strlne(TARGET.Name) > 1]", "strlne"),
    ] {
        let folder = scenario(&format!("t0,0,100,1,{ad}\n"));
        let run = gleaner(&folder, &["simulate", "scenario.toml"]).code(2);
        let error = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert!(error.contains("tasks.csv:2: ad:") && error.contains(part), "{error}");
    }
}

/// The contract's second example of EASY, and one behind it that is as wide as what is left: the second waits for its own
/// moment, and the last one may not delay it.
#[test]
fn a_job_that_is_held_back_names_what_is_kept_and_for_whom() {
    let folder = Scratch::new();
    let line = |job: u32, submit: u32, run: u32, size: u32| {
        format!("{job} {submit} -1 {run} {size} -1 -1 {size} {run} -1 1 1 1 -1 -1 -1 -1 -1\n")
    };
    let log = [line(1, 0, 100, 6), line(2, 1, 50, 8), line(3, 2, 99, 4), line(4, 2, 98, 2)].concat();
    folder.write("log.swf", &format!("; MaxProcs: 10\n{log}"));
    let explained = |job: &str, more: &[&str]| -> Value {
        let run = gleaner(&folder, &[&["explain", "log.swf", job, "--json"], more].concat()).success();
        serde_json::from_slice(&run.get_output().stdout).expect("one document")
    };
    let second = explained("2", &[]);
    assert_eq!(
        (&second["held_back_by"]["task"], &second["held_back_by"]["at_s"]),
        (&"2".into(), &100.0.into())
    );
    assert_eq!((&second["held_back_by"]["spare"], &second["started_s"]), (&2.into(), &100.0.into()));
    let third = explained("3", &[]);
    assert_eq!((&third["held_back_by"]["task"], &third["started_s"]), (&"2".into(), &150.0.into()));
    let fourth = explained("4", &[]);
    assert_eq!((&fourth["held_back_by"], &fourth["started_s"]), (&Value::Null, &2.0.into()));
    // What the others leave, for one that waits and for one that starts.
    assert_eq!((&third["free"], &fourth["free"]), (&2.into(), &4.into()));
    let own = explained("3", &["--set", "policy.preset=queue/conservative"]);
    assert_eq!((&own["held_back_by"]["task"], &own["held_back_by"]["at_s"]), (&"3".into(), &150.0.into()));
    assert_eq!(explained("3", &["--policy", "queue/conservative"]), own);
    // The first is believed to take twice as long, and so is it: it ends just in time.
    let doubled = explained("3", &["--estimates", "2"]);
    assert_eq!((&doubled["estimate_s"], &doubled["started_s"]), (&198.0.into(), &2.0.into()));
    folder.write("twice.swf", &format!("; MaxProcs: 10\n{}{}", line(7, 0, 9, 1), line(7, 5, 9, 2)));
    let told = gleaner(&folder, &["explain", "twice.swf", "7"]).success();
    let told = String::from_utf8_lossy(&told.get_output().stdout).into_owned();
    assert!(told.contains("comes at 0 s") && told.contains("2 jobs have the number 7"), "{told}");
    let told = gleaner(&folder, &["explain", "log.swf", "3"]).success();
    let told = String::from_utf8_lossy(&told.get_output().stdout).into_owned();
    let says = "too little is free for it; before it, cores are kept for 2 from 100 s on";
    assert!(told.contains(says), "{told}");
    for (arguments, says) in [
        (&["explain", "log.swf", "9"][..], "no job 9"),
        (&["explain", "log.swf", "2", "--cores", "4"], "no job 2 that 4 processors can run"),
        (&["explain", "log.swf", "2", "--svg", "map.svg"], "only jobs over sites have a virtual map"),
        (&["explain", "5.2"], "or JOB/TASK for one of its tasks, or a scenario"),
        (&["explain", "7", "--svg", "map.svg"], "only jobs over sites have a virtual map"),
        (&["explain", "log.swf", "2", "--set", "policy.preset=queue/esay"], "queue/easy"),
        (&["explain", "log.swf", "2", "--policy", "queue/esay"], "queue/easy"),
        (
            &["explain", "log.swf", "2", "--policy", "queue/easy:fil=shortest"],
            "--policy queue/easy:fil=shortest",
        ),
        (&["explain", "log.swf", "2", "--policy", ""], "--policy: found an empty name"),
        (&["explain", "scenario.toml", "2", "--estimates", "2"], "--estimates: found no log"),
    ] {
        let refused = gleaner(&folder, arguments).code(2);
        let told = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(told.contains(says), "{arguments:?}: {told}");
    }
}
