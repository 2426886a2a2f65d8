//! Scenarios of peers from outside: runs, what they write, and bad input.

use crate::program::{self, document, gleaner_on};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Output;

fn simulate(scenario: &Path, arguments: &[&str]) -> Output {
    gleaner_on("simulate", scenario, arguments)
}

fn example() -> PathBuf {
    program::example("peers")
}

#[test]
fn peers_run_and_leave_tables_plots_and_a_report() {
    let dir = tempfile::tempdir().expect("a folder");
    let out = dir.path().to_str().expect("a plain path");
    let run = document(&simulate(&example(), &["--json", "--out", out]));
    assert_eq!(
        (&run["jobs"], &run["unfinished"], &run["peers"]),
        (&40.into(), &0.into(), &4.into()),
        "{run}"
    );
    assert!(
        run["remote_share"].as_f64().expect("a part") > 0.0,
        "the guest has no workers of its own: {run}"
    );
    let read =
        |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap_or_else(|_| panic!("{name}"));
    assert_eq!(read("jobs.csv").lines().count(), 41);
    assert_eq!((read("peers.csv").lines().count(), read("workers.csv").lines().count()), (5, 29));
    assert!(read("favours.svg").starts_with("<svg") && read("responses.svg").starts_with("<svg"));
    assert!(read("report.html").contains("What each peer did"));
    assert!(read("report.html").contains("class=\"gantt-place\""), "workers over time");
    assert!(read("report.html").contains(", lent by "), "lent workers are marked");
    let again = document(&simulate(&example(), &["--json"]));
    assert_eq!(run, again, "the same scenario and seed give the same run");
    let traditional = document(&simulate(&example(), &["--json", "--policy", "dasilva/traditional"]));
    assert_ne!(traditional["flow_mean_s"], run["flow_mean_s"]);
}

#[test]
fn peers_that_come_and_go_get_their_work_done() {
    let scenario = example().with_file_name("coming-and-going.toml");
    let greedy = document(&simulate(&scenario, &["--json"]));
    assert_eq!((&greedy["jobs"], &greedy["unfinished"]), (&40.into(), &0.into()), "{greedy}");
    assert!(greedy["failed"].as_u64().expect("a number") > 0, "{greedy}");
    let number = |run: &Value, name: &str| run[name].as_f64().expect("a number");
    let thrifty = document(&simulate(&scenario, &["--json", "--set", "policy.score=energy"]));
    assert!(number(&thrifty, "energy_kwh") < number(&greedy, "energy_kwh"), "{thrifty}\n{greedy}");
    let learnt = document(&simulate(&scenario, &["--json", "--set", "peers.power=learnt"]));
    assert_eq!(learnt["unfinished"], 0, "{learnt}");
    for (set, said) in [
        ("letters.heartbeat_s=0", "letters.heartbeat_s: found 0"),
        (
            "letters.delay_s=31",
            "letters.heartbeat_s: found 60 s, and letters that take 31 s; expected at least as long",
        ),
        ("peers.away_s=\"none\"", "peers.away_s: found"),
        ("peers.power=guessed", "expected \"declared\", or \"learnt\" from what ran"),
        ("policy.hold=when-slower", "what queues on machines is not held back"),
        ("policy.score=reliable", "reliable-power"),
    ] {
        let run = simulate(&scenario, &["--set", set]);
        assert_eq!(run.status.code(), Some(2), "{set}");
        let told = String::from_utf8_lossy(&run.stderr);
        assert!(told.contains(said), "{set}: {told}");
    }
}

/// Files of a scenario, one of which has a text replaced by another.
fn folder(file: &str, before: &str, after: &str) -> tempfile::TempDir {
    let files = [
        (
            "grid.toml",
            "[peers]\nworkers = \"workers.csv\"\noutages = \"outages.csv\"\nbrokers = \"brokers.csv\"\n[letters]\nloss = 0.0\n\
             [work]\njobs = \"jobs.csv\"\n[policy]\npreset = \"dasilva/greedy\"\n",
        ),
        ("workers.csv", "peer,ops_per_s,count\none,10,2\ntwo,20,1\n"),
        ("outages.csv", "peer,worker,from_s,until_s\none,2,5,9\n"),
        ("brokers.csv", "peer,user,from_s,until_s\none,ada,1000,1001\n"),
        (
            "jobs.csv",
            "id,peer,arrival_s,lengths,user,think_s\na,one,0,100x3,ada,\nb,one,1,50 70,ada,30\nc,two,2,10,,\n",
        ),
    ];
    let dir = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        let changed = if name == file { text.replacen(before, after, 1) } else { text.to_owned() };
        assert!(name != file || changed != text, "{file} has no {before}");
        std::fs::write(dir.path().join(name), changed).expect("written");
    }
    dir
}

