//! A journal, wherever it lies: a coordinator's folder, its database, or what `gleaner journal export` wrote.

use crate::{Past, Reading, TaskLog};
use gleaner_server::journal::{Entry, Fact};
use gleaner_server::ledger::ReplayError;
use gleaner_server::recovery::{Recovered, RecoveryError, beginning, entries};
use gleaner_server::store::{DATABASE, FORMAT, OpenError, SqliteReader};
use gleaner_units::{Span, Time};
use serde::Deserialize;
use std::convert::identity;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A line of an export is at most this long: a job of as many tasks as it may have.
const LINE_BYTES_MAX: u64 = 256 << 20;

/// Why a journal cannot be replayed.
#[derive(Debug, Error)]
pub enum SourceError {
    /// The database cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The database cannot be read.
    #[error(transparent)]
    Journal(#[from] RecoveryError),
    /// Nothing is there.
    #[error("{}: found nothing there; expected a coordinator's folder, its {DATABASE}, or what `gleaner journal export` wrote", _0.display())]
    None(PathBuf),
    /// The file cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line of an export is none.
    #[error("{}:{line}: {why}", path.display())]
    Line {
        /// Which file.
        path: PathBuf,
        /// Which line, from 1.
        line: u64,
        /// What is wrong with it.
        why: String,
    },
    /// The facts do not follow from one another.
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

/// Of a line of an export, in whatever format.
#[derive(Deserialize)]
struct AnyLine {
    version: u32,
}

/// A line of an export.
#[derive(Deserialize)]
struct Line {
    seq: u64,
    at_ns: u64,
    fact: Fact,
}

/// Reads a journal to its end.
pub fn read(path: &Path) -> Result<Past, SourceError> {
    Ok(read_whole(path, identity)?.end())
}

/// The same, of the tasks that came in the last so many seconds before its last entry.
pub fn read_last(path: &Path, last: Span) -> Result<Past, SourceError> {
    let reading = read_whole(path, identity)?;
    let since = reading.last().nanos().saturating_sub(last.nanos());
    Ok(reading.end_since(Time::from_nanos(since), usize::MAX))
}

/// Reads a journal to its end, for a log of the tasks that ran to theirs.
pub fn read_log(path: &Path) -> Result<TaskLog, SourceError> {
    Ok(read_whole(path, Reading::with_jobs)?.log())
}

/// `noting` says what is noted of it.
fn read_whole(path: &Path, noting: fn(Reading) -> Reading) -> Result<Reading, SourceError> {
    let is_database = path.file_name().is_some_and(|name| name == DATABASE);
    match (path.is_dir(), is_database) {
        (true, _) => read_database(path, noting),
        (false, true) => read_database(path.parent().unwrap_or(Path::new(".")), noting),
        (false, false) => read_export(path, noting),
    }
}

/// From where it begins.
fn read_database(folder: &Path, noting: fn(Reading) -> Reading) -> Result<Reading, SourceError> {
    let reader = SqliteReader::open(folder)?;
    let Recovered { ledger, at: begins, .. } = beginning(&reader)?;
    let mut reading = noting(Reading::begun_with(ledger));
    for entry in entries(&reader, begins.next()) {
        reading.read(&entry?.1)?;
    }
    Ok(reading)
}

fn read_export(path: &Path, noting: fn(Reading) -> Reading) -> Result<Reading, SourceError> {
    let mut reading = noting(Reading::default());
    let failed = |source| SourceError::Io { path: path.to_owned(), source };
    let file = File::open(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => SourceError::None(path.to_owned()),
        _ => failed(source),
    })?;
    let mut file = BufReader::new(file);
    let mut text = Vec::new();
    for line in 1.. {
        text.clear();
        file.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut text).map_err(failed)?;
        if text.is_empty() {
            return Ok(reading);
        }
        let entry =
            parse(&text, line).map_err(|why| SourceError::Line { path: path.to_owned(), line, why })?;
        reading.read(&entry)?;
    }
    Ok(reading)
}

/// Rows are counted from 1, as lines are.
fn parse(text: &[u8], line: u64) -> Result<Entry, String> {
    let wrong = |error: serde_json::Error| {
        format!("{error}; expected a line as `gleaner journal export` of this version writes it")
    };
    let AnyLine { version } = serde_json::from_slice(text).map_err(wrong)?;
    if version != FORMAT {
        let age = if version < FORMAT { "an older" } else { "a newer" };
        return Err(format!(
            "found version {version}; expected {FORMAT}: {age} Gleaner wrote it, whose own `gleaner replay` reads it"
        ));
    }
    let Line { seq, at_ns, fact } = serde_json::from_slice(text).map_err(wrong)?;
    if seq != line {
        return Err(format!(
            "found row {seq} of the journal; expected row {line}: rows before it are missing. If the journal was compacted, replay \
             its folder: that begins where the journal does"
        ));
    }
    Ok(Entry { at: Time::from_nanos(at_ns), fact })
}
