//! What a run leaves in a folder: tables for programs, plots and a report for people.
//!
//! Each file is written beside its place and then renamed, so that a folder never holds half a file.

mod figures;
mod report;
mod summary;
mod tables;

pub use summary::{BudgetUse, PeriodUse, SeedsSummary, Spread, Summary, makespan_bound};

use crate::{Experiment, Simulation};
use gleaner_core::Policy;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A file that could not be written.
#[derive(Debug, Error)]
#[error("cannot write {}: {error}", path.display())]
pub struct WriteError {
    /// Which one.
    pub path: PathBuf,
    /// What the operating system said.
    #[source]
    pub error: io::Error,
}

/// Writes tables, plots, `summary.json` and `report.html` of a run to a folder, which is made if need be.
pub fn write_run<P: Policy>(
    dir: &Path,
    experiment: &Experiment,
    run: &Simulation<'_, P>,
    summary: &Summary,
) -> Result<(), WriteError> {
    let history = run.history();
    write_file(dir, "tasks.csv", |out| tables::tasks(out, experiment, history))?;
    write_file(dir, "machines.csv", |out| tables::machines(out, experiment, run))?;
    write_file(dir, "machines_over_time.csv", |out| tables::machines_over_time(out, experiment, history))?;
    if let Some(budget) = &summary.budget {
        write_file(dir, "spending.csv", |out| tables::spending(out, budget))?;
    }
    let figures = figures::of_run(experiment, history, summary);
    for (name, _, svg) in &figures {
        write_text(dir, &format!("{name}.svg"), svg.as_str())?;
    }
    write_text(dir, "report.html", &report::of_run(experiment, run, summary, figures))?;
    // Last, so that a folder with a summary has everything.
    write_json(dir, "summary.json", summary)
}

/// Makes the folder if need be, and tries whether a file can be written there.
pub fn check_writable(dir: &Path) -> Result<(), WriteError> {
    let probe = dir.join(".gleaner.part");
    let attempt = || {
        fs::create_dir_all(dir)?;
        File::create(&probe)?;
        fs::remove_file(&probe)
    };
    attempt().map_err(|error| WriteError { path: dir.to_owned(), error })
}

/// The folder that a file is in.
pub fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Writes a document of ours to a folder, which is made if need be.
pub fn write_json(dir: &Path, name: &str, document: &impl serde::Serialize) -> Result<(), WriteError> {
    let text = serde_json::to_string_pretty(document).expect("plain data can always be written to memory");
    write_text(dir, name, &(text + "\n"))
}

/// Writes a text to a folder, which is made if need be.
pub fn write_text(dir: &Path, name: &str, text: &str) -> Result<(), WriteError> {
    write_file(dir, name, |out| out.write_all(text.as_bytes()))
}

/// Writes a file to a folder, which is made if need be.
pub fn write_file(
    dir: &Path,
    name: &str,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    let path = dir.join(name);
    let beside = dir.join(format!(".{name}.part"));
    let attempt = || {
        fs::create_dir_all(dir)?;
        let mut out = BufWriter::with_capacity(1 << 16, File::create(&beside)?);
        write(&mut out)?;
        out.into_inner()?.sync_all()?;
        fs::rename(&beside, &path)
    };
    attempt().map_err(|error| {
        // What is left of a failed attempt is of no use; that it could not be removed either adds nothing.
        let _ = fs::remove_file(&beside);
        WriteError { path: path.clone(), error }
    })
}
