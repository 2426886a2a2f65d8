//! Reading the file, beside its writer or without one.

use super::lost::expect_journal;
use super::nature::{Nature, nature, open_error};
use super::schema::{DATABASE, last};
use super::{base, row, schema};
use crate::store::checksum::chain;
use crate::store::limits::Page;
use crate::store::saving::Saving;
use crate::store::witness;
use crate::store::{
    Beginning, CopyError, Damage, OpenError, ReadError, Reader, Seq, Snapshot, StoredRow, span_tree,
};
use gleaner_units::TaskId;
use gleaner_wire::ChainHash;
use rusqlite::types::Value;
use rusqlite::{Connection, params_from_iter};
use std::path::Path;

const ROWS: &str =
    "SELECT seq, at, tasks, steps, body, checksum, chain FROM journal WHERE seq >= ?1 ORDER BY seq";
/// The longest way up a span tree.
const NODES: usize = 33;

/// Reads a journal file; any process may, without the lock of the coordinator's folder.
#[derive(Debug)]
pub struct SqliteReader {
    // Before the folder: that goes when nothing in it is open.
    connection: Connection,
    _within: Option<Saving>,
}

impl SqliteReader {
    /// Opens the journal in `folder`, as `gleaner journal` does beside a running coordinator.
    pub fn open(folder: &Path) -> Result<Self, OpenError> {
        expect_journal(folder)?;
        // First, since a coordinator may go on committing.
        let known = witness::read(folder)
            .map_err(|source| OpenError::Io { file: witness::path(folder), source: source.into() })?;
        let file = folder.join(DATABASE);
        let connection = schema::open_to_read(&file)?;
        if let Some(known) = known {
            let last = last(&connection).map_err(|error| open_error(error, &file))?;
            if last < known.seq {
                return Err(OpenError::Behind { file, last, known: known.seq });
            }
        }
        Ok(Self { connection, _within: None })
    }

    /// Opens a journal file, whether or not all of it is there that was committed.
    pub fn unchecked(file: &Path) -> Result<Self, OpenError> {
        Ok(Self { connection: schema::open_to_read(file)?, _within: None })
    }

    /// Reads a file in a folder that goes with the reader.
    pub(in crate::store) fn within(self, folder: Saving) -> Self {
        Self { _within: Some(folder), ..self }
    }

    /// Writes all that is committed to a file, which must not exist, and says which row is its last. A coordinator may go on
    /// committing meanwhile.
    pub fn copy_to(&self, file: &Path) -> Result<Seq, CopyError> {
        let copy = || {
            self.connection.execute("VACUUM INTO ?1", [file.to_string_lossy()])?;
            last(&schema::connect_to_read(file)?)
        };
        copy().map_err(|error| match nature(&error, file.parent().unwrap_or(file)) {
            Nature::DiskFull => CopyError::DiskFull,
            Nature::ReadOnly | Nature::Damaged | Nature::Other => CopyError::Read(read_error(error)),
        })
    }

