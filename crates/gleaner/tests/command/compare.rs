//! `gleaner simulate` with several policies and seeds: scenarios of every kind, side by side.

use crate::scratch::{Scratch, gleaner};
use serde_json::Value;

const MACHINES: &str = "id,cpu\nm0,4\nm1,2\nm2,1\n";
const LAB: &str = "[grid]\nmachines = \"machines.csv\"\n[work]\ntasks = \"tasks.csv\"\nweights = { cpu = 1 }\n\
                   [policy]\npreset = \"bertasi/greedy\"\n";
const BROKERS: &str = "[sites]\nelements = \"elements.csv\"\n[index]\nttl_s = [30]\n[work]\njobs = \"jobs.csv\"\n\
                       [policy]\npreset = \"cavalieri/current\"\n";

fn lab(folder: &Scratch) {
    folder.write("machines.csv", MACHINES);
    let tasks: String = (0..40).map(|task| format!("t{task},{},{},1\n", task / 2, 3 + task % 7)).collect();
    folder.write("tasks.csv", &format!("id,arrival_s,length,cpu\n{tasks}"));
    folder.write("lab.toml", LAB);
}

fn brokers(folder: &Scratch) {
    folder.write("elements.csv", "id,site,cpus,ops_per_s\nce1,roma,2,100\nce2,napoli,1,300\n");
    let jobs: String =
        (0..30).map(|job| format!("j{job},{},{}\n", 5 * job, 1_000 + 300 * (job % 5))).collect();
    folder.write("jobs.csv", &format!("id,arrival_s,length\n{jobs}"));
    folder.write("brokers.toml", BROKERS);
}

fn log(folder: &Scratch) {
    let line = |job: usize| {
        let (submit, run, size) = (job * 7, 20 + job * 37 % 90, 1 + job * 5 % 8);
        format!("{job} {submit} -1 {run} {size} -1 -1 {size} {} -1 1 {} 1 -1 -1 -1 -1 -1\n", run * 2, job % 3)
    };
    folder.write("log.swf", &format!("; MaxProcs: 8\n{}", (1..60).map(line).collect::<String>()));
}

fn compared(folder: &Scratch, arguments: &[&str]) -> Value {
    let run = gleaner(folder, &[&["simulate"], arguments, &["--json", "--out", "out"]].concat()).success();
    let document: Value = serde_json::from_slice(&run.get_output().stdout).expect("one document");
    let written: Value = serde_json::from_str(&folder.read("out/summary.json")).expect("the same");
    assert_eq!(document, written);
    assert!(folder.read("out/report.html").contains("Policies beside each other"));
    document
}

fn metric<'a>(document: &'a Value, name: &str) -> &'a Value {
    let metrics = document["metrics"].as_array().expect("a list");
    metrics.iter().find(|metric| metric["metric"] == name).unwrap_or_else(|| panic!("{name} in {document}"))
}

/// Means are of the runs' own numbers, and differences those of pairs.
fn check(document: &Value, name: &str, of_run: impl Fn(&Value) -> f64) {
    let runs = document["runs"].as_array().expect("a list");
    let seeds = document["seeds"].as_array().expect("a list").len();
    let values: Vec<f64> = runs.iter().map(of_run).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let policies = metric(document, name)["policies"].as_array().expect("a list");
    assert_eq!(runs.len(), seeds * policies.len());
    for (at, policy) in policies.iter().enumerate() {
        let own = &values[at * seeds..(at + 1) * seeds];
        let (found, expected) = (policy["mean"]["mean"].as_f64().expect("a number"), mean(own));
        assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{name}: {found}, not {expected}");
        let more = &policy["more_than_first"];
        assert_eq!(more.is_null(), at == 0, "{policy}");
        if at > 0 {
            let (more, expected) =
                (more["mean"].as_f64().expect("a number"), expected - mean(&values[..seeds]));
            assert!((more - expected).abs() < 1e-6, "{name}: {more}, not {expected}");
        }
    }
}

