//! The tables of `docs/khoo.md`, from what was run: nobody types their numbers.

use super::case::{Case, Group};
use super::claims::{self, PAIRS, improvement_of_table};
use super::findings::{Findings, Metric, Outcome};
use super::{MRS, TABLE};
use crate::statistics::Estimate;
use gleaner_report::numbers::decimals;

/// Each under a comment by which the page knows it.
pub(super) fn tables(findings: &Findings) -> String {
    let named = [
        ("table-1", Some(table_1(findings))),
        ("improvements", Some(improvements(findings))),
        ("parts", parts(findings)),
        ("logs", logs(findings)),
    ];
    let shown = named.into_iter().filter_map(|(name, table)| Some((name, table?)));
    shown.map(|(name, table)| format!("<!-- {name}, {} seeds -->\n{table}\n", findings.seeds())).collect()
}

fn rows(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let header: Vec<String> = header.iter().map(|name| (*name).to_owned()).collect();
    let rule = vec!["---".to_owned(); header.len()];
    line(&header) + &line(&rule) + &rows.into_iter().map(|row| line(&row)).collect::<String>()
}

const COLUMNS: [&str; 9] = [
    "",
    "AWT (s)",
    "QCT (s)",
    "AGU (%)",
    "computing (%)",
    "AWT of wide jobs (s)",
    "sites a job",
    "waste (%)",
    "jobs waiting",
];

/// The rules of a case, with the paper's numbers in brackets where they are asked for.
fn of_case(findings: &Findings, (index, case): (usize, &Case), with_paper: bool) -> String {
    let row = |rule: &&'static str| {
        let of =
            |of: &dyn Fn(&Outcome) -> f64, places| decimals(findings.estimate(index, rule, of).mean, places);
        let paper = TABLE.iter().find(|(name, _)| with_paper && name == rule).map(|(_, numbers)| numbers);
        let beside = |at: usize, places| {
            paper.map_or(String::new(), |paper| format!(" ({})", decimals(paper[at], places)))
        };
        vec![
            (*rule).to_owned(),
            of(&|outcome| outcome.wait_s, 0) + &beside(0, 0),
            of(&|outcome| outcome.completion_s, 0) + &beside(1, 0),
            of(&|outcome| 100.0 * outcome.use_share, 1) + &beside(2, 1),
            of(&|outcome| 100.0 * outcome.compute_share, 1),
            of(&|outcome| outcome.wide_wait_s, 0),
            of(&|outcome| outcome.parts, 2),
            of(&|outcome| 100.0 * outcome.wasted / outcome.held, 1),
            of(&|outcome| outcome.waiting, 1),
        ]
    };
    let rules: Vec<&'static str> = case.rules.iter().map(|(name, _)| *name).collect();
    rows(&COLUMNS, rules.iter().map(row))
}

fn table_1(findings: &Findings) -> String {
    findings.cases(Group::Base).map(|case| of_case(findings, case, true)).collect()
}

fn with_interval(estimate: Estimate) -> String {
    let [mean, low, high] = [estimate.mean, estimate.low, estimate.high].map(|value| decimals(value, 1));
    format!("{mean} ({low} to {high})")
}

fn improvements(findings: &Findings) -> String {
    let base = findings.base();
    let row = |(pair, metric): ((&'static str, &'static str), Metric)| {
        let (rule, other) = pair;
        let paper = improvement_of_table(pair, metric);
        let here =
            base.map_or(String::new(), |base| with_interval(findings.improvement(base, other, rule, metric)));
        let points = claims::signed(findings, pair, metric);
        let (signs, turns) = if points.is_empty() {
            (String::new(), String::new())
        } else {
            let share = Estimate::share_above_0(points.iter().map(|(_, improvement)| *improvement));
            let [mean, sure, may_be] =
                [share.mean, share.low, share.high].map(|part| decimals(100.0 * part, 0));
            (format!("{mean} %, surely at {sure} %, maybe at {may_be} %"), claims::turns(&points))
        };
        vec![format!("{rule} on {other}, {}", metric.name()), decimals(paper, 2), here, signs, turns]
    };
    let all = PAIRS.into_iter().flat_map(|pair| Metric::OF_TABLE.map(|metric| (pair, metric)));
    rows(&["", "paper (%)", "here (%)", "sign in the sweep", "the part in which it holds"], all.map(row))
}

fn parts(findings: &Findings) -> Option<String> {
    let (index, case) = findings.cases(Group::Parts).next()?;
    let row = |(rule, _): &(&'static str, _)| {
        let of = |of: &dyn Fn(&Outcome) -> f64| decimals(findings.estimate(index, rule, of).mean, 0);
        let better = findings.improvement(index, MRS, rule, Metric::Wait);
        let better = better.with_reach(1);
        vec![
            (*rule).to_owned(),
            if *rule == MRS { String::new() } else { better },
            of(&|outcome| outcome.wait_s),
            of(&|outcome| outcome.wide_wait_s),
            of(&|outcome| outcome.longest_wait_s),
        ]
    };
    let header = ["rule", "AWT, better than MRS (%)", "AWT (s)", "AWT of wide jobs (s)", "longest wait (s)"];
    Some(rows(&header, case.rules.iter().map(row)))
}

/// A table for each log that was given.
fn logs(findings: &Findings) -> Option<String> {
    let cases = findings.cases(Group::Reading).filter(|(_, case)| case.is_of_a_log());
    let tables: Vec<String> = cases
        .map(|(index, case)| format!("\n{}:\n\n{}", case.name, of_case(findings, (index, case), false)))
        .collect();
    (!tables.is_empty()).then(|| tables.concat())
}
