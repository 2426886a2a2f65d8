//! The form without a disk: it conforms, and fails as it is told.

use super::conformance::{Medium, keeps_every_promise};
use super::{row, rows};
use gleaner_server::store::{
    CommitError, Damage, Failure, MemoryDisk, MemoryStore, Seq, Snapshot, SnapshotError, Store, verify,
};

impl Medium for MemoryDisk {
    fn open(&self) -> Box<dyn Store> {
        Box::new(MemoryStore::open(self))
    }
}

/// Among others in what is too large: `BODY_LIMIT`, `RANGES_LIMIT`, and pages that end behind `PAGE_BYTES`.
#[test]
fn conforms() {
    keeps_every_promise::<MemoryDisk>();
}

#[test]
fn a_failed_commit_stops_the_store_and_reopening_shows_what_became_of_it() {
    for (failure, kept) in [(Failure::Lost, 2), (Failure::Kept, 4)] {
        let disk = MemoryDisk::default();
        disk.fail_commit(2, failure);
        let mut store = MemoryStore::open(&disk);
        store.commit(&rows(1..=2)).unwrap();
        let failed = store.commit(&rows(3..=4));
        assert!(matches!(failed, Err(CommitError::DiskFull { last }) if last == Seq::new(2)), "{failed:?}");
        let stopped = store.commit(&[row(5)]);
        assert!(matches!(stopped, Err(CommitError::Stopped { last }) if last == Seq::new(2)), "{stopped:?}");
        let mut reopened = MemoryStore::open(&disk);
        assert_eq!(reopened.last(), Seq::new(kept), "{failure:?}");
        reopened.commit(&[row(6)]).unwrap();
    }
}

#[test]
fn a_failed_save_leaves_the_older_snapshot() {
    let disk = MemoryDisk::default();
    disk.fail_save(2);
    let mut store = MemoryStore::open(&disk);
    store.commit(&rows(1..=2)).unwrap();
    let mut snapshots = store.snapshots().unwrap();
    let snapshot = |at| Snapshot { at: Seq::new(at), format: 1, body: vec![] };
    snapshots.save(&snapshot(1)).unwrap();
    assert!(matches!(snapshots.save(&snapshot(2)), Err(SnapshotError::DiskFull)));
    assert_eq!(snapshots.latest(1).unwrap(), Some(snapshot(1)));
}

#[test]
fn an_altered_row_is_named() {
    let disk = MemoryDisk::default();
    MemoryStore::open(&disk).commit(&rows(1..=9)).unwrap();
    disk.alter(Seq::new(4));
    let found = verify(&disk).unwrap();
    assert_eq!((found.intact, found.named), (8, vec![(Seq::new(4), Damage::Altered)]));
}
