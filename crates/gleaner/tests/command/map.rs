//! `gleaner map` as its users meet it.

use crate::scratch::{Scratch, gleaner};
use serde_json::{Value, json};

/// Six tasks on three machines, one line a task.
const INSTANCE: &str = "6 3 0\n4 8 9\n2 1 9\n3 3 3\n5 9 2\n1 7 7\n6 6 2\n";

fn scratch() -> Scratch {
    let folder = Scratch::new();
    folder.write("small.0", INSTANCE);
    folder
}

fn mapped(folder: &Scratch, more: &[&str]) -> Value {
    let arguments = [&["map", "small.0", "--json"], more].concat();
    let run = gleaner(folder, &arguments).success();
    crate::scratch::json(&run.get_output().stdout)
}

#[test]
fn a_mark_of_the_byte_order_is_no_part_of_a_number() {
    let folder = Scratch::new();
    folder.write("small.0", &format!("\u{feff}{INSTANCE}"));
    assert_eq!(mapped(&folder, &["--heuristic", "min-min"])["makespan"], 8.0);
}

#[test]
fn json_has_the_contracts_form() {
    let expected = json!({
        "version": 1, "heuristic": "min-min", "tasks": 6, "machines": 3, "makespan": 8.0,
        "bound": null, "gap": null, "assignment": [0, 1, 0, 2, 0, 2],
    });
    assert_eq!(mapped(&scratch(), &["--heuristic", "min-min"]), expected);
}

#[test]
fn every_heuristic_maps_and_every_gap_is_to_the_bound() {
    let folder = scratch();
    for name in
        ["min-min", "max-min", "sufferage", "sufferage-passes", "mct", "met", "olb", "kpb:20", "kpb:66.7"]
    {
        let found = mapped(&folder, &["--heuristic", name, "--bound"]);
        let (bound, makespan) = (found["bound"].as_f64().expect("a bound"), found["makespan"].as_f64());
        let makespan = makespan.expect("a makespan");
        assert!(bound > 0.0 && bound <= makespan, "{found}");
        let gap = found["gap"].as_f64().expect("a gap");
        assert!((gap - (makespan / bound - 1.0)).abs() < 1e-12, "{found}");
        assert_eq!(found["heuristic"], name);
    }
}

#[test]
fn polishing_by_moves_is_reproducible_and_leaves_its_curve() {
    let folder = scratch();
    let arguments = ["--heuristic", "met", "--polish", "20000", "--seed", "5", "--out", "out"];
    let first = mapped(&folder, &arguments);
    assert_eq!(first, mapped(&folder, &arguments));
    assert_eq!((&first["bound"], &first["polish"]["reproducible"]), (&Value::Null, &json!(true)));
    assert!(first["makespan"].as_f64() <= first["polish"]["makespan_before"].as_f64());
    let assignment = folder.read("out/assignment.csv");
    assert_eq!(assignment.lines().next(), Some("task,machine"));
    assert_eq!(assignment.lines().count(), 7);
    let curve = folder.read("out/polish.csv");
    assert!(curve.starts_with("moves,seconds,makespan\n0,0.000000,"), "{curve}");
    let plot = folder.read("out/polish.svg");
    assert!(plot.contains("<svg") && plot.contains("best so far") && plot.contains("lower bound"), "{plot}");
}

#[test]
fn people_see_lines_and_for_small_instances_the_mapping() {
    let run = gleaner(&scratch(), &["map", "small.0", "--heuristic", "mct", "--bound", "--polish", "0.05s"]);
    let text = String::from_utf8(run.success().get_output().stdout.clone()).expect("text");
    for expected in
        ["heuristic    mct\n", "instance     6 tasks × 3 machines\n", "gap  ", "polished  ", "assignment  "]
    {
        assert!(text.contains(expected), "{expected:?} in {text}");
    }
}

#[test]
fn bad_instances_name_line_and_column_and_write_nothing() {
    let folder = Scratch::new();
    for (content, place) in [
        ("2 2 0\n1 2\n3", "bad.0:3:2: "),
        ("2 2 0\n1 2\n3 4 5", "bad.0:3:5: "),
        ("2 2 0\n1 -2\n3 4", "bad.0:2:3: "),
        ("2 2 0\n1 2\ninf 4", "bad.0:3:1: "),
        ("2 2 0\n1 NaN\n3 4", "bad.0:2:3: "),
        ("2 2 0\n1 2\n3 x", "bad.0:3:3: "),
        ("", "bad.0:1:1: "),
    ] {
        folder.write("bad.0", content);
        let run = gleaner(&folder, &["map", "bad.0", "--heuristic", "mct", "--out", "out", "--json"]).code(2);
        assert!(run.get_output().stdout.is_empty());
        let error: Value = serde_json::from_slice(&run.get_output().stderr).expect("one JSON object");
        let said = error["error"].as_str().expect("a text");
        assert!(said.starts_with(place) && said.contains("; expected "), "{said}");
        assert!(!folder.path("out").exists());
    }
}

#[test]
fn wrong_arguments_exit_with_2() {
    let folder = scratch();
    for wrong in [
        &["map", "small.0"][..],
        &["map", "small.0", "--heuristic", "kpb:0"],
        &["map", "none.0", "--heuristic", "mct"],
        &["map", "small.0", "--heuristic", "mct", "--polish", "-1s"],
        &["map", "small.0", "--heuristic", "mct", "--polish", "soon"],
        &["map", "small.0", "--heuristic", "mct", "--seed", "1"],
    ] {
        gleaner(&folder, wrong).code(2);
    }
}
