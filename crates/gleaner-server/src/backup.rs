//! A copy of a coordinator's folder, while it works.
//!
//! **The journal is copied first**, as of one moment, and what its facts name after that: a blob or the output of a run that is
//! over is there before the fact that names it, and does not change; what ran at that moment is longer in the copy than it
//! was, which nobody reads. So the copy is what a coordinator that lost its power at that moment would find.
//!
//! **What is damaged is not copied**: a file that is new or was changed is held against what the journal says of it, and a copy
//! from before stays. A file is copied beside its place and moved there when it is whole.

use crate::blobs;
use crate::outputs;
use crate::recovery::RecoveryError;
use crate::restoring::{is_of_another_grid, ledger_at};
use crate::store::{
    AUTHORITY_FOLDER, CERTIFICATE_FILE, CopyError, DATABASE, Home, HomeError, OpenError, ReadError,
    Reader as _, Seq, SqliteReader, TOKEN_FILE, WITNESS,
};
use crate::verify::{Depth, NamedFile, follow_all};
use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, DirEntry, File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// What the coordinator's program reads besides.
pub const SETTINGS_FILE: &str = "config.toml";
const UNFINISHED: &str = "gleaner.db.next";
/// What is copied of a file until it is whole.
const UNFINISHED_FILE: &str = "file.next";

/// What was copied.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Copied {
    /// The last row of the journal that is in the copy.
    pub last: Seq,
    /// Files beside the journal, those included that were there from a copy before.
    pub files: u64,
    /// Bytes of those that were copied now.
    pub bytes: u64,
    /// Files that the journal names and that are damaged or missing in the coordinator's folder, for people, each with what the copy has
    /// of it. None of them was copied.
    pub wrong: Vec<String>,
}

/// Why there is no copy.
#[derive(Debug, Error)]
pub enum BackupError {
    /// The journal cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The journal cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The journal does not lead where it says it did.
    #[error("{0}; a copy from before stays as it is")]
    Recovery(#[from] RecoveryError),
    /// The copy of the journal cannot be written.
    #[error("{} cannot be written: {source}; a copy from before stays as it is", path.display())]
    Write {
        /// Which file of the copy.
        path: PathBuf,
        /// What the database said.
        source: CopyError,
    },
    /// It would be in the way of a coordinator.
    #[error("{} is a folder that a coordinator works in, or did: name another for the copy", .0.display())]
    InUse(PathBuf),
    /// Two copies at a time would write over each other's files.
    #[error("a copy is being made into {} already: wait until it is complete", .0.display())]
    UnderWay(PathBuf),
    /// Whoever copies, moves or removes the folder around it would do so with this copy too.
    #[error(
        "{} lies within {}, which is a coordinator's folder or a copy of one: name a folder elsewhere",
        to.display(),
        around.display()
    )]
    Within {
        /// Where to.
        to: PathBuf,
        /// What it would be in.
        around: PathBuf,
    },
    /// The copy that is there is the only one of another grid's past.
    #[error(
        "{} has a copy of another grid's journal: name another folder, so that both are kept; or remove that one first",
        .0.display()
    )]
    OfAnotherGrid(PathBuf),
    /// The copy that is there may be the only one of a past that this program cannot read.
    #[error(
        "{} has a copy of a journal that another version of Gleaner wrote ({why}): name another folder, so that both are kept; or \
         remove that one first",
        to.display()
    )]
    OfAnotherVersion {
        /// Where it is.
        to: PathBuf,
        /// What this program cannot read of it.
        why: String,
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
    let _alone = take(to)?;
    if is_of_another(&reader, to)? {
        return Err(BackupError::OfAnotherGrid(to.to_owned()));
    }
    let (next, journal) = (to.join(UNFINISHED), to.join(DATABASE));
    remove(&next)?;
    remove(&to.join(UNFINISHED_FILE))?;
    let last = copy_journal(&reader, &next)?;
    let wrong = wrong_files(from, to, &next)?;
    let skipped = wrong.iter().flat_map(|Wrong { file, .. }| places(file)).map(|place| from.join(place));
    let skipped = skipped.collect();
    let mut copying = Copying { to, skipped, copied: Copied { last, ..Copied::default() } };
    for folder in [blobs::FOLDER, outputs::FOLDER, AUTHORITY_FOLDER] {
        copying.copy_below(&from.join(folder), &to.join(folder))?;
    }
    for file in [CERTIFICATE_FILE, TOKEN_FILE, SETTINGS_FILE] {
        copying.copy(&from.join(file), &to.join(file))?;
    }
    let mut copied = copying.copied;
    copied.wrong = told(wrong, &reader, to)?;
    // Last: until then the copy before is whole.
    File::open(&next).and_then(|file| file.sync_all()).map_err(|source| failed(&next, source))?;
    fs::rename(&next, &journal).map_err(|source| failed(&journal, source))?;
    File::open(to).and_then(|folder| folder.sync_all()).map_err(|source| failed(to, source))?;
    Ok(copied)
}

