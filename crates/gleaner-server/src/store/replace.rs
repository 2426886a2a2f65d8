//! Puts another journal in the place of the one in a folder: a backup, or what can be saved of a damaged one.
//!
//! **What was there is moved aside and never removed**, and the new journal is whole before it is moved in.

use super::saving::{Saving, clear};
use super::sqlite::{ASIDE, DATABASE, MAKING, SqliteReader, SqliteStore, altered_copy};
use super::witness::{self, WITNESS};
use super::{
    CommitError, Home, HomeError, NetworkFolder, OpenError, ROWS_AT_ONCE, ReadError, Reader, Row, Seq,
    Store as _, make_folder,
};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Where a damaged journal is put together.
const SAVING: &str = "journal.saving";

/// Why no other journal was put in place. The one that was there still is, unless the message says where it went.
#[derive(Debug, Error)]
pub enum ReplaceError {
    /// The folder for the new one cannot be used.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// The new one cannot be made.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The rows cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The rows cannot be written.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// Anything else.
    #[error("{}: {source}; what was there is in its place or in the folder `{ASIDE}` beside it", path.display())]
    Io {
        /// What was to be made or moved.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

/// Rows that can be read, from the first on.
pub struct Readable {
    /// Reads them.
    pub reader: Box<dyn Reader>,
    /// The last of them.
    pub last: Seq,
    /// The last row that is known to have been committed, where that is known.
    pub known: Option<Seq>,
}

/// What can be read of the journal in a folder, whatever is wrong with it: up to the first row that is missing or not what
/// was written. Pages that the log has more than once count as they were written last. The folder's journal and log stay
/// as they are.
pub fn readable(home: &Home) -> Result<Readable, ReplaceError> {
    let folder = home.folder();
    let saving = folder.join(SAVING);
    let io = |source| ReplaceError::Io { path: saving.clone(), source };
    clear(&saving).and_then(|()| make_folder(&saving)).map_err(io)?;
    let within = Saving::of(&saving);
    altered_copy(&folder.join(DATABASE), &saving.join(DATABASE)).map_err(io)?;
    let reader = SqliteReader::unchecked(&saving.join(DATABASE)).map_err(|error| match error {
        // It is as damaged as what it is a copy of.
        OpenError::Damaged { source, .. } => OpenError::Damaged { file: folder.join(DATABASE), source },
        other => other,
    });
    let reader = reader?.within(within);
    // What was kept of before is put together where it is copied.
    let mut last = reader.beginning()?.map_or(Seq::NONE, |beginning| beginning.at);
    loop {
        match reader.read(last.next(), ROWS_AT_ONCE) {
            Ok(rows) if rows.is_empty() => break,
            Ok(rows) => last = last.plus(rows.len() as u64),
            Err(ReadError::Damaged { seq, .. }) => {
                last = Seq::new(seq.number() - 1);
                break;
            }
            Err(error) => return Err(error.into()),
        }
    }
    let known = witness::read(folder).map_err(io)?.map(|known| known.seq);
    Ok(Readable { reader: Box::new(reader), last, known })
}

/// Puts the first rows of a journal, and one more, in the place of the journal in a folder. Returns where that went.
pub fn replace(home: &Home, rows: &dyn Reader, last: Seq, more: Row) -> Result<PathBuf, ReplaceError> {
    let folder = home.folder();
    let making = folder.join(MAKING);
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| ReplaceError::Io { path, source }
    };
    clear(&making).map_err(io(&making))?;
    {
        let mut store = SqliteStore::open(&Home::open(&making, NetworkFolder::Accept)?)?;
        store.begin_as(rows)??;
        while store.last() < last {
            let wanted = last.number() - store.last().number();
            let page = rows.read(
                store.last().next(),
                ROWS_AT_ONCE.min(usize::try_from(wanted).unwrap_or(ROWS_AT_ONCE)),
            )?;
            store.commit(&page.into_iter().map(|stored| stored.row).collect::<Vec<_>>())?;
        }
        store.commit(&[more])?;
    }
    let aside = aside(&folder.join(ASIDE)).map_err(io(folder))?;
    let log = |name: &str| format!("{DATABASE}{name}");
    for name in [DATABASE.to_owned(), log("-wal"), log("-shm"), WITNESS.to_owned(), "snapshots".to_owned()] {
        let from = folder.join(&name);
        if from.exists() {
            fs::rename(&from, aside.join(&name)).map_err(io(&from))?;
        }
    }
    for name in [DATABASE, WITNESS] {
        fs::rename(making.join(name), folder.join(name)).map_err(io(&making))?;
    }
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(io(folder))?;
    for path in [making, folder.join(SAVING)] {
        clear(&path).map_err(io(&path))?;
    }
    Ok(aside)
}

/// A folder that is not there yet.
fn aside(within: &Path) -> io::Result<PathBuf> {
    let path = (1..=u32::MAX).map(|number| within.join(number.to_string())).find(|path| !path.exists());
    let path = path.expect("numbers do not end");
    make_folder(&path)?;
    Ok(path)
}
