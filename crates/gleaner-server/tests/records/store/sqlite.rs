//! The embedded form: it conforms, and refuses what it must not open.

use super::conformance::{Medium, keeps_every_promise};
use super::{open, refusal, row, rows};
use crate::home;
use gleaner_server::store::{
    DATABASE, FORMAT, Home, HomeError, NetworkFolder, OpenError, Reader as _, Row, Seq, Snapshot,
    SqliteReader, Store,
};
use rusqlite::Connection;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

struct Folder(TempDir);

impl Default for Folder {
    fn default() -> Self {
        Self(TempDir::new().unwrap())
    }
}

impl Medium for Folder {
    fn open(&self) -> Box<dyn Store> {
        Box::new(open(self.0.path()))
    }
}

/// Among others in what is too large: `BODY_LIMIT`, `RANGES_LIMIT`, and pages that end behind `PAGE_BYTES`.
#[test]
fn conforms() {
    keeps_every_promise::<Folder>();
}

#[test]
fn a_second_coordinator_is_refused_by_the_first_ones_process_id() {
    let folder = TempDir::new().unwrap();
    let first = open(folder.path());
    let refused = Home::open(folder.path(), NetworkFolder::Refuse).unwrap_err();
    assert!(
        matches!(refused, HomeError::Locked { pid: Some(pid), .. } if pid == std::process::id()),
        "{refused:?}"
    );
    let text = refused.to_string();
    assert!(text.contains(&std::process::id().to_string()), "{text}");
    drop(first);
    open(folder.path());
}

#[test]
fn the_lock_lasts_as_long_as_whoever_may_still_write() {
    let folder = TempDir::new().unwrap();
    let store = open(folder.path());
    let snapshots = store.snapshots().unwrap();
    drop(store);
    assert!(Home::open(folder.path(), NetworkFolder::Refuse).is_err());
    drop(snapshots);
    drop(home(folder.path()));
}

#[test]
fn nobody_else_may_look_inside() {
    let parent = TempDir::new().unwrap();
    let folder = parent.path().join("made/on/the/way");
    let mut store = open(&folder);
    store.commit(&[row(1)]).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let files: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(files.len() >= 3, "{files:?}");
    for file in files {
        assert_eq!(mode(&file), if file.is_dir() { 0o700 } else { 0o600 }, "{}", file.display());
    }
}

#[test]
fn a_newer_journal_is_refused_and_left_as_it_was() {
    let folder = TempDir::new().unwrap();
    open(folder.path()).commit(&[row(1)]).unwrap();
    let file = folder.path().join(DATABASE);
    Connection::open(&file).unwrap().pragma_update(None, "user_version", FORMAT + 1).unwrap();
    let before = fs::read(&file).unwrap();
    let refused = refusal(folder.path());
    assert!(
        matches!(refused, OpenError::Newer { found, known: FORMAT, .. } if found == FORMAT + 1),
        "{refused:?}"
    );
    assert!(matches!(SqliteReader::open(folder.path()), Err(OpenError::Newer { .. })));
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn an_older_journal_is_refused_with_the_program_that_wrote_it() {
    let folder = TempDir::new().unwrap();
    let started =
        Row { body: r#"{"coordinator_started":{"epoch":3,"program":"gleaner 0.0.9"}}"#.into(), ..row(1) };
    open(folder.path()).commit(&[started, row(2)]).unwrap();
    let file = folder.path().join(DATABASE);
    Connection::open(&file).unwrap().pragma_update(None, "user_version", FORMAT - 1).unwrap();
    let before = fs::read(&file).unwrap();
    let refused = refusal(folder.path()).to_string();
    let expected = format!("was written by gleaner 0.0.9 in format {}, and this version reads", FORMAT - 1);
    assert!(refused.contains(&expected) && refused.contains("go on with that program"), "{refused}");
    assert!(matches!(SqliteReader::open(folder.path()), Err(OpenError::Older { .. })));
    assert_eq!(fs::read(&file).unwrap(), before);
}

#[test]
fn a_file_of_another_program_is_refused_and_left_as_it_was() {
    let write_database =
        |file: &Path| Connection::open(file).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    let write_text =
        |file: &Path| fs::write(file, "not a database at all, but long enough\n".repeat(100)).unwrap();
    for write in [&write_database as &dyn Fn(&Path), &write_text] {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join(DATABASE);
        write(&file);
        let before = fs::read(&file).unwrap();
        let refused = refusal(folder.path());
        assert!(matches!(refused, OpenError::Foreign { .. } | OpenError::Damaged { .. }), "{refused:?}");
        assert_eq!(fs::read(&file).unwrap(), before);
    }
}

/// Nor is one that nobody may read, or on a bad part of the disk: the journal has all that is in it.
#[test]
fn a_snapshot_that_cannot_be_read_is_passed_over() {
    let folder = TempDir::new().unwrap();
    let mut store = open(folder.path());
    let at = store.commit(&rows(1..=3)).unwrap();
    let saved = Snapshot { at, format: 1, body: vec![7; 100] };
    store.snapshots().unwrap().save(&saved).unwrap();
    fs::create_dir(folder.path().join("snapshots/00000000000000000009.snapshot")).unwrap();
    assert_eq!(store.snapshots().unwrap().latest(1).unwrap(), Some(saved));
}

/// As while a backup is made. What is in the log is on the disk then.
#[test]
fn a_coordinator_starts_beside_whoever_reads_an_old_state() {
    let folder = TempDir::new().unwrap();
    let mut store = open(folder.path());
    store.commit(&rows(1..=2)).unwrap();
    let reader = Connection::open(folder.path().join(DATABASE)).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM journal").unwrap();
    store.commit(&rows(3..=4)).unwrap();
    drop(store);
    let mut store = open(folder.path());
    assert_eq!(store.last(), Seq::new(4));
    assert_eq!(store.commit(&rows(5..=5)).unwrap(), Seq::new(5));
    let seen: i64 = reader.query_row("SELECT count(*) FROM journal", [], |row| row.get(0)).unwrap();
    assert_eq!(seen, 2, "the reader sees what it saw");
    reader.execute_batch("COMMIT").unwrap();
    drop(store);
    assert_eq!(open(folder.path()).last(), Seq::new(5));
}

#[test]
fn an_empty_file_becomes_a_journal() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join(DATABASE), "").unwrap();
    assert_eq!(open(folder.path()).commit(&[row(1)]).unwrap(), Seq::FIRST);
}

#[test]
fn other_processes_read_beside_a_running_coordinator() {
    let folder = TempDir::new().unwrap();
    let mut store = open(folder.path());
    store.commit(&rows(1..=3)).unwrap();
    let reader = SqliteReader::open(folder.path()).unwrap();
    store.commit(&rows(4..=4)).unwrap();
    assert_eq!(reader.last().unwrap(), Seq::new(4));
    let Ok(found) = Command::new("sqlite3")
        .args(["-readonly", "gleaner.db", "SELECT seq, tasks, body FROM journal WHERE seq = 4"])
        .current_dir(folder.path())
        .output()
    else {
        eprintln!("not tried with the sqlite3 program: there is none");
        return;
    };
    assert_eq!(String::from_utf8_lossy(&found.stdout), "4|4|{\"fact\":4}\n");
}