#[test]
fn machines_are_compared_with_arrivals_that_are_moved() {
    let folder = Scratch::new();
    lab(&folder);
    let policies = "bertasi/greedy,bertasi/min-num";
    let document =
        compared(&folder, &["lab.toml", "--policy", policies, "--seed", "5", "--seeds", "4", "--shake", "3"]);
    assert_eq!(document["seeds"], serde_json::json!([5, 6, 7, 8]));
    assert_eq!(document["all_seeds_alike"], false);
    check(&document, "makespan_s", |run| run["makespan_s"].as_f64().expect("a number"));
    check(&document, "flow_mean_s", |run| run["flow_mean_s"].as_f64().expect("a number"));
    let report = folder.read("out/report.html");
    assert_eq!(
        report.matches("class=\"gantt-place\"").count(),
        2,
        "the first seed's schedule of each policy"
    );
    let interval = &metric(&document, "makespan_s")["policies"][1]["more_than_first"];
    assert!(interval["low"].as_f64() < interval["high"].as_f64(), "{interval}");
    let tasks = folder.read("out/bertasi-min-num/seed-7/tasks.csv");
    assert_eq!(tasks.lines().count(), 41);
    // A name goes with its task, wherever that moved.
    let of_t9 =
        |text: &str| text.lines().find(|line| line.starts_with("t9,")).map(str::to_owned).expect("t9");
    let arrived: f64 = of_t9(&tasks).split(',').nth(2).and_then(|at| at.parse().ok()).expect("a number");
    assert!((1.0..=7.0).contains(&arrived) && arrived != 4.0, "{arrived}");
}

#[test]
fn what_draws_nothing_says_so() {
    let folder = Scratch::new();
    lab(&folder);
    let run = gleaner(&folder, &["simulate", "lab.toml", "--seeds", "3"]).success();
    let told = String::from_utf8_lossy(&run.get_output().stdout).into_owned();
    assert!(told.contains("--shake SECONDS") && told.contains("makespan_s (s)"), "{told}");
}

#[test]
fn brokers_and_logs_are_compared_too() {
    let folder = Scratch::new();
    brokers(&folder);
    let policies = "cavalieri/current,cavalieri/stochastic,gleaner/broker";
    let document = compared(&folder, &["brokers.toml", "--policy", policies, "--seeds", "3", "--shake", "5"]);
    check(&document, "flow_mean_s", |run| run["flow_mean_s"].as_f64().expect("a number"));
    assert_eq!(folder.read("out/gleaner-broker/seed-3/jobs.csv").lines().count(), 31);
    assert!(folder.read("out/gleaner-broker/seed-3/report.html").contains("class=\"gantt-place\""));
    let report = folder.read("out/report.html");
    assert_eq!(
        report.matches("class=\"gantt-place\"").count(),
        3,
        "the first seed's schedule of each policy"
    );

    log(&folder);
    let policies = "queue/fcfs,queue/easy,queue/conservative";
    let log = ["--swf", "log.swf", "--policy", policies, "--seeds", "3", "--shake", "30"];
    let document = compared(&folder, &log);
    check(&document, "wait_mean_s", |run| run["wait_mean_s"].as_f64().expect("a number"));
    check(&document, "slowdown_max", |run| run["slowdown_max"].as_f64().expect("a number"));
    assert!(folder.read("out/queue-easy/seed-2/jobs.swf").starts_with("; MaxProcs: 8\n"));
    assert_eq!(document["all_seeds_alike"], false);
}

/// Presets are told apart by what is set of them, for logs and for scenarios.
#[test]
fn one_preset_is_compared_under_several_settings() {
    let folder = Scratch::new();
    log(&folder);
    let policies = "queue/easy,queue/easy:fill=shortest,queue/easy:fill=smallest-area:lengths=learnt";
    let document = compared(&folder, &["--swf", "log.swf", "--policy", policies]);
    let names = |document: &Value| -> Vec<String> {
        let runs = document["runs"].as_array().expect("a list").iter();
        runs.map(|run| run["policy"].as_str().expect("a name").to_owned()).collect()
    };
    assert_eq!(names(&document).join(","), policies);
    let rules: Vec<&str> = document["runs"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|run| run["rule"].as_str().expect("a rule"))
        .collect();
    assert!(rules[0] != rules[1] && rules[1] != rules[2] && rules[2] != rules[0], "{rules:?}");
    assert!(folder.read("out/queue-easy-fill=shortest/jobs.swf").starts_with("; MaxProcs: 8\n"));
    lab(&folder);
    let policies = "bertasi/greedy,bertasi/greedy:relocate.score=social:relocate.gain_min=0.2";
    let document = compared(&folder, &["lab.toml", "--policy", policies, "--seeds", "2", "--shake", "5"]);
    assert_eq!(names(&document)[1..3], policies.split(',').collect::<Vec<_>>());
    for (policy, says) in [
        ("queue/easy:fil=shortest", "--policy queue/easy:fil=shortest: policy.fil: found an unknown key"),
        ("queue/easy:fill", "--policy queue/easy:fill: found no =; expected key=value"),
        ("queue/easy:fill=x,queue/easy:fill=x", "--policy: found queue/easy:fill=x twice"),
        ("queue/easy:fill=x:fill=y", "--policy queue/easy:fill=x:fill=y: found fill twice"),
        (
            "queue/easy:preset=queue/fcfs",
            "--policy queue/easy:preset=queue/fcfs: found preset behind a colon",
        ),
        ("queue/easy,,", "--policy: found an empty name"),
    ] {
        let refused = gleaner(&folder, &["simulate", "--swf", "log.swf", "--policy", policy]).code(2);
        let told = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
        assert!(told.contains(says), "{policy}: {told}");
    }
    let refused =
        gleaner(&folder, &["simulate", "lab.toml", "--policy", "bertasi/greedy:fill=shortest"]).code(2);
    let told = String::from_utf8_lossy(&refused.get_output().stderr).into_owned();
    assert!(told.contains("--policy bertasi/greedy:fill=shortest: policy.fill"), "{told}");
}

