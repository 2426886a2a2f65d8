//! How often a commit syncs, counted by the system: less loses facts, more loses time.

use super::{open, row, rows};
use crate::home;
use crate::small_world::{folder, run_prepared};
use gleaner_server::store::{Compaction, Snapshot, SqliteReader, Store as _, replace};
use gleaner_units::Time;
use std::fs;
use std::process::Command;
use tempfile::TempDir;

const COMMITS: usize = 300;
/// Making the folder and the file, and closing them.
const BESIDE: usize = 20;

/// How often a test that is run by itself does, where that can be counted.
fn syncs(test: &str) -> Option<usize> {
    let folder = TempDir::new().unwrap();
    let log = folder.path().join("syncs");
    let traced = || {
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-e", "trace=fsync,fdatasync", "-o"]).arg(&log);
        command
    };
    if !traced().arg("true").output().is_ok_and(|probe| probe.status.success()) {
        eprintln!("NOT TESTED: how often a commit syncs: there is no strace, or it may not trace");
        return None;
    }
    run_prepared(&mut traced(), "", test);
    Some(fs::read_to_string(log).unwrap().lines().filter(|line| line.contains("sync(")).count())
}

#[test]
fn a_commit_syncs_once() {
    let Some(syncs) = syncs("store::syncs::commits") else { return };
    assert!((COMMITS..=COMMITS + BESIDE).contains(&syncs), "{syncs} syncs for {COMMITS} commits");
}

#[test]
#[ignore = "run by another test, traced"]
fn commits() {
    let mut store = open(&folder());
    for number in 1..=COMMITS as u64 {
        store.commit(&[row(number)]).unwrap();
    }
}

/// What a compacted journal kept of the time before may be millions of rows.
#[test]
fn kept_rows_that_are_put_back_share_a_sync() {
    let Some(syncs) = syncs("store::syncs::puts_back") else { return };
    assert!(syncs < COMMITS / 2, "{syncs} syncs for {COMMITS} rows");
}

#[test]
#[ignore = "run by another test, traced"]
fn puts_back() {
    let folder = folder();
    let mut store = open(&folder);
    let number = COMMITS as u64;
    let at = store.commit(&rows(1..=number)).unwrap();
    let base = Snapshot { at, format: 1, body: vec![1] };
    let what = Compaction {
        base: &base,
        moment: Time::from_nanos(number),
        pasts: &mut [].into_iter(),
        dropped: &[],
        row: &|_| row(number + 1),
    };
    let last = store.compact(what).unwrap();
    drop(store);
    let home = home(&folder);
    let reader = SqliteReader::open(&folder).unwrap();
    replace(&home, &reader, last, row(number + 2)).unwrap();
}
