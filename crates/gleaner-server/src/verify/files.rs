//! Whether the files that a journal names are there, and what they were.

use super::{Report, Written};
use crate::blobs::{self, DamagedBlob, open_blob};
use crate::outputs;
use gleaner_units::{RunId, Time};
use gleaner_wire::session::Stream;
use gleaner_wire::{BlobHash, JobId};
use std::path::{Path, PathBuf};
use std::{fmt, io};

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

/// A file that a journal names.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum NamedFile {
    /// What a run wrote to a stream.
    Output { began: Time, run: RunId, task: Option<(JobId, u32)>, stream: Stream, length: u64 },
    /// A job's input, or what a task left.
    Blob(BlobHash),
}

impl NamedFile {
    /// Where it is in a coordinator's folder.
    pub(crate) fn place(&self) -> PathBuf {
        match self {
            Self::Output { began, run, stream, .. } => outputs::place(*began, *run, *stream),
            Self::Blob(hash) => blobs::place(*hash),
        }
    }

    /// What is wrong with the one in the folder `home`, for people.
    pub(crate) fn fault(&self, home: &Path, depth: Depth) -> Option<String> {
        let found = match self {
            &Self::Output { began, run, stream, length, .. } => {
                output_fault(home, (began, run, stream), length, depth)
            }
            Self::Blob(hash) => blob_fault(home, hash, depth),
        };
        found.unwrap_or_else(|error| Some(format!("cannot be read: {error}")))
    }
}

impl fmt::Display for NamedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Output { run, task, stream, .. } => {
                let stream = match stream {
                    Stream::Stdout => "standard output",
                    Stream::Stderr => "standard error",
                };
                match task {
                    Some((job, task)) => write!(f, "{stream} of {job}/{task} (run {})", run.number),
                    None => write!(f, "{stream} of run {}.{}", run.task, run.number),
                }
            }
            Self::Blob(hash) => write!(f, "file {hash}"),
        }
    }
}

impl Report {
    /// All files that the journal names.
    pub(crate) fn named(&self) -> impl Iterator<Item = NamedFile> {
        let outputs = self.outputs.iter().flat_map(|(&run, &Written { lengths, task })| {
            let streams = Stream::ALL.into_iter().zip(lengths);
            let began = self.began;
            let output = move |(stream, length)| NamedFile::Output { began, run, task, stream, length };
            streams.filter(|(_, length)| *length > 0).map(output)
        });
        outputs.chain(self.files.iter().copied().map(NamedFile::Blob))
    }
}

/// Looks for the files that `report` names in the coordinator's folder.
pub fn files(home: &Path, report: &Report, depth: Depth) -> Kept {
    let mut kept = Kept::default();
    for file in report.named() {
        kept.files += 1;
        kept.wrong.extend(file.fault(home, depth).map(|fault| format!("{file} {fault}")));
    }
    kept
}

fn output_fault(
    home: &Path,
    (began, run, stream): (Time, RunId, Stream),
    length: u64,
    depth: Depth,
) -> io::Result<Option<String>> {
    let found = outputs::length(home, began, run, stream)?;
    let is_changed = found >= length
        && depth == Depth::Content
        && outputs::is_changed(home, began, run, stream, length)? == Some(true);
    let short = (found < length).then(|| format!("has {found} of {length} bytes"));
    Ok(short.or(is_changed.then(|| "is not what it was".to_owned())))
}

fn blob_fault(home: &Path, hash: &BlobHash, depth: Depth) -> io::Result<Option<String>> {
    let Some(mut blob) = open_blob(home, *hash).map_err(|error| error.source)? else {
        return Ok(Some("is missing".to_owned()));
    };
    if depth == Depth::Lengths {
        return Ok(None);
    }
    let is_damaged = |error: &io::Error| {
        error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<DamagedBlob>)
    };
    match io::copy(&mut blob.body, &mut io::sink()) {
        Ok(_) => Ok(None),
        Err(error) if is_damaged(&error) => Ok(Some("is not what it was".to_owned())),
        Err(error) => Err(error),
    }
}