    pub(super) fn of(file: &Path) -> rusqlite::Result<Self> {
        Ok(Self { connection: schema::connect_to_read(file)?, _within: None })
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The last row of those that may be missing.
    fn begins(&self) -> Result<Seq, ReadError> {
        Ok(self.beginning()?.map_or(Seq::NONE, |beginning| beginning.at))
    }

    fn numbers(&self, task: TaskId, from: Seq, at_most: usize) -> rusqlite::Result<Vec<Seq>> {
        let mut statement = self.connection.prepare_cached(&listed_rows())?;
        let limits = [number(from), i64::try_from(at_most).unwrap_or(i64::MAX)];
        let parameters = limits.into_iter().chain(span_tree::above(task)).map(Value::from);
        let numbers = statement.query_map(params_from_iter(parameters), |row| row.get::<_, i64>(0))?;
        numbers.map(|number| number.map(|number| Seq::new(number.cast_unsigned()))).collect()
    }
}

/// The database's numbers end at 2⁶³, and so do its rows.
fn number(seq: Seq) -> i64 {
    i64::try_from(seq.number()).unwrap_or(i64::MAX)
}

fn listed_rows() -> String {
    let nodes = (3..3 + NODES).map(|node| format!("?{node}")).collect::<Vec<_>>().join(",");
    format!("SELECT DISTINCT seq FROM history WHERE node IN ({nodes}) AND seq >= ?1 ORDER BY seq LIMIT ?2")
}

pub(super) fn read_error(error: rusqlite::Error) -> ReadError {
    let nature = nature(&error, Path::new("."));
    let source = error.into();
    match nature {
        Nature::Damaged => ReadError::File { source },
        Nature::DiskFull | Nature::ReadOnly | Nature::Other => ReadError::Io { source },
    }
}

/// A failure to get at row `seq`.
fn row_error(error: rusqlite::Error, seq: Seq) -> ReadError {
    match nature(&error, Path::new(".")) {
        Nature::Damaged => ReadError::Damaged { seq, damage: Damage::Unreadable },
        Nature::DiskFull | Nature::ReadOnly | Nature::Other => read_error(error),
    }
}

/// The row of these columns, where row `seq` is the first to come. Those up to where the journal begins may be missing.
fn check(seq: Seq, begins: Seq, columns: &rusqlite::Row) -> Result<StoredRow, ReadError> {
    let found = columns.get::<_, i64>(0).map(|found| Seq::new(found.cast_unsigned())).map_err(read_error)?;
    let first = if seq <= begins { found.min(begins.next()) } else { seq };
    if found != first {
        return Err(ReadError::Damaged { seq: first, damage: Damage::Missing });
    }
    let seq = found;
    row::from_columns(seq, columns).ok_or(ReadError::Damaged { seq, damage: Damage::Altered })
}

impl Reader for SqliteReader {
    fn last(&self) -> Result<Seq, ReadError> {
        last(&self.connection).map_err(read_error)
    }

    fn chain(&self, at: Seq) -> Result<Option<ChainHash>, ReadError> {
        schema::chain(&self.connection, at).map_err(|error| row_error(error, at))
    }

    fn beginning(&self) -> Result<Option<Beginning>, ReadError> {
        base::beginning(&self.connection).map_err(read_error)
    }

    fn base(&self) -> Result<Option<Snapshot>, ReadError> {
        let Some((base, is_intact)) = base::read(&self.connection).map_err(read_error)? else {
            return Ok(None);
        };
        let damaged = ReadError::Damaged { seq: base.at, damage: Damage::Base };
        if is_intact { Ok(Some(base)) } else { Err(damaged) }
    }

    fn is_sealed(&self) -> Result<bool, ReadError> {
        base::is_sealed(&self.connection).map_err(read_error)
    }

    fn read(&self, from: Seq, at_most: usize) -> Result<Vec<StoredRow>, ReadError> {
        let begins = self.begins()?;
        let mut seq = from.max(Seq::FIRST);
        // A row behind one that is missing is judged by itself.
        let mut before = self.chain(Seq::new(seq.number() - 1)).unwrap_or(None);
        let mut statement = self.connection.prepare_cached(ROWS).map_err(read_error)?;
        let mut found = statement.query([number(seq)]).map_err(read_error)?;
        let mut page = Page::new(at_most);
        while !page.is_full() {
            let Some(columns) = found.next().map_err(|error| row_error(error, seq))? else { break };
            let stored = check(seq, begins, columns)?;
            if stored.seq != seq {
                before = self.chain(Seq::new(stored.seq.number() - 1)).unwrap_or(None);
                seq = stored.seq;
            }
            let tied = columns.get(6).map(ChainHash::of).map_err(|error| row_error(error, seq))?;
            if before.is_some_and(|before| chain(&before, seq, &stored.row) != tied) {
                return Err(ReadError::Damaged { seq, damage: Damage::Unchained });
            }
            before = Some(tied);
            page.push(stored);
            seq = seq.next();
        }
        Ok(page.into_rows())
    }

    fn history(&self, task: TaskId, from: Seq, at_most: usize) -> Result<Vec<StoredRow>, ReadError> {
        let mut page = Page::new(at_most);
        let mut statement = self.connection.prepare_cached(ROWS).map_err(read_error)?;
        for seq in self.numbers(task, from, at_most).map_err(read_error)? {
            if page.is_full() {
                break;
            }
            let mut found = statement.query([number(seq)]).map_err(read_error)?;
            let columns = found.next().map_err(|error| row_error(error, seq))?;
            let missing = ReadError::Damaged { seq, damage: Damage::Missing };
            page.push(check(seq, Seq::NONE, columns.ok_or(missing)?)?);
        }
        Ok(page.into_rows())
    }
}
