//! What shows in a folder, before its journal is opened, that a journal was there or is not whole.

use super::log::Log;
use super::schema::DATABASE;
use super::torn;
use crate::store::{OpenError, witness};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Where a journal is made that is to be put in another's place, and where that other goes.
pub(in crate::store) const MAKING: &str = "journal.new";
pub(in crate::store) const ASIDE: &str = "replaced";
/// What a grid keeps beside its journal, and what is left where somebody was killed who put another in its place.
const LEFT: &[&str] = &["outputs", "snapshots", "blobs", MAKING, ASIDE];

/// That there is a journal in `folder`.
pub fn expect_journal(folder: &Path) -> Result<(), OpenError> {
    let file = folder.join(DATABASE);
    match fs::metadata(&file) {
        Ok(there) if there.is_file() => return Ok(()),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            return Err(OpenError::Io { file, source: error.into() });
        }
        Ok(_) | Err(_) => {}
    }
    expect_nothing_lost(folder, &file)?;
    Err(OpenError::None { file })
}

/// What a journal of which nothing is left, or which was altered, left behind: looked for before anything is opened, since
/// that changes the log.
pub(super) fn expect_nothing_lost(folder: &Path, file: &Path) -> Result<(), OpenError> {
    if !file.exists() {
        return expect_none(folder, file, &[&[witness::WITNESS], LEFT].concat());
    }
    let log = torn::log_of(file);
    let read =
        Log::read(&log).map_err(|source| OpenError::Io { file: log.clone(), source: source.into() })?;
    match read.map_or(0, |log| log.commits_behind_damage()) {
        0 | 1 => Ok(()),
        commits => Err(OpenError::Log { file: log, commits }),
    }
}

/// That a journal without rows is a new grid's. One whose log was lost before it was moved into the file is none.
pub(super) fn expect_new(folder: &Path, file: &Path) -> Result<(), OpenError> {
    expect_none(folder, file, LEFT)
}

fn expect_none(folder: &Path, file: &Path, left: &[&str]) -> Result<(), OpenError> {
    match left.iter().map(|name| folder.join(name)).find(|path| has_a_file(path)) {
        Some(beside) => Err(OpenError::Gone { file: file.to_owned(), beside }),
        None => Ok(()),
    }
}

/// A new grid has folders for what is to come, and no file in them.
fn has_a_file(path: &Path) -> bool {
    path.is_file()
        || fs::read_dir(path).into_iter().flatten().flatten().any(|entry| has_a_file(&entry.path()))
}
