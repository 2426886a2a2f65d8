//! What every form of the store promises, and what only a form with a disk can break.

mod compacted;
mod conformance;
mod damage;
mod disk;
mod lost;
mod memory;
mod power;
mod sqlite;
mod syncs;
mod torn_log;

use crate::home;
use gleaner_server::store::{OpenError, Row, SqliteStore, StoredRow, TaskRange};
use gleaner_units::{TaskId, Time};
use std::path::Path;

/// A row that differs from all with another number.
fn row(number: u64) -> Row {
    let task = TaskRange::one(TaskId::new(number as usize));
    let (steps, body) = (format!("[{number}]"), format!("{{\"fact\":{number}}}"));
    Row { at: Time::from_nanos(number), tasks: vec![task], steps, body }
}

fn rows(numbers: impl IntoIterator<Item = u64>) -> Vec<Row> {
    numbers.into_iter().map(row).collect()
}

fn numbers(rows: &[StoredRow]) -> Vec<u64> {
    rows.iter().map(|stored| stored.seq.number()).collect()
}

fn open(folder: &Path) -> SqliteStore {
    SqliteStore::open(&home(folder)).expect("the journal opens")
}

fn refusal(folder: &Path) -> OpenError {
    SqliteStore::open(&home(folder)).unwrap_err()
}
