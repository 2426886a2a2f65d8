//! `gleaner simulate --swf`: a log of rigid jobs under one policy or several.

use crate::scratch::{Scratch, gleaner, json};
use serde_json::Value;

/// The contract's first example of EASY, a job that no such machine can run, and one that ran longer than its estimate.
const LOG: &str = "\
; MaxProcs: 10
;
    1    0   -1   100    6     -1    -1    6   100    -1  1   1   1  -1 -1 -1 -1 -1
    2    1   -1    50    8     -1    -1    8    50    -1  1   2   1  -1 -1 -1 -1 -1
    3    2   -1    98    4     -1    -1    4    98    -1  1   1   1  -1 -1 -1 -1 -1
    4    3   -1    98   12     -1    -1   12    98    -1  1   1   1  -1 -1 -1 -1 -1
    5  500   -1    20    1     -1    -1    1     5    -1  1   3   1  -1 -1 -1 -1 -1
";

#[test]
fn a_log_of_which_no_job_can_run_and_too_few_seeds_are_mistakes() {
    let folder = Scratch::new();
    folder.write("log.swf", LOG);
    let none = ["simulate", "--swf", "log.swf", "--cores", "0", "--policy", "queue/easy"];
    gleaner(&folder, &none).code(2);
    folder.write("large.swf", "1 0 -1 9 9 -1 -1 9 9 -1 1 1 1 -1 -1 -1 -1 -1\n");
    let max = u64::MAX.to_string();
    for (more, said) in [
        (&["--swf", "large.swf", "--cores", "3"][..], "large.swf: found no job that can run on 3 processors"),
        (&["--swf", "large.swf", "--cores", "3", "--policy", "queue/fcfs"], "expected one, or more --cores"),
        (
            &["--swf", "log.swf", "--shake", "5", "--seeds", "2", "--seed", &max],
            "--seeds 2: found too few seeds",
        ),
    ] {
        let arguments = [&["simulate", "--policy", "queue/easy"], more].concat();
        let run = gleaner(&folder, &arguments).code(2);
        let error = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert!(error.contains(said), "{error}");
    }
}

#[test]
fn the_summary_of_a_log_has_the_seed_that_was_asked_for() {
    let folder = Scratch::new();
    folder.write("log.swf", LOG);
    let several = ["simulate", "--swf", "log.swf", "--policy", "queue/easy", "--seed", "7"];
    gleaner(&folder, &[&several[..], &["--seeds", "2", "--out", "out"]].concat()).success();
    for (name, seed) in [("out/seed-7/summary.json", 7), ("out/seed-8/summary.json", 8)] {
        assert_eq!(json(folder.read(name).as_bytes())["seed"], seed, "{name}");
    }
    let one = gleaner(&folder, &[&several[..], &["--json"]].concat()).success();
    assert_eq!(json(&one.get_output().stdout)["seed"], 7);
}

/// A job that takes no time has given its processors back when it is looked at.
#[test]
fn no_more_processors_are_free_than_there_are() {
    let folder = Scratch::new();
    folder.write("none.swf", "; MaxProcs: 4\n1 0 -1 0 1 -1 -1 1 19 -1 1 1 1 -1 -1 -1 -1 -1\n");
    let explained =
        json(&gleaner(&folder, &["explain", "none.swf", "1", "--json"]).success().get_output().stdout);
    assert_eq!((&explained["free"], &explained["of"]), (&4.into(), &4.into()));
}

/// Whichever of them has the lower number.
#[test]
fn a_job_that_takes_no_time_has_processors_before_one_that_stays() {
    let folder = Scratch::new();
    let job = |id: u32, run: u32, processors: u32| {
        format!("{id} 0 -1 {run} {processors} -1 -1 {processors} 9 -1 1 1 1 -1 -1 -1 -1 -1\n")
    };
    folder.write("log.swf", &format!("; MaxProcs: 2\n{}{}{}", job(1, 0, 1), job(2, 5, 2), job(3, 0, 1)));
    gleaner(&folder, &["simulate", "--swf", "log.swf", "--policy", "queue/easy", "--out", "out"]).success();
    let jobs = folder.read("out/jobs.csv");
    let had: Vec<&str> = jobs.lines().skip(1).filter_map(|line| line.split(',').nth(14)).collect();
    assert_eq!(had, ["0", "0-1", "0"], "{jobs}");
}

