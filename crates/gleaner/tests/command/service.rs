//! How whoever handed something in was served: the same numbers of the same work, whatever kind of scenario it is.

use crate::scratch::{Scratch, gleaner};
use serde_json::{Value, json};

fn simulated(folder: &Scratch, arguments: &[&str]) -> Value {
    let run = gleaner(folder, &[&["simulate"], arguments, &["--json", "--out", "out"]].concat()).success();
    let report = folder.read("out/report.html");
    assert!(report.contains("utilisation") && report.contains("work lost"), "{arguments:?}");
    serde_json::from_slice(&run.get_output().stdout).expect("a summary")
}

/// One machine, two jobs of 20 s that come at once.
#[test]
fn every_kind_of_scenario_says_how_its_jobs_were_served() {
    let folder = Scratch::new();
    folder.write("machines.csv", "id,cpu\nm,1\n");
    folder.write("tasks.csv", "id,arrival_s,length,cpu,user\nt1,0,20,1,ada\nt2,0,20,1,ben\n");
    folder.write(
        "machines.toml",
        "[grid]\nmachines = \"machines.csv\"\nsharing = \"exclusive\"\n[work]\ntasks = \"tasks.csv\"\n\
         weights = { cpu = 1.0 }\n[policy]\npreset = \"bertasi/greedy\"\n",
    );
    folder.write("workers.csv", "peer,ops_per_s\none,1\n");
    folder.write("bags.csv", "id,peer,arrival_s,lengths\nj1,one,0,20\nj2,one,0,20\n");
    folder.write(
        "peers.toml",
        "[peers]\nworkers = \"workers.csv\"\n[work]\njobs = \"bags.csv\"\n[policy]\npreset = \"dasilva/greedy\"\n",
    );
    folder.write("elements.csv", "id,site,cpus,ops_per_s\nce,roma,1,1\n");
    folder.write("jobs.csv", "id,arrival_s,length\nj1,0,20\nj2,0,20\n");
    folder.write(
        "brokers.toml",
        "[sites]\nelements = \"elements.csv\"\n[index]\nttl_s = [30]\n[work]\njobs = \"jobs.csv\"\n\
         [policy]\npreset = \"cavalieri/current\"\n",
    );
    let line = |number: u32| format!("{number} 0 -1 20 1 -1 -1 1 20 -1 1 {number} 1 -1 -1 -1 -1 -1\n");
    folder.write("log.swf", &format!("; MaxProcs: 1\n{}{}", line(1), line(2)));
    for (arguments, fairness) in [
        (&["machines.toml"][..], json!(0.9)),
        (&["--swf", "log.swf", "--policy", "queue/fcfs"], json!(0.9)),
        (&["peers.toml"], Value::Null),
        (&["brokers.toml"], Value::Null),
    ] {
        let summary = simulated(&folder, arguments);
        for (key, expected) in [
            ("wait_mean_s", json!(10.0)),
            ("wait_max_s", json!(20.0)),
            ("flow_mean_s", json!(30.0)),
            ("flow_max_s", json!(40.0)),
            ("slowdown_mean", json!(1.5)),
            ("slowdown_max", json!(2.0)),
            ("utilisation", json!(1.0)),
            ("lost_share", json!(0.0)),
            // Slowdowns of 1 and 2, where it is known whose they are: 9 / (2 · 5).
            ("fairness", fairness),
        ] {
            assert_eq!(summary[key], expected, "{arguments:?}: {key} in {summary}");
        }
    }
}

/// It has one core there, and takes twice as long as on two, with nobody beside it.
#[test]
fn a_task_of_more_cores_than_any_machine_has_is_alone_on_what_there_is() {
    let folder = Scratch::new();
    folder.write("machines.csv", "id,cpu,cores\nm,1,1\n");
    folder.write("tasks.csv", "id,arrival_s,length,cores,cpu\nt,0,100,2,1\n");
    folder.write(
        "machines.toml",
        "[grid]\nmachines = \"machines.csv\"\n[work]\ntasks = \"tasks.csv\"\nweights = { cpu = 1.0 }\n\
         [policy]\npreset = \"bertasi/greedy\"\nrelocate = \"none\"\n",
    );
    let summary = simulated(&folder, &["machines.toml"]);
    assert_eq!((&summary["flow_max_s"], &summary["slowdown_max"]), (&json!(200.0), &json!(1.0)));
}

