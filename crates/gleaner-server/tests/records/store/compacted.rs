//! A journal that was compacted, on a disk: what is altered of what it keeps is noticed, it can be put back as any other, and
//! whoever is killed while compacting finds all of it done or nothing.

use super::conformance::{begin_with_a_past, compact, the_past};
use super::{numbers, open, row, rows};
use crate::home;
use crate::small_world::folder;
use gleaner_server::store::{
    Compaction, DATABASE, Past, Readable, Reader as _, Row, Seq, Snapshot, SqliteReader, Store as _,
    readable, replace, verify,
};
use gleaner_units::{TaskId, Time};
use gleaner_wire::JobId;
use rusqlite::Connection;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

fn compacted() -> TempDir {
    let folder = TempDir::new().unwrap();
    let mut store = open(folder.path());
    begin_with_a_past(&mut store);
    compact(&mut store, the_past()).unwrap();
    store.shrink().unwrap();
    store.commit(&rows(12..=12)).unwrap();
    folder
}

fn reader(folder: &Path) -> SqliteReader {
    SqliteReader::open(folder).unwrap()
}

#[test]
fn what_is_altered_of_what_is_kept_is_noticed() {
    let changes = [
        "UPDATE base SET body = x'00'",
        "UPDATE base SET at = at + 1",
        "UPDATE base SET seal = zeroblob(32)",
        "UPDATE past_tasks SET body = x'00' WHERE task = 3",
        "INSERT INTO past_tasks VALUES (99, x'00', 2)",
        "UPDATE past_files SET owner = 77 WHERE owner = 3",
        "DELETE FROM journal WHERE seq = 4",
        "UPDATE journal SET tasks = '8' WHERE seq = 6",
        "DELETE FROM journal WHERE seq = 7",
        "DELETE FROM base",
    ];
    for change in changes {
        let folder = compacted();
        assert_eq!(verify(&reader(folder.path())).unwrap().damaged, 0);
        Connection::open(folder.path().join(DATABASE)).unwrap().execute_batch(change).unwrap();
        assert!(verify(&reader(folder.path())).unwrap().damaged > 0, "{change}");
    }
}

#[test]
fn it_is_put_back_with_what_it_kept() {
    let folder = compacted();
    let file = folder.path().join(DATABASE);
    // Behind its beginning a row is damaged, and one of those that were kept from before.
    let change = "UPDATE journal SET body = '{}' WHERE seq IN (4, 10)";
    Connection::open(&file).unwrap().execute_batch(change).unwrap();
    let home = home(folder.path());
    let Readable { reader: saved, last, .. } = readable(&home).unwrap();
    assert_eq!(last, Seq::new(9));
    let before = reader(folder.path());
    let chain = before.chain(last).unwrap();
    replace(&home, &*saved, last, row(77)).unwrap();
    drop((home, saved, before));
    let mut store = open(folder.path());
    let there = store.reader().unwrap();
    assert_eq!(numbers(&there.read(Seq::FIRST, 99).unwrap()), [6, 7, 8, 9, 10]);
    assert_eq!(there.chain(Seq::new(9)).unwrap(), chain, "heads stay what they were");
    assert_eq!(verify(&*there).unwrap().damaged, 0);
    assert_eq!(there.base().unwrap().unwrap().body, b"the sum of six rows");
    assert_eq!(there.past_at().unwrap(), Seq::new(3));
    let pasts = the_past();
    let tasks: Vec<_> = pasts.iter().flat_map(|past| past.tasks.clone()).collect();
    let jobs: Vec<_> = pasts.iter().flat_map(|past| past.jobs.clone()).collect();
    assert_eq!(there.base_tasks(TaskId::new(0), 99).unwrap(), tasks);
    assert_eq!(there.base_jobs(JobId(0), 99).unwrap(), jobs);
    store.commit(&rows([11])).unwrap();
}

