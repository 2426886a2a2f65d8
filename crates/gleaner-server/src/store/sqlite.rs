//! The journal in one `SQLite` file, `gleaner.db`.
//!
//! - **One sync per commit**: write-ahead log, `synchronous=FULL`. Every so many pages a commit also moves the log into
//!   the file, and syncs that.
//! - **One writer**: the [`Home`]'s lock keeps other coordinators out; readers never block it.
//! - The table `journal` is public: other programs may read it. `tasks` has ranges such as `7` or `0-99,200`, and `steps` what the
//!   fact in `body` was for each of them.
//! - The table `history` is an index over it by [span tree](super::span_tree).

mod altered;
mod base;
mod log;
mod lost;
mod nature;
mod past;
mod reader;
mod row;
mod schema;
mod snapshot_files;
mod sweeping;
mod torn;

pub(super) use altered::altered_copy;
pub use lost::expect_journal;
pub(super) use lost::{ASIDE, MAKING};
pub use reader::SqliteReader;
pub use schema::{DATABASE, FORMAT};

use super::witness::{Known, Witness};
use super::{
    Beginning, CommitError, Compaction, Home, OpenError, Past, ROWS_AT_ONCE, ReadError, Reader, Row, Seq,
    Snapshot, Snapshots, Store, StoredRow, TornTail, base_pages, checksum, limits, span_tree, witness,
};
use crate::limits::SWEPT_AT_ONCE;
use gleaner_wire::ChainHash;
use lost::{expect_new, expect_nothing_lost};
use nature::Nature;
use row::Columns;
use rusqlite::{Connection, TransactionBehavior};
use schema::Opened;
use snapshot_files::SnapshotFiles;
use std::io;
use std::path::{Path, PathBuf};

const INSERT_ROW: &str =
    "INSERT INTO journal (seq, at, tasks, steps, body, checksum, chain) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
// Ranges of one row may overlap.
const INSERT_NODE: &str = "INSERT OR IGNORE INTO history (node, seq) VALUES (?1, ?2)";

/// The embedded form of the [`Store`].
#[derive(Debug)]
pub struct SqliteStore {
    // Before the home: the lock outlives the connection.
    connection: Connection,
    home: Home,
    witness: Witness,
    last: Seq,
    /// What all rows up to the last add up to.
    chain: ChainHash,
    torn_tail: Option<TornTail>,
    stopped: bool,
}

impl SqliteStore {
    /// Opens the journal in `home`, or begins one.
    pub fn open(home: &Home) -> Result<Self, OpenError> {
        let file = home.folder().join(DATABASE);
        let io =
            |file: &Path, source: io::Error| OpenError::Io { file: file.to_owned(), source: source.into() };
        let known = witness::read(home.folder()).map_err(|source| io(&file, source))?;
        expect_nothing_lost(home.folder(), &file)?;
        let Opened { connection, frames_kept } = schema::open(&file, known)?;
        let last = schema::last(&connection).map_err(|source| nature::open_error(source, &file))?;
        if last == Seq::NONE {
            expect_new(home.folder(), &file)?;
        }
        let witness = Witness::open(home.folder()).map_err(|source| io(&file, source))?;
        // A row that cannot be read is named where it is.
        let chain = schema::chain(&connection, last).ok().flatten().unwrap_or(ChainHash::NONE);
        let log = torn::log_of(&file);
        let bytes = torn::torn_bytes(&log, frames_kept)
            .map_err(|source| OpenError::Io { file: log, source: source.into() })?;
        let torn_tail = (bytes > 0).then_some(TornTail { last, bytes });
        Ok(Self { connection, home: home.clone(), witness, last, chain, torn_tail, stopped: false })
    }

    /// What was found of a commit that broke off, when the journal was opened.
    pub fn torn_tail(&self) -> Option<TornTail> {
        self.torn_tail
    }

