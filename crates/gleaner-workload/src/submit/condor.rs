//! `HTCondor` submit files.
//!
//! **Nothing that a file asks for is dropped in silence**: each key that Gleaner cannot honour is named with its line,
//! all of them at once ([`SubmitFileError::Unsupported`]), unless the user says to ignore it; and what is honoured in
//! another way than there is told in a [`Note`].
//!
//! Macros are expanded for each process as `condor_submit` does, and what comes out is folded again: texts that are
//! the same in all processes stay texts, those in which only the process's number differs refer to it, and the others
//! become columns `GLEANER_1`, `GLEANER_2`, … of a table. Processes that differ in what cannot be a column (their
//! needs, or how many arguments they have) become jobs of their own.
#![doc = include_str!("../../../../docs/submit-files.md")]

mod arguments;
mod fold;
mod keys;
mod macros;
mod queue;
mod statements;
mod translate;

pub use translate::JOB_NUMBER;

use super::{JobDescription, Source};
use crate::InputError;
use fold::Folding;
use gleaner_wire::limits::{JOB_BYTES_MAX, TASKS_PER_JOB_MAX};
use keys::{Notes, Refusals};
use serde::Serialize;
use statements::Statements;
use std::collections::BTreeMap;
use std::path::Path;
use thiserror::Error;
use translate::translate;

/// What a submit file may depend on besides itself.
#[derive(Clone, Debug)]
pub struct Surroundings<'a> {
    /// Where `queue … from FILE` and `queue … matching` look.
    pub folder: &'a Path,
    /// What `$ENV(…)` and `getenv` see.
    pub environment: &'a BTreeMap<String, String>,
    /// Macros that hold whatever the file says, by name.
    pub macros: &'a [(String, String)],
    /// Keys to go on without.
    pub ignored: &'a [String],
}

/// Something that is honoured in another way than `HTCondor` would.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// Where it stands.
    pub line: u64,
    /// The key as it is written there.
    pub key: String,
    /// What becomes of it.
    pub text: &'static str,
}

/// The jobs of a submit file.
#[derive(Clone, PartialEq, Debug)]
pub struct Submission {
    /// In the order of their first processes.
    pub jobs: Vec<JobDescription>,
    /// What the user should know.
    pub notes: Vec<Note>,
}

/// Why a submit file cannot be submitted here.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum SubmitFileError {
    /// It makes no sense.
    #[error("{0}")]
    Input(#[from] InputError),
    /// It asks for what there is not.
    #[error("{}", listed(.file, .keys))]
    Unsupported {
        /// The file as it was named.
        file: String,
        /// Every such key, in the order of the file.
        keys: Vec<UnsupportedKey>,
    },
}

/// A key of a submit file that cannot be honoured.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct UnsupportedKey {
    /// Where it stands.
    pub line: u64,
    /// As it is written there.
    pub key: String,
    /// Why not.
    pub why: String,
}

/// Reads a submit file and whatever its `queue` statements name.
pub fn read(source: &Source, surroundings: &Surroundings<'_>) -> Result<Submission, SubmitFileError> {
    let Statements { batches, misfits } = statements::read(source, surroundings)?;
    let mut refused = Refusals::default();
    for misfit in misfits {
        refused.add(misfit.line, &misfit.key, misfit.why);
    }
    for batch in &batches {
        refused.add_all(batch);
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
    Ok(Submission { jobs: folding.into_jobs(), notes: notes.into_notes() })
}

fn listed(file: &str, keys: &[UnsupportedKey]) -> String {
    let mut text = String::new();
    for UnsupportedKey { line, key, why } in keys {
        text += &format!("{file}:{line}: {key}: {why}\n");
    }
    text + "what Gleaner cannot do is not left out by itself: change the file, or say --ignore KEY for each"
}
