//! Scenarios over sites from outside: `gleaner simulate` and `gleaner explain`.

use crate::program::{self, gleaner};
use serde_json::Value;
use std::collections::BTreeSet;

fn example() -> String {
    example_of("sites")
}

fn example_of(name: &str) -> String {
    program::example(name).to_str().expect("a plain path").to_owned()
}

#[test]
fn sites_that_are_listed_run_by_the_same_sections() {
    let output = gleaner(&["simulate", &example_of("brokers"), "--json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let summary: Value = serde_json::from_slice(&output.stdout).expect("one document");
    assert_eq!((&summary["policy"], &summary["unfinished"]), (&"cavalieri/stochastic".into(), &0.into()));
    let unknown = gleaner(&["simulate", &example_of("brokers"), "--set", "work.model=\"lublin\""]);
    assert_eq!(unknown.status.code(), Some(2), "{unknown:?}");
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("work.model"), "{unknown:?}");
    let explained = gleaner(&["explain", &example_of("brokers"), "a1"]);
    assert_eq!(explained.status.code(), Some(2), "{explained:?}");
}

#[test]
fn a_run_of_brokers_that_was_saved_goes_on_with_its_seed() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("run.save");
    let file = file.to_str().expect("a plain path");
    let run = |more: &[&str]| gleaner(&[&["simulate", &example_of("brokers"), "--json"], more].concat());
    let whole = run(&["--seed", "3", "--checkpoint", file]);
    assert_eq!(whole.status.code(), Some(0), "{whole:?}");
    let resumed = run(&["--seed", "3", "--resume", file]);
    assert_eq!(resumed.stdout, whole.stdout, "{resumed:?}");
    for (arguments, says) in [
        (&["--seed", "4", "--resume", file][..], "found a run with seed 3; expected seed 4"),
        (&["--seed", "3", "--set", "index.ttl_s=[9]", "--resume", file], "--resume"),
        (&["--seed", "3", "--policy", "cavalieri/current", "--resume", file], "--resume"),
    ] {
        let refused = run(arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}: {refused:?}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains(says), "{arguments:?}: {refused:?}");
    }
}

#[test]
fn a_run_over_drawn_sites_that_was_saved_goes_on() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("run.save");
    let file = file.to_str().expect("a plain path");
    let run = |more: &[&str]| gleaner(&[&["simulate", &example(), "--json"], more].concat());
    let whole = run(&["--checkpoint", file]);
    assert_eq!(whole.status.code(), Some(0), "{whole:?}");
    let resumed = run(&["--resume", file]);
    assert_eq!(resumed.stdout, whole.stdout, "{resumed:?}");
    let refused = run(&["--policy", "khoo/backfill", "--resume", file]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("expected one under"), "{refused:?}");
}

#[test]
fn policies_are_compared_over_sites() {
    let dir = tempfile::tempdir().expect("a folder");
    let out = dir.path().to_str().expect("a plain path");
    let policies = "khoo/mrs,khoo/backfill,khoo/rep,gleaner/sites";
    let arguments = ["simulate", &example(), "--policy", policies, "--seeds", "2", "--json", "--out", out];
    let output = gleaner(&arguments);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
    let runs = document["runs"].as_array().expect("a list");
    assert_eq!((runs.len(), &document["version"]), (8, &1.into()));
    for run in runs {
        assert_eq!((&run["jobs"], &run["unfinished"]), (&60.into(), &0.into()), "{run}");
        let wasted = run["lost_share"].as_f64().expect("a number");
        assert_eq!(wasted > 0.0, run["policy"] == "khoo/rep", "{run}");
        // It is what jobs ask for before they are cut that meets `sites.load`.
        let load = run["offered_load"].as_f64().expect("a number");
        assert!(0.3 < load && load < 0.9, "{run}");
    }
    let page = std::fs::read_to_string(dir.path().join("khoo-mrs/seed-2/report.html")).expect("a page");
    assert!(page.contains("\"bars\":[["), "what ran at which site");
    let jobs = std::fs::read_to_string(dir.path().join("khoo-mrs/seed-2/jobs.csv")).expect("a table");
    assert_eq!(jobs.lines().count(), 61);
}