    fn write(&mut self, rows: &[Row], past: Option<&Past>) -> rusqlite::Result<(Known, ChainHash)> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let (mut seq, mut checksum, mut chain) = (self.last, 0, self.chain);
        if let Some(past) = past {
            past::write(&transaction, past)?;
            // Other commits do not wait for what is due.
            if !past.removed.is_empty() || !past.forgotten.is_empty() {
                sweeping::sweep(&transaction, SWEPT_AT_ONCE)?;
            }
        }
        for row in rows {
            seq = seq.next();
            chain = checksum::chain(&chain, seq, row);
            checksum = put_row(&transaction, seq, row, &chain)?;
        }
        transaction.commit()?;
        Ok((Known { seq, checksum }, chain))
    }

    fn write_compacted(&mut self, what: Compaction<'_>) -> rusqlite::Result<(Known, ChainHash)> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let beginning = schema::chain(&transaction, what.base.at)?.unwrap_or(ChainHash::NONE);
        transaction.execute_batch(base::BACK)?;
        transaction.execute("DELETE FROM base", [])?;
        for past in what.pasts {
            past::write(&transaction, &past.map_err(rusqlite::Error::ToSqlConversionFailure)?)?;
        }
        // What is sealed has nothing in it that is due to go.
        sweeping::sweep(&transaction, usize::MAX)?;
        drop_rows(&transaction, what.base.at, what.dropped)?;
        let row = (what.row)(base::seal(&transaction, (what.base, what.moment, beginning))?);
        let seq = self.last.next();
        let chain = checksum::chain(&self.chain, seq, &row);
        let checksum = put_row(&transaction, seq, &row, &chain)?;
        transaction.commit()?;
        Ok((Known { seq, checksum }, chain))
    }

    /// Gives the room of rows that were dropped back to the disk; for a while that takes as much room again as what is left. A
    /// failure leaves the file as large as it was.
    pub fn shrink(&mut self) -> Result<(), CommitError> {
        let shrink = || {
            self.connection.execute_batch("PRAGMA temp_store = FILE")?;
            let folder = self.home.folder().to_string_lossy();
            self.connection.pragma_update(None, "temp_store_directory", folder)?;
            self.connection.execute_batch("VACUUM")?;
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        };
        shrink().map_err(|error| self.commit_error(error))
    }

    /// Begins a journal that has no rows where another one begins, with what that one kept of what was before. Rows that cannot be
    /// read are not kept.
    pub(super) fn begin_as(&mut self, other: &dyn Reader) -> Result<Result<(), CommitError>, ReadError> {
        let (Some(beginning), Some(base)) = (other.beginning()?, other.base()?) else { return Ok(Ok(())) };
        // How far the past goes counts also where nothing is left of it.
        for page in std::iter::once(Ok(Past::default())).chain(base_pages(other)) {
            let past = Past { upto: beginning.past, ..page? };
            if let Err(error) = self.commit_with(&[], Some(&past)) {
                return Ok(Err(error));
            }
        }
        let kept = self.put_kept(other, &beginning, &base)?;
        (self.last, self.chain) = (beginning.at, beginning.chain);
        Ok(kept.map_err(|error| self.commit_error(error)))
    }

    fn put_kept(
        &mut self,
        other: &dyn Reader,
        beginning: &Beginning,
        base: &Snapshot,
    ) -> Result<rusqlite::Result<()>, ReadError> {
        let (mut from, mut at_most) = (Seq::FIRST, ROWS_AT_ONCE);
        while from <= beginning.at {
            let rows = match other.read(from, at_most) {
                Ok(rows) => rows,
                // Fewer, until those before it are read.
                Err(ReadError::Damaged { .. }) if at_most > 1 => {
                    at_most /= 2;
                    continue;
                }
                Err(ReadError::Damaged { seq, .. }) => {
                    (from, at_most) = (seq.next(), ROWS_AT_ONCE);
                    continue;
                }
                Err(error) => return Err(error),
            };
            let Some(last) = rows.last() else { break };
            from = last.seq.next();
            let kept = rows.iter().filter(|stored| stored.seq <= beginning.at);
            let chained = kept.map(|stored| {
                let chain = other.chain(stored.seq)?.unwrap_or(ChainHash::NONE);
                Ok((stored, chain))
            });
            let chained = chained.collect::<Result<Vec<_>, ReadError>>()?;
            if let Err(error) = self.put_rows(&chained) {
                return Ok(Err(error));
            }
        }
        Ok(base::seal(&self.connection, (base, beginning.moment, beginning.chain)).map(drop))
    }

    /// By one commit, since each commit syncs.
    fn put_rows(&mut self, rows: &[(&StoredRow, ChainHash)]) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction()?;
        for (StoredRow { seq, row }, chain) in rows {
            put_row(&transaction, *seq, row, chain)?;
        }
        transaction.commit()
    }

    fn commit_error(&self, error: rusqlite::Error) -> CommitError {
        let last = self.last;
        match nature::nature(&error, self.home.folder()) {
            Nature::DiskFull => CommitError::DiskFull { last },
            Nature::ReadOnly => CommitError::ReadOnly { last },
            Nature::Damaged => CommitError::Damaged { last, source: error.into() },
            Nature::Other => CommitError::Io { last, source: error.into() },
        }
    }

    fn file(&self) -> PathBuf {
        self.home.folder().join(DATABASE)
    }
}

