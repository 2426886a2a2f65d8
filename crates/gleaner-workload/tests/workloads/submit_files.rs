//! `HTCondor` submit files: small ones of our own, those that lie in `../shared/data/submit`, and what `HTCondor`'s own
//! Python module makes of them.

mod differential;
mod examples;
mod jdf;
mod mutations;
mod shared_data;

use gleaner_wire::job::fill_in;
use gleaner_workload::submit::condor::{Surroundings, read};
use gleaner_workload::submit::{JobDescription, Source, Submission, SubmitFileError};
use std::collections::BTreeMap;
use std::path::Path;

/// Reads a submit file that lies in `folder`.
fn read_in(folder: &Path, name: &str, text: &str, ignored: &[String]) -> Result<Submission, SubmitFileError> {
    read_with(folder, name, text, (ignored, &[]))
}

/// Likewise, with macros that the user gives values.
fn read_with(
    folder: &Path,
    name: &str,
    text: &str,
    (ignored, macros): (&[String], &[(String, String)]),
) -> Result<Submission, SubmitFileError> {
    let environment: BTreeMap<String, String> =
        [("HOME", "/home/u"), ("OMP_NUM_THREADS", "2"), ("OMP_SECRET", "y"), ("SECRET", "x")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into();
    read(&Source::new(name, text), &Surroundings { folder, environment: &environment, macros, ignored })
}

/// The command of each task, in the order of the processes.
fn commands(job: &JobDescription) -> Vec<Vec<String>> {
    let spec = &job.spec;
    (0..spec.tasks.count())
        .map(|position| {
            let parameters = spec.tasks.parameters(position);
            spec.command.iter().map(|word| fill_in(word, &parameters)).collect()
        })
        .collect()
}