/// For this copy alone.
fn take(to: &Path) -> Result<File, BackupError> {
    let folder = File::open(to).map_err(|source| failed(to, source))?;
    match folder.try_lock() {
        Ok(()) => Ok(folder),
        Err(TryLockError::WouldBlock) => Err(BackupError::UnderWay(to.to_owned())),
        Err(TryLockError::Error(source)) => Err(failed(to, source)),
    }
}

/// Whether there is a copy of another grid's journal. One that ends as this one once did is of the same; else both are followed from
/// their beginnings. **What is damaged is worth nothing; what another program wrote is not**: it may be all that is left of a grid from
/// before an upgrade. So may what cannot be read now, for want of descriptors or room.
fn is_of_another(reader: &SqliteReader, to: &Path) -> Result<bool, BackupError> {
    let file = to.join(DATABASE);
    let other_version = |why: String| Err(BackupError::OfAnotherVersion { to: to.to_owned(), why });
    let copy = match SqliteReader::unchecked(&file) {
        Ok(copy) => copy,
        Err(OpenError::Older { found, known, .. } | OpenError::Newer { found, known, .. }) => {
            return other_version(format!("it has format {found}, and this version reads format {known}"));
        }
        Err(OpenError::Foreign { .. }) if fs::metadata(&file).is_ok_and(|data| data.len() > 0) => {
            return Err(BackupError::Others(to.to_owned()));
        }
        Err(OpenError::Damaged { .. } | OpenError::None { .. } | OpenError::Foreign { .. }) => {
            return Ok(false);
        }
        // Whatever it has may be all there is.
        Err(error) => return Err(error.into()),
    };
    let last = match copy.last() {
        Ok(last) => last,
        Err(error @ ReadError::Io { .. }) => return Err(error.into()),
        Err(_) => return Ok(false),
    };
    if reader.chain(last)?.is_some_and(|chain| copy.chain(last).is_ok_and(|copied| copied == Some(chain))) {
        return Ok(false);
    }
    let then = match ledger_at(&copy, last) {
        Ok(then) => then,
        Err(error @ (RecoveryError::Base { .. } | RecoveryError::Row { .. } | RecoveryError::Replay(_))) => {
            return other_version(error.to_string());
        }
        Err(RecoveryError::Read(error @ ReadError::Io { .. })) => return Err(error.into()),
        Err(_) => return Ok(false),
    };
    let now = ledger_at(reader, reader.last()?)?;
    Ok(is_of_another_grid(&now, &then))
}

/// What was written of a copy that broke off goes: a full disk needs the space back.
fn copy_journal(reader: &SqliteReader, next: &Path) -> Result<Seq, BackupError> {
    reader.copy_to(next).map_err(|source| match remove(next) {
        Ok(()) => BackupError::Write { path: next.to_owned(), source },
        Err(error) => error,
    })
}

/// A file that is not what the journal says.
struct Wrong {
    file: NamedFile,
    fault: String,
}

/// Those that the journal `next` names, in the coordinator's folder. What would be copied is read.
fn wrong_files(from: &Path, to: &Path, next: &Path) -> Result<Vec<Wrong>, BackupError> {
    let mut wrong = Vec::new();
    for file in follow_all(&SqliteReader::unchecked(next)?)?.named() {
        let place = file.place();
        let is_there = fs::metadata(from.join(&place)).is_ok_and(|data| is_same(&data, &to.join(&place)));
        let depth = if is_there { Depth::Lengths } else { Depth::Content };
        if let Some(fault) = file.fault(from, depth) {
            wrong.push(Wrong { file, fault });
        }
    }
    Ok(wrong)
}

