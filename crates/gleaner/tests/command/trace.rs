//! `gleaner trace` from outside, and a scenario that runs on what it writes.

use crate::program::{document, gleaner_in};
use serde_json::Value;
use std::fs;

#[test]
fn what_is_generated_is_checked_and_runs() {
    let dir = tempfile::tempdir().expect("a folder");
    let generate =
        ["trace", "generate", "--present", "9", "--mean-speed", "1e5", "--days", "2", "--out", "t.csv"];
    let made =
        document(&gleaner_in(dir.path(), &[&generate[..], &["--machines", "m.csv", "--json"]].concat()));
    assert_eq!(document(&gleaner_in(dir.path(), &["trace", "check", "t.csv", "--json"])), made);
    assert_eq!((&made["version"], &made["machines"]), (&1.into(), &19.into()));
    let people =
        String::from_utf8(gleaner_in(dir.path(), &["trace", "check", "t.csv"]).stdout).expect("text");
    assert!(people.starts_with("machines     19\n") && people.contains("long enough"), "{people}");

    let scenario = "[grid]\nmachines = \"m.csv\"\navailability = \"t.csv\"\nsharing = \"exclusive\"\n\
                    [work]\ntasks = \"tasks.csv\"\n[policy]\npreset = \"bertasi/greedy\"\n";
    fs::write(dir.path().join("s.toml"), scenario).expect("written");
    let tasks: String = (0..100).map(|at| format!("t{at},{},5000000,1\n", at * 60)).collect();
    fs::write(dir.path().join("tasks.csv"), format!("id,arrival_s,length,ops\n{tasks}")).expect("written");
    let known = document(&gleaner_in(dir.path(), &["simulate", "s.toml", "--json", "--out", "out"]));
    assert_eq!((&known["tasks"], &known["unfinished"]), (&100.into(), &0.into()));
    assert!(known["lower_bound_s"].as_f64() <= known["makespan_s"].as_f64(), "{known}");
    let machines = fs::read_to_string(dir.path().join("out/machines.csv")).expect("a table");
    assert!(machines.contains("w0#1,"), "{machines}");
    let forecast = "grid.availability={ trace = \"t.csv\", prediction = \"forecast\", look_s = 60 }";
    let forecast = document(&gleaner_in(dir.path(), &["simulate", "s.toml", "--json", "--set", forecast]));
    assert_eq!(forecast["unfinished"], 0);
}

#[test]
fn an_event_file_is_imported_and_bad_input_leaves_nothing() {
    let dir = tempfile::tempdir().expect("a folder");
    let events = "# event_id\tcomponent_id\tnode_id\n\
                  1\t0\t7\t1\ta\t1\t1000\t1100\tNULL\n2\t0\t7\t1\ta\t1\t1300\t1400\t0\n";
    fs::write(dir.path().join("event_trace.tab"), events).expect("written");
    let import = ["trace", "import", "event_trace.tab", "--speed", "8900", "--out", "t.csv", "--json"];
    let made = document(&gleaner_in(dir.path(), &import));
    assert_eq!((&made["intervals"], &made["end_s"]), (&2.into(), &400.0.into()));
    let table = fs::read_to_string(dir.path().join("t.csv")).expect("a trace");
    assert_eq!(table, "machine,interval,from_s,until_s,speed\n7,1,0,100,8900\n7,2,300,400,8900\n");

    fs::write(dir.path().join("event_trace.tab"), format!("{events}3\t0\t7\t1\ta\t1\t1350\t1500\t0\n"))
        .expect("written");
    fs::remove_file(dir.path().join("t.csv")).expect("it was there");
    let refused = gleaner_in(dir.path(), &import);
    assert_eq!(refused.status.code(), Some(2));
    let error: Value = serde_json::from_slice(&refused.stderr).expect("JSON");
    assert_eq!((&error["input"]["line"], &error["input"]["field"]), (&4.into(), &"event_start_time".into()));
    assert!(!dir.path().join("t.csv").exists());

    fs::write(dir.path().join("bad.csv"), "machine,interval,from_s,until_s,speed\na,1,0,5,-1\n")
        .expect("written");
    let checked = gleaner_in(dir.path(), &["trace", "check", "bad.csv"]);
    assert_eq!(checked.status.code(), Some(2));
    let text = String::from_utf8(checked.stderr).expect("text");
    assert!(text.contains("bad.csv:2: speed: found \"-1\"; expected 0, or operations a second"), "{text}");
    assert_eq!(gleaner_in(dir.path(), &["trace", "check", "none.csv"]).status.code(), Some(2));
}
