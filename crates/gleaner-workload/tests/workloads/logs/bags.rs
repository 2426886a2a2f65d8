//! Traces of bags of tasks.

use crate::shared;
use gleaner_workload::ourgrid::trace::Workload;
use proptest::prelude::*;

const TRACE: &str = "taskId time jobId jobSize runtime user peer\n\
    1 100 7 2 50.5 1 24\n 2 100 7 2 20 1 24\n\n3 90 8 1 10 1 9\n4 400 9 1 5 1 24\n5 120 10 1 1 1 24";

#[test]
fn users_are_closed_loops() {
    let workload = Workload::parse("a.txt", TRACE.into()).expect("a workload");
    assert_eq!(workload.peers, ["24", "9"]);
    let told: Vec<_> = (workload.jobs.iter())
        .map(|job| {
            let runs: Vec<f64> = workload.runs_of(job).iter().map(|run| run.seconds()).collect();
            (job.name.as_str(), job.user, job.submit.seconds(), job.think.seconds(), runs)
        })
        .collect();
    let expected = [
        ("8", 1, 90.0, 90.0, vec![10.0]),
        ("7", 0, 100.0, 100.0, vec![50.5, 20.0]),
        // It came before the one above had ended.
        ("10", 0, 120.0, 0.0, vec![1.0]),
        ("9", 0, 400.0, 249.5, vec![5.0]),
    ];
    assert_eq!(told, expected);
    let gaps: Vec<f64> = workload.jobs.iter().map(|job| job.gap.seconds()).collect();
    assert_eq!(gaps, [90.0, 100.0, 20.0, 280.0]);
    let users: Vec<_> = workload.users.iter().map(|user| (user.peer, user.jobs.as_slice())).collect();
    assert_eq!(users, [(0, &[1, 2, 3][..]), (1, &[0][..])]);
}

#[test]
fn a_bad_line_is_named_with_its_column() {
    for (from, to, said) in [
        ("runtime", "run", "a.txt:1: runtime: found the columns"),
        ("50.5", "long", "a.txt:2: runtime: found \"long\"; expected seconds, 0 or more"),
        ("100 7 2 20", "101 7 2 20", "a.txt:3: jobId: found another time, size or user for the job \"7\""),
        ("7 2 20 1 24", "7 2 20 1", "a.txt:3: peer: found 6 fields; expected a field for each column"),
        ("3 90 8 1", "3 90 8 2", "a.txt:5: jobSize: found 1 of the 2 tasks of the job \"8\""),
        (
            "3 90 8 1 10 1 9",
            "3 100 7 2 10 1 24",
            "a.txt:5: jobSize: found task 3 of the job, which has 2; expected as many tasks as it says",
        ),
        // `TRACE_TASKS_MAX`
        ("3 90 8 1", "3 90 8 50000000", "a.txt:5: jobSize: found 1 of the 50000000 tasks of the job \"8\""),
        ("3 90 8 1", "3 90 8 50000001", "a.txt:5: jobSize: found \"50000001\"; expected a number of tasks"),
        ("3 90 8 1", "3 90 8 0", "a.txt:5: jobSize: found \"0\"; expected a number of tasks"),
    ] {
        let error = Workload::parse("a.txt", TRACE.replace(from, to).into()).expect_err(to).to_string();
        assert!(error.starts_with(said), "{error}");
    }
    assert!(Workload::parse("a.txt", Vec::new()).is_err());
}

#[test]
fn the_week_of_fifty_peers_is_read_in_full() {
    let Some(path) = shared("ourgrid/marcus_workload_7_days_50_sites.txt.gz") else { return };
    let workload = Workload::load(&path).expect("a workload");
    let counts = (workload.peers.len(), workload.users.len(), workload.jobs.len(), workload.runs.len());
    assert_eq!(counts, (50, 213, 1_807, 62_566));
    let overlapping = workload.jobs.iter().filter(|job| job.think.nanos() == 0).count();
    assert_eq!(overlapping, 946, "jobs that came before the last one can have ended");
    for user in &workload.users {
        assert!(user.jobs.is_sorted());
    }
}

proptest! {
    #[test]
    fn nothing_makes_the_reader_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..4_usize, 0..10_usize), 0..6)
    ) {
        let inserts: [&[u8]; 10] = [b"", b"\n", b" ", b"-", b"9", b"\xff", b"1e999", b"x", b"NaN", b"\x1f\x8b"];
        let mut bytes = TRACE.as_bytes().to_vec();
        for (at, removed, insert) in edits {
            let at = at.index(bytes.len() + 1);
            let end = (at + removed).min(bytes.len());
            bytes.splice(at..end, inserts[insert].iter().copied());
        }
        match Workload::parse("a", bytes) {
            Ok(workload) => prop_assert_eq!(workload.jobs.iter().map(|job| job.tasks).sum::<usize>(), workload.runs.len()),
            Err(error) => prop_assert!(!error.found.is_empty() && !error.expected.is_empty()),
        }
    }
}
