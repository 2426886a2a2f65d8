//! The suite that each form of the store passes. A form brings a [`Medium`]: what survives a restart.

use crate::{numbers, row, rows};
use gleaner_server::store::{
    BODY_LIMIT, CommitError, PAGE_BYTES, RANGES_LIMIT, Row, Seq, Snapshot, SnapshotError, Store, TaskRange,
    verify,
};
use gleaner_units::{TaskId, Time};

/// What a store is kept on. The store that was opened before is dropped by then.
pub(crate) trait Medium: Default {
    fn open(&self) -> Box<dyn Store>;
}

/// All of it, for one form.
pub(crate) fn keeps_every_promise<M: Medium>() {
    begins_empty::<M>();
    numbers_rows_without_a_gap::<M>();
    reads_back_what_was_written::<M>();
    no_rows_are_no_commit::<M>();
    reopens_with_all_that_was_committed::<M>();
    readers_see_what_is_committed::<M>();
    pages_begin_and_end_where_asked::<M>();
    pages_end_when_they_are_large::<M>();
    lists_a_row_under_its_tasks_only::<M>();
    refuses_what_is_too_large_and_goes_on::<M>();
    keeps_the_newest_snapshot_of_each_kind::<M>();
    no_snapshot_stands_on_nothing::<M>();
}

fn begins_empty<M: Medium>() {
    let medium = M::default();
    let store = medium.open();
    let reader = store.reader().unwrap();
    assert_eq!(store.last(), Seq::NONE);
    assert_eq!(reader.last().unwrap(), Seq::NONE);
    assert_eq!(reader.read(Seq::FIRST, 10).unwrap(), []);
    assert_eq!(reader.history(TaskId::new(0), Seq::FIRST, 10).unwrap(), []);
    assert_eq!(store.snapshots().unwrap().latest(1).unwrap(), None);
}

fn numbers_rows_without_a_gap<M: Medium>() {
    let medium = M::default();
    let mut store = medium.open();
    assert_eq!(store.commit(&rows(1..=3)).unwrap(), Seq::new(3));
    assert_eq!(store.commit(&rows(4..=4)).unwrap(), Seq::new(4));
    assert_eq!(store.last(), Seq::new(4));
    assert_eq!(numbers(&store.reader().unwrap().read(Seq::FIRST, 10).unwrap()), [1, 2, 3, 4]);
}

fn reads_back_what_was_written<M: Medium>() {
    let range = |first, last| TaskRange::between(TaskId::new(first), TaskId::new(last)).unwrap();
    let odd = [
        Row { at: Time::ZERO, tasks: vec![], body: String::new() },
        Row {
            at: Time::NEVER,
            tasks: vec![range(0, u32::MAX as usize)],
            body: "{\"name\":\"λ\\u0000\"}".into(),
        },
        Row {
            at: Time::from_nanos(7),
            tasks: vec![range(3, 9), range(5, 5), range(0, 1)],
            body: "\n".into(),
        },
    ];
    let medium = M::default();
    medium.open().commit(&odd).unwrap();
    let found = medium.open().reader().unwrap().read(Seq::FIRST, 10).unwrap();
    assert_eq!(found.into_iter().map(|stored| stored.row).collect::<Vec<_>>(), odd);
}

fn no_rows_are_no_commit<M: Medium>() {
    let medium = M::default();
    let mut store = medium.open();
    store.commit(&rows(1..=2)).unwrap();
    assert_eq!(store.commit(&[]).unwrap(), Seq::new(2));
}

fn reopens_with_all_that_was_committed<M: Medium>() {
    let medium = M::default();
    for start in 0..5 {
        let mut store = medium.open();
        assert_eq!(store.last(), Seq::new(start * 10));
        store.commit(&rows(start * 10..start * 10 + 10)).unwrap();
    }
    let found = verify(&*medium.open().reader().unwrap()).unwrap();
    assert_eq!((found.intact, found.damaged), (50, 0));
}

fn readers_see_what_is_committed<M: Medium>() {
    let medium = M::default();
    let mut store = medium.open();
    let reader = store.reader().unwrap();
    for count in 1..=3 {
        store.commit(&[row(count)]).unwrap();
        assert_eq!(reader.last().unwrap(), Seq::new(count));
        assert_eq!(reader.read(Seq::FIRST, 10).unwrap().len() as u64, count);
    }
}

