//! The third paper's experiment, with few seeds.

use gleaner_papers::khoo::{Experiments, Group, MRS, Metric, TABLE};
use std::ops::ControlFlow;

#[test]
fn table_1_is_judged_and_drawn() {
    let experiments =
        Experiments::new(Some(2), &[]).only(|case| matches!(case.group, Group::Base | Group::Parts));
    assert_eq!(experiments.setups(), 4);
    let findings = experiments.run(&|| ControlFlow::Continue(())).expect("nobody stops it");
    let document = findings.document();
    let ids: Vec<&str> = document.claims.iter().map(|claim| claim.id.as_str()).collect();
    assert_eq!(ids.iter().filter(|id| id.starts_with("table-1/")).count(), 9, "{ids:?}");
    assert!(ids.contains(&"section-5/because-of-data"), "{ids:?}");
    let files = findings.files();
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["figure-5.svg", "simulations.csv", "scenario.toml", "tables.md", "report.html"]);
    for (name, text) in &files {
        assert!(!text.contains("NaN"), "{name}");
    }
    let lines = files[1].1.lines().count();
    assert_eq!(lines, 1 + 2 * (4 + 14), "a line a rule and seed");
    let base = findings.base().expect("the base was run");
    let with_itself = findings.improvement(base, MRS, MRS, Metric::Wait);
    assert_eq!((with_itself.mean.to_bits(), with_itself.reach()), (0, 0.0));
}

#[test]
fn the_papers_percentages_follow_from_its_table() {
    let printed = [
        ("REP", [41.83, -71.04, 9.16], "BACKFILL"),
        ("MRS", [50.89, 18.41, 28.86], "BACKFILL"),
        ("MRS", [15.58, 52.30, 18.04], "REP"),
    ];
    let row = |name: &str| TABLE.iter().find(|(known, _)| *known == name).expect("in the table").1;
    for (rule, percents, other) in printed {
        for ((metric, percent), at) in Metric::OF_TABLE.into_iter().zip(percents).zip(0..) {
            let found = metric.improvement(row(other)[at], row(rule)[at]);
            assert!((found - percent).abs() < 0.02, "{rule} on {other}: {found} where {percent} is printed");
        }
    }
}

#[test]
fn whoever_watches_can_stop_it() {
    let experiments = Experiments::new(Some(2), &[]).only(|case| case.group == Group::Base);
    assert!(experiments.run(&|| ControlFlow::Break(())).is_err());
}