/// What belongs together: of two files that do not fit, nobody can say which one was changed.
fn places(file: &NamedFile) -> Vec<PathBuf> {
    match file {
        NamedFile::Output { began, run, .. } => vec![file.place(), outputs::sums_place(*began, *run)],
        NamedFile::Blob(_) => vec![file.place()],
    }
}

/// What the coordinator removed meanwhile, and knows that it did, is not wrong.
fn told(mut wrong: Vec<Wrong>, reader: &SqliteReader, to: &Path) -> Result<Vec<String>, BackupError> {
    if !wrong.is_empty() {
        let named: BTreeSet<NamedFile> = follow_all(reader)?.named().collect();
        wrong.retain(|Wrong { file, .. }| named.contains(file));
    }
    let told = wrong.into_iter().map(|Wrong { file, fault }| {
        let has = match file.fault(to, Depth::Content) {
            None => "the copy from before is kept",
            Some(_) => "there is no good copy of it",
        };
        format!("{file} {fault} ({has})")
    });
    Ok(told.collect())
}

fn check_place(from: &Path, to: &Path) -> Result<(), BackupError> {
    // A copy has no witness: its journal would be written over. Who copies into it holds the folder too, and has no number.
    if matches!(Home::look(to), Err(HomeError::Locked { pid: Some(_), .. })) || to.join(WITNESS).exists() {
        return Err(BackupError::InUse(to.to_owned()));
    }
    let from = fs::canonicalize(from).map_err(|source| failed(from, source))?;
    let nearest = std::path::absolute(to).map_err(|source| failed(to, source))?;
    let nearest = nearest.ancestors().find_map(|folder| fs::canonicalize(folder).ok());
    // A copy from before may be in the place itself.
    let itself = fs::canonicalize(to).ok();
    let is_another = |folder: &Path| {
        let has_both = [DATABASE, AUTHORITY_FOLDER].iter().all(|name| folder.join(name).exists());
        has_both && itself.as_deref() != Some(folder)
    };
    let mut folders = nearest.as_deref().into_iter().flat_map(Path::ancestors);
    if let Some(around) = folders.find(|&folder| folder == from || is_another(folder)) {
        return Err(BackupError::Within { to: to.to_owned(), around: around.to_owned() });
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

struct Copying<'a> {
    to: &'a Path,
    /// Files in the coordinator's folder that are not what they should be.
    skipped: BTreeSet<PathBuf>,
    copied: Copied,
}

impl Copying<'_> {
    /// What a coordinator removes meanwhile, nothing names any more.
    fn copy_below(&mut self, from: &Path, to: &Path) -> Result<(), BackupError> {
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
                kind if kind.is_dir() => self.copy_below(&path, &there)?,
                kind if kind.is_file() && !self.skipped.contains(&path) => self.copy(&path, &there)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn copy(&mut self, from: &Path, to: &Path) -> Result<(), BackupError> {
        let (changed, found) = match fs::metadata(from).and_then(|data| Ok((data.modified()?, data))) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            data => data.map_err(|source| failed(from, source))?,
        };
        self.copied.files += 1;
        if is_same(&found, to) {
            return Ok(());
        }
        let next = self.to.join(UNFINISHED_FILE);
        let write = || -> io::Result<u64> {
            let bytes = fs::copy(from, &next)?;
            let file = File::open(&next)?;
            file.set_modified(changed)?;
            file.sync_all()?;
            fs::rename(&next, to)?;
            Ok(bytes)
        };
        match write() {
            Err(error) if error.kind() == ErrorKind::NotFound && !from.exists() => {}
            Err(source) => {
                // A full disk needs the space back; the next backup writes over it.
                drop(fs::remove_file(&next));
                return Err(failed(to, source));
            }
            Ok(bytes) => self.copied.bytes += bytes,
        }
        Ok(())
    }
}

