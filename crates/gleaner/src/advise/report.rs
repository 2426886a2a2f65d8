//! The advice for people: a sentence, the command, a table; and a page with all of it.

use super::findings::{Findings, Rule};
use super::subject::Subject;
use crate::columns::{Side, aligned};
use crate::trials::Interval;
use gleaner_report::numbers::seconds;
use gleaner_report::{Block, Cell, Report, Table};
use std::path::Path;

/// So many rules are shown in the terminal.
const SHOWN: usize = 12;

/// What that means.
const AS_GOOD: &str = "not to be told from the best by the 95 % interval above; the first rule by that of the advice, with seeds that \
                       did not choose the best";

fn said(interval: Option<Interval>) -> String {
    interval.map_or("–".to_owned(), |interval| interval.said())
}

fn wait(wait_max_s: Option<f64>) -> String {
    wait_max_s.map_or("–".to_owned(), seconds)
}

fn marks(at: usize, findings: &Findings) -> &'static str {
    let is_best = findings.best == Some(at);
    match (is_best, findings.rules[at].ranked.is_alike) {
        (true, _) => "best",
        (false, true) => "as good",
        (false, false) => "",
    }
}

/// What is printed.
pub(super) fn text(findings: &Findings, out: Option<&Path>) -> String {
    let measure = findings.measure.to_uppercase();
    let headings = [
        ("RULE", Side::Left),
        (measure.as_str(), Side::Right),
        ("ABOVE THE BEST", Side::Right),
        ("LONGEST WAIT", Side::Right),
        ("UNFINISHED", Side::Right),
        ("", Side::Left),
    ];
    let row = |(at, Rule { candidate, ranked, wait_max_s }): (usize, &Rule)| {
        vec![
            candidate.name(),
            said(ranked.measured),
            said(ranked.above_best),
            wait(*wait_max_s),
            ranked.unfinished.to_string(),
            marks(at, findings).to_owned(),
        ]
    };
    let rows: Vec<Vec<String>> = findings.rules.iter().enumerate().take(SHOWN).map(row).collect();
    let mut text = format!("{}\n", findings.advice());
    text += &findings.command.as_ref().map_or(String::new(), |command| format!("{command}\n"));
    text += &findings.lost_wait().map_or(String::new(), |lost| format!("{lost}\n"));
    text += &format!("\n{}", aligned(&headings, &rows));
    if findings.rules.len() > SHOWN {
        text += &format!("and {} more: --json, or --out DIR\n", findings.rules.len() - SHOWN);
    }
    if findings.alike > 0 {
        text += &format!("as good: {AS_GOOD}\n");
    }
    text += &findings.moved().map_or(String::new(), |moved| format!("{moved}\n"));
    if !findings.left_out.is_empty() {
        let names: Vec<&str> = findings.left_out.iter().map(|left| left.preset.as_str()).collect();
        text += &format!("not for this: {}\n", shortened(&names));
    }
    text += &out.map_or(String::new(), |dir| format!("report: {}\n", dir.join("report.html").display()));
    text
}

fn shortened(names: &[&str]) -> String {
    let shown = names.iter().take(4).copied().collect::<Vec<_>>().join(", ");
    if names.len() > 4 { format!("{shown} and {} more; --json says why", names.len() - 4) } else { shown }
}

/// What `report.html` holds.
pub(super) fn page(findings: &Findings, subject: &Subject) -> String {
    let header = ["rule", &findings.measure, "above the best", "longest wait", "unfinished", ""];
    let first = &findings.rules[0].candidate;
    let first = first.preset.as_deref().unwrap_or("the rule as it is");
    let table = findings.rules.iter().enumerate().fold(
        Table::new(
            format!("Every rule, from the best on; the first is {first}, with which the best is compared"),
            header,
        ),
        |table, (at, Rule { candidate, ranked, wait_max_s })| {
            table.row([
                Cell::text(candidate.name()),
                Cell::number(said(ranked.measured)),
                Cell::number(said(ranked.above_best)),
                Cell::number(wait(*wait_max_s)),
                Cell::number(ranked.unfinished.to_string()),
                Cell::text(marks(at, findings)),
            ])
        },
    );
    let left_out = findings
        .left_out
        .iter()
        .fold(Table::new("Presets that have no meaning here", ["preset", "why"]), |table, left| {
            table.row([Cell::text(&left.preset), Cell::text(&left.why)])
        });
    let moved = findings.moved().map_or(String::new(), |moved| format!(" and {moved}"));
    let command = findings.command.iter().map(|command| Block::note(command.clone()));
    let report = Report::new(format!("Advice for {}", subject.title())).lead(findings.advice());
    let report = command.chain(findings.lost_wait().map(Block::note)).fold(report, Report::with);
    report
        .with(Block::note(format!(
            "± is the 95 % interval over runs with other seeds{moved}, in pairs by seed. What the best gains was measured with seeds of its \
             own. As good: {AS_GOOD}.",
        )))
        .with(Block::heading("Rules"))
        .with(table)
        .with(left_out)
        .html()
}
