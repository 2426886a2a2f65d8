//! Opening the file: whose it is, which version wrote it, and how it is written to.
//!
//! - **A file of a newer version, or of another program, is refused before anything in it is changed.**
//! - **What is read after opening is on the disk**, whatever a crash left half done.

use super::base;
use super::nature::open_error;
use super::torn;
use crate::store::witness::Known;
use crate::store::{OpenError, Seq};
use gleaner_wire::ChainHash;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, TransactionBehavior};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::time::Duration;

/// The name of the file in the coordinator's folder.
pub const DATABASE: &str = "gleaner.db";

/// "Glnr": marks the file as ours.
const APPLICATION: u32 = 0x476c_6e72;
/// The format of the file and of the facts in it; others are refused.
///
/// 1: policy and budget were two facts, each in words of its own. 2: a policy is one fact, said as in a scenario.
/// 3: alarms have names. 4: every start draws a lineage and a seed. 6: each row is tied to all before it, and what is over
/// leaves memory for tables of its own. 7: results are removed, and a job may be signed. 8: a job may have a program that compares,
/// rows may be compacted, and an order may say whose a machine is. 9: an end says whether a machine is left for its job, and what was
/// told apart is alike again when its jobs are gone. 10: an agent that was started afresh brings what its start before could not hand in.
/// 11: an administrator's pause of a machine is a fact, a user's new token says what the user was before, and a
/// user's own quota may be taken back. 12: each row has what it was for each task that it is about. 13: the answer of a machine that was
/// out of reach counts while its task waits, and credits come back when a run has stopped. 14: a run that begins where it cannot run is moved at once. 15: tasks
/// that need other disk are of another class. 16: what a user should know of a run's end is kept with its task. 17: what stands
/// still and would begin anew is moved later, one user's own quorum closes no machine, and rules with a budget start more. 18: what is
/// compared is so to its end under whatever policy and begins from nothing, of several checkpoints the furthest is kept, and a machine's
/// restarts are its own word. 19: a task that comes back under a policy that learns has its job's class, and batches and plans take the
/// highest priority first. 20: a queue learns for how long tasks hold cores that they share, and a quota may bound priorities.
pub const FORMAT: u32 = 20;
/// Somebody may look at the file with a program of theirs that takes a lock for a moment.
const PATIENCE: Duration = Duration::from_secs(10);
/// Somebody may read an old state of it for as long as they like.
const CHECKPOINT_PATIENCE: Duration = Duration::from_secs(1);
/// How many bytes of the log are written again at once.
const PIECE: usize = 1 << 20;

