//! What was altered on the disk is named, or passed over where there is something older.

use super::{numbers, open, rows};
use gleaner_server::desk::Recorded;
use gleaner_server::journal::{Entry, Fact};
use gleaner_server::recovery::entries;
use gleaner_server::restoring::{Behind, behind, ledger_at};
use gleaner_server::store::{
    Damage, ReadError, Reader as _, Row, Seq, Snapshot, SqliteReader, Store as _, verify,
};
use gleaner_units::{TaskId, Time};
use gleaner_wire::job::JobSpec;
use gleaner_wire::{JobId, Lineage};
use rusqlite::Connection;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

const ROWS: u64 = 500;

fn journal() -> TempDir {
    let folder = TempDir::new().unwrap();
    open(folder.path()).commit(&rows(1..=ROWS)).unwrap();
    folder
}

fn database(folder: &Path) -> PathBuf {
    folder.join("gleaner.db")
}

#[test]
fn an_altered_row_is_named_by_its_number() {
    let table: [(&str, &[(u64, Damage)]); 9] = [
        ("UPDATE journal SET body = '{\"fact\":8}' WHERE seq = 7", &[(7, Damage::Altered)]),
        ("UPDATE journal SET steps = '[8]' WHERE seq = 7", &[(7, Damage::Altered)]),
        ("UPDATE journal SET at = at + 1 WHERE seq = 7", &[(7, Damage::Altered)]),
        ("UPDATE journal SET tasks = '8' WHERE seq = 7", &[(7, Damage::Altered)]),
        ("UPDATE journal SET checksum = 0 WHERE seq = 7", &[(7, Damage::Altered)]),
        ("DELETE FROM journal WHERE seq IN (1, 7)", &[(1, Damage::Missing), (7, Damage::Missing)]),
        ("UPDATE journal SET seq = 501 WHERE seq = 500", &[(500, Damage::Missing), (501, Damage::Altered)]),
        (
            "UPDATE journal SET chain = zeroblob(32) WHERE seq = 7",
            &[(7, Damage::Unchained), (8, Damage::Unchained)],
        ),
        ("UPDATE journal SET body = body", &[]),
    ];
    for (change, expected) in table {
        let folder = journal();
        Connection::open(database(folder.path())).unwrap().execute(change, []).unwrap();
        let found = verify(&SqliteReader::open(folder.path()).unwrap()).unwrap();
        let expected: Vec<_> = expected.iter().map(|&(seq, damage)| (Seq::new(seq), damage)).collect();
        assert_eq!(found.named, expected, "{change}");
        assert_eq!(found.damaged as usize, expected.len(), "{change}");
    }
}

/// What would go with what cannot be saved is said: it counts although nobody can say what is in all of it.
#[test]
fn what_is_behind_a_damaged_row_is_counted_and_its_jobs_are_named() {
    let table: [(&str, u64, Option<u64>, &[u32]); 4] = [
        ("UPDATE journal SET body = body", 9, None, &[]),
        ("UPDATE journal SET body = '' WHERE seq = 4", 3, Some(9), &[5, 6, 7, 8, 9]),
        ("DELETE FROM journal WHERE seq IN (4, 5)", 3, Some(9), &[6, 7, 8, 9]),
        ("UPDATE journal SET body = '' WHERE seq IN (4, 9)", 3, Some(9), &[5, 6, 7, 8]),
    ];
    for (change, last, there, jobs) in table {
        let folder = TempDir::new().unwrap();
        let facts = (1..=9).map(|number| Fact::JobSubmitted {
            job: JobId(number),
            user: "ann".to_owned(),
            spec: Arc::new(JobSpec::new(["true"])),
            key: None,
            bytes: 0,
            described: 0,
        });
        let written: Vec<Row> =
            facts.map(|fact| Recorded::without_steps(Entry { at: Time::ZERO, fact }).row()).collect();
        open(folder.path()).commit(&written).unwrap();
        Connection::open(database(folder.path())).unwrap().execute(change, []).unwrap();
        let reader = SqliteReader::open(folder.path()).unwrap();
        let expected = Behind { last: there.map(Seq::new), jobs: jobs.iter().copied().map(JobId).collect() };
        assert_eq!(behind(&reader, Seq::new(last)), expected, "{change}");
    }
}

/// What is intact can be saved, also where it is on one page with what is not.
#[test]
fn rows_before_a_damaged_one_are_read_and_add_up() {
    for damaged in [1, 4, 9] {
        let folder = TempDir::new().unwrap();
        let lineages = (1..=9).map(|number| Lineage::of([number; 8]));
        let facts = lineages.map(|lineage| Fact::JournalRestored { lineage });
        let written: Vec<Row> =
            facts.map(|fact| Recorded::without_steps(Entry { at: Time::ZERO, fact }).row()).collect();
        open(folder.path()).commit(&written).unwrap();
        let change = format!("UPDATE journal SET body = '' WHERE seq = {damaged}");
        Connection::open(database(folder.path())).unwrap().execute(&change, []).unwrap();
        let reader = SqliteReader::open(folder.path()).unwrap();
        let read: Vec<_> =
            entries(&reader, Seq::FIRST).map(|entry| entry.map(|(seq, _)| seq.number())).collect();
        let intact: Vec<u64> = read.iter().filter_map(|read| read.as_ref().ok().copied()).collect();
        assert_eq!(intact, (1..damaged).collect::<Vec<_>>());
        assert!(matches!(read.last(), Some(Err(_))) && read.len() as u64 == damaged, "{read:?}");
        assert_eq!(ledger_at(&reader, Seq::new(damaged - 1)).unwrap().rows(), damaged - 1);
        assert!(ledger_at(&reader, Seq::new(damaged)).is_err());
    }
}

