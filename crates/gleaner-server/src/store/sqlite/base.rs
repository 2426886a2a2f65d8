//! Where a compacted journal begins, as tables: the base itself, and what was kept of the past there and has been changed since.
//!
//! `past_tasks` and its like say with each line since which row it stands. **Triggers put a line aside that stood where the
//! journal begins**, before it goes or changes: so the past can be made anew from there.

use crate::store::{Beginning, Seq, Snapshot};
use gleaner_units::Time;
use gleaner_wire::ChainHash;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, params};

/// The long body comes last: what is before it is read without it.
pub(super) const TABLES: &str = "
    CREATE TABLE base (
        seq INTEGER PRIMARY KEY,
        at INTEGER NOT NULL,
        chain BLOB NOT NULL,
        format INTEGER NOT NULL,
        past INTEGER NOT NULL,
        checksum BLOB NOT NULL,
        seal BLOB NOT NULL,
        body BLOB NOT NULL
    ) STRICT;
    CREATE TABLE base_tasks AS SELECT * FROM past_tasks;
    CREATE UNIQUE INDEX base_tasks_by_number ON base_tasks (task);
    CREATE TABLE base_jobs AS SELECT * FROM past_jobs;
    CREATE UNIQUE INDEX base_jobs_by_number ON base_jobs (job);
    CREATE TABLE base_files AS SELECT * FROM past_files;
    CREATE UNIQUE INDEX base_files_of_owner ON base_files (is_left, owner, file);
    CREATE TRIGGER task_goes BEFORE DELETE ON past_tasks WHEN OLD.since <= (SELECT seq FROM base) BEGIN
        INSERT OR IGNORE INTO base_tasks SELECT * FROM past_tasks WHERE task = OLD.task;
    END;
    CREATE TRIGGER job_goes BEFORE DELETE ON past_jobs WHEN OLD.since <= (SELECT seq FROM base) BEGIN
        INSERT OR IGNORE INTO base_jobs SELECT * FROM past_jobs WHERE job = OLD.job;
    END;
    CREATE TRIGGER job_changes BEFORE UPDATE ON past_jobs WHEN OLD.since <= (SELECT seq FROM base) BEGIN
        INSERT OR IGNORE INTO base_jobs SELECT * FROM past_jobs WHERE job = OLD.job;
    END;
    CREATE TRIGGER file_goes BEFORE DELETE ON past_files WHEN OLD.since <= (SELECT seq FROM base) BEGIN
        INSERT OR IGNORE INTO base_files VALUES (OLD.file, OLD.is_left, OLD.owner, OLD.since);
    END;
";

/// Each table of the past is again what it was where the journal begins.
pub(super) const BACK: &str = "
    DELETE FROM past_due;
    DELETE FROM past_tasks WHERE since > (SELECT coalesce(max(seq), 0) FROM base);
    INSERT OR REPLACE INTO past_tasks SELECT * FROM base_tasks;
    DELETE FROM base_tasks;
    DELETE FROM past_jobs WHERE since > (SELECT coalesce(max(seq), 0) FROM base);
    INSERT OR REPLACE INTO past_jobs SELECT * FROM base_jobs;
    DELETE FROM base_jobs;
    DELETE FROM past_files WHERE since > (SELECT coalesce(max(seq), 0) FROM base);
    INSERT OR REPLACE INTO past_files SELECT * FROM base_files;
    DELETE FROM base_files;
    UPDATE past SET upto = (SELECT coalesce(max(past), 0) FROM base);
";

pub(super) const TASKS: &str =
    "SELECT task, body FROM past_tasks WHERE since <= (SELECT seq FROM base) AND task >= ?1
    UNION ALL SELECT task, body FROM base_tasks WHERE task >= ?1 ORDER BY task LIMIT ?2";
pub(super) const JOBS: &str =
    "SELECT job, user, key, state, ended, results, bytes, removed_at, kept_for, body, spec FROM past_jobs
    WHERE since <= (SELECT seq FROM base) AND job NOT IN (SELECT job FROM base_jobs) AND job >= ?1
    UNION ALL SELECT job, user, key, state, ended, results, bytes, removed_at, kept_for, body, spec FROM base_jobs
    WHERE job >= ?1 ORDER BY job LIMIT ?2";
const FILES: &str = "SELECT file, is_left, owner FROM past_files WHERE since <= (SELECT seq FROM base)
    UNION ALL SELECT file, is_left, owner FROM base_files ORDER BY is_left, owner, file";