/// All jobs that had left memory were forgotten, or came back, before its beginning.
#[test]
fn it_is_put_back_where_nothing_is_left_of_its_past() {
    let folder = TempDir::new().unwrap();
    let mut store = open(folder.path());
    let past = Past { upto: Seq::new(3), revived: vec![JobId(1)], ..Past::default() };
    store.commit_with(&rows(1..=10), Some(&past)).unwrap();
    let last = compact(&mut store, vec![past]).unwrap();
    let begins = store.reader().unwrap().beginning().unwrap();
    drop(store);
    let home = home(folder.path());
    let before = reader(folder.path());
    replace(&home, &before, last, row(77)).unwrap();
    drop((home, before));
    let store = open(folder.path());
    let there = store.reader().unwrap();
    assert_eq!(there.beginning().unwrap(), begins, "with the same seal");
    assert_eq!(there.past_at().unwrap(), Seq::new(3));
    assert_eq!(verify(&*there).unwrap().damaged, 0);
}

/// The note beside the journal may be older than the beginning.
#[test]
fn an_older_note_stands_in_nobodys_way() {
    let folder = TempDir::new().unwrap();
    let note = folder.path().join("journal.last");
    let mut store = open(folder.path());
    store.commit(&rows([1])).unwrap();
    let old = std::fs::read(&note).unwrap();
    drop(store);
    std::fs::remove_file(&note).unwrap();
    std::fs::remove_file(folder.path().join(DATABASE)).unwrap();
    begin_with_a_past(&mut open(folder.path()));
    compact(&mut open(folder.path()), the_past()).unwrap();
    std::fs::write(&note, old).unwrap();
    assert_eq!(open(folder.path()).last(), Seq::new(11));
}

const ROUNDS: u64 = 200;

fn long_rows(from: u64) -> Vec<Row> {
    (from..from + 40).map(|number| Row { body: "x".repeat(2_000), ..row(number) }).collect()
}

#[test]
#[ignore = "run by another test, and killed"]
fn compacts_until_it_is_killed() {
    let mut store = open(&folder());
    for round in 0..ROUNDS {
        let last = store.commit(&long_rows(round * 41 + 1)).unwrap();
        let base = Snapshot { at: Seq::new(last.number() - 1), format: 1, body: vec![1; 5_000] };
        let what = Compaction {
            base: &base,
            moment: Time::from_nanos(last.number() - 1),
            pasts: &mut [].into_iter(),
            dropped: &[(Seq::FIRST, base.at)],
            row: &|_| row(last.number() + 1),
        };
        assert_eq!(store.compact(what).unwrap(), last.next());
        store.shrink().unwrap();
    }
}

/// Killed at some thirty moments, in the middle of commits, compactions and giving room back.
#[test]
fn killed_at_any_moment_all_of_it_is_done_or_nothing() {
    let mut begun = 0;
    let scratch = TempDir::new().unwrap();
    // One process starts them all: whatever begins while another test has a folder's lock has it too for a moment.
    let script = "for kill in $(seq 0 29); do
        export TEST_FOLDER=$0/$kill
        \"$1\" --exact --ignored store::compacted::compacts_until_it_is_killed >/dev/null &
        sleep $(printf 0.%03d $((30 + kill * 17)))
        kill -9 $! && wait $!
    done; true";
    let mut work = Command::new("bash");
    work.args(["-c", script]).arg(scratch.path()).arg(std::env::current_exe().unwrap());
    assert!(work.stderr(Stdio::null()).status().unwrap().success());
    for kill in 0..30 {
        let mut store = open(&scratch.path().join(kill.to_string()));
        let there = store.reader().unwrap();
        assert_eq!(verify(&*there).unwrap().damaged, 0, "kill {kill}");
        let begins = there.beginning().unwrap().map_or(0, |beginning| beginning.at.number());
        begun += u64::from(begins > 0);
        let found = numbers(&there.read(Seq::FIRST, 1_000).unwrap());
        assert!(
            found.iter().copied().eq(begins + 1..=store.last().number()),
            "kill {kill}: {begins}, {found:?}"
        );
        store.commit(&[row(0)]).unwrap();
    }
    assert!(begun > 5, "it was hardly ever compacted");
}