#[test]
fn peers_are_compared_and_a_user_s_jobs_stay_in_order() {
    let folder = Scratch::new();
    folder.write("workers.csv", "peer,ops_per_s,count\none,10,2\ntwo,30,1\n");
    // The user's jobs come so close together that what moves them would change their order.
    let job = |job: usize| {
        format!("j{job},one,{},{}x2,ada,1\nk{job},two,{},70x3,,\n", 40 + job, 50 + job, 40 + job)
    };
    let jobs: String = (0..20).map(job).collect();
    folder.write("jobs.csv", &format!("id,peer,arrival_s,lengths,user,think_s\n{jobs}"));
    let peers = "[peers]\nworkers = \"workers.csv\"\n[work]\njobs = \"jobs.csv\"\n[policy]\npreset = \"dasilva/greedy\"\n";
    folder.write("peers.toml", peers);
    let policies = "dasilva/greedy,dasilva/traditional,gleaner/bags";
    let document = compared(&folder, &["peers.toml", "--policy", policies, "--seeds", "3", "--shake", "9"]);
    check(&document, "flow_mean_s", |run| run["flow_mean_s"].as_f64().expect("a number"));
    assert_eq!(
        (&document["all_seeds_alike"], document["runs"][8]["unfinished"].as_u64()),
        (&false.into(), Some(0))
    );
    let jobs = folder.read("out/gleaner-bags/seed-2/jobs.csv");
    let of_ada: Vec<&str> = jobs.lines().filter_map(|line| Some(line.split_once(",one,")?.0)).collect();
    assert_eq!(of_ada, (0..20).map(|job| format!("j{job}")).collect::<Vec<String>>(), "{jobs}");
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let folder = Scratch::new();
    lab(&folder);
    for (arguments, says) in [
        (&["--policy", "bertasi/greedy,bertasi/greedy"][..], "bertasi/greedy twice"),
        (&["--policy", "bertasi/greedy,bertasi/gredy"], "bertasi/gredy"),
        (&["--policy", "bertasi/greedy,bertasi/social", "--checkpoint", "file"], "--policy: found several"),
        (&["--seeds", "2", "--shake=-1"], "expected seconds, 0 or more"),
        (&["--seeds", "2", "--shake", "much"], "expected seconds, 0 or more"),
        (&["--shake", "3"], "--seeds"),
    ] {
        let run = gleaner(&folder, &[&["simulate", "lab.toml", "--out", "out"], arguments].concat()).code(2);
        let told = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert!(told.contains(says), "{arguments:?}: {told}");
        assert!(!folder.path("out").exists(), "{arguments:?}");
    }
}

#[test]
fn a_preset_with_a_number_is_named_as_it_is_listed() {
    let folder = Scratch::new();
    lab(&folder);
    let policies = "immediate/mct,immediate/kpb:50,immediate/kpb:100:aging=0";
    let exclusive = ["lab.toml", "--set", "grid.sharing=exclusive"];
    compared(&folder, &[&exclusive[..], &["--policy", "immediate/mct,immediate/kpb:50"]].concat());
    gleaner(&folder, &[&["simulate"], &exclusive[..], &["--policy", policies]].concat()).success();
    let unknown = gleaner(&folder, &["simulate", "lab.toml", "--policy", "immediate/kpb:0"]).code(2);
    let error = String::from_utf8_lossy(&unknown.get_output().stderr).into_owned();
    assert!(error.contains("found \"immediate/kpb:0\""), "{error}");
}