#[test]
fn a_log_runs_and_its_waits_are_filled_in() {
    let folder = Scratch::new();
    folder.write("log.swf", LOG);
    let arguments = ["simulate", "--swf", "log.swf", "--policy", "queue/easy", "--out", "out", "--json"];
    let summary = json(&gleaner(&folder, &arguments).success().get_output().stdout);
    assert_eq!(summary, json(folder.read("out/summary.json").as_bytes()));
    assert_eq!(summary["cores"], 10);
    assert_eq!(summary["tasks"], 4);
    assert_eq!(summary["left_out"]["too_large"], 1);
    assert_eq!(summary["wait_max_s"], 99.0);
    assert_eq!(summary["slowdown_max"], 149.0 / 50.0);
    assert_eq!(summary["users"]["1"]["jobs"], 2);
    let waits: Vec<String> = folder
        .read("out/jobs.swf")
        .lines()
        .filter(|line| !line.starts_with(';'))
        .map(|line| line.split_whitespace().take(3).collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(waits, ["1 0 0", "2 1 99", "3 2 0", "5 500 0"]);
    let jobs = folder.read("out/jobs.csv");
    assert_eq!(
        jobs.lines().nth(2),
        Some("2,log,2,1,8,50,1,COMPLETED_SUCCESSFULLY,100,50,150,99,149,2.98,0-7,-1,")
    );
    let schedule = folder.read("out/schedule.csv");
    let [names, values] =
        [0, 1].map(|row| schedule.lines().nth(row).expect("two rows").split(',').collect::<Vec<_>>());
    let value = |name: &str| values[names.iter().position(|other| *other == name).expect("a column")];
    assert_eq!([value("nb_jobs"), value("makespan"), value("success_rate")], ["4", "520", "1"], "{schedule}");
    let schedule: Value = serde_json::from_str(&folder.read("out/schedule.json")).expect("an object");
    assert_eq!((&schedule["makespan"], &schedule["consumed_joules"]), (&520.0.into(), &Value::Null));
    let report = folder.read("out/report.html");
    for shown in [
        "Jobs on processors",
        "The queue",
        "Bounded slowdowns",
        "users, by their slowdowns",
        "How each user was served",
    ] {
        assert!(report.contains(shown), "{shown}");
    }
    let users = folder.read("out/users.csv");
    assert!(
        users.lines().nth(2).is_some_and(|line| line.starts_with("2,1,99,99,149,149,2.98,2.98,")),
        "{users}"
    );
}

#[test]
fn a_job_is_stopped_at_its_estimate_where_that_is_asked_for() {
    let folder = Scratch::new();
    folder.write("log.swf", LOG);
    let arguments = ["simulate", "--swf", "log.swf", "--policy", "queue/fcfs", "--overrun", "kill", "--json"];
    let summary = json(&gleaner(&folder, &arguments).success().get_output().stdout);
    assert_eq!((&summary["killed"], &summary["makespan_s"]), (&1.into(), &505.0.into()));
    assert!(summary["lost_share"].as_f64().is_some_and(|share| 0.0 < share && share < 1.0), "{summary}");
    // The rule is told twice the estimate, and the job is stopped at the log's.
    let doubled = json(
        &gleaner(&folder, &[&arguments[..], &["--estimates", "2"]].concat()).success().get_output().stdout,
    );
    assert_eq!((&doubled["killed"], &doubled["makespan_s"]), (&1.into(), &505.0.into()));
}

#[test]
fn the_makespan_of_a_log_counts_from_its_first_submission() {
    let folder = Scratch::new();
    folder.write("log.swf", LOG);
    let month_s = 2_592_000.0;
    let later = |line: &str| {
        let mut fields: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        if !line.starts_with(';') {
            fields[1] = (fields[1].parse::<f64>().expect("a submit time") + month_s).to_string();
        }
        fields.join(" ") + "\n"
    };
    folder.write("late.swf", &LOG.lines().map(later).collect::<String>());
    let run = |log: &str| {
        let arguments = ["simulate", "--swf", log, "--policy", "queue/easy", "--out", "out", "--json"];
        json(&gleaner(&folder, &arguments).success().get_output().stdout)
    };
    let (early, late) = (run("log.swf"), run("late.swf"));
    for key in ["makespan_s", "lower_bound_s", "gap", "utilisation"] {
        let [early, late] = [&early, &late].map(|summary| summary[key].as_f64().expect("a number"));
        assert!((early - late).abs() < 1e-3, "{key}: {early} and {late}");
    }
    let report = folder.read("out/report.html");
    assert!(
        report.contains("the last one ended 8 min 40 s after the first submission"),
        "{}",
        &report[..2000]
    );
    let schedule: Value = serde_json::from_str(&folder.read("out/schedule.json")).expect("an object");
    assert_eq!(schedule["makespan"], month_s + 520.0);
}

#[test]
fn jobs_without_a_number_of_their_own_are_told_by_their_places() {
    let folder = Scratch::new();
    let line =
        |number: i32, submit: i32| format!("{number} {submit} -1 9 1 -1 -1 1 9 -1 1 1 1 -1 -1 -1 -1 -1\n");
    folder.write("log.swf", &format!("; MaxProcs: 10\n{}{}{}", line(7, 0), line(-7, 1), line(7, 2)));
    gleaner(&folder, &["simulate", "--swf", "log.swf", "--policy", "queue/fcfs", "--out", "out"]).success();
    let jobs = folder.read("out/jobs.csv");
    let ids: Vec<&str> = jobs.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(ids, ["7", "2", "7"]);
}

#[test]
fn policies_are_compared_in_one_run() {
    let folder = Scratch::new();
    folder.write("log.swf", LOG);
    let policies = "queue/fcfs,queue/easy,queue/conservative";
    let arguments = ["simulate", "--swf", "log.swf", "--policy", policies, "--out", "out", "--json"];
    let compared = json(&gleaner(&folder, &arguments).success().get_output().stdout);
    let waits: Vec<f64> =
        (0..3).map(|run| compared["runs"][run]["wait_max_s"].as_f64().expect("a number")).collect();
    assert_eq!(waits, [148.0, 99.0, 99.0]);
    assert!(folder.read("out/queue-easy/jobs.swf").starts_with("; MaxProcs: 10\n"));
    for (wrong, says) in [
        (vec!["--fill", "widest"], "one of arrival, shortest, smallest-area"),
        (vec!["--lengths", "guessed"], "last-two"),
        (vec!["--cores", "0"], "--cores"),
    ] {
        let mut arguments = vec!["simulate", "--swf", "log.swf", "--policy", "queue/easy"];
        arguments.extend(wrong);
        let refused = gleaner(&folder, &arguments).code(2);
        let told = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(told.contains(says), "{told}");
    }
}

/// What ended with bad usage says.
fn refused(folder: &Scratch, arguments: &[&str]) -> String {
    let output = gleaner(folder, arguments).failure().code(2).get_output().clone();
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn a_comparison_says_what_is_left_out_and_gives_each_policy_the_options_that_it_can_use() {
    let folder = Scratch::new();
    folder.write("log.swf", LOG);
    let several = ["simulate", "--swf", "log.swf", "--policy", "queue/fcfs,queue/easy"];
    let run = |more: &[&str]| {
        gleaner(&folder, &[&several[..], more].concat()).success().get_output().stdout.clone()
    };
    let text = String::from_utf8(run(&[])).expect("text");
    assert!(text.contains("left out of the log: 1 larger than the machine"), "{text}");
    // Nobody waits on a machine of so many.
    let idle = String::from_utf8(run(&["--cores", "100"])).expect("text");
    assert!(
        idle.contains("wait_mean_s") && idle.contains("wait_max_s") && !idle.contains("lost_share"),
        "{idle}"
    );
    let document = json(&run(&["--fill", "shortest", "--json"]));
    let rule = |at: usize| document["runs"][at]["rule"].as_str().expect("a rule").to_owned();
    assert!(!rule(0).contains("shortest") && rule(1).contains("shortest"), "{document}");
    let alone = ["simulate", "--swf", "log.swf", "--policy", "queue/fcfs", "--fill", "shortest"];
    let error = refused(&folder, &alone);
    assert!(error.contains("--fill shortest: policy.fill: found \"shortest\"; expected"), "{error}");
    let both = [&alone[..], &["--set", "policy.fill=smallest-area"]].concat();
    let error = refused(&folder, &both);
    assert!(error.contains("--fill: found policy.fill in --set too; expected it once"), "{error}");
    let error = refused(&folder, &[&several[..], &["--fill", "shrtest"]].concat());
    assert!(error.contains("--fill shrtest: policy.fill") && error.contains("smallest-area"), "{error}");
}

#[test]
fn estimates_are_multiplied_where_that_is_asked_for() {
    let folder = Scratch::new();
    folder.write("log.swf", LOG);
    let starts = |times: &str| {
        let arguments =
            ["simulate", "--swf", "log.swf", "--policy", "queue/easy", "--estimates", times, "--out", "out"];
        gleaner(&folder, &arguments).success();
        let text = folder.read("out/jobs.csv");
        let field = |line: &str, at: usize| line.split(',').nth(at).expect("a field").to_owned();
        text.lines().skip(1).map(|line| (field(line, 5), field(line, 8))).collect::<Vec<_>>()
    };
    let all = |rows: &[(&str, &str)]| {
        rows.iter().map(|(one, two)| ((*one).to_owned(), (*two).to_owned())).collect::<Vec<_>>()
    };
    assert_eq!(starts("1"), all(&[("100", "0"), ("50", "100"), ("98", "2"), ("20", "500")]));
    // The third is still expected to end before the first is; the fifth's estimate is first raised to its run time.
    assert_eq!(starts("2"), all(&[("200", "0"), ("100", "100"), ("196", "2"), ("40", "500")]));
    assert!(
        refused(&folder, &["simulate", "--swf", "log.swf", "--policy", "queue/easy", "--estimates", "0.5"])
            .contains("1 or more")
    );
}

#[test]
fn a_machine_of_more_processors_than_can_be_drawn_has_a_report_too() {
    let folder = Scratch::new();
    folder.write("log.swf", LOG);
    let arguments = [
        "simulate",
        "--swf",
        "log.swf",
        "--policy",
        "queue/fcfs",
        "--cores",
        "4294967295",
        "--out",
        "out",
        "--json",
    ];
    let summary = json(&gleaner(&folder, &arguments).success().get_output().stdout);
    // All start as they come.
    assert_eq!((&summary["tasks"], &summary["makespan_s"]), (&5.into(), &520.0.into()));
    let report = folder.read("out/report.html");
    assert!(report.contains("the first 100000 of 4294967295 processors") && report.len() < 30_000_000);
}

#[test]
fn the_bound_of_a_log_counts_the_processors_of_its_jobs() {
    let folder = Scratch::new();
    folder.write("log.swf", "1 0 -1 100 6 -1 -1 6 100 -1 1 1 1 -1 -1 -1 -1 -1\n2 0 -1 100 6 -1 -1 6 100 -1 1 1 1 -1 -1 -1 -1 -1\n");
    let arguments = ["simulate", "--swf", "log.swf", "--policy", "queue/fcfs", "--cores", "10", "--json"];
    let summary = json(&gleaner(&folder, &arguments).success().get_output().stdout);
    let bound = summary["lower_bound_s"].as_f64().expect("a number");
    assert!((bound - 120.0).abs() < 1e-6, "{bound}");
}

#[test]
fn what_is_drawn_of_a_log_is_called_a_block_of_a_job() {
    let folder = Scratch::new();
    // The last has two parts: the first and the third of the processors.
    let row = |number: u32, submit: u32, run: u32, processors: u32| {
        format!("{number} {submit} -1 {run} {processors} -1 -1 {processors} {run} -1 1 1 1 -1 -1 -1 -1 -1\n")
    };
    folder.write("log.swf", &(row(1, 0, 10, 1) + &row(2, 0, 50, 1) + &row(3, 0, 10, 1) + &row(4, 20, 10, 2)));
    let arguments =
        ["simulate", "--swf", "log.swf", "--policy", "queue/fcfs", "--cores", "3", "--out", "out"];
    gleaner(&folder, &arguments).success();
    let report = folder.read("out/report.html");
    assert!(
        report.contains("\"counted\":[\"block of a job\",\"processor\"]")
            && report.contains("4 jobs on 3 processors")
    );
    // Each block is a rectangle of its own, and nothing of it is left out.
    let drawn = folder.read("out/gantt.svg");
    assert!(!drawn.contains("cannot be drawn"), "{drawn}");
}

#[test]
fn the_report_says_the_log_the_machine_and_what_was_left_out() {
    let folder = Scratch::new();
    folder.write("log.swf", LOG);
    gleaner(&folder, &["simulate", "--swf", "log.swf", "--policy", "queue/easy", "--out", "out"]).success();
    let report = folder.read("out/report.html");
    for said in
        ["4 jobs of log.swf on a machine of 10 processors", "Left out of the log: 1 larger than the machine."]
    {
        assert!(report.contains(said), "{said}");
    }
    assert!(!report.contains("1 machines"));
}

#[test]
fn a_run_does_not_write_over_its_log_and_says_options_in_their_words() {
    let folder = Scratch::new();
    folder.write("jobs.swf", LOG);
    let run = ["simulate", "--swf", "jobs.swf", "--policy", "queue/easy"];
    let told = refused(&folder, &[&run[..], &["--out", "."]].concat());
    assert!(told.contains("--out: found ./jobs.swf, which is the file that is read"), "{told}");
    assert_eq!(folder.read("jobs.swf"), LOG);
    let told = refused(&folder, &[&run[..], &["--lengths", "foo"]].concat());
    assert!(
        told.contains("--lengths foo") && told.contains("estimate") && !told.contains("declared"),
        "{told}"
    );
    let told = refused(&folder, &["simulate", "--swf", "jobs.swf", "--policy", "queue/esay"]);
    assert!(
        told.contains("queue/easy")
            && told.contains("more; did you mean queue/easy? (`gleaner policy list` shows all)"),
        "{told}"
    );
    assert!(!told.contains("elleuch/"), "not all of them: {told}");
}

#[test]
fn seconds_are_written_exactly_however_late() {
    let folder = Scratch::new();
    let late = "1 10000000010 -1 100 1 -1 -1 1 100 -1 1 1 1 -1 -1 -1 -1 -1\n";
    folder.write("log.swf", late);
    gleaner(
        &folder,
        &["simulate", "--swf", "log.swf", "--cores", "1", "--policy", "queue/fcfs", "--out", "out"],
    )
    .success();
    let jobs = folder.read("out/jobs.csv");
    assert!(
        jobs.contains(",10000000010,1,100,1,COMPLETED_SUCCESSFULLY,10000000010,100,10000000110,0,100,1,"),
        "{jobs}"
    );
}

#[test]
fn parts_of_a_job_do_not_run_beside_it() {
    let folder = Scratch::new();
    let parts = "    6  500   -1     5    1     -1    -1    1     5    -1  2   3   1  -1 -1 -1 -1 -1\n    \
                 6   -1   -1     5    1     -1    -1    1     5    -1  3   3   1  -1 -1 -1 -1 -1\n";
    let whole = "    6  500   -1    10    1     -1    -1    1    10    -1  1   3   1  -1 -1 -1 -1 -1\n";
    folder.write("log.swf", &[LOG, whole, parts].concat());
    let run = ["simulate", "--swf", "log.swf", "--policy", "queue/easy", "--json"];
    let summary = json(&gleaner(&folder, &run).success().get_output().stdout);
    assert_eq!((&summary["tasks"], &summary["left_out"]["parts"]), (&5.into(), &2.into()));
    let told = gleaner(&folder, &run[..5]).success().get_output().stdout.clone();
    let told = String::from_utf8(told).expect("text");
    assert!(told.contains("2 that are a part (status 2, 3 or 4) of a job that has another line"), "{told}");
}

/// Twenty-five jobs of a user end early, forty at the instant at which he submits another, which fits before the first in line.
#[test]
fn what_ran_before_is_not_forgotten_for_what_ends_at_the_instant_of_a_submission() {
    let folder = Scratch::new();
    let mut log = String::new();
    let mut add = |submit: u32, run: u32, size: u32, estimate: u32, user: u32| {
        let number = log.lines().count() + 1;
        log += &format!(
            "{number} {submit} -1 {run} {size} -1 -1 {size} {estimate} -1 1 {user} 1 -1 -1 -1 -1 -1\n"
        );
    };
    (0..25).for_each(|_| add(0, 10, 1, 5000, 1));
    (0..40).for_each(|_| add(900, 100, 1, 5000, 1));
    add(950, 3000, 30, 3000, 2);
    add(990, 500, 60, 500, 3);
    add(1000, 9, 50, 5000, 1);
    folder.write("log.swf", &log);
    for lengths in ["learnt", "last-two"] {
        let arguments = ["simulate", "--swf", "log.swf", "--cores", "80", "--policy", "queue/easy"];
        gleaner(&folder, &[&arguments[..], &["--lengths", lengths, "--out", "out"]].concat()).success();
        let jobs = folder.read("out/jobs.csv");
        let last = jobs.lines().last().expect("a job");
        assert_eq!(last.split(',').nth(8), Some("1000"), "{lengths}: it starts as it comes: {last}");
    }
}