#[test]
fn a_history_with_a_damaged_row_says_so() {
    for (change, damage) in [
        ("UPDATE journal SET body = '' WHERE seq = 7", Damage::Altered),
        ("DELETE FROM journal WHERE seq = 7", Damage::Missing),
    ] {
        let folder = journal();
        Connection::open(database(folder.path())).unwrap().execute(change, []).unwrap();
        let reader = SqliteReader::open(folder.path()).unwrap();
        let found = reader.history(TaskId::new(7), Seq::FIRST, 10);
        let expected = |seq, found| seq == Seq::new(7) && found == damage;
        assert!(
            matches!(found, Err(ReadError::Damaged { seq, damage }) if expected(seq, damage)),
            "{found:?}"
        );
        assert_eq!(numbers(&reader.history(TaskId::new(8), Seq::FIRST, 10).unwrap()), [8]);
    }
}

/// Whatever is done to a page of the file, a reader returns what was written or an error.
#[test]
fn garbled_pages_are_never_believed() {
    const PAGE: usize = 4096;
    let original = journal();
    let bytes = fs::read(database(original.path())).unwrap();
    let expected = rows(1..=ROWS);
    let folder = TempDir::new().unwrap();
    let mut noticed = 0;
    for start in (PAGE..bytes.len()).step_by(PAGE / 4) {
        let mut garbled = bytes.clone();
        garbled[start..start + 64].iter_mut().for_each(|byte| *byte ^= 0x5a);
        fs::write(database(folder.path()), garbled).unwrap();
        let Ok(reader) = SqliteReader::open(folder.path()) else { continue };
        let mut next = Seq::FIRST;
        loop {
            match reader.read(next, 64) {
                Ok(page) if page.is_empty() => break,
                Ok(page) => {
                    for stored in &page {
                        assert_eq!(
                            stored.row,
                            expected[stored.seq.number() as usize - 1],
                            "garbled at {start}"
                        );
                    }
                    next = next.plus(page.len() as u64);
                }
                Err(_) => {
                    noticed += 1;
                    break;
                }
            }
        }
    }
    assert!(noticed > 10, "{noticed} of the garbled files were noticed");
}

fn snapshot(at: u64) -> Snapshot {
    Snapshot { at: Seq::new(at), format: 1, body: vec![at as u8; 1000] }
}

/// The files of the snapshots, the older first.
fn snapshot_files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> =
        fs::read_dir(folder.join("snapshots")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn latest(folder: &Path) -> Option<Snapshot> {
    open(folder).snapshots().unwrap().latest(1).unwrap()
}

#[test]
fn a_damaged_snapshot_is_passed_over_for_the_older_one() {
    let folder = journal();
    let mut snapshots = open(folder.path()).snapshots().unwrap();
    for at in [10, 20, 30] {
        snapshots.save(&snapshot(at)).unwrap();
    }
    drop(snapshots);
    let files = snapshot_files(folder.path());
    assert_eq!(files.len(), 2);
    assert_eq!(latest(folder.path()), Some(snapshot(30)));
    let whole = fs::read(&files[1]).unwrap();
    for position in 0..whole.len() {
        let mut altered = whole.clone();
        altered[position] ^= 1;
        fs::write(&files[1], altered).unwrap();
        if position % 97 == 0 || position < 64 {
            assert_eq!(latest(folder.path()), Some(snapshot(20)), "byte {position} altered");
        }
    }
    for length in (0..whole.len()).step_by(53) {
        fs::write(&files[1], &whole[..length]).unwrap();
        assert_eq!(latest(folder.path()), Some(snapshot(20)), "cut to {length} bytes");
    }
    fs::write(&files[0], "").unwrap();
    assert_eq!(latest(folder.path()), None);
}

#[test]
fn a_crash_while_saving_leaves_the_older_snapshot() {
    let folder = journal();
    open(folder.path()).snapshots().unwrap().save(&snapshot(10)).unwrap();
    fs::write(folder.path().join("snapshots/unfinished"), "half of it").unwrap();
    assert_eq!(latest(folder.path()), Some(snapshot(10)));
    open(folder.path()).snapshots().unwrap().save(&snapshot(20)).unwrap();
    assert_eq!(latest(folder.path()), Some(snapshot(20)));
    assert_eq!(snapshot_files(folder.path()).len(), 2);
}

#[test]
fn a_snapshot_of_another_journal_or_ahead_of_this_one_is_passed_over() {
    for replacement in [rows(1..=10), rows(1001..=1000 + ROWS)] {
        let folder = journal();
        open(folder.path()).snapshots().unwrap().save(&snapshot(20)).unwrap();
        let other = TempDir::new().unwrap();
        open(other.path()).commit(&replacement).unwrap();
        for name in ["gleaner.db", "journal.last"] {
            fs::copy(other.path().join(name), folder.path().join(name)).unwrap();
        }
        assert_eq!(latest(folder.path()), None);
    }
}
