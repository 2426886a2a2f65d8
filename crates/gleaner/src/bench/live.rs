//! `gleaner bench live`.

use super::written::{document, line};
use crate::cli::BenchLiveArguments;
use crate::failure::Failure;
use crate::{Outcome, interrupt, stdout};
use gleaner_bench::live::{Bench, Found, LiveError, Subject};
use serde_json::{Value, json};
use std::time::Duration;

pub(super) fn run(arguments: &BenchLiveArguments) -> Outcome {
    interrupt::listen();
    let program = std::env::current_exe();
    let what = "cannot find this program again, to start a grid with".to_owned();
    let program = program.map_err(|error| Failure::Io { what, error })?;
    let bench = Bench {
        program,
        scratch: arguments.scratch.clone().unwrap_or_else(std::env::temp_dir),
        idle_for: Duration::from_secs_f64(arguments.idle_for),
    };
    let chosen = if arguments.subjects.is_empty() { &Subject::ALL[..] } else { &arguments.subjects };
    let mut all = Found::default();
    for (number, &subject) in chosen.iter().enumerate() {
        let measured = bench.measure(subject);
        if interrupt::asked() {
            return Err(Failure::Interrupted(format!("{number} of {} measurements were made", chosen.len())));
        }
        let Found { lines, notes } = measured?;
        if !arguments.json {
            let notes = notes.iter().map(|note| format!("{note}\n"));
            stdout::print(lines.iter().map(line).chain(notes).collect::<String>())?;
        }
        all.lines.extend(lines);
        all.notes.extend(notes);
    }
    if arguments.json {
        let measurements: Vec<Value> = all.lines.iter().map(document).collect();
        stdout::print_json(&json!({ "version": 1, "measurements": measurements, "notes": all.notes }))?;
    }
    Ok(())
}

impl From<LiveError> for Failure {
    fn from(error: LiveError) -> Self {
        match error {
            LiveError::Grid(error) => Self::Grid(error),
            other => Self::Bench(other.to_string()),
        }
    }
}
