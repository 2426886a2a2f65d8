//! Power is lost: of what was written and not synced, any part may be gone, torn or there.
//!
//! A process works with a store while `strace` notes each of its calls that reach the disk, and where between them it
//! acknowledged something. From that the disk is built as it can look after a loss of power at any moment, and a store
//! is opened on it: whatever was acknowledged by then has to be there.

mod calls;
mod disk;

use super::{open, row};
use crate::small_world::{folder, run_prepared};
use calls::{Call, calls};
use disk::{Disk, Syncs};
use gleaner_server::store::{Row, Seq, Snapshot, Store as _, StoredRow, verify};
use rand_core::{Rng as _, SeedableRng as _};
use rand_pcg::Pcg64;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

const STARTS: u64 = 4;
const COMMITS: u64 = 12;
const FORMAT: u32 = 7;
/// Losses of power that are tried; `GLEANER_LOSSES=N` tries N.
const LOSSES: u64 = 150;
/// Where what was acknowledged is said, in order with the calls.
const WORD: &str = "acknowledged";

/// A row of its number, of varied length.
fn long_row(number: u64) -> Row {
    let body = format!("{{\"fact\":{number},\"text\":\"{}\"}}", "x".repeat((number * 37 % 900) as usize));
    Row { body, ..row(number) }
}

#[test]
#[ignore = "run by another test, traced"]
fn work() {
    let mut word = File::create(folder().join(WORD)).unwrap();
    let mut number = 0;
    for start in 0..STARTS {
        let mut store = open(&folder());
        let mut snapshots = store.snapshots().unwrap();
        for commit in 0..COMMITS {
            let last = number + 1 + (start * 7 + commit * 5) % 20;
            let rows: Vec<Row> = (number + 1..=last).map(long_row).collect();
            store.commit(&rows).unwrap();
            number = last;
            word.write_all(format!("rows {number}").as_bytes()).unwrap();
        }
        let body = vec![number as u8; 3_000];
        snapshots.save(&Snapshot { at: Seq::new(number), format: FORMAT, body }).unwrap();
        word.write_all(format!("snapshot {number}").as_bytes()).unwrap();
    }
}

#[test]
fn what_was_acknowledged_outlasts_a_loss_of_power() {
    let Some(calls) = traced() else { return };
    let losses = std::env::var("GLEANER_LOSSES").map_or(LOSSES, |number| number.parse().unwrap());
    for seed in 0..losses {
        let mut chance = Pcg64::seed_from_u64(seed);
        let until = (chance.next_u64() % (calls.len() as u64 + 1)) as usize;
        let after = Lost::at(&calls[..until], Syncs::Honoured, &mut chance);
        let told = format!("seed {seed}, call {until} of {}: {after:?}", calls.len());
        assert!(after.rows >= after.acknowledged_rows, "{told}");
        assert!(after.snapshot >= after.acknowledged_snapshot, "{told}");
    }
}

/// The disk that is built here does lose what a store does not sync: else the test above would show nothing.
#[test]
fn without_syncs_acknowledged_rows_are_lost() {
    let Some(calls) = traced() else { return };
    let is_lost = |seed| {
        let mut chance = Pcg64::seed_from_u64(seed);
        let until = calls.len() - (chance.next_u64() % 50) as usize;
        let disk = Disk::after(&calls[..until], Syncs::Ignored);
        let folder = TempDir::new().unwrap();
        disk.lose_power(folder.path(), &mut chance);
        // It need not even open.
        std::panic::catch_unwind(|| Lost::look(folder.path()).0)
            .map_or(true, |rows| rows < acknowledged(&calls[..until]).0)
    };
    assert!((0..20).any(is_lost));
}

/// What is found after a loss of power.
#[derive(Debug)]
struct Lost {
    acknowledged_rows: u64,
    rows: u64,
    acknowledged_snapshot: u64,
    snapshot: u64,
}

impl Lost {
    fn at(calls: &[Call], syncs: Syncs, chance: &mut Pcg64) -> Self {
        let folder = TempDir::new().unwrap();
        Disk::after(calls, syncs).lose_power(folder.path(), chance);
        let (acknowledged_rows, acknowledged_snapshot) = acknowledged(calls);
        let (rows, snapshot) = Self::look(folder.path());
        Self { acknowledged_rows, rows, acknowledged_snapshot, snapshot }
    }

    /// How many rows there are and which the newest snapshot stands on; and that what is there is whole and goes on.
    fn look(folder: &Path) -> (u64, u64) {
        let mut store = open(folder);
        let rows = store.last().number();
        let reader = store.reader().unwrap();
        let found = verify(&*reader).unwrap();
        assert_eq!((found.intact, found.damaged), (rows, 0));
        let read = reader.read(Seq::FIRST, 10_000).unwrap();
        for StoredRow { seq, row } in &read {
            assert_eq!(*row, long_row(seq.number()));
        }
        let snapshot = store.snapshots().unwrap().latest(FORMAT).unwrap();
        assert_eq!(store.commit(&[long_row(rows + 1)]).unwrap(), Seq::new(rows + 1));
        (rows, snapshot.map_or(0, |snapshot| snapshot.at.number()))
    }
}

/// The last row and the last snapshot that were acknowledged.
fn acknowledged(calls: &[Call]) -> (u64, u64) {
    let mut last = (0, 0);
    for call in calls {
        let Call::Word(word) = call else { continue };
        match word.split_once(' ') {
            Some(("rows", number)) => last.0 = number.parse().unwrap(),
            Some(("snapshot", number)) => last.1 = number.parse().unwrap(),
            other => panic!("nothing else is said: {other:?}"),
        }
    }
    last
}

/// The calls of one piece of work; none where nothing can be traced.
fn traced() -> Option<Vec<Call>> {
    let scratch = TempDir::new().unwrap();
    let log = scratch.path().join("calls");
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-xx", "-s", "1048576", "-e", calls::TRACED, "-o"]).arg(&log);
    let probe = Command::new("strace").args(["-qq", "-o", "/dev/null", "true"]).output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        eprintln!("NOT TESTED: losing power: there is no strace, or it may not trace");
        return None;
    }
    run_prepared(&mut command, "", "store::power::work");
    Some(calls(&fs::read_to_string(log).unwrap(), WORD))
}
