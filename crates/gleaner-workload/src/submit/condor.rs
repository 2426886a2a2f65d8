//! `HTCondor` submit files.
//!
//! **Nothing that a file asks for is dropped in silence**: each key that Gleaner cannot honour is named with its line,
//! all of them at once ([`SubmitFileError::Unsupported`]), unless the user says to ignore it; and what is honoured in
//! another way than there is told in a [`Note`](super::Note).
//!
//! Macros are expanded for each process as `condor_submit` does, and what comes out is folded again: texts that are
//! the same in all processes stay texts, those in which only the process's number differs refer to it, and the others
//! become columns `GLEANER_1`, `GLEANER_2`, … of a table. Processes that differ in what cannot be a column (their
//! needs, or how many arguments they have) become jobs of their own.
#![doc = include_str!("../../../../docs/submit-files.md")]

mod arguments;
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

use super::Source;
use super::fold::Folding;
use super::submission::{Notes, Refusals, Submission, SubmitFileError};
use gleaner_wire::limits::{JOB_BYTES_MAX, TASKS_PER_JOB_MAX};
use keys::refuse_keys;
use statements::Statements;
use translate::translate;

/// Reads a submit file and whatever its `queue` statements name.
pub fn read(source: &Source, surroundings: &Surroundings<'_>) -> Result<Submission, SubmitFileError> {
    let Statements { batches, misfits } = statements::read(source, surroundings)?;
    let mut refused = Refusals::default();
    for misfit in misfits {
        refused.add(misfit.line, &misfit.key, misfit.why);
    }
    for batch in &batches {
        refuse_keys(batch, &mut refused);
    }
    let (mut folding, mut notes) = (Folding::default(), Notes::default());
    let mut process = 0;
    for batch in &batches {
        for step in 0..batch.queue.steps() {
            let scope = batch.scope(step, process, surroundings);
            folding.add(process, translate(batch, scope, &mut refused, &mut notes));
            process += 1;
            if process > TASKS_PER_JOB_MAX || folding.bytes() > JOB_BYTES_MAX {
                let expected =
                    format!("at most {TASKS_PER_JOB_MAX}, of {JOB_BYTES_MAX} bytes of text in all");
                let found = format!("more than {} processes", process - 1);
                return Err(source.place().error("queue", found, expected).into());
            }
            // What is wrong with one process is mostly wrong with all of its batch.
            if !refused.is_empty() {
                break;
            }
        }
    }
    if !refused.is_empty() {
        return Err(SubmitFileError::Unsupported {
            file: source.name().to_owned(),
            keys: refused.into_keys(),
        });
    }
    let (jobs, notes) = (folding.into_jobs(), notes.into_notes());
    Ok(Submission { jobs, notes, files: Vec::new(), requirements_line: None })
}