#[test]
fn a_user_s_next_job_comes_after_the_last_one_ended() {
    let dir = folder("workers.csv", "10,2", "10,3");
    let out = dir.path().join("out");
    document(&simulate(&dir.path().join("grid.toml"), &["--json", "--out", out.to_str().expect("plain")]));
    let jobs = std::fs::read_to_string(out.join("jobs.csv")).expect("a table");
    let row = |at: usize| -> Vec<String> {
        jobs.lines().nth(at).expect("a row").split(',').map(str::to_owned).collect()
    };
    let seconds = |text: &String| text.parse::<f64>().expect("seconds");
    let (first, second) = (row(1), row(2));
    assert!((seconds(&second[3]) - seconds(&first[4]) - 30.0).abs() < 1e-6, "{jobs}");
}

/// A scenario of these workers and jobs, under a policy.
fn scenario(workers: &str, jobs: &str, policy: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let grid = format!(
        "[peers]\nworkers = \"workers.csv\"\n[work]\njobs = \"jobs.csv\"\n[policy]\npreset = \"{policy}\"\n"
    );
    for (name, text) in [("grid.toml", &*grid), ("workers.csv", workers), ("jobs.csv", jobs)] {
        std::fs::write(dir.path().join(name), text).expect("written");
    }
    dir
}

fn number(run: &Value, name: &str) -> f64 {
    run[name].as_f64().unwrap_or_else(|| panic!("{name} of {run}"))
}

#[test]
fn machines_in_use_are_counted_until_a_run_that_leaves_work_undone_ends() {
    let dir = scenario(
        "peer,ops_per_s,fails_after_s\na,1,10\n",
        "id,peer,arrival_s,lengths\nj,a,0,1 2000\n",
        "dasilva/greedy",
    );
    let run = document(&simulate(&dir.path().join("grid.toml"), &["--json"]));
    assert_eq!(run["unfinished"], 1, "{run}");
    let utilisation = number(&run, "utilisation");
    assert!((0.9..=1.0 + 1e-9).contains(&utilisation), "its only worker tries again and again: {run}");
}

/// The other run of the last task is stopped as that ends: what it took counts.
#[test]
fn what_the_last_tasks_other_run_took_counts() {
    let dir =
        scenario("peer,ops_per_s\na,10\nb,1\n", "id,peer,arrival_s,lengths\nj,a,0,100x2\n", "gleaner/bags");
    let run = document(&simulate(&dir.path().join("grid.toml"), &["--json"]));
    assert_eq!((&run["stopped"], &run["makespan_s"]), (&1.into(), &20.0.into()), "{run}");
    assert_eq!((number(&run, "lost_share"), number(&run, "utilisation")), (0.5, 1.0), "{run}");
}

#[test]
fn nobody_is_as_fast_as_workers_that_are_not_there() {
    let dir = scenario(
        "peer,ops_per_s,count\na,1,1\nb,1000,0\n",
        "id,peer,arrival_s,lengths\nj,a,0,100\n",
        "dasilva/greedy",
    );
    let run = document(&simulate(&dir.path().join("grid.toml"), &["--json"]));
    assert_eq!(number(&run, "slowdown_mean"), 1.0, "{run}");
}

#[test]
fn names_with_commas_stay_one_field() {
    let dir = scenario(
        "peer,ops_per_s\n\"Lab 1, north\",10\n",
        "id,peer,arrival_s,lengths\n\"a,b\",\"Lab 1, north\",0,100\n",
        "dasilva/greedy",
    );
    let out = dir.path().join("out");
    document(&simulate(&dir.path().join("grid.toml"), &["--json", "--out", out.to_str().expect("plain")]));
    let row = |name: &str| {
        let text = std::fs::read_to_string(out.join(name)).expect("a table");
        text.lines().nth(1).expect("a row").to_owned()
    };
    assert!(row("jobs.csv").starts_with("\"a,b\",\"Lab 1, north\",1,0.0"), "{}", row("jobs.csv"));
    assert!(row("peers.csv").starts_with("\"Lab 1, north\",1,"), "{}", row("peers.csv"));
    assert!(row("workers.csv").starts_with("\"Lab 1, north\",1,10,"), "{}", row("workers.csv"));
}

