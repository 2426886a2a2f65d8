//! Claims for people at a terminal.

use anstyle::{AnsiColor, Style};
use gleaner_papers::{Claim, Document};
use gleaner_report::Verdict;
use std::path::Path;

/// The claims as a table, a line each, and how many hold.
pub(super) fn describe(document: &Document, out: Option<&Path>) -> String {
    let Document { claims, seeds, .. } = document;
    let rows: Vec<[String; 4]> = claims.iter().map(row).collect();
    let header = ["claim", "paper", "measured", "95 % interval"].map(str::to_owned);
    let width = |column: usize| {
        let cells = rows.iter().chain([&header]).map(|row| row[column].chars().count());
        cells.max().unwrap_or(0)
    };
    let widths = [0, 1, 2, 3].map(width);
    let line = |cells: &[String; 4]| {
        let padded = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}"));
        padded.collect::<Vec<_>>().join("  ")
    };
    let bold = Style::new().bold();
    let mut text = format!("{bold}verdict    {}{bold:#}\n", line(&header).trim_end());
    for (claim, cells) in claims.iter().zip(&rows) {
        let verdict = claim.verdict();
        let style = style(verdict);
        text += &format!("{style}{:9}{style:#}  {}\n", verdict.word(), line(cells).trim_end());
    }
    let count = |verdict| claims.iter().filter(|claim| claim.verdict() == verdict).count();
    let [hold, partly, not, undecided] = Verdict::ALL.map(count);
    let all = match claims.len() {
        1 => "1 claim".to_owned(),
        count => format!("{count} claims"),
    };
    text +=
        &format!("\n{all}, {seeds} seeds: {hold} hold, {partly} partly, {not} not, {undecided} undecided\n");
    text += &match out {
        Some(dir) => format!("report: {}\n", dir.join("report.html").display()),
        None => "plots, tables and a report: --out DIR\n".to_owned(),
    };
    text
}

fn row(claim: &Claim) -> [String; 4] {
    [claim.id.clone(), claim.paper.to_owned(), claim.said(), claim.interval()]
}

fn style(verdict: Verdict) -> Style {
    let colour = match verdict {
        Verdict::Holds => AnsiColor::Green,
        Verdict::Partly => AnsiColor::Yellow,
        Verdict::Not => AnsiColor::Red,
        Verdict::Undecided => AnsiColor::Cyan,
    };
    Style::new().fg_color(Some(colour.into()))
}
