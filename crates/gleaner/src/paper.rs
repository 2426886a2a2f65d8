//! `gleaner paper`: a paper's experiments again, and its claims held against what comes out.

use crate::cli::PaperArguments;
use crate::failure::Failure;
use crate::{Outcome, interrupt, progress, stdout};
use anstyle::{AnsiColor, Style};
use gleaner_papers::Claim;
use gleaner_papers::bertasi::{Experiments, FigureId, Findings};
use gleaner_report::Verdict;
use gleaner_sim::output;
use std::ops::ControlFlow;
use std::path::Path;

/// The papers there are.
const NAMES: [&str; 1] = ["bertasi"];

pub(crate) fn run(arguments: &PaperArguments) -> Outcome {
    interrupt::listen();
    let experiments = experiments(arguments)?;
    if let Some(dir) = &arguments.out {
        output::check_writable(dir).map_err(|error| Failure::Usage(format!("--out: {error}")))?;
    }
    let findings = simulate(&experiments)?;
    if let Some(dir) = &arguments.out {
        write(&findings, dir)?;
    }
    if arguments.json {
        stdout::print_json(&findings.document())
    } else {
        stdout::print(describe(&findings, arguments.out.as_deref()))
    }
}

fn experiments(arguments: &PaperArguments) -> Result<Experiments, Failure> {
    let PaperArguments { name, figure, seeds, .. } = arguments;
    if !NAMES.contains(&name.as_str()) {
        let known = NAMES.join(", ");
        return Err(Failure::Usage(format!("no paper is called \"{name}\"; there are {known}")));
    }
    let figure = figure.map(|number| {
        let unknown = || Failure::Usage(format!("--figure {number}: {name} has figures 1 to 4"));
        FigureId::numbered(number).ok_or_else(unknown)
    });
    Ok(Experiments::new(figure.transpose()?, *seeds))
}

fn simulate(experiments: &Experiments) -> Result<Findings, Failure> {
    let total = experiments.simulations();
    let bar = progress::bar(total, "simulations");
    let watch = || {
        bar.inc(1);
        if interrupt::asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let findings = experiments.run(&watch);
    let done = bar.position();
    bar.finish_and_clear();
    findings.map_err(|_| {
        Failure::Interrupted(format!("{done} of {total} simulations were done; nothing was written"))
    })
}

fn write(findings: &Findings, dir: &Path) -> Outcome {
    for (name, text) in findings.files() {
        output::write_text(dir, &name, &text)?;
    }
    output::write_json(dir, "claims.json", &findings.document())?;
    Ok(())
}

/// The claims as a table, a line each, and how many hold.
fn describe(findings: &Findings, out: Option<&Path>) -> String {
    let claims = findings.claims();
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
    let mut text = format!("{bold}verdict  {}{bold:#}\n", line(&header).trim_end());
    for (claim, cells) in claims.iter().zip(&rows) {
        let verdict = claim.verdict();
        let style = style(verdict);
        text += &format!("{style}{:7}{style:#}  {}\n", verdict.word(), line(cells).trim_end());
    }
    let count = |verdict| claims.iter().filter(|claim| claim.verdict() == verdict).count();
    let [hold, partly, not] = [Verdict::Holds, Verdict::Partly, Verdict::Not].map(count);
    let (all, seeds) = (claims.len(), findings.seeds);
    text += &format!("\n{all} claims, {seeds} seeds: {hold} hold, {partly} partly, {not} not\n");
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
    };
    Style::new().fg_color(Some(colour.into()))
}