#[test]
fn bad_input_says_where_what_was_found_and_what_is_expected() {
    let bad = [
        ("brokers.csv", "ada", "eve", "brokers.csv:2: user: found \"eve\"; expected one of ada"),
        ("brokers.csv", "1000,1001", "1000,900", "later than it begins"),
        (
            "jobs.csv",
            "100x3",
            "100x2 1e30",
            "jobs.csv:2: lengths: found \"100x2 1e30\"; expected a length that some worker can do in less than 584 years",
        ),
        (
            "grid.toml",
            "dasilva/greedy",
            "bertasi/greedy",
            "policy.preset: found bertasi/greedy, which knows no peers",
        ),
        (
            "grid.toml",
            "loss = 0.0",
            "loss = 1.0",
            "letters.loss: found 1.0; expected a part, from 0 to below 1",
        ),
        (
            "grid.toml",
            "loss = 0.0",
            "loss = 0.1",
            "letters.heartbeat_s: found nothing, and letters that are lost",
        ),
        ("grid.toml", "[letters]", "[letter]", "found an unknown key"),
        (
            "grid.toml",
            "loss = 0.0",
            "heartbeat_s = 0",
            "letters.heartbeat_s: found 0; expected seconds above 0",
        ),
        (
            "workers.csv",
            "20,1",
            "0,1",
            "workers.csv:3: ops_per_s: found \"0\"; expected operations a second, from 1e-9 to 1e18",
        ),
        (
            "workers.csv",
            "count\none,10,2\ntwo,20,1",
            "fails_after_s\none,10,1e11\ntwo,20,1",
            "workers.csv:2: fails_after_s: found \"1e11\"; expected seconds before the end of time",
        ),
        ("workers.csv", "20,1", "20,1.5", "workers.csv:3: count: found \"1.5\"; expected a whole number"),
        ("workers.csv", "10,2\ntwo,20,1", "10,0\ntwo,20,0", "found no workers at any peer"),
        (
            "outages.csv",
            "one,2",
            "one,3",
            "outages.csv:2: worker: found \"3\"; expected a whole number, from 1 to 2",
        ),
        ("outages.csv", "5,9", "9,5", "outages.csv:2: until_s: found \"5\"; expected later than it begins"),
        ("outages.csv", "one,2", "ten,2", "outages.csv:2: peer: found \"ten\"; expected one of one, two"),
        (
            "jobs.csv",
            "100x3",
            "100x0",
            "jobs.csv:2: lengths: found \"100x0\"; expected the operations of each task",
        ),
        ("jobs.csv", "100x3", "", "jobs.csv:2: lengths: found"),
        ("jobs.csv", "c,two,2", "c,six,2", "jobs.csv:4: peer: found \"six\"; expected one of one, two"),
        ("jobs.csv", "c,two,2", "c,two,0", "jobs.csv:4: arrival_s: found \"0\""),
        ("jobs.csv", "100x3", "1x99999999999", "more than 50000000 tasks"),
        ("grid.toml", "jobs = \"jobs.csv\"", "ourgrid = \"jobs.csv\"", "found the columns"),
    ];
    for (file, before, after, says) in bad {
        let dir = folder(file, before, after);
        let out = dir.path().join("out");
        let output = simulate(&dir.path().join("grid.toml"), &["--out", out.to_str().expect("plain")]);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{file} {after}: {error}");
        assert!(error.contains(says) && error.contains("expected"), "{file} {after}: {error}");
        assert!(!out.exists(), "{file} {after}: nothing is written");
    }
}

#[test]
fn a_trace_of_bags_of_tasks_runs_among_peers() {
    let dir = folder("grid.toml", "jobs = \"jobs.csv\"", "ourgrid = \"trace.txt\"\nops_per_s = 10");
    let trace = "taskId time jobId jobSize runtime user peer\n1 0 1 2 5 1 one\n2 0 1 2 7 1 one\n3 20 2 1 4 1 one\n4 3 3 1 6 2 two\n";
    std::fs::write(dir.path().join("trace.txt"), trace).expect("written");
    let away = "peer,user,from_s,until_s\none,1,1000,1001\n";
    std::fs::write(dir.path().join("brokers.csv"), away).expect("written");
    let run = document(&simulate(&dir.path().join("grid.toml"), &["--json"]));
    assert_eq!((&run["jobs"], &run["tasks"], &run["unfinished"]), (&3.into(), &4.into(), &0.into()), "{run}");
    std::fs::write(dir.path().join("trace.txt"), trace.replace("two", "six")).expect("written");
    let output = simulate(&dir.path().join("grid.toml"), &[]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("work.ourgrid: found jobs of the peer \"six\""), "{error}");
}

/// A run that was stopped in its middle and goes on ends as one that was not, to the byte.
#[test]
fn a_run_that_is_saved_goes_on_to_the_same_end() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name).to_str().expect("a plain path").to_owned();
    let (file, whole, resumed) = (path("run.ckpt"), path("whole"), path("resumed"));
    let first = ["--json", "--checkpoint", &file, "--checkpoint-every", "0", "--out", &whole];
    let run = document(&simulate(&example(), &first));
    let again = document(&simulate(&example(), &["--json", "--resume", &file, "--out", &resumed]));
    assert_eq!(run, again);
    for name in ["jobs.csv", "peers.csv", "workers.csv", "summary.json"] {
        let read = |folder: &str| std::fs::read(Path::new(folder).join(name)).expect("a table");
        assert_eq!(read(&whole), read(&resumed), "{name}");
    }
    let told = |more: &[&str]| {
        let output = simulate(&example(), &[&["--resume", &file], more].concat());
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(told(&["--policy", "dasilva/traditional"]).contains("a checkpoint of a run under"));
    assert!(told(&["--seed", "7"]).contains("another scenario"));
    std::fs::write(&file, b"gleaner checkpoint\nand no more").expect("written");
    assert!(told(&[]).contains("expected"));
}