/// The first job never finds an element; the second comes at 100 s and takes 100 s.
#[test]
fn brokers_that_leave_work_are_counted_to_the_end_of_the_run() {
    let folder = Scratch::new();
    folder.write("elements.csv", "id,site,cpus,ops_per_s\nce,roma,1,1\n");
    folder.write(
        "jobs.csv",
        "id,arrival_s,length,ad\na,0,100,[Requirements = TARGET.FreeCpus > 100]\nb,100,100,\n",
    );
    folder.write(
        "brokers.toml",
        "[sites]\nelements = \"elements.csv\"\n[index]\nttl_s = [30]\n[work]\njobs = \"jobs.csv\"\n\
         [policy]\npreset = \"cavalieri/current\"\n",
    );
    let summary = simulated(&folder, &["brokers.toml"]);
    assert_eq!((&summary["unfinished"], &summary["makespan_s"]), (&json!(1), &json!(200.0)));
    let utilisation = summary["utilisation"].as_f64().expect("a number");
    assert!(0.25 < utilisation && utilisation <= 0.5, "100 s of 200 s or somewhat more: {utilisation}");
}

/// The machine goes when half of the task is done, and comes back later.
#[test]
fn what_was_done_on_a_machine_that_went_is_lost() {
    let folder = Scratch::new();
    folder.write("machines.csv", "id,cpu\nm,1\n");
    folder.write("trace.csv", "machine,interval,from_s,until_s,speed\nm,1,0,10,1\nm,2,20,60,1\n");
    folder.write("tasks.csv", "id,arrival_s,length,cpu\nt1,0,20,1\n");
    folder.write(
        "away.toml",
        "[grid]\nmachines = \"machines.csv\"\nsharing = \"exclusive\"\navailability = \"trace.csv\"\n[work]\n\
         tasks = \"tasks.csv\"\nweights = { cpu = 1.0 }\n[policy]\npreset = \"bertasi/greedy\"\n",
    );
    let summary = simulated(&folder, &["away.toml"]);
    assert_eq!(summary["lost"], json!({ "runs": 1, "ops": 10.0 }), "{summary}");
    assert_eq!(summary["lost_share"], json!(10.0 / 30.0));
    assert_eq!((&summary["utilisation"], &summary["flow_mean_s"]), (&json!(1.0), &json!(40.0)));
}

/// What one run says of these machines, this trace and these tasks.
fn by_trace(machines: &str, trace: &str, tasks: &str) -> Value {
    let folder = Scratch::new();
    folder.write("machines.csv", machines);
    folder.write("trace.csv", &format!("machine,interval,from_s,until_s,speed\n{trace}"));
    folder.write("tasks.csv", tasks);
    folder.write(
        "traced.toml",
        "[grid]\nmachines = \"machines.csv\"\nsharing = \"exclusive\"\navailability = \"trace.csv\"\n[work]\n\
         tasks = \"tasks.csv\"\nweights = { cpu = 1.0 }\n[policy]\npreset = \"bertasi/greedy\"\n",
    );
    simulated(&folder, &["traced.toml"])
}

#[test]
fn a_task_by_a_trace_is_set_against_a_machine_that_was_there_and_may_run_it() {
    for (what, machines, trace, tasks) in [
        (
            "no class of machines is as fast as the machine",
            "id,cpu\nm,1\n",
            "m,1,0,1000,1001\n",
            "id,arrival_s,length,cpu\nt,0,100100,1\n",
        ),
        (
            "the fast machine may not run it",
            "id,cpu,provides\na,1,\nb,1,gpu\n",
            "a,1,0,1000,1000\nb,1,0,1000,10\n",
            "id,arrival_s,length,cpu,domain\nt,0,1000,1,gpu\n",
        ),
    ] {
        let summary = by_trace(machines, trace, tasks);
        assert_eq!(summary["flow_mean_s"], json!(100.0), "{what}");
        let slowdown = summary["slowdown_mean"].as_f64().expect("a number");
        assert!((slowdown - 1.0).abs() < 1e-9, "{what}: {slowdown}");
    }
}

#[test]
fn utilisation_by_a_trace_weighs_machines_by_their_cores() {
    let summary = by_trace(
        "id,cpu,cores,provides\na,1,1,gpu\nb,1,9,\n",
        "a,1,0,1000,1\nb,1,0,1000,1\n",
        "id,arrival_s,length,cpu,domain\nt,0,100,1,gpu\n",
    );
    assert_eq!(summary["utilisation"], json!(0.1), "{summary}");
}