/// `past_due` has what is still to go from the tables of the past: its `is_left` is null where tasks themselves are to go, and not
/// files.
const TABLES: &str = "
    CREATE TABLE journal (
        seq INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        tasks TEXT NOT NULL,
        steps TEXT NOT NULL,
        body TEXT NOT NULL,
        checksum INTEGER NOT NULL,
        chain BLOB NOT NULL
    ) STRICT;
    CREATE TABLE history (
        node INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        PRIMARY KEY (node, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE past (
        upto INTEGER NOT NULL
    ) STRICT;
    INSERT INTO past VALUES (0);
    CREATE TABLE past_tasks (
        task INTEGER PRIMARY KEY,
        body BLOB NOT NULL,
        since INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE past_jobs (
        job INTEGER PRIMARY KEY,
        user TEXT NOT NULL,
        key TEXT,
        state TEXT NOT NULL,
        ended INTEGER NOT NULL,
        results TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        removed_at INTEGER,
        kept_for INTEGER,
        body BLOB NOT NULL,
        spec BLOB NOT NULL,
        since INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX past_jobs_of_user ON past_jobs (user, job);
    CREATE UNIQUE INDEX past_jobs_by_key ON past_jobs (user, key) WHERE key IS NOT NULL;
    CREATE INDEX past_jobs_by_results ON past_jobs (results, ended, job);
    CREATE INDEX past_jobs_of_user_by_results ON past_jobs (user, results, ended, job);
    CREATE TABLE past_files (
        file BLOB NOT NULL,
        is_left INTEGER NOT NULL,
        owner INTEGER NOT NULL,
        since INTEGER NOT NULL,
        PRIMARY KEY (file, is_left, owner)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX past_files_of_owner ON past_files (is_left, owner);
    CREATE TABLE past_due (
        number INTEGER PRIMARY KEY,
        is_left INTEGER,
        low INTEGER NOT NULL,
        high INTEGER NOT NULL,
        upto INTEGER NOT NULL
    ) STRICT;
";

const LAST: &str =
    "SELECT max((SELECT coalesce(max(seq), 0) FROM journal), (SELECT coalesce(max(seq), 0) FROM base))";

/// The log keeps its size, so that it is written in place: growing a file makes a sync dearer.
const SETTINGS: &str = "
    PRAGMA synchronous = FULL;
    PRAGMA wal_autocheckpoint = 2000;
    PRAGMA journal_size_limit = 16777216;
    PRAGMA temp_store = MEMORY;
";

enum Whose {
    Ours { format: u32 },
    Nobodys,
    AnotherPrograms,
}

/// A file that is open for its one writer.
pub(super) struct Opened {
    pub(super) connection: Connection,
    /// How many frames of the log belong to whole commits.
    pub(super) frames_kept: u64,
}

/// Opens `file` for its one writer, and makes it where there is none.
pub(super) fn open(file: &Path, known: Option<Known>) -> Result<Opened, OpenError> {
    create(file).map_err(|source| create_error(file, source))?;
    let mut connection =
        connect(file, OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(|error| open_error(error, file))?;
    // Another's log is not moved into its file either.
    keep_log_on_close(&connection, true).map_err(|error| open_error(error, file))?;
    let is_new = match whose(&connection).map_err(|error| open_error(error, file))? {
        Whose::Nobodys => true,
        whose => {
            refuse(&whose, &connection, file)?;
            false
        }
    };
    if let Some(known) = known {
        expect_row(&connection, file, known)?;
    }
    keep_log_on_close(&connection, false).map_err(|error| open_error(error, file))?;
    let frames_kept = set_up(&mut connection, is_new).map_err(|error| open_error(error, file))?;
    Ok(Opened { connection, frames_kept })
}

/// The last row there is.
pub(super) fn last(connection: &Connection) -> rusqlite::Result<Seq> {
    let last = connection.prepare_cached(LAST)?.query_row([], |row| row.get::<_, i64>(0))?;
    Ok(Seq::new(last.cast_unsigned()))
}

/// What all rows up to one add up to, as it was written with it.
pub(super) fn chain(connection: &Connection, at: Seq) -> rusqlite::Result<Option<ChainHash>> {
    if at == Seq::NONE {
        return Ok(Some(ChainHash::NONE));
    }
    // The row at which the journal begins need not be kept.
    let row =
        "SELECT chain FROM journal WHERE seq = ?1 UNION ALL SELECT chain FROM base WHERE seq = ?1 LIMIT 1";
    let number = i64::try_from(at.number()).unwrap_or(i64::MAX);
    let found = connection.prepare_cached(row)?.query_row([number], |row| row.get(0)).optional()?;
    Ok(found.map(ChainHash::of))
}

/// A row that was committed must be there, or be one of those that a base stands for.
pub(super) fn expect_row(connection: &Connection, file: &Path, known: Known) -> Result<(), OpenError> {
    let read = || {
        let there = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'journal')";
        let is_there: bool = connection.query_row(there, [], |row| row.get(0))?;
        let last = if is_there { last(connection)? } else { Seq::NONE };
        let row = "SELECT checksum FROM journal WHERE seq = ?1
            UNION ALL SELECT ?2 FROM base WHERE seq >= ?1 LIMIT 1";
        let values = (known.seq.number().cast_signed(), known.checksum);
        let found =
            is_there.then(|| connection.query_row(row, values, |row| row.get::<_, i64>(0)).optional());
        Ok((last, found.transpose()?.flatten()))
    };
    let (last, checksum) = read().map_err(|error| open_error(error, file))?;
    if checksum == Some(known.checksum) {
        return Ok(());
    }
    Err(OpenError::Behind { file: file.to_owned(), last, known: known.seq })
}

/// Opens `file` for reading; a coordinator may be writing to it.
pub(super) fn open_to_read(file: &Path) -> Result<Connection, OpenError> {
    if !file.is_file() {
        return Err(OpenError::None { file: file.to_owned() });
    }
    let connection = connect_to_read(file).map_err(|error| open_error(error, file))?;
    let found = whose(&connection).map_err(|error| open_error(error, file))?;
    refuse(&found, &connection, file)?;
    Ok(connection)
}

/// Opens a file that is known to be ours for reading.
pub(super) fn connect_to_read(file: &Path) -> rusqlite::Result<Connection> {
    connect(file, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

fn connect(file: &Path, mode: OpenFlags) -> rusqlite::Result<Connection> {
    // No mutex: a connection is used by one thread at a time, which the borrow checker sees to.
    let connection = Connection::open_with_flags(file, mode | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}

fn keep_log_on_close(connection: &Connection, keep: bool) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep).map(drop)
}

/// The database's log takes its mode from this file.
fn create(file: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(file)?;
    file.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

fn create_error(file: &Path, source: io::Error) -> OpenError {
    let file = file.to_owned();
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => OpenError::DiskFull { file },
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => OpenError::ReadOnly { file },
        _ => OpenError::Io { file, source: source.into() },
    }
}

fn whose(connection: &Connection) -> rusqlite::Result<Whose> {
    let number = |name| connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i32>(0));
    let (application, format) =
        (number("application_id")?.cast_unsigned(), number("user_version")?.cast_unsigned());
    if application == APPLICATION {
        return Ok(Whose::Ours { format });
    }
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(if application == 0 && format == 0 && tables == 0 { Whose::Nobodys } else { Whose::AnotherPrograms })
}

fn refuse(found: &Whose, connection: &Connection, file: &Path) -> Result<(), OpenError> {
    match *found {
        Whose::Ours { format: FORMAT } => Ok(()),
        Whose::Ours { format: found } if found > FORMAT => {
            Err(OpenError::Newer { file: file.to_owned(), found, known: FORMAT })
        }
        Whose::Ours { format: found } => {
            // A damaged row does not hide the format.
            let program = writer(connection).ok().flatten();
            let program = program.unwrap_or_else(|| "an older version of Gleaner".to_owned());
            Err(OpenError::Older { file: file.to_owned(), found, known: FORMAT, program })
        }
        Whose::Nobodys | Whose::AnotherPrograms => Err(OpenError::Foreign { file: file.to_owned() }),
    }
}

/// Which program started on the file last: all that is known of an older format's facts.
fn writer(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let started = "SELECT json_extract(body, '$.coordinator_started.program') FROM journal
        WHERE body LIKE '{\"coordinator_started\"%' ORDER BY seq DESC LIMIT 1";
    let program = connection.query_row(started, [], |row| row.get::<_, Option<String>>(0)).optional()?;
    Ok(program.flatten())
}

fn set_up(connection: &mut Connection, is_new: bool) -> rusqlite::Result<u64> {
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(()))?;
    connection.execute_batch(SETTINGS)?;
    if is_new {
        // In one transaction with its marks: a crash leaves an empty file or a whole one.
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(TABLES)?;
        transaction.execute_batch(base::TABLES)?;
        transaction.pragma_update(None, "application_id", APPLICATION)?;
        transaction.pragma_update(None, "user_version", FORMAT)?;
        transaction.commit()?;
    }
    settle(connection)
}

/// Moves what a crash left in the log into the file, and syncs it. Rows whose sync failed or was never reached can still
/// be read, from the system's cache: nothing may rest on them before they are on the disk. Where somebody reads an old state of the
/// file, as for a backup, the log stays, and is written to the disk itself. Returns how many frames the log had of whole commits.
fn settle(connection: &Connection) -> rusqlite::Result<u64> {
    connection.busy_timeout(CHECKPOINT_PATIENCE)?;
    let moved: rusqlite::Result<(i64, i64)> =
        connection.query_row("PRAGMA wal_checkpoint(FULL)", [], |row| Ok((row.get(0)?, row.get(1)?)));
    connection.busy_timeout(PATIENCE)?;
    let (busy, frames) = moved?;
    if busy == 0 {
        return Ok(frames.cast_unsigned());
    }
    let failed = |code, message: String| {
        Err(rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), Some(message)))
    };
    let Some(file) = connection.path().filter(|_| frames >= 0) else {
        let message = "another program moves its log into it".to_owned();
        return failed(rusqlite::ffi::SQLITE_BUSY, message);
    };
    match write_again(&torn::log_of(Path::new(file))) {
        Ok(()) => Ok(frames.cast_unsigned()),
        Err(why) => failed(rusqlite::ffi::SQLITE_IOERR, format!("its log cannot be synced: {why}")),
    }
}

/// Writes what a file has once more, and syncs it: after a sync that failed, another one says nothing of what was not written before.
fn write_again(path: &Path) -> io::Result<()> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    let (mut piece, mut at) = (vec![0; PIECE], 0);
    loop {
        let bytes = file.read_at(&mut piece, at)?;
        if bytes == 0 {
            return file.sync_all();
        }
        file.write_all_at(&piece[..bytes], at)?;
        at += bytes as u64;
    }
}
