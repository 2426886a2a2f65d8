//! Whether the files that a journal names are there, and what they were.

use super::Report;
use crate::blobs::{BlobError, DamagedBlob, open_blob};
use crate::outputs;
use gleaner_wire::session::Stream;
use std::io;
use std::path::Path;

/// How closely files are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Depth {
    /// Whether they are there, and as long as they should be.
    Lengths,
    /// All of them are read, too.
    Content,
}

/// What was found of files.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Kept {
    /// How many the journal names.
    pub files: u64,
    /// What is wrong with some of them, for people.
    pub wrong: Vec<String>,
}

/// Looks for the files that `report` names in the coordinator's folder.
pub fn files(home: &Path, report: &Report, depth: Depth) -> Result<Kept, BlobError> {
    let mut kept = Kept::default();
    let mut note = |what: String, found: io::Result<Option<String>>| {
        kept.files += 1;
        match found {
            Ok(fault) => kept.wrong.extend(fault.map(|fault| format!("{what} {fault}"))),
            Err(error) => kept.wrong.push(format!("{what} cannot be read: {error}")),
        }
    };
    for (&run, lengths) in &report.outputs {
        for (stream, &length) in [Stream::Stdout, Stream::Stderr].into_iter().zip(lengths) {
            if length > 0 {
                let found = outputs::length(home, report.began, run, stream).and_then(|found| {
                    let is_changed = found >= length
                        && depth == Depth::Content
                        && outputs::is_changed(home, report.began, run, stream, length)? == Some(true);
                    let short = (found < length).then(|| format!("has {found} of {length} bytes"));
                    Ok(short.or(is_changed.then(|| "is not what it was".to_owned())))
                });
                let stream = match stream {
                    Stream::Stdout => "stdout",
                    Stream::Stderr => "stderr",
                };
                let (task, number) = (report.names.name(run.task), run.number);
                note(format!("{stream} of run {number} of task {task}"), found);
            }
        }
    }
    for hash in &report.files {
        let id = hash.into();
        let fault = match open_blob(home, id)? {
            None => Ok(Some("is missing".to_owned())),
            Some(_) if depth == Depth::Lengths => Ok(None),
            Some(mut blob) => match io::copy(&mut blob.body, &mut io::sink()) {
                Ok(_) => Ok(None),
                Err(error)
                    if error
                        .get_ref()
                        .is_some_and(<dyn std::error::Error + Send + Sync>::is::<DamagedBlob>) =>
                {
                    Ok(Some("is not what it was".to_owned()))
                }
                Err(error) => Err(error),
            },
        };
        note(format!("file {hash}"), fault);
    }
    Ok(kept)
}
