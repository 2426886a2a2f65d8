//! `HTCondor` submit files.
//!
//! **Nothing that a file asks for is dropped in silence**: each key that Gleaner cannot honour is named with its line,
//! all of them at once ([`SubmitFileError::Unsupported`]), unless the user says to ignore it; and what is honoured in
//! another way than there is told in a [`Note`](super::Note).
//!
//! Macros are expanded for each process as `condor_submit` does, and what comes out is folded again: texts that are
//! the same in all processes stay texts, those in which only the process's number differs refer to it, and the others
//! become columns `GLEANER_1`, `GLEANER_2`, … of a table. Processes that differ in what cannot be a column (their
//! needs, or how many arguments they have) become jobs of their own. Where the number of the process goes into texts as it
//! is, and nowhere else, `array` finds the same without a look at each.
#![doc = include_str!("../../../../docs/submit-files.md")]

mod arguments;
mod array;
mod keys;
mod lines;
mod macros;
mod queue;
mod setting;
mod statements;
mod surroundings;
mod translate;

pub use surroundings::Surroundings;
pub use translate::JOB_NUMBER;

use super::fold::{Folding, Terms};
use super::submission::{Notes, Submission, SubmitFileError, unmet};
use super::{JobDescription, Source};
use keys::{is_of_name, refuse_keys};
use statements::{Batch, Statements};
use std::sync::Arc;
use translate::{Common, Told, translate};

const TERMS: Terms = Terms {
    tasks: "processes",
    inputs: "transfer_input_files (how many)",
    outputs: "transfer_output_files (how many)",
};

/// Reads a submit file and whatever its `queue` statements name.
pub fn read(source: &Source, surroundings: &Surroundings<'_>) -> Result<Submission, SubmitFileError> {
    read_with(source, surroundings, array::find)
}

fn read_with(
    source: &Source,
    surroundings: &Surroundings<'_>,
    find_array: impl Fn(&Batch, &Surroundings<'_>, &mut Notes) -> Option<JobDescription>,
) -> Result<Submission, SubmitFileError> {
    let Statements { batches, referred, keys, misfits } = statements::read(source, surroundings)?;
    expect_macros_are_used(source, &batches, surroundings)?;
    let mut told = Told::default();
    for misfit in misfits {
        told.refused.add(misfit.line, &misfit.key, misfit.why);
    }
    // Queues with nothing between them have the same settings.
    for alike in batches.chunk_by(|one, next| Arc::ptr_eq(&one.settings, &next.settings)) {
        refuse_keys(&alike[0].settings, &referred, &mut told.refused);
    }
    let array = match &batches[..] {
        [batch] if told.refused.is_empty() => find_array(batch, surroundings, &mut told.notes),
        _ => None,
    };
    let jobs = match array {
        Some(job) => vec![job],
        None => each(source, &batches, surroundings, &mut told)?,
    };
    if !told.refused.is_empty() {
        return Err(SubmitFileError::Unsupported {
            file: source.name().to_owned(),
            keys: told.refused.into_keys(),
        });
    }
    Ok(Submission {
        jobs,
        notes: told.notes.into_notes(),
        files: Vec::new(),
        requirements_line: None,
        unmet: unmet(surroundings.ignored, &keys),
    })
}

/// Whoever gives a macro a value that is never looked up means something else, such as a key.
fn expect_macros_are_used(
    source: &Source,
    batches: &[Batch],
    surroundings: &Surroundings<'_>,
) -> Result<(), SubmitFileError> {
    let given = surroundings.macros.iter().map(|(_, value)| value);
    let items = batches.iter().flat_map(|batch| batch.queue.rows.iter().flatten());
    let mut text = source.text().to_ascii_lowercase();
    for more in given.chain(items) {
        text.push('\n');
        text += &more.to_ascii_lowercase();
    }
    let is_condition = |line: &&str| line.starts_with("if") || line.starts_with("elif");
    let conditions: Vec<&str> = text.lines().map(str::trim_start).filter(is_condition).collect();
    for (name, _) in surroundings.macros {
        let lower = name.trim().to_ascii_lowercase();
        let expands = |(at, found): (usize, &str)| {
            let function = text[..at].trim_end().strip_suffix('(');
            let function = function
                .map(|before| before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_'));
            function.is_some_and(|before| before.ends_with('$'))
                && text[at + found.len()..].starts_with([':', ')', ',', ' ', '\t'])
        };
        let is_asked_for = |line: &&str| line.split(|c| !is_of_name(c)).any(|word| word == lower);
        if !text.match_indices(lower.as_str()).any(expands) && !conditions.iter().any(is_asked_for) {
            let found = format!("{name}, and there is no $({name}) in the file");
            let expected =
                "a macro of the file; what a key asks for has an option, as --memory for request_memory";
            return Err(source.place().error("--set", found, expected).into());
        }
    }
    Ok(())
}

/// Translates process after process, and folds them.
fn each(
    source: &Source,
    batches: &[Batch],
    surroundings: &Surroundings<'_>,
    told: &mut Told,
) -> Result<Vec<JobDescription>, SubmitFileError> {
    let mut folding = Folding::default();
    let mut process = 0;
    for batch in batches {
        let mut common = Common::default();
        for step in 0..batch.queue.steps() {
            let scope = (batch.queue.row(step), batch.scope(step, process, surroundings));
            folding.add(process, translate(batch, scope, &mut common, told));
            process += 1;
            if let Some((found, expected)) = folding.excess(&TERMS) {
                return Err(source.place().at_line(batch.queue.line).error("queue", found, expected).into());
            }
            // What is wrong with one process is mostly wrong with all of its batch.
            if !told.refused.is_empty() {
                break;
            }
        }
    }
    Ok(folding.into_jobs())
}

#[cfg(test)]
mod tests;