fn pages_begin_and_end_where_asked<M: Medium>() {
    let medium = M::default();
    let mut store = medium.open();
    store.commit(&rows(1..=5)).unwrap();
    let reader = store.reader().unwrap();
    let table: [(u64, usize, &[u64]); 7] = [
        (0, 2, &[1, 2]),
        (1, 2, &[1, 2]),
        (3, 9, &[3, 4, 5]),
        (5, 1, &[5]),
        (6, 9, &[]),
        (1, 0, &[]),
        (u64::MAX, 9, &[]),
    ];
    for (from, at_most, expected) in table {
        let found = reader.read(Seq::new(from), at_most).unwrap();
        assert_eq!(numbers(&found), expected, "{at_most} rows from {from}");
    }
}

fn pages_end_when_they_are_large<M: Medium>() {
    let medium = M::default();
    let mut store = medium.open();
    let large = Row { body: "x".repeat(PAGE_BYTES / 2 + 1), ..row(1) };
    store.commit(&[large.clone(), large.clone(), large]).unwrap();
    let reader = store.reader().unwrap();
    assert_eq!(numbers(&reader.read(Seq::FIRST, 10).unwrap()), [1, 2]);
    assert_eq!(numbers(&reader.history(TaskId::new(1), Seq::FIRST, 10).unwrap()), [1, 2]);
    assert_eq!(numbers(&reader.read(Seq::new(3), 10).unwrap()), [3]);
}

fn lists_a_row_under_its_tasks_only<M: Medium>() {
    let about = |ranges: &[(usize, usize)]| {
        let range = |&(first, last)| TaskRange::between(TaskId::new(first), TaskId::new(last)).unwrap();
        Row { tasks: ranges.iter().map(range).collect(), ..row(0) }
    };
    let medium = M::default();
    let mut store = medium.open();
    store.commit(&[about(&[(0, 999_999)]), about(&[(7, 7)]), about(&[])]).unwrap();
    store.commit(&[about(&[(5, 8), (7, 9)]), about(&[(6, 6), (999_999, 999_999)])]).unwrap();
    let reader = store.reader().unwrap();
    let table: [(usize, u64, usize, &[u64]); 9] = [
        (0, 1, 10, &[1]),
        (7, 1, 10, &[1, 2, 4]),
        (7, 2, 10, &[2, 4]),
        (7, 1, 2, &[1, 2]),
        (6, 1, 10, &[1, 4, 5]),
        (9, 1, 10, &[1, 4]),
        (999_999, 0, 10, &[1, 5]),
        (1_000_000, 1, 10, &[]),
        (7, 5, 10, &[]),
    ];
    for (task, from, at_most, expected) in table {
        let found = reader.history(TaskId::new(task), Seq::new(from), at_most).unwrap();
        assert_eq!(numbers(&found), expected, "{at_most} rows of task {task} from {from}");
    }
}

fn refuses_what_is_too_large_and_goes_on<M: Medium>() {
    let long = Row { body: "x".repeat(BODY_LIMIT + 1), ..row(2) };
    let wide = Row { tasks: vec![TaskRange::one(TaskId::new(0)); RANGES_LIMIT + 1], ..row(2) };
    for large in [long, wide] {
        let medium = M::default();
        let mut store = medium.open();
        let refused = store.commit(&[row(1), large]);
        assert!(matches!(refused, Err(CommitError::TooLarge { index: 1, .. })), "{refused:?}");
        assert_eq!(store.reader().unwrap().last().unwrap(), Seq::NONE);
        assert_eq!(store.commit(&[row(1)]).unwrap(), Seq::FIRST);
    }
}

fn snapshot(at: u64, format: u32) -> Snapshot {
    Snapshot { at: Seq::new(at), format, body: format!("state at {at}, {format}").into_bytes() }
}

fn keeps_the_newest_snapshot_of_each_kind<M: Medium>() {
    let medium = M::default();
    let mut store = medium.open();
    store.commit(&rows(1..=9)).unwrap();
    let mut snapshots = store.snapshots().unwrap();
    for saved in [snapshot(3, 1), snapshot(5, 1), snapshot(7, 2)] {
        snapshots.save(&saved).unwrap();
    }
    drop((snapshots, store));
    let snapshots = medium.open().snapshots().unwrap();
    let table = [(1, Some(snapshot(5, 1))), (2, Some(snapshot(7, 2))), (3, None)];
    for (format, expected) in table {
        assert_eq!(snapshots.latest(format).unwrap(), expected, "format {format}");
    }
}

fn no_snapshot_stands_on_nothing<M: Medium>() {
    let medium = M::default();
    let mut store = medium.open();
    store.commit(&rows(1..=2)).unwrap();
    let mut snapshots = store.snapshots().unwrap();
    for at in [0, 3] {
        let refused = snapshots.save(&snapshot(at, 1));
        assert!(matches!(refused, Err(SnapshotError::NotCommitted { .. })), "at {at}: {refused:?}");
    }
    assert_eq!(snapshots.latest(1).unwrap(), None);
}
