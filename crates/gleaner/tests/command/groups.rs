//! Scenarios of groups with a scheduler each, from outside: runs, what they write, and bad input.

use crate::program::{document, example, gleaner_on};

#[test]
fn groups_run_and_leave_tables_and_a_report() {
    let dir = tempfile::tempdir().expect("a folder");
    let out = dir.path().to_str().expect("a plain path");
    let run = document(&gleaner_on("simulate", &example("groups"), &["--json", "--out", out]));
    assert_eq!((&run["tasks"], &run["unfinished"]), (&5.into(), &0.into()), "{run}");
    assert!(run["between"]["letters"].as_u64().expect("a count") > 0, "{run}");
    let read =
        |name: &str| std::fs::read_to_string(dir.path().join(name)).unwrap_or_else(|_| panic!("{name}"));
    assert_eq!((read("tasks.csv").lines().count(), read("machines.csv").lines().count()), (6, 4));
    assert!(read("report.html").contains("letters for each task"));
    let again = document(&gleaner_on("simulate", &example("groups"), &["--json"]));
    assert_eq!(run, again, "the same scenario and seed give the same run");
}

#[test]
fn one_group_is_the_scenario_without_groups() {
    let one = document(&gleaner_on("simulate", &example("groups"), &["--json", "--set", "groups.size=3"]));
    let alone = document(&gleaner_on("simulate", &example("lab"), &["--json"]));
    assert_eq!(one["between"]["letters"], 0);
    for number in ["makespan_s", "moves", "flow_mean_s", "utilisation"] {
        assert_eq!(one[number], alone[number], "{number}");
    }
}

#[test]
fn policies_are_compared_over_seeds_in_groups() {
    let arguments = ["--policy", "bertasi/greedy,bertasi/min-num", "--seeds", "3", "--json"];
    let compared = document(&gleaner_on("simulate", &example("groups"), &arguments));
    assert_eq!(compared["runs"].as_array().map(Vec::len), Some(6));
    let dir = tempfile::tempdir().expect("a folder");
    let out = dir.path().to_str().expect("a plain path");
    let shaken = [&arguments[..], &["--shake", "60", "--out", out]].concat();
    document(&gleaner_on("simulate", &example("groups"), &shaken));
    let report = std::fs::read_to_string(dir.path().join("report.html")).expect("a report");
    assert_eq!(
        report.matches("class=\"gantt-place\"").count(),
        2,
        "the first seed's schedule of each policy"
    );
}

/// A task that is handed over runs once, at the neighbour's.
#[test]
fn the_part_of_the_runs_that_neighbours_had_is_of_all_that_began() {
    let dir = tempfile::tempdir().expect("a folder");
    let out = dir.path().to_str().expect("a plain path");
    let run = document(&gleaner_on("simulate", &example("groups"), &["--json", "--out", out]));
    let share = run["between"]["handed_over_share"].as_f64().expect("a share");
    let runs = run["tasks"].as_f64().expect("a count") + run["moves"].as_f64().expect("a count");
    let of_runs = share * runs;
    assert!(share > 0.0 && (of_runs - of_runs.round()).abs() < 1e-9, "{share} of {runs}: {run}");
}

#[test]
fn a_run_of_groups_that_was_saved_goes_on() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("run.save");
    let file = file.to_str().expect("a plain path");
    let whole = document(&gleaner_on("simulate", &example("groups"), &["--json", "--checkpoint", file]));
    assert_eq!(document(&gleaner_on("simulate", &example("groups"), &["--json", "--resume", file])), whole);
    let other = gleaner_on("simulate", &example("groups"), &["--set", "groups.size=3", "--resume", file]);
    assert_eq!(other.status.code(), Some(2), "{other:?}");
    assert!(String::from_utf8_lossy(&other.stderr).contains("another scenario"), "{other:?}");
}

const EASY: &str = "--policy=queue/easy";
const NO_MOVES: &str = "--set=policy.relocate=none";

#[test]
fn what_groups_cannot_do_is_refused_where_it_is_asked_for() {
    let refused = |arguments: &[&str]| {
        let output = gleaner_on("simulate", &example("groups"), arguments);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    for (arguments, key, found) in [
        (&[EASY, "--set=grid.sharing=exclusive", NO_MOVES][..], "policy.preset", "plans, queues"),
        (&["--set=policy.replicate=2", NO_MOVES], "policy.preset", "several runs"),
        (&["--set=policy.ahead=where-short"], "policy.ahead", "ahead"),
        (&["--set", "groups.size=0"], "groups.size", "0"),
        (&["--set", "groups.neighbours=some"], "groups.neighbours", "some"),
        (&["--set", "groups.publish_s=0"], "groups.publish_s", "0"),
        (&["--set", "letters.loss=1"], "letters.loss", "1"),
    ] {
        let said = refused(arguments);
        assert!(said.contains(key) && said.contains(found), "{arguments:?}: {said}");
    }
    let lonely = gleaner_on("simulate", &example("lab"), &["--set", "letters.loss=0.1"]);
    assert!(String::from_utf8_lossy(&lonely.stderr).contains("one scheduler that gets none"), "{lonely:?}");
    let explained = gleaner_on("explain", &example("groups"), &["t1"]);
    assert_eq!(explained.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&explained.stderr).contains("groups"), "{explained:?}");
}