pub(super) const FILES_OF: &str =
    "SELECT file FROM past_files WHERE is_left = ?1 AND owner = ?2 AND since <= (SELECT seq FROM base)
    UNION ALL SELECT file FROM base_files WHERE is_left = ?1 AND owner = ?2 ORDER BY file";
const KEPT_ROWS: &str =
    "SELECT seq, at, tasks, steps, body FROM journal WHERE seq <= (SELECT seq FROM base) ORDER BY seq";
const BASE: &str = "INSERT INTO base (seq, at, chain, format, past, body, checksum, seal)
    SELECT ?1, ?2, ?3, ?4, upto, ?5, x'', x'' FROM past";
const SEAL: &str = "UPDATE base SET checksum = ?1, seal = ?2";
const NO_LIMIT: i64 = -1;

/// Where the journal begins, if it was compacted.
pub(super) fn beginning(connection: &Connection) -> rusqlite::Result<Option<Beginning>> {
    let found = "SELECT seq, at, chain, past, seal FROM base";
    let read = |row: &rusqlite::Row<'_>| {
        Ok(Beginning {
            at: Seq::new(row.get::<_, i64>(0)?.cast_unsigned()),
            moment: Time::from_nanos(row.get::<_, i64>(1)?.cast_unsigned()),
            chain: row.get(2).map(ChainHash::of)?,
            past: Seq::new(row.get::<_, i64>(3)?.cast_unsigned()),
            seal: row.get(4).map(ChainHash::of)?,
        })
    };
    connection.prepare_cached(found)?.query_row([], read).optional()
}

/// Puts down where the journal begins, with what is kept of what was before.
pub(super) fn seal(
    connection: &Connection,
    (base, moment, chain): (&Snapshot, Time, ChainHash),
) -> rusqlite::Result<ChainHash> {
    let (seq, at) = (base.at.number().cast_signed(), moment.nanos().cast_signed());
    connection.execute(BASE, params![seq, at, chain.as_bytes(), base.format, base.body])?;
    let checksum = checksum(connection)?;
    let seal = sealed(connection, checksum)?;
    connection.execute(SEAL, params![checksum.as_bytes(), seal.as_bytes()])?;
    Ok(seal)
}

/// Over the base alone.
fn checksum(connection: &Connection) -> rusqlite::Result<ChainHash> {
    digest(connection, ChainHash::NONE, "SELECT seq, at, chain, format, past, body FROM base")
}

/// Over the base and all that is kept beside it.
fn sealed(connection: &Connection, checksum: ChainHash) -> rusqlite::Result<ChainHash> {
    let all = |sql: &str| sql.replace("?1", "0").replace("?2", &NO_LIMIT.to_string());
    let tables = [all(TASKS), all(JOBS), FILES.to_owned(), KEPT_ROWS.to_owned()];
    tables.iter().try_fold(checksum, |before, sql| digest(connection, before, sql))
}

fn digest(connection: &Connection, before: ChainHash, sql: &str) -> rusqlite::Result<ChainHash> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(before.as_bytes());
    let mut statement = connection.prepare(sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        for column in 0..columns {
            let (kind, bytes): (u8, &[u8]) = match row.get_ref(column)? {
                ValueRef::Null => (0, &[]),
                ValueRef::Integer(number) => (1, &number.to_le_bytes()),
                ValueRef::Real(number) => (2, &number.to_le_bytes()),
                ValueRef::Text(text) => (3, text),
                ValueRef::Blob(bytes) => (4, bytes),
            };
            hasher.update(&[kind]).update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
        }
    }
    Ok(ChainHash::of(hasher.finalize().into()))
}

/// What the rows up to there add up to, and whether it is what was written.
pub(super) fn read(connection: &Connection) -> rusqlite::Result<Option<(Snapshot, bool)>> {
    let found = "SELECT seq, format, body, checksum FROM base";
    let read = |row: &rusqlite::Row<'_>| {
        let at = Seq::new(row.get::<_, i64>(0)?.cast_unsigned());
        let snapshot = Snapshot { at, format: row.get(1)?, body: row.get(2)? };
        Ok((snapshot, row.get(3).map(ChainHash::of)?))
    };
    let found = connection.query_row(found, [], read).optional()?;
    found.map(|(base, written)| Ok((base, checksum(connection)? == written))).transpose()
}

/// Whether all that is kept of what was before is what was sealed.
pub(super) fn is_sealed(connection: &Connection) -> rusqlite::Result<bool> {
    let Some(beginning) = beginning(connection)? else { return Ok(true) };
    let checksum = checksum(connection)?;
    Ok(sealed(connection, checksum)? == beginning.seal)
}
