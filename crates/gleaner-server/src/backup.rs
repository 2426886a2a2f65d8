//! A copy of a coordinator's folder, while it works.
//!
//! **The journal is copied first**, as of one moment, and what its facts name after that: a blob or the output of a run that is
//! over is there before the fact that names it, and does not change; what ran at that moment is longer in the copy than it
//! was, which nobody reads. So the copy is what a coordinator that lost its power at that moment would find.

use crate::blobs;
use crate::outputs;
use crate::serve::{AUTHORITY_FOLDER, CERTIFICATE_FILE, TOKEN_FILE};
use crate::store::{DATABASE, OpenError, ReadError, Seq, SqliteReader};
use std::fs::{self, DirBuilder, DirEntry, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What the coordinator's program reads besides.
pub const SETTINGS_FILE: &str = "config.toml";
const UNFINISHED: &str = "gleaner.db.next";
/// What only a folder has that a coordinator worked in.
const LOCK: &str = "lock";

/// What was copied.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Copied {
    /// The last row of the journal that is in the copy.
    pub last: Seq,
    /// Files beside the journal, those included that were there from a copy before.
    pub files: u64,
    /// Bytes of those that were copied now.
    pub bytes: u64,
}

/// Why there is no copy.
#[derive(Debug, Error)]
pub enum BackupError {
    /// The journal cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The journal cannot be read, or not all of it written.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It would be in the way of a coordinator.
    #[error("{} is a folder that a coordinator works in: name another for the copy", .0.display())]
    InUse(PathBuf),
    /// The next copy would be a copy of this one too.
    #[error("{} lies within {}, which is to be copied: name a folder elsewhere", to.display(), from.display())]
    Within {
        /// Where to.
        to: PathBuf,
        /// Where from.
        from: PathBuf,
    },
    /// A file is no place for a copy.
    #[error("{} is a file: name a folder for the copy", .0.display())]
    NoFolder(PathBuf),
    /// What is there is somebody's.
    #[error("{} has other files in it, and no copy from before: name a new folder, or an empty one", .0.display())]
    Others(PathBuf),
    /// The system refused.
    #[error("{}: {source}; the copy is not complete", path.display())]
    File {
        /// What it was about.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Copies the coordinator's folder `from` to `to`, which is made, or has a copy from before: what is in it already is not
/// copied again.
pub fn backup(from: &Path, to: &Path) -> Result<Copied, BackupError> {
    let reader = SqliteReader::open(from)?;
    check_place(from, to)?;
    make(to)?;
    let (next, journal) = (to.join(UNFINISHED), to.join(DATABASE));
    remove(&next)?;
    let last = reader.copy_to(&next)?;
    let mut copied = Copied { last, ..Copied::default() };
    for folder in [blobs::FOLDER, outputs::FOLDER, AUTHORITY_FOLDER] {
        copy_below(&from.join(folder), &to.join(folder), &mut copied)?;
    }
    for file in [CERTIFICATE_FILE, TOKEN_FILE, SETTINGS_FILE] {
        copy(&from.join(file), &to.join(file), &mut copied)?;
    }
    // Last: until then the copy before is whole.
    File::open(&next).and_then(|file| file.sync_all()).map_err(|source| failed(&next, source))?;
    fs::rename(&next, &journal).map_err(|source| failed(&journal, source))?;
    File::open(to).and_then(|folder| folder.sync_all()).map_err(|source| failed(to, source))?;
    Ok(copied)
}

fn check_place(from: &Path, to: &Path) -> Result<(), BackupError> {
    if to.join(LOCK).exists() {
        return Err(BackupError::InUse(to.to_owned()));
    }
    let from = fs::canonicalize(from).map_err(|source| failed(from, source))?;
    let nearest = std::path::absolute(to).map_err(|source| failed(to, source))?;
    let nearest = nearest.ancestors().find_map(|folder| fs::canonicalize(folder).ok());
    if nearest.is_some_and(|nearest| nearest.starts_with(&from)) {
        return Err(BackupError::Within { to: to.to_owned(), from });
    }
    let mut names = match fs::read_dir(to) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotADirectory => {
            return Err(BackupError::NoFolder(to.to_owned()));
        }
        read => read.map_err(|source| failed(to, source))?.filter_map(|entry| Some(entry.ok()?.file_name())),
    };
    // One that broke off had begun with the journal.
    let has_copy = [DATABASE, UNFINISHED].iter().any(|name| to.join(name).exists());
    if !has_copy && names.next().is_some() {
        return Err(BackupError::Others(to.to_owned()));
    }
    Ok(())
}

/// What a coordinator removes meanwhile, nothing names any more.
fn copy_below(from: &Path, to: &Path, copied: &mut Copied) -> Result<(), BackupError> {
    let entries = match fs::read_dir(from) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        read => read.map_err(|source| failed(from, source))?,
    };
    make(to)?;
    for entry in entries {
        let entry: DirEntry = entry.map_err(|source| failed(from, source))?;
        let (path, there) = (entry.path(), to.join(entry.file_name()));
        match entry.file_type().map_err(|source| failed(&path, source))? {
            kind if kind.is_dir() && entry.file_name() == blobs::INCOMING => {}
            kind if kind.is_dir() => copy_below(&path, &there, copied)?,
            kind if kind.is_file() => copy(&path, &there, copied)?,
            _ => {}
        }
    }
    Ok(())
}

/// What has the same length and was changed last at the same moment is the same. The length alone says little: after a restore, runs
/// write under the names of those that were lost.
fn copy(from: &Path, to: &Path, copied: &mut Copied) -> Result<(), BackupError> {
    let (size, changed) = match fs::metadata(from).and_then(|data| Ok((data.len(), data.modified()?))) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        data => data.map_err(|source| failed(from, source))?,
    };
    copied.files += 1;
    let is_same = |there: fs::Metadata| there.len() == size && there.modified().is_ok_and(|at| at == changed);
    if fs::metadata(to).is_ok_and(is_same) {
        return Ok(());
    }
    remove(to)?;
    match fs::copy(from, to) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        written => copied.bytes += written.map_err(|source| failed(to, source))?,
    }
    let finish = |file: File| {
        file.set_modified(changed)?;
        file.sync_all()
    };
    File::open(to).and_then(finish).map_err(|source| failed(to, source))
}

fn make(folder: &Path) -> Result<(), BackupError> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|source| failed(folder, source))
}

fn remove(file: &Path) -> Result<(), BackupError> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(failed(file, error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn failed(path: &Path, source: io::Error) -> BackupError {
    BackupError::File { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    #[test]
    fn only_what_is_new_is_copied_also_under_an_old_name() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
        fs::create_dir(&from).unwrap();
        let write = |text: &str, seconds: u64| {
            fs::write(from.join("1.out"), text).unwrap();
            let at = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            File::open(from.join("1.out")).unwrap().set_modified(at).unwrap();
        };
        let old = "old".repeat(100_000);
        let new = "new".repeat(100_000);
        for (text, at, expected) in
            [("small", 1, 5), ("small", 1, 0), (&old, 2, 300_000), (&new, 3, 300_000), (&new, 3, 0)]
        {
            write(text, at);
            let mut copied = Copied::default();
            copy_below(&from, &to, &mut copied).unwrap();
            assert_eq!((copied.files, copied.bytes), (1, expected), "{at}");
            assert!(fs::read_to_string(to.join("1.out")).unwrap() == text, "{at}");
        }
    }
}
