//! The suite that each form of the store passes. A form brings a [`Medium`]: what survives a restart.

use super::{numbers, row, rows};
use gleaner_server::store::{
    Amount, BODY_LIMIT, CommitError, Compaction, FoundJob, PAGE_BYTES, Past, PastJob, PastTask, RANGES_LIMIT,
    Reader, Removal, Results, Row, Seq, Snapshot, SnapshotError, Store, TaskRange, Wanted, WithResults,
    verify,
};
use gleaner_units::{Span, TaskId, Time};
use gleaner_wire::api::TaskPhase;
use gleaner_wire::{BlobHash, JobId};

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
    keeps_what_left_memory_with_its_rows::<M>();
    keeps_what_became_of_results::<M>();
    drops_rows_and_keeps_what_they_add_up_to::<M>();
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
        Row { at: Time::ZERO, tasks: vec![], steps: String::new(), body: String::new() },
        Row {
            at: Time::NEVER,
            tasks: vec![range(0, u32::MAX as usize)],
            steps: "[[[0,4294967295],\"λ\"]]".into(),
            body: "{\"name\":\"λ\\u0000\"}".into(),
        },
        Row {
            at: Time::from_nanos(7),
            tasks: vec![range(3, 9), range(5, 5), range(0, 1)],
            steps: "\n".into(),
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
    let told = Row { steps: "x".repeat(BODY_LIMIT + 1), ..row(2) };
    let wide = Row { tasks: vec![TaskRange::one(TaskId::new(0)); RANGES_LIMIT + 1], ..row(2) };
    for large in [long, told, wide] {
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

fn keeps_what_left_memory_with_its_rows<M: Medium>() {
    let file = |digit: &str| BlobHash::try_from(digit.repeat(64)).unwrap();
    let task = |number: usize, body: &[u8]| PastTask {
        task: TaskId::new(number),
        files: vec![file(if number == 9 { "4" } else { "1" })],
        body: body.to_vec(),
    };
    let job = |number: u32, user: &str, key: Option<&str>, state| PastJob {
        job: JobId(number),
        user: user.to_owned(),
        key: key.map(str::to_owned),
        state,
        ended: Time::from_nanos(9),
        files: vec![file("2")],
        results: if number == 2 { Results::Kept } else { Results::There },
        bytes: 100 * u64::from(number),
        removed: None,
        body: vec![number as u8],
        spec: b"long".to_vec(),
    };
    let past = Past {
        upto: Seq::new(2),
        tasks: vec![task(3, b"three"), task(4, b"four"), task(9, b"nine")],
        jobs: vec![
            job(1, "ada", Some("k"), TaskPhase::Done),
            job(2, "bob", Some("k"), TaskPhase::Failed),
            job(3, "ada", None, TaskPhase::Failed),
        ],
        ..Past::default()
    };
    let medium = M::default();
    let mut store = medium.open();
    store.commit_with(&rows(1..=2), Some(&past)).unwrap();
    drop(store);
    let mut store = medium.open();
    let reader = store.reader().unwrap();
    assert_eq!(reader.past_at().unwrap(), Seq::new(2));
    assert_eq!(reader.past_task(TaskId::new(3)).unwrap(), Some(b"three".to_vec()));
    assert_eq!(reader.past_task(TaskId::new(5)).unwrap(), None);
    let range = TaskRange::between(TaskId::new(4), TaskId::new(9)).unwrap();
    let found =
        |at_most| reader.past_tasks(range, at_most).unwrap().into_iter().map(|(task, _)| task.index());
    assert_eq!(found(9).collect::<Vec<_>>(), [4, 9]);
    assert_eq!(found(1).collect::<Vec<_>>(), [4]);
    let jobs = |reader: &dyn Reader, user: Option<&str>, state, limit| {
        let wanted = Wanted { user: user.map(str::to_owned), state, limit, ..Wanted::default() };
        jobs_of(reader, &wanted).into_iter().map(|job| job.job.0).collect::<Vec<u32>>()
    };
    assert_eq!(jobs(&*reader, None, None, 9), [3, 2, 1]);
    assert_eq!(jobs(&*reader, None, None, 2), [3, 2]);
    assert_eq!(jobs(&*reader, Some("ada"), None, 9), [3, 1]);
    assert_eq!(jobs(&*reader, None, Some(TaskPhase::Failed), 9), [3, 2]);
    assert_eq!(jobs(&*reader, Some("ada"), Some(TaskPhase::Done), 9), [1]);
    let before = Wanted { before: Some(JobId(3)), limit: 9, ..Wanted::default() };
    let before = jobs_of(&*reader, &before).into_iter().map(|job| job.job.0).collect::<Vec<u32>>();
    assert_eq!(before, [2, 1]);
    let by_key = |user: &str| reader.past_job_with_key(user, "k").unwrap().map(|job| job.job.0);
    assert_eq!(["ada", "bob", "eve"].map(by_key), [Some(1), Some(2), None]);
    assert_eq!(["1", "2", "3"].map(|digit| reader.names_file(&file(digit)).unwrap()), [true, true, false]);

    results_of_what_left_memory_are_told_apart(&*reader);

    let back = TaskRange::between(TaskId::new(3), TaskId::new(7)).unwrap();
    let later = Past {
        upto: Seq::new(3),
        revived: vec![JobId(1)],
        revived_tasks: vec![back],
        tasks: vec![task(3, b"again")],
        ..Past::default()
    };
    store.commit_with(&rows(3..=3), Some(&later)).unwrap();
    let reader = store.reader().unwrap();
    assert_eq!((reader.past_at().unwrap(), store.last()), (Seq::new(3), Seq::new(3)));
    assert_eq!(reader.past_job(JobId(1)).unwrap(), None);
    let found = reader.past_job(JobId(2)).unwrap().map(|job| (job.body, job.spec));
    assert_eq!(found, Some((vec![2], b"long".to_vec())));
    let listed = reader.past_job_listed(JobId(2)).unwrap().map(|job| (job.body, job.spec));
    assert_eq!(listed, Some((vec![2], Vec::new())));
    assert_eq!(jobs_of(&*reader, &Wanted { limit: 1, ..Wanted::default() })[0].spec, b"", "lists are short");
    assert_eq!(reader.past_task(TaskId::new(3)).unwrap(), Some(b"again".to_vec()));
    assert_eq!(reader.past_task(TaskId::new(4)).unwrap(), None);
    assert_eq!(["1", "2", "4"].map(|digit| reader.names_file(&file(digit)).unwrap()), [true; 3]);
    let gone = Past {
        upto: Seq::new(4),
        revived: vec![JobId(2), JobId(3)],
        revived_tasks: vec![back],
        ..Past::default()
    };
    store.commit_with(&rows(4..=4), Some(&gone)).unwrap();
    assert_eq!(["1", "2", "4"].map(|digit| reader.names_file(&file(digit)).unwrap()), [false, false, true]);

    store.forget_past().unwrap();
    let reader = store.reader().unwrap();
    assert_eq!((reader.past_at().unwrap(), reader.last().unwrap()), (Seq::NONE, Seq::new(4)));
    assert_eq!(jobs(&*reader, None, None, 9), Vec::<u32>::new());
    assert!(!reader.names_file(&file("4")).unwrap());
}

fn jobs_of(reader: &dyn Reader, wanted: &Wanted) -> Vec<FoundJob> {
    let mut found = Vec::new();
    reader.past_jobs(wanted, &mut |job| found.push(job)).unwrap();
    found
}

/// Of jobs 1 and 3 of ada's and 2 of bob's, whose results are kept.
fn results_of_what_left_memory_are_told_apart(reader: &dyn Reader) {
    let with = |results, user: Option<&str>, (from, by)| {
        let ended = (Time::from_nanos(from), Time::from_nanos(by));
        let wanted = WithResults { results, user: user.map(str::to_owned), ended };
        let mut found = Vec::new();
        reader.past_with(&wanted, 9, &mut |job| found.push(job.job.0)).unwrap();
        let Amount { jobs, bytes } = reader.past_amount(&wanted).unwrap();
        (found, jobs, bytes)
    };
    assert_eq!(with(Results::There, None, (9, 9)), (vec![1, 3], 2, 400));
    assert_eq!(with(Results::There, None, (0, 8)), (vec![], 0, 0), "they were over later");
    assert_eq!(with(Results::There, None, (10, 99)), (vec![], 0, 0), "they were over before");
    assert_eq!(with(Results::There, Some("bob"), (0, 9)), (vec![], 0, 0));
    assert_eq!(with(Results::Kept, Some("bob"), (0, 99)), (vec![2], 1, 200));
}

fn keeps_what_became_of_results<M: Medium>() {
    let file = |digit: &str| BlobHash::try_from(digit.repeat(64)).unwrap();
    let tasks = |first, last| TaskRange::between(TaskId::new(first), TaskId::new(last)).unwrap();
    let job = |number: u32, reads: &str| PastJob {
        job: JobId(number),
        user: "ada".to_owned(),
        key: Some(number.to_string()),
        state: TaskPhase::Done,
        ended: Time::from_nanos(10 - u64::from(number)),
        files: vec![file(reads)],
        results: Results::There,
        bytes: 7,
        removed: None,
        body: Vec::new(),
        spec: Vec::new(),
    };
    let task = |number, left: &str| PastTask {
        task: TaskId::new(number),
        files: vec![file(left)],
        body: b"body".to_vec(),
    };
    let past = Past {
        upto: Seq::new(1),
        tasks: vec![task(1, "a"), task(2, "b"), task(3, "c")],
        jobs: vec![job(1, "1"), job(2, "2")],
        ..Past::default()
    };
    let medium = M::default();
    let mut store = medium.open();
    store.commit_with(&rows(1..=1), Some(&past)).unwrap();
    let removal = Removal { at: Time::from_nanos(50), kept_for: Span::from_nanos(40) };
    let removed = Past {
        upto: Seq::new(2),
        removed: vec![(JobId(1), tasks(1, 2), removal)],
        results: vec![(JobId(2), Results::Kept)],
        ..Past::default()
    };
    store.commit_with(&rows(2..=2), Some(&removed)).unwrap();
    drop(store);
    let mut store = medium.open();
    let reader = store.reader().unwrap();
    let told = |reader: &dyn Reader, id| {
        let found = reader.past_job(JobId(id)).unwrap();
        found.map(|found| (found.results, found.bytes, found.removed))
    };
    assert_eq!(told(&*reader, 1), Some((Results::Going, 0, Some(removal))));
    assert_eq!(told(&*reader, 2), Some((Results::Kept, 7, None)));
    let named =
        |reader: &dyn Reader| ["1", "a", "b", "2", "c"].map(|digit| reader.names_file(&file(digit)).unwrap());
    assert_eq!(named(&*reader), [false, false, false, true, true], "what is removed names no file");
    assert_eq!(reader.past_task(TaskId::new(1)).unwrap(), Some(b"body".to_vec()), "the record stays");

    let gone = Past { upto: Seq::new(3), results: vec![(JobId(1), Results::Gone)], ..Past::default() };
    store.commit_with(&rows(3..=3), Some(&gone)).unwrap();
    assert_eq!(told(&*reader, 1), Some((Results::Gone, 0, Some(removal))));
    let forgotten = Past { upto: Seq::new(4), forgotten: vec![(JobId(1), tasks(1, 2))], ..Past::default() };
    store.commit_with(&rows(4..=4), Some(&forgotten)).unwrap();
    assert_eq!(told(&*reader, 1), None);
    let left = reader.past_tasks(tasks(0, 9), 9).unwrap();
    assert_eq!(left, [(TaskId::new(3), b"body".to_vec())]);
    assert_eq!(named(&*reader), [false, false, false, true, true]);
}

/// What the past tables say, to be compared.
fn past_of(reader: &dyn Reader) -> impl PartialEq + std::fmt::Debug + use<> {
    let all = TaskRange::between(TaskId::new(0), TaskId::new(u32::MAX as usize)).unwrap();
    let jobs = jobs_of(reader, &Wanted { limit: 99, ..Wanted::default() });
    let files = ["a", "b", "c", "1", "2", "3"]
        .map(|digit| reader.names_file(&BlobHash::try_from(digit.repeat(64)).unwrap()).unwrap());
    (reader.past_at().unwrap(), reader.past_tasks(all, 99).unwrap(), jobs, files)
}

/// With each of the first three rows, two tasks and a job leave memory.
pub(crate) fn the_past() -> Vec<Past> {
    let file = |digit: &str| BlobHash::try_from(digit.repeat(64)).unwrap();
    let past = |(row, [reads, left]): (usize, [&str; 2])| {
        let number = row as u32 + 1;
        let job = PastJob {
            job: JobId(number),
            user: "ada".to_owned(),
            key: Some(number.to_string()),
            state: TaskPhase::Failed,
            ended: Time::from_nanos(9),
            files: vec![file(reads)],
            results: Results::There,
            bytes: 7,
            removed: None,
            body: vec![number as u8],
            spec: vec![1, 2, 3],
        };
        let task =
            |task| PastTask { task: TaskId::new(task), files: vec![file(left)], body: vec![task as u8] };
        let tasks = vec![task(2 * row), task(2 * row + 1)];
        Past { upto: Seq::new(u64::from(number)), tasks, jobs: vec![job], ..Past::default() }
    };
    [["1", "a"], ["2", "b"], ["3", "c"]].into_iter().enumerate().map(past).collect()
}

/// Ten rows, of the first three of which that left memory.
pub(crate) fn begin_with_a_past(store: &mut dyn Store) {
    for past in the_past() {
        store.commit_with(&rows([past.upto.number()]), Some(&past)).unwrap();
    }
    store.commit(&rows(4..=10)).unwrap();
}

/// Rows 1 to 3 and 5 go, and the journal begins behind row 6.
pub(crate) fn compact(store: &mut dyn Store, pasts: Vec<Past>) -> Result<Seq, CommitError> {
    let base = Snapshot { at: Seq::new(6), format: 3, body: b"the sum of six rows".to_vec() };
    let dropped = [(Seq::new(1), Seq::new(3)), (Seq::new(5), Seq::new(5))];
    store.compact(Compaction {
        base: &base,
        moment: Time::from_nanos(6),
        pasts: &mut pasts.into_iter().map(Ok),
        dropped: &dropped,
        row: &|_| row(11),
    })
}

fn drops_rows_and_keeps_what_they_add_up_to<M: Medium>() {
    let medium = M::default();
    let mut store = medium.open();
    begin_with_a_past(&mut *store);
    let reader = store.reader().unwrap();
    let chains = [6, 10].map(|row| reader.chain(Seq::new(row)).unwrap());
    let before = past_of(&*reader);
    assert_eq!((reader.beginning().unwrap(), reader.base().unwrap()), (None, None));
    drop(reader);
    assert_eq!(compact(&mut *store, the_past()).unwrap(), Seq::new(11));
    drop(store);

    let mut store = medium.open();
    let reader = store.reader().unwrap();
    assert_eq!((store.last(), reader.last().unwrap()), (Seq::new(11), Seq::new(11)));
    let beginning = reader.beginning().unwrap().unwrap();
    assert_eq!(
        (beginning.at, beginning.moment, beginning.past),
        (Seq::new(6), Time::from_nanos(6), Seq::new(3))
    );
    assert_eq!(reader.base().unwrap().unwrap().body, b"the sum of six rows");
    assert_eq!([6, 10].map(|row| reader.chain(Seq::new(row)).unwrap()), chains, "heads stay what they were");
    for (from, expected) in
        [(1, &[4, 6, 7, 8, 9, 10, 11][..]), (5, &[6, 7, 8, 9, 10, 11]), (7, &[7, 8, 9, 10, 11])]
    {
        assert_eq!(numbers(&reader.read(Seq::new(from), 99).unwrap()), expected, "from {from}");
    }
    assert_eq!(numbers(&reader.read(Seq::FIRST, 1).unwrap()), [4]);
    assert_eq!(numbers(&reader.history(TaskId::new(4), Seq::FIRST, 9).unwrap()), [4]);
    assert_eq!(numbers(&reader.history(TaskId::new(5), Seq::FIRST, 9).unwrap()), [] as [u64; 0]);
    let found = verify(&*reader).unwrap();
    assert_eq!((found.intact, found.damaged), (7, 0));
    assert_eq!(format!("{:?}", past_of(&*reader)), format!("{before:?}"));

    // What changes since can be undone, to be made anew from the rows.
    let tasks = |first, last| TaskRange::between(TaskId::new(first), TaskId::new(last)).unwrap();
    let removal = Removal { at: Time::from_nanos(50), kept_for: Span::from_nanos(40) };
    let later = Past {
        upto: Seq::new(12),
        revived: vec![JobId(1)],
        revived_tasks: vec![tasks(0, 1)],
        removed: vec![(JobId(2), tasks(2, 3), removal)],
        forgotten: vec![(JobId(3), tasks(4, 5))],
        ..Past::default()
    };
    store.commit_with(&rows(12..=12), Some(&later)).unwrap();
    let again = the_past().swap_remove(0);
    store.commit_with(&rows(13..=13), Some(&Past { upto: Seq::new(13), ..again })).unwrap();
    assert_ne!(format!("{:?}", past_of(&*reader)), format!("{before:?}"));
    assert!(reader.is_sealed().unwrap(), "the seal is over what was");
    assert_eq!(reader.base_tasks(TaskId::new(1), 3).unwrap().len(), 3);
    let jobs = reader.base_jobs(JobId(1), 99).unwrap();
    assert_eq!(jobs, the_past().into_iter().flat_map(|past| past.jobs).collect::<Vec<_>>());
    let tasks = reader.base_tasks(TaskId::new(0), 99).unwrap();
    assert_eq!(tasks, the_past().into_iter().flat_map(|past| past.tasks).collect::<Vec<_>>());
    store.forget_past().unwrap();
    assert_eq!(format!("{:?}", past_of(&*reader)), format!("{before:?}"));

    // Once more, from there.
    let base = Snapshot { at: Seq::new(9), format: 3, body: b"nine".to_vec() };
    let what = Compaction {
        base: &base,
        moment: Time::from_nanos(9),
        pasts: &mut [].into_iter(),
        dropped: &[(Seq::FIRST, Seq::new(9))],
        row: &|_| row(14),
    };
    assert_eq!(store.compact(what).unwrap(), Seq::new(14));
    let reader = store.reader().unwrap();
    assert_eq!(numbers(&reader.read(Seq::FIRST, 99).unwrap()), [10, 11, 12, 13, 14]);
    assert_eq!(format!("{:?}", past_of(&*reader)), format!("{before:?}"));
    assert_eq!(verify(&*reader).unwrap().damaged, 0);
    store.commit(&rows(15..=15)).unwrap();
}