impl Store for SqliteStore {
    fn forget_past(&mut self) -> Result<(), CommitError> {
        let begin = format!("BEGIN IMMEDIATE; {} COMMIT;", base::BACK);
        self.connection.execute_batch(&begin).map_err(|error| self.commit_error(error))
    }

    fn sweep(&mut self) -> Result<bool, CommitError> {
        if self.stopped {
            return Err(CommitError::Stopped { last: self.last });
        }
        // Where nothing is due, nobody's lock is waited for.
        if !sweeping::is_due(&self.connection).map_err(|error| self.commit_error(error))? {
            return Ok(false);
        }
        let begun = self.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let swept = begun.and_then(|transaction| {
            let is_more = sweeping::sweep(&transaction, SWEPT_AT_ONCE)?;
            transaction.commit().map(|()| is_more)
        });
        swept.map_err(|error| {
            self.stopped = true;
            self.commit_error(error)
        })
    }

    fn compact(&mut self, what: Compaction<'_>) -> Result<Seq, CommitError> {
        if self.stopped {
            return Err(CommitError::Stopped { last: self.last });
        }
        let (known, chain) = self.write_compacted(what).map_err(|error| {
            self.stopped = true;
            self.commit_error(error)
        })?;
        self.witness.note(known);
        (self.last, self.chain) = (known.seq, chain);
        Ok(self.last)
    }

    fn commit_with(&mut self, rows: &[Row], past: Option<&Past>) -> Result<Seq, CommitError> {
        if self.stopped {
            return Err(CommitError::Stopped { last: self.last });
        }
        limits::admit(rows)?;
        if rows.is_empty() && past.is_none() {
            return Ok(self.last);
        }
        let (known, chain) = self.write(rows, past).map_err(|error| {
            self.stopped = true;
            self.commit_error(error)
        })?;
        if known.seq > self.last {
            self.witness.note(known);
            (self.last, self.chain) = (known.seq, chain);
        }
        Ok(self.last)
    }

    fn last(&self) -> Seq {
        self.last
    }

    fn chain(&self) -> ChainHash {
        self.chain
    }

    fn reader(&self) -> Result<Box<dyn Reader>, ReadError> {
        let reader =
            SqliteReader::of(&self.file()).map_err(|error| ReadError::Io { source: error.into() })?;
        Ok(Box::new(reader))
    }

    fn snapshots(&self) -> Result<Box<dyn Snapshots>, ReadError> {
        let reader =
            SqliteReader::of(&self.file()).map_err(|error| ReadError::Io { source: error.into() })?;
        Ok(Box::new(SnapshotFiles::new(self.home.clone(), reader)))
    }
}

/// Puts a row down with what all rows up to it add up to, and lists it under its tasks. Returns its checksum.
fn put_row(connection: &Connection, seq: Seq, row: &Row, chain: &ChainHash) -> rusqlite::Result<i64> {
    let number = seq.number().cast_signed();
    let Columns { at, tasks, checksum } = Columns::of(seq, row);
    let values = (number, at, tasks, &row.steps, &row.body, checksum, chain.as_bytes());
    connection.prepare_cached(INSERT_ROW)?.execute(values)?;
    let mut insert_node = connection.prepare_cached(INSERT_NODE)?;
    for node in row.tasks.iter().copied().flat_map(span_tree::cover) {
        insert_node.execute((node, number))?;
    }
    Ok(checksum)
}

/// Rows from one to another each, none behind `at`, and where they are listed.
fn drop_rows(connection: &Connection, at: Seq, dropped: &[(Seq, Seq)]) -> rusqlite::Result<()> {
    for (first, last) in dropped {
        let ends = [first, last].map(|seq| seq.number().cast_signed());
        connection.prepare_cached("DELETE FROM journal WHERE seq BETWEEN ?1 AND ?2")?.execute(ends)?;
    }
    let listed = "DELETE FROM history WHERE seq <= ?1 AND seq NOT IN (SELECT seq FROM journal)";
    connection.execute(listed, [at.number().cast_signed()]).map(drop)
}