#[test]
fn a_policy_that_knows_no_sites_is_refused() {
    let output = gleaner(&["simulate", &example(), "--policy", "bertasi/greedy"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("khoo/mrs"), "{output:?}");
}

#[test]
fn explain_lists_distances_and_draws_the_virtual_map() {
    let dir = tempfile::tempdir().expect("a folder");
    let svg = dir.path().join("map.svg");
    let file = svg.to_str().expect("a plain path");
    let output = gleaner(&["explain", &example(), "17", "--svg", file]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.starts_with("job 17: ") && text.contains("distance"), "{text}");
    let drawn = std::fs::read_to_string(svg).expect("a drawing");
    assert!(drawn.starts_with("<svg") && drawn.contains("Virtual map of job 17"), "{drawn}");
    assert!(drawn.contains("<title>all that the job asks for: origin"), "{drawn}");
    // Each of the six sites, wherever it lies.
    let titles = drawn.split("<title>").skip(1).filter_map(|rest| rest.split("</title>").next());
    let names = titles.flat_map(str::lines).filter_map(|line| {
        line.strip_prefix("other sites: ").or_else(|| line.strip_prefix("where it goes: "))
    });
    let sites: BTreeSet<&str> = names.flat_map(|names| names.split(", ")).collect();
    assert_eq!(sites.len(), 6, "{drawn}");
    let unknown = gleaner(&["explain", &example(), "61"]);
    assert_eq!(unknown.status.code(), Some(2), "{unknown:?}");
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("from 1 to 60"), "{unknown:?}");
}

