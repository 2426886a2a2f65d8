//! Disks that are full, read-only or limited, for real.

use super::{open, row, rows};
use crate::small_world::{folder, run_in_namespace, run_prepared};
use gleaner_server::store::{
    CommitError, Home, HomeError, NetworkFolder, OpenError, Row, Seq, Snapshot, SnapshotError, SqliteStore,
    Store, verify,
};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

fn large_row(number: u64) -> Row {
    Row { body: "x".repeat(1000), ..row(number) }
}

/// Commits ten rows at a time until that fails: what was committed last, and how it failed.
fn fill(store: &mut SqliteStore) -> (Seq, CommitError) {
    loop {
        let next = store.last().number() + 1;
        let ten: Vec<Row> = (next..next + 10).map(large_row).collect();
        if let Err(error) = store.commit(&ten) {
            return (store.last(), error);
        }
    }
}

fn stays_stopped(store: &mut SqliteStore) {
    let stopped = store.commit(&[row(1)]);
    assert!(matches!(stopped, Err(CommitError::Stopped { .. })), "{stopped:?}");
}

/// All that was committed, and of the commit that failed all or nothing.
fn shows_what_was_committed(folder: &Path, last: Seq) {
    let mut store = open(folder);
    let kept = store.last();
    assert!(kept == last || kept == last.plus(10), "{kept} rows kept, {last} committed");
    let found = verify(&*store.reader().unwrap()).unwrap();
    assert_eq!((found.intact, found.damaged), (kept.number(), 0));
    store.commit(&[row(1)]).unwrap();
}

#[test]
fn a_full_disk_stops_the_store_and_loses_nothing() {
    run_in_namespace("mount -t tmpfs -o size=4m,mode=700 none \"$TEST_FOLDER\"", "store::disk::full");
}

#[test]
#[ignore = "run by another test, on a small disk"]
fn full() {
    let folder = folder();
    let (home, ballast) = (folder.join("home"), folder.join("ballast"));
    std::fs::write(&ballast, vec![0; 2_000_000]).unwrap();
    let mut store = open(&home);
    let (last, error) = fill(&mut store);
    assert!(last > Seq::NONE);
    assert!(matches!(error, CommitError::DiskFull { last: kept } if kept == last), "{error:?}");
    stays_stopped(&mut store);
    let mut snapshots = store.snapshots().unwrap();
    let saved = snapshots.save(&Snapshot { at: last, format: 1, body: vec![1; 5_000_000] });
    assert!(matches!(saved, Err(SnapshotError::DiskFull)), "{saved:?}");
    drop((store, snapshots));
    std::fs::remove_file(ballast).unwrap();
    shows_what_was_committed(&home, last);
}

#[test]
fn a_snapshot_leaves_the_journal_its_room() {
    let prepare = "mount -t tmpfs -o size=8m,mode=700 none \"$TEST_FOLDER\"";
    run_in_namespace(prepare, "store::disk::with_room_for_the_journal");
}

/// `DISK_RESERVE_PART`: an eighth of a small disk is for the journal.
#[test]
#[ignore = "run by another test, on a small disk"]
fn with_room_for_the_journal() {
    let folder = folder();
    let home = folder.join("home");
    let mut store = open(&home);
    let mut snapshots = store.snapshots().unwrap();
    let snapshot = |at| Snapshot { at, format: 1, body: vec![1; 1_000_000] };
    let first = store.commit(&rows(1..=3)).unwrap();
    snapshots.save(&snapshot(first)).unwrap();
    std::fs::write(folder.join("ballast"), vec![0; 5_300_000]).unwrap();
    let second = store.commit(&rows(4..=4)).unwrap();
    let refused = snapshots.save(&snapshot(second));
    assert!(matches!(refused, Err(SnapshotError::DiskFull)), "{refused:?}");
    assert_eq!(snapshots.latest(1).unwrap().map(|latest| latest.at), Some(first));
    assert!(!home.join("snapshots/unfinished").exists());
    std::fs::remove_file(folder.join("ballast")).unwrap();
    snapshots.save(&snapshot(second)).unwrap();
}

#[test]
fn a_disk_that_is_full_from_the_start_is_told_as_such() {
    run_in_namespace(
        "mount -t tmpfs -o size=64k,mode=700 none \"$TEST_FOLDER\"",
        "store::disk::full_from_the_start",
    );
}

#[test]
#[ignore = "run by another test, on a tiny disk"]
fn full_from_the_start() {
    let folder = folder();
    let home = Home::open(&folder, NetworkFolder::Refuse).unwrap();
    // Fails for want of space, which leaves none.
    std::fs::write(folder.join("ballast"), vec![0; 100_000]).unwrap_err();
    let refused = SqliteStore::open(&home).unwrap_err();
    assert!(matches!(refused, OpenError::DiskFull { .. }), "{refused:?}");
}

#[test]
fn a_write_that_fails_for_another_reason_stops_the_store_and_loses_nothing() {
    // In blocks of 512 bytes. Ignoring the signal makes it an error of the write.
    run_prepared(&mut Command::new("env"), "trap '' XFSZ; ulimit -f 400", "store::disk::limited");
}

#[test]
#[ignore = "run by another test, with a limit on the size of files"]
fn limited() {
    let folder = folder();
    let mut store = open(&folder);
    let (last, error) = fill(&mut store);
    assert!(last > Seq::NONE);
    assert!(matches!(error, CommitError::Io { last: kept, .. } if kept == last), "{error:?}");
    stays_stopped(&mut store);
    // Before the store is dropped, and so before it tidies up: as after a crash.
    let copy = TempDir::new().unwrap();
    for name in ["gleaner.db", "gleaner.db-wal"] {
        std::fs::write(copy.path().join(name), std::fs::read(folder.join(name)).unwrap()).unwrap();
    }
    let reopened = open(copy.path());
    let kept = reopened.last();
    assert!(kept == last || kept == last.plus(10), "{kept} rows kept, {last} committed");
    let found = verify(&*reopened.reader().unwrap()).unwrap();
    assert_eq!((found.intact, found.damaged), (kept.number(), 0));
}

#[test]
fn a_read_only_folder_is_told_as_such() {
    let prepare = "mount -t tmpfs -o mode=700 none \"$TEST_FOLDER\"; mount -o remount,ro \"$TEST_FOLDER\"";
    run_in_namespace(prepare, "store::disk::read_only");
}

#[test]
#[ignore = "run by another test, on a read-only disk"]
fn read_only() {
    for folder in [folder(), folder().join("below")] {
        let refused = Home::open(&folder, NetworkFolder::Refuse).unwrap_err();
        assert!(matches!(refused, HomeError::ReadOnly { .. }), "{refused:?}");
    }
}

#[test]
fn a_journal_on_a_disk_gone_read_only_is_told_as_such() {
    run_in_namespace("mount -t tmpfs -o mode=700 none \"$TEST_FOLDER\"", "store::disk::gone_read_only");
}

#[test]
#[ignore = "run by another test, on a disk of its own"]
fn gone_read_only() {
    let folder = folder();
    open(&folder).commit(&rows(1..=3)).unwrap();
    let home = Home::open(&folder, NetworkFolder::Refuse).unwrap();
    let remount = format!("mount --bind {0} {0} && mount -o remount,bind,ro {0}", folder.display());
    assert!(Command::new("sh").args(["-c", &remount]).status().unwrap().success());
    let refused = SqliteStore::open(&home).unwrap_err();
    assert!(matches!(refused, OpenError::ReadOnly { .. }), "{refused:?}");
}