/// What has the same length and was changed last at the same moment is the same. The length alone says little: after a restore, runs
/// write under the names of those that were lost.
fn is_same(found: &fs::Metadata, to: &Path) -> bool {
    let Ok(there) = fs::metadata(to) else { return false };
    there.len() == found.len() && there.modified().ok().is_some_and(|at| found.modified().ok() == Some(at))
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
    use crate::store::{FORMAT, NetworkFolder, Row, SqliteStore, Store as _};
    use gleaner_units::Time;
    use rusqlite::Connection;
    use std::time::{Duration, SystemTime};

    #[test]
    fn one_copy_at_a_time_is_made_into_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        let first = take(folder.path()).unwrap();
        assert!(matches!(take(folder.path()), Err(BackupError::UnderWay(_))));
        drop(first);
        take(folder.path()).unwrap();
    }

    fn begin_journal(folder: &Path, body: &str) {
        let mut store = SqliteStore::open(&Home::open(folder, NetworkFolder::Accept).unwrap()).unwrap();
        let row = Row { at: Time::ZERO, tasks: Vec::new(), steps: String::new(), body: body.to_owned() };
        store.commit(&[row]).unwrap();
    }

    #[test]
    fn a_copy_is_made_neither_in_what_is_copied_nor_in_another_copy() {
        let folder = tempfile::tempdir().unwrap();
        let [from, copy] = ["from", "copy"].map(|name| folder.path().join(name));
        begin_journal(&from, "{}");
        begin_journal(&copy, "{}");
        fs::remove_file(copy.join(WITNESS)).unwrap();
        for name in [AUTHORITY_FOLDER, "there"] {
            fs::create_dir_all(copy.join(name)).unwrap();
        }
        for (to, around) in [
            (copy.clone(), None),
            (folder.path().join("new/deep"), None),
            (copy.join("there"), Some(&copy)),
            (copy.join("new/deep"), Some(&copy)),
            (from.join("new"), Some(&from)),
        ] {
            match (check_place(&from, &to), around) {
                (Ok(()), None) => {}
                (Err(BackupError::Within { around: found, .. }), Some(around)) => {
                    assert_eq!(found, fs::canonicalize(around).unwrap());
                }
                (found, _) => panic!("{}: {found:?}", to.display()),
            }
        }
    }

    /// As after an upgrade with which a new grid began.
    #[test]
    fn a_copy_that_another_version_wrote_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
        begin_journal(&from, "{}");
        begin_journal(&to, r#"{"planet_joined":{}}"#);
        fs::remove_file(to.join(WITNESS)).unwrap();
        let file = to.join(DATABASE);
        let expect_refused = |expected: &str| {
            let before = fs::read(&file).unwrap();
            let refused = backup(&from, &to).unwrap_err();
            assert!(matches!(refused, BackupError::OfAnotherVersion { .. }), "{refused}");
            assert!(refused.to_string().contains(expected), "{refused}");
            assert_eq!(fs::read(&file).unwrap(), before);
        };
        expect_refused("planet_joined");
        for format in [FORMAT - 1, FORMAT + 1] {
            Connection::open(&file).unwrap().pragma_update(None, "user_version", format).unwrap();
            expect_refused(&format!("it has format {format}, and this version reads format {FORMAT}"));
        }
        // Also where a damaged row hides which program it was.
        let connection = Connection::open(&file).unwrap();
        connection.pragma_update(None, "user_version", FORMAT - 1).unwrap();
        connection.execute("UPDATE journal SET body = '{\"coordinator_started\"'", []).unwrap();
        drop(connection);
        expect_refused(&format!("it has format {}", FORMAT - 1));
    }

    /// Nor is a file of another program that happens to have the journal's name.
    #[test]
    fn only_what_is_damaged_is_worth_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
        begin_journal(&from, "{}");
        fs::create_dir(&to).unwrap();
        let (reader, file) = (SqliteReader::open(&from).unwrap(), to.join(DATABASE));
        for nothing in [String::new(), "no journal at all, but long enough\n".repeat(100)] {
            fs::write(&file, nothing).unwrap();
            assert!(!is_of_another(&reader, &to).unwrap());
        }
        fs::remove_file(&file).unwrap();
        Connection::open(&file).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
        assert!(matches!(is_of_another(&reader, &to), Err(BackupError::Others(_))));
    }

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
            let copied = Copied::default();
            let mut copying = Copying { to: folder.path(), skipped: BTreeSet::new(), copied };
            copying.copy_below(&from, &to).unwrap();
            let Copied { files, bytes, .. } = copying.copied;
            assert_eq!((files, bytes), (1, expected), "{at}");
            assert!(fs::read_to_string(to.join("1.out")).unwrap() == text, "{at}");
        }
    }
}