#[test]
fn meta_schedulers_ask_sites_what_they_have_and_who_would_wait_in_vain_is_told() {
    let far = ["protocol.brokers=3", "protocol.delay_s=20", "protocol.publish=false"];
    let asking = "policy.sites={news=\"broadcast\", patience_s=100}";
    let set = |more: &[&str]| -> Vec<String> {
        let all = far.iter().chain(more).flat_map(|setting| ["--set".to_owned(), (*setting).to_owned()]);
        [vec!["simulate".to_owned(), example(), "--json".to_owned()], all.collect()].concat()
    };
    let run = |more: &[&str]| {
        let arguments = set(more);
        gleaner(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let output = run(&[asking]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let summary: Value = serde_json::from_slice(&output.stdout).expect("one document");
    let number = |key: &str| summary[key].as_u64().expect("a number");
    assert_eq!(number("unfinished"), 0);
    // Each of six sites hears of each of sixty jobs at most once.
    assert!(number("requirements_told") <= 360 && number("requirements_known") > 0, "{summary}");
    // Without a word on that, answers are waited for that take as long as they do.
    let patient = run(&["policy.sites={news=\"broadcast\"}"]);
    assert_eq!(patient.status.code(), Some(0), "{patient:?}");
    let summary: Value = serde_json::from_slice(&patient.stdout).expect("one document");
    assert_eq!(summary["unfinished"], 0, "{summary}");
    let hasty = run(&["policy.sites={news=\"broadcast\", patience_s=40}"]);
    assert_eq!(hasty.status.code(), Some(2), "{hasty:?}");
    let says = "policy.sites.patience_s: found 40; expected more than 40 s";
    assert!(String::from_utf8_lossy(&hasty.stderr).contains(says), "{hasty:?}");
}

#[test]
fn sites_behind_brokers_run_their_queues_by_a_rule_for_queues() {
    let dir = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).expect("a disk");
    write("elements.csv", "id,site,cpus,ops_per_s\ncluster,south,10,1\n");
    write("jobs.csv", "id,arrival_s,length,cores,estimate\na,0,100,6,\nb,1,50,8,\nc,2,98,4,98\n");
    let scenario = "[sites]\nelements = \"elements.csv\"\nqueue = QUEUE\n[work]\njobs = \"jobs.csv\"\n[index]\nttl_s = [30]\n\
                    [policy]\npreset = \"gleaner/broker\"\n";
    let run = |queue: &str| {
        write("scenario.toml", &scenario.replace("QUEUE", queue));
        let file = dir.path().join("scenario.toml");
        gleaner(&["simulate", file.to_str().expect("a plain path"), "--json"])
    };
    for (queue, makespan_s) in [
        ("\"queue/easy\"", 150.0),
        ("\"queue/fcfs\"", 248.0),
        ("{ preset = \"queue/easy\", fill = \"shortest\" }", 150.0),
    ] {
        let output = run(queue);
        let summary: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        assert_eq!(summary["makespan_s"], makespan_s, "{queue}");
    }
    for (queue, says) in [
        ("\"khoo/mrs\"", "a rule for queues: queue/fcfs, queue/easy or queue/conservative"),
        ("\"queue/esy\"", "queue/easy"),
        ("{ preset = \"queue/easy\", fil = \"shortest\" }", "fill"),
    ] {
        let refused = run(queue);
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
        let error = String::from_utf8_lossy(&refused.stderr);
        assert!(error.contains("sites.queue") && error.contains(says), "{error}");
    }
    let plain = scenario.replace("queue = QUEUE\n", "");
    write("scenario.toml", &plain);
    let refused = gleaner(&["simulate", dir.path().join("scenario.toml").to_str().expect("a plain path")]);
    let error = String::from_utf8_lossy(&refused.stderr);
    assert!(
        refused.status.code() == Some(2) && error.contains("jobs.csv:2") && error.contains("sites.queue"),
        "{error}"
    );
}

/// The example of sites and jobs of one's own.
fn own() -> String {
    example().replace("scenario.toml", "own.toml")
}

#[test]
fn sites_and_jobs_of_ones_own_run_and_are_called_by_their_names() {
    let dir = tempfile::tempdir().expect("a folder");
    let out = dir.path().to_str().expect("a plain path");
    let plain = gleaner(&["simulate", &own(), "--json", "--out", out]);
    assert_eq!(plain.status.code(), Some(0), "{plain:?}");
    let summary: Value = serde_json::from_slice(&plain.stdout).expect("one document");
    assert_eq!((&summary["jobs"], &summary["unfinished"]), (&5.into(), &0.into()));
    let jobs = std::fs::read_to_string(dir.path().join("jobs.csv")).expect("a table");
    assert!(jobs.contains("\nrender,0.000000000,8,") && jobs.contains("centre:8"), "{jobs}");
    let unknown = gleaner(&["explain", &own(), "rendre"]);
    assert_eq!(unknown.status.code(), Some(2), "{unknown:?}");
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("an id of the table of jobs"), "{unknown:?}");
}

#[test]
fn axes_of_quality_and_cost_change_where_a_job_goes_and_explain_shows_them() {
    let explain = |more: &[&str]| {
        let output = gleaner(&[&["explain", &own(), "render"], more].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let goes = |text: &str| {
        let line = text.lines().find(|line| line.ends_with("goes here")).expect("it starts as it comes");
        line.split_whitespace().next().expect("a site").to_owned()
    };
    let (plain, with) = (explain(&[]), explain(&["--set", "policy.sites={quality=true, cost=true}"]));
    assert!(!plain.contains("cost") && with.contains("quality") && with.contains("cost"), "{with}");
    // All have room for it, and the first is listed first; the last asks for nothing.
    assert_eq!((goes(&plain), goes(&with)), ("campus".to_owned(), "pool".to_owned()), "{plain}{with}");
    let json = explain(&["--set", "policy.sites={cost=true}", "--json"]);
    let explained: Value = serde_json::from_str(&json).expect("one document");
    let centre = explained["sites"].as_array().expect("sites").iter().find(|site| site["name"] == "centre");
    let centre = centre.expect("the centre");
    assert_eq!((&centre["cost"], centre.get("quality")), (&2.0.into(), None), "{json}");
}

/// Two jobs come at once, and the first takes all of the nearest site: on the map of the second nothing is free there.
#[test]
fn the_map_is_the_one_by_which_the_choice_was_made_with_the_demand_that_it_used() {
    let dir = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).expect("written");
    write("s.csv", "id,processors,gflops,upload_mbit,download_mbit\nA,8,1,100,100\nC,8,3,100,100\n");
    write("j.csv", "id,arrival_s,processors,run_s,data,source\nx,0,8,600,20GB,C\ny,0,8,600,20GB,C\n");
    write(
        "s.toml",
        "[sites]\ntable = \"s.csv\"\n[work]\njobs = \"j.csv\"\n[policy]\npreset = \"khoo/mrs\"\n",
    );
    let scenario = dir.path().join("s.toml");
    let scenario = scenario.to_str().expect("a plain path");
    let explain = |job: &str| -> Value {
        let output = gleaner(&["explain", scenario, job, "--json"]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        serde_json::from_slice(&output.stdout).expect("one document")
    };
    let (first, second) = (explain("x"), explain("y"));
    let site = |of: &Value, at: usize| (of["sites"][at]["name"].clone(), of["sites"][at]["taken"].clone());
    assert_eq!(site(&first, 0), ("C".into(), true.into()), "{first}");
    // The data lies there, so that it is the nearest still; but nothing of it is free.
    let busy = &second["sites"][0];
    assert_eq!(site(&second, 0), ("C".into(), false.into()), "{second}");
    assert_eq!((&busy["free"], &busy["computation"]), (&0.into(), &1.0.into()), "{second}");
    assert_eq!(site(&second, 1), ("A".into(), true.into()), "{second}");
    // Both sites together have a mean of 2 GFlops: 8 processors do 16, and 600 s at 1 become 300 s.
    assert_eq!((&second["map_gflops"], &second["map_run_s"]), (&16.0.into(), &300.0.into()), "{second}");
    // Equation (1) of the printed demand: A has 8 of 16 GFlops; (2): 20 GiB at 100 Mbit/s.
    let a = &second["sites"][1];
    let index = |name: &str| a[name].as_f64().expect("a number");
    assert!((index("computation") - 0.5).abs() < 1e-9, "{second}");
    assert!((index("data") - 8.0 * 20.0 * f64::from(1 << 30) / 100e6 / 300.0).abs() < 1e-9, "{second}");
    let told = String::from_utf8(gleaner(&["explain", scenario, "y"]).stdout).expect("text");
    assert!(told.contains("20.0 GiB of data at site C"), "{told}");
    assert!(told.contains("16.0000 GFlops asked for, a run time of 300.000 s"), "{told}");
}

/// Two elements take each as much as a number can say.
#[test]
fn elements_may_have_any_number_of_processors() {
    let dir = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).expect("a disk");
    write("elements.csv", "id,site,cpus,ops_per_s\na,south,2147483648,1\nb,south,2147483648,1\n");
    write("jobs.csv", "id,arrival_s,length\n\"x,y\",0,100\n");
    write(
        "s.toml",
        "[sites]\nelements = \"elements.csv\"\n[work]\njobs = \"jobs.csv\"\n[index]\nttl_s = [30]\n[policy]\n\
         preset = \"gleaner/broker\"\n",
    );
    let [scenario, out] = ["s.toml", "out"].map(|name| dir.path().join(name).display().to_string());
    let output = gleaner(&["simulate", &scenario, "--json", "--out", &out]);
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert!(summary["utilisation"].as_f64().is_some_and(|used| used > 0.0), "{summary}");
    let table = std::fs::read_to_string(dir.path().join("out/jobs.csv")).expect("a table");
    assert!(table.lines().nth(1).is_some_and(|row| row.starts_with("\"x,y\",")), "{table}");
}

/// The parts of a job that was interrupted describe it, and are no jobs.
#[test]
fn a_job_of_a_log_runs_once_however_often_it_was_interrupted() {
    let dir = tempfile::tempdir().expect("a folder");
    let line = |at, run, status| format!("1 {at} -1 {run} 4 -1 -1 4 100 -1 {status} 1 1 -1 -1 -1 -1 -1\n");
    let log = [line(0, 90, 1), line(0, 40, 2), line(50, 50, 3)].concat();
    std::fs::write(dir.path().join("log.swf"), log).expect("a file");
    std::fs::write(dir.path().join("sites.csv"), "id,processors,upload_mbit,download_mbit\na,8,10,10\n")
        .expect("a file");
    let scenario = dir.path().join("s.toml");
    let text = "[sites]\ntable = \"sites.csv\"\n[work]\nmodel = \"log\"\nlog = \"log.swf\"\n[policy]\n\
                preset = \"khoo/backfill\"\n";
    std::fs::write(&scenario, text).expect("a file");
    let output = gleaner(&["simulate", scenario.to_str().expect("plain"), "--json"]);
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    assert_eq!(summary["jobs"], 1, "{summary}");
}

#[test]
fn a_scenario_in_which_no_site_takes_a_job_or_that_has_no_jobs_is_bad_input() {
    for set in ["work.memory_gb=[1e9]", "work.disk_gb=1e6"] {
        let output = gleaner(&["simulate", &example(), "--set", set]);
        assert_eq!(output.status.code(), Some(2), "{set}: {output:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("found job 1, which needs"), "{output:?}");
    }
    let endless = gleaner(&["simulate", &example(), "--set", "work.data_share=1e5", "--json"]);
    assert_eq!(endless.status.code(), Some(0), "{endless:?}");
    let summary: Value = serde_json::from_slice(&endless.stdout).expect("one document");
    assert!(summary["unfinished"].as_u64().expect("a number") > 0, "{summary}");
}

/// When each job starts, by its name, of sites and jobs in tables.
fn starts(sites: &str, jobs: &str) -> Vec<(String, f64)> {
    let dir = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).expect("a file");
    write("sites.csv", sites);
    write("jobs.csv", jobs);
    write(
        "s.toml",
        "[sites]\ntable = \"sites.csv\"\n[network]\nshared = true\n[work]\njobs = \"jobs.csv\"\n[policy]\npreset = \"khoo/backfill\"\n",
    );
    let [scenario, out] = ["s.toml", "out"].map(|name| dir.path().join(name).display().to_string());
    let output = gleaner(&["simulate", &scenario, "--out", &out]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let table = std::fs::read_to_string(dir.path().join("out/jobs.csv")).expect("a table");
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        (cells[0].to_owned(), cells[6].parse::<f64>().expect("a number").round())
    };
    table.lines().skip(1).map(row).collect()
}

/// A site whose processors are all taken has no more memory than it has; and when the parts of a job begin, nothing becomes free.
#[test]
fn backfilling_over_sites_keeps_the_first_in_line_its_room() {
    let memory = "id,processors,memory,upload_mbit,download_mbit\ns0,8,4GB,80,80\ns1,4,4GB,80,80\n";
    let jobs = "id,arrival_s,processors,run_s,memory\na,0,8,100,\nh,10,8,100,1GB\nl,20,1,500,\n";
    let expected = [("a", 0.0), ("h", 100.0), ("l", 100.0)].map(|(job, at)| (job.to_owned(), at));
    assert_eq!(starts(memory, jobs), expected);

    let split = "id,processors,upload_mbit,download_mbit\ns0,3,8,8\ns1,6,8,8\n";
    let jobs = "id,arrival_s,processors,run_s,data,source\na,0,7,50,700MB,s1\nb,0,1,40,200MB,s1\nh,10,2,100,,\nl,20,1,500,,\n";
    let expected = [("a", 0.0), ("b", 0.0), ("h", 260.0), ("l", 260.0)].map(|(job, at)| (job.to_owned(), at));
    assert_eq!(starts(split, jobs), expected);
}
