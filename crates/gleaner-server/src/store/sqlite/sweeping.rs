//! What removed results and forgotten jobs leave behind in the tables of [the past](super::past) goes a little at a time: a job
//! may have millions of tasks, and whoever writes here keeps everybody waiting meanwhile. The table `past_due` has what is still to go.

use super::past::limit;
use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, params};

const NEXT_DUE: &str = "SELECT number, is_left, low, high, upto FROM past_due ORDER BY number LIMIT 1";
const DONE: &str = "DELETE FROM past_due WHERE number = ?1";
const FURTHER: &str = "UPDATE past_due SET low = ?2 WHERE number = ?1";
/// How far so many lines of a range reach, and how many there are, whether they go or stay.
const FILES_REACH: &str = "SELECT max(owner), count(*) FROM (SELECT owner FROM past_files
    WHERE is_left = ?1 AND owner BETWEEN ?2 AND ?3 ORDER BY owner LIMIT ?4)";
const TASKS_REACH: &str = "SELECT max(task), count(*) FROM (SELECT task FROM past_tasks
    WHERE task BETWEEN ?1 AND ?2 ORDER BY task LIMIT ?3)";
const FILES_GO: &str =
    "DELETE FROM past_files WHERE is_left = ?1 AND owner BETWEEN ?2 AND ?3 AND since <= ?4";
const TASKS_GO: &str = "DELETE FROM past_tasks WHERE task BETWEEN ?1 AND ?2 AND since <= ?3";

/// Whether anything is due to go.
pub(super) fn is_due(connection: &Connection) -> rusqlite::Result<bool> {
    let found = "SELECT EXISTS (SELECT 1 FROM past_due)";
    connection.prepare_cached(found)?.query_row([], |row| row.get(0))
}

/// Looks at so many lines of what is due, the earliest first, and at all of the last task or job: those go that were not written
/// later. Whether anything is left.
pub(super) fn sweep(connection: &Connection, at_most: usize) -> rusqlite::Result<bool> {
    let mut room = at_most;
    loop {
        let next = |row: &Row<'_>| {
            let (number, is_left): (i64, Option<bool>) = (row.get(0)?, row.get(1)?);
            let (low, high, upto): (i64, i64, i64) = (row.get(2)?, row.get(3)?, row.get(4)?);
            Ok((number, is_left, low, high, upto))
        };
        let due = connection.prepare_cached(NEXT_DUE)?.query_row([], next).optional()?;
        let Some((number, is_left, low, high, upto)) = due else { return Ok(false) };
        if room == 0 {
            return Ok(true);
        }
        let (reached, lines) = match is_left {
            Some(is_left) => reach(connection, FILES_REACH, params![is_left, low, high, limit(room)]),
            None => reach(connection, TASKS_REACH, params![low, high, limit(room)]),
        }?;
        if let Some(reached) = reached {
            match is_left {
                Some(is_left) => {
                    connection.prepare_cached(FILES_GO)?.execute(params![is_left, low, reached, upto])
                }
                None => connection.prepare_cached(TASKS_GO)?.execute([low, reached, upto]),
            }?;
        }
        match reached {
            // Lines that stay are not looked at again.
            Some(reached) if lines == room => {
                connection.prepare_cached(FURTHER)?.execute([number, reached + 1])
            }
            Some(_) | None => connection.prepare_cached(DONE)?.execute([number]),
        }?;
        room -= lines;
    }
}

