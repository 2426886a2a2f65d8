//! `gleaner paper` from outside.

use crate::program::gleaner;
use serde_json::Value;

#[test]
fn one_figure_as_json_and_as_files() {
    let dir = tempfile::tempdir().expect("a folder");
    let out = dir.path().to_str().expect("a plain path");
    let output = gleaner(&["paper", "bertasi", "--figure", "2", "--seeds", "2", "--json", "--out", out]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    let document: Value = serde_json::from_slice(&output.stdout).expect("one document");
    assert_eq!(document["version"], 1);
    assert_eq!(document["paper"], "bertasi");
    assert_eq!(document["seeds"], 2);
    let claims = document["claims"].as_array().expect("a list");
    assert!(!claims.is_empty() && claims.iter().all(|claim| claim["id"].as_str().is_some()));
    for name in ["claims.json", "figure-2.svg", "figure-2.csv", "report.html"] {
        assert!(dir.path().join(name).exists(), "{name}");
    }
    let written = std::fs::read(dir.path().join("claims.json")).expect("a file");
    assert_eq!(serde_json::from_slice::<Value>(&written).expect("JSON"), document);
}

#[test]
fn people_get_a_table_without_colours_in_a_pipe() {
    let output = gleaner(&["paper", "bertasi", "--figure", "2", "--seeds", "2"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.starts_with("verdict    claim"), "{text}");
    assert!(text.contains("figure-2/greedy-leaves-s3") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn an_experiment_that_was_kept_is_not_run_again() {
    let dir = tempfile::tempdir().expect("a folder");
    let out = dir.path().to_str().expect("a plain path");
    let part = ["paper", "elleuch", "--part", "periods", "--seeds", "2", "--days", "0.02"];
    let arguments = [&part[..], &["--json", "--out", out]].concat();
    let first = gleaner(&arguments);
    assert_eq!(first.status.code(), Some(0), "{first:?}");
    let document: Value = serde_json::from_slice(&first.stdout).expect("one document");
    assert_eq!((&document["paper"], &document["seeds"]), (&"elleuch".into(), &2.into()));
    for name in ["claims.json", "periods.svg", "simulations.csv", "report.html"] {
        assert!(dir.path().join(name).exists(), "{name}");
    }
    let kept = dir.path().join("simulations.jsonl");
    let text = std::fs::read_to_string(&kept).expect("results");
    assert_eq!(text.lines().count(), 2 * 6);
    // Half of a line is as if the program had been killed.
    std::fs::write(&kept, &text[..text.len() - 20]).expect("written");
    let again = gleaner(&arguments);
    assert_eq!(again.stdout, first.stdout);
    assert_eq!(std::fs::read_to_string(&kept).expect("results"), text);
    std::fs::write(&kept, "something else\n").expect("written");
    let foreign = gleaner(&arguments);
    assert_eq!(foreign.status.code(), Some(2), "{foreign:?}");
}

#[test]
fn what_there_is_not_is_bad_usage() {
    let unknown = gleaner(&["paper", "nobody"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("bertasi"));
    assert_eq!(gleaner(&["paper", "bertasi", "--figure", "9"]).status.code(), Some(2));
    assert_eq!(gleaner(&["paper", "bertasi", "--seeds", "1"]).status.code(), Some(2));
    assert_eq!(gleaner(&["paper", "bertasi", "--days", "1"]).status.code(), Some(2));
    assert_eq!(gleaner(&["paper", "elleuch", "--figure", "1"]).status.code(), Some(2));
    assert_eq!(gleaner(&["paper", "bertasi", "--log", "jobs.swf"]).status.code(), Some(2));
    for (arguments, told) in [
        (&["paper", "khoo", "--figure", "1"][..], "error: --figure: khoo has one table"),
        (&["paper", "khoo", "--figure", "1", "--days", "2"], "error: --figure, --days: khoo has one table"),
        (&["paper", "cavalieri", "--days", "1"], "error: --days: cavalieri has parts only"),
    ] {
        let refused = gleaner(arguments);
        assert_eq!(refused.status.code(), Some(2), "{arguments:?}");
        let error = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(error.starts_with(told), "{error}");
    }
    assert_eq!(gleaner(&["paper", "khoo", "--log", "nowhere.swf"]).status.code(), Some(2));
    let json = gleaner(&["paper", "bertasi", "--figure", "0", "--json"]);
    assert_eq!(json.status.code(), Some(2));
    let error: Value = serde_json::from_slice(&json.stderr).expect("JSON");
    assert_eq!(error["code"], 2);
}
