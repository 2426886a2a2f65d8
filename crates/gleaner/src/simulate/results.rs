//! What a run leaves in a folder: tables for programs, plots and a report for people.

use super::figures::Figures;
use super::ran::Ran;
use super::report::{self, More};
use super::summary::Summary;
use super::{figures, tables};
use crate::files::{WriteError, write_file, write_json, write_text};
use gleaner_workload::Experiment;
use serde::Serialize;
use std::path::Path;

/// Writes tables, plots, `summary.json` and `report.html` of a run to a folder, which is made if need be.
pub(crate) fn write_run(
    dir: &Path,
    experiment: &Experiment,
    run: &impl Ran,
    summary: &Summary,
) -> Result<(), WriteError> {
    let schedule = report::schedule(experiment, run);
    let more = More { lead: None, rows: Vec::new(), schedule, figures: Figures::new(), tables: Vec::new() };
    write_with(dir, experiment, run, (summary, summary), more)
}

/// The same with a summary that says more, a schedule of its own, and more plots and tables.
pub(super) fn write_with(
    dir: &Path,
    experiment: &Experiment,
    run: &impl Ran,
    (summary, document): (&Summary, &impl Serialize),
    more: More,
) -> Result<(), WriteError> {
    let history = run.history();
    write_file(dir, "tasks.csv", |out| tables::tasks(out, experiment, history))?;
    write_file(dir, "machines.csv", |out| tables::machines(out, experiment, run))?;
    write_file(dir, "machines_over_time.csv", |out| tables::machines_over_time(out, experiment, history))?;
    if let Some(budget) = &summary.budget {
        write_file(dir, "spending.csv", |out| tables::spending(out, budget))?;
    } else {
        // An earlier run in the same folder may have had a budget. Whoever cannot remove them still reads in the summary that
        // there is none.
        for old in ["spending.csv", "spending.svg"] {
            let _ = std::fs::remove_file(dir.join(old));
        }
    }
    let mut figures = figures::of_run(experiment, history, summary);
    figures.extend(more.figures);
    for (name, _, svg) in &figures {
        write_text(dir, &format!("{name}.svg"), svg.as_str())?;
    }
    let more = More { figures, ..more };
    write_text(dir, "report.html", &report::of_run(experiment, run, summary, more))?;
    // Last, so that a folder with a summary has everything.
    write_json(dir, "summary.json", document)
}