/// The last task or job of some lines, and how many lines there are.
fn reach(
    connection: &Connection,
    lines: &str,
    values: &[&dyn ToSql],
) -> rusqlite::Result<(Option<i64>, usize)> {
    let (last, count): (Option<i64>, i64) =
        connection.prepare_cached(lines)?.query_row(values, |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok((last, usize::try_from(count).unwrap_or(usize::MAX)))
}

#[cfg(test)]
mod tests {
    use crate::limits::SWEPT_AT_ONCE;
    use crate::store::past::{Past, PastTask, Removal, Results};
    use crate::store::{
        DATABASE, Home, NetworkFolder, Seq, SqliteReader, SqliteStore, Store as _, TaskRange,
    };
    use gleaner_units::{Span, TaskId, Time};
    use gleaner_wire::{BlobHash, JobId};
    use rusqlite::Connection;

    const TASKS: usize = 2 * SWEPT_AT_ONCE + 2;

    fn left(number: usize) -> BlobHash {
        let mut hash = [0; 32];
        hash[..8].copy_from_slice(&(number as u64).to_le_bytes());
        BlobHash::from(hash)
    }

    fn task(number: usize) -> PastTask {
        PastTask { task: TaskId::new(number), files: vec![left(number)], body: Vec::new() }
    }

    /// A store with a job's tasks, each of which left a file.
    fn store(home: &Home) -> SqliteStore {
        let mut store = SqliteStore::open(home).unwrap();
        let past = Past { upto: Seq::new(1), tasks: (0..TASKS).map(task).collect(), ..Past::default() };
        store.commit_with(&[], Some(&past)).unwrap();
        store
    }

    fn all() -> TaskRange {
        TaskRange::between(TaskId::new(0), TaskId::new(TASKS - 1)).unwrap()
    }

    fn removed() -> Past {
        let removal = Removal { at: Time::ZERO, kept_for: Span::ZERO };
        Past { upto: Seq::new(2), removed: vec![(JobId(1), all(), removal)], ..Past::default() }
    }

    fn lines(home: &Home, table: &str) -> usize {
        let reader = SqliteReader::of(&home.folder().join(DATABASE)).unwrap();
        let count = format!("SELECT count(*) FROM {table}");
        let lines = reader.connection().query_row(&count, [], |row| row.get::<_, i64>(0)).unwrap();
        usize::try_from(lines).unwrap()
    }

    #[test]
    fn so_many_lines_leave_the_tables_by_one_commit() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(folder.path(), NetworkFolder::Accept).unwrap();
        let mut store = store(&home);
        let forgotten = Past { upto: Seq::new(3), forgotten: vec![(JobId(1), all())], ..Past::default() };
        for (past, table) in [(removed(), "past_files"), (forgotten, "past_tasks")] {
            store.commit_with(&[], Some(&past)).unwrap();
            assert_eq!(lines(&home, table), SWEPT_AT_ONCE + 2, "{table}");
            // A coordinator that ends goes on with it.
            drop(store);
            store = SqliteStore::open(&home).unwrap();
            assert!(store.sweep().unwrap(), "{table}");
            assert_eq!(lines(&home, table), 2, "{table}");
            assert!(!store.sweep().unwrap(), "{table}");
            assert_eq!(lines(&home, table), 0, "{table}");
        }
    }

    #[test]
    fn a_commit_that_makes_nothing_due_sweeps_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(folder.path(), NetworkFolder::Accept).unwrap();
        let mut store = store(&home);
        store.commit_with(&[], Some(&removed())).unwrap();
        let gone = Past { upto: Seq::new(3), results: vec![(JobId(1), Results::Gone)], ..Past::default() };
        store.commit_with(&[], Some(&gone)).unwrap();
        assert_eq!(lines(&home, "past_files"), SWEPT_AT_ONCE + 2);
    }

    #[test]
    fn what_was_written_later_does_not_go() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(folder.path(), NetworkFolder::Accept).unwrap();
        let mut store = store(&home);
        store.commit_with(&[], Some(&removed())).unwrap();
        let last = TaskId::new(TASKS - 1);
        let again = Past {
            upto: Seq::new(3),
            revived_tasks: vec![TaskRange::one(last)],
            tasks: vec![task(TASKS - 1)],
            ..Past::default()
        };
        store.commit_with(&[], Some(&again)).unwrap();
        while store.sweep().unwrap() {}
        assert_eq!(lines(&home, "past_files"), 1);
        assert!(store.reader().unwrap().names_file(&left(TASKS - 1)).unwrap());
    }

    /// As many lines as are looked at by one sweep, before those that go.
    #[test]
    fn lines_that_stay_are_looked_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(folder.path(), NetworkFolder::Accept).unwrap();
        let mut store = store(&home);
        store.commit_with(&[], Some(&removed())).unwrap();
        let (first, last) = (SWEPT_AT_ONCE, 2 * SWEPT_AT_ONCE - 1);
        let again = Past {
            upto: Seq::new(3),
            revived_tasks: vec![TaskRange::between(TaskId::new(first), TaskId::new(last)).unwrap()],
            tasks: (first..=last).map(task).collect(),
            ..Past::default()
        };
        store.commit_with(&[], Some(&again)).unwrap();
        assert!(store.sweep().unwrap(), "it looks at those that stay, and no further");
        assert_eq!(lines(&home, "past_files"), SWEPT_AT_ONCE + 2);
        assert!(!store.sweep().unwrap(), "and then behind them");
        assert_eq!(lines(&home, "past_files"), SWEPT_AT_ONCE);
    }

    #[test]
    fn where_nothing_is_due_nobody_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(folder.path(), NetworkFolder::Accept).unwrap();
        let mut store = store(&home);
        let other = Connection::open(home.folder().join(DATABASE)).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        assert!(!store.sweep().unwrap());
    }

    #[test]
    fn a_past_that_is_begun_anew_has_nothing_due() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(folder.path(), NetworkFolder::Accept).unwrap();
        let mut store = store(&home);
        store.commit_with(&[], Some(&removed())).unwrap();
        store.forget_past().unwrap();
        assert_eq!((lines(&home, "past_files"), lines(&home, "past_due")), (0, 0));
    }
}
