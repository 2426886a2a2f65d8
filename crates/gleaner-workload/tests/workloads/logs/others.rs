//! The Grid Workload Format, and Batsim's workloads.

use crate::shared;
use gleaner_workload::logs::{self, Format};
use gleaner_workload::swf::{Job, Log, Statistics};
use gleaner_workload::{batsim, gwf};
use proptest::prelude::*;

const GRID: &str = "# a grid\nJobID SubmitTime WaitTime\n\
    0\t1072821600\t5\t100\t4\t90.5\t-1\t4\t120\t-1\t1\tU7\tG1\tX3\tQ0\tP1\tS1\tS1\tUNITARY\t-1\t-1\t-1\t-1\t-1\t-1\t-1\t-1\tV1\t-1\n\
    1 1072821500 -1 0 -1 -1 -1 2 -1 -1 0 U2 G1 -1 Q0 -1 S1 S1 BoT 5,6 -1 -1 -1 -1 -1 -1 -1 -1 -1 more\n\
    2 1072821700 -1 -1 -1 -1 -1 -1 -1 -1 5 U7 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1\n";
const JOBS: &str = r#"{"nb_res": 32, "jobs": [
    {"id": "w0!7", "subtime": 10.5, "walltime": 60, "res": 4, "profile": "short"},
    {"id": 9, "subtime": 0, "res": 1, "profile": "long", "user": "ada"}],
    "profiles": {"short": {"type": "delay", "delay": 12.25}, "long": {"type": "delay", "delay": 100}}}"#;

#[test]
fn a_log_of_a_grid_is_one_as_any_other() {
    let log = gwf::parse("a.gwf", GRID.into()).expect("a log");
    let told: Vec<_> = log.jobs().iter().map(|job| (job.submit_s, job.run_s, job.size(), job.user)).collect();
    let expected = [
        (Some(100.0), Some(100.0), Some(4), Some(1)),
        (Some(0.0), Some(0.0), Some(2), Some(2)),
        (Some(200.0), None, None, Some(1)),
    ];
    assert_eq!(told, expected);
    let header: Vec<String> =
        log.header().iter().map(|entry| format!("{}={}", entry.key, entry.value)).collect();
    assert!(
        header.contains(&"UnixStartTime=1072821500".to_owned()) && header.contains(&"User=1 U7".to_owned())
    );
    assert_eq!(
        (log.kept(4).jobs.len(), log.kept(4).left_out.to_string().as_str()),
        (2, "1 without a run time")
    );
    let mut written = Vec::new();
    gwf::write(&log, &mut written).expect("memory");
    let again = gwf::parse("b.gwf", written).expect("what was written");
    assert_eq!(again.jobs(), log.jobs());
    assert_eq!(again.unix_start(), Some(1_072_821_500.0));
}

/// A machine's size is kept, and no beginning is made up.
#[test]
fn a_log_of_a_machine_comes_back_from_a_grids_format() {
    let line = "1 50 -1 10 2 -1 -1 2 20 -1 1 1 1 1 1 1 -1 -1\n";
    for (start, expected) in [("; UnixStartTime: 1000000000\n", Some(1_000_000_050.0)), ("", None)] {
        let log = Log::parse("u.swf", format!("{start}; MaxProcs: 8\n{line}").into()).expect("a log");
        let mut written = Vec::new();
        gwf::write(&log, &mut written).expect("memory");
        let again = gwf::parse("u.gwf", written).expect("what was written");
        assert_eq!((again.processors(), again.unix_start()), (Some(8), expected));
        assert_eq!(again.jobs()[0].submit_s, Some(0.0));
    }
}

/// A beginning with a fraction, or far ahead, is in the header and comes back.
#[test]
fn the_beginning_of_a_log_is_kept_as_it_is() {
    for (first, second) in [("1136073600.5", "1136073610.5"), ("4294967296.25", "4294967306.25")] {
        let text = GRID.replace("1072821600", first).replace("1072821500", second);
        let log = gwf::parse("a.gwf", text.replace("1072821700", second).into()).expect("a log");
        assert_eq!(log.unix_start(), first.parse().ok(), "{first}");
        let mut written = Vec::new();
        gwf::write(&log, &mut written).expect("memory");
        let again = gwf::parse("b.gwf", written).expect("what was written");
        assert_eq!((again.unix_start(), again.jobs()), (log.unix_start(), log.jobs()), "{first}");
    }
    for (value, expected) in
        [("12 (a Tuesday)", Some(12.0)), ("12.", Some(12.0)), ("soon", None), (".5", Some(0.5))]
    {
        let log = Log::parse("a.swf", format!("; UnixStartTime: {value}\n").into()).expect("a log");
        assert_eq!(log.unix_start(), expected, "{value}");
    }
}

#[test]
fn a_workload_of_batsim_is_one_as_any_other() {
    let log = batsim::parse("a.json", JOBS.into()).expect("a log");
    assert_eq!(log.processors(), Some(32));
    let short = Job {
        number: Some(7),
        submit_s: Some(10.5),
        run_s: Some(12.25),
        requested_processors: Some(4),
        requested_s: Some(60.0),
        executable: Some(2),
        ..Job::default()
    };
    assert_eq!((log.jobs()[0], log.jobs()[1].requested_s), (short, None));
    let kept = log.kept(32);
    let mut written = Vec::new();
    batsim::write(32, &log, &mut written).expect("memory");
    let again = batsim::parse("b.json", written).expect("what was written");
    let numbers =
        |log: &Log| log.jobs().iter().map(|job| job.number).collect::<std::collections::BTreeSet<_>>();
    assert_eq!(numbers(&again), [Some(7), Some(9)].into(), "jobs keep their numbers");
    let again = again.kept(32);
    let facts = |kept: &gleaner_workload::swf::Kept| -> Vec<_> {
        kept.jobs.iter().map(|job| (job.submit, job.run, job.estimate, job.processors)).collect()
    };
    assert_eq!(facts(&again), facts(&kept));
}

/// Batsim kills a job that takes as long as its walltime says.
#[test]
fn a_job_without_an_estimate_has_no_walltime() {
    let log =
        "1 0 -1 100 4 -1 -1 4 -1 -1 1 1 1 -1 -1 -1 -1 -1\n2 0 -1 100 4 -1 -1 4 200 -1 1 1 1 -1 -1 -1 -1 -1\n";
    let log = Log::parse("a.swf", log.into()).expect("a log");
    let mut written = Vec::new();
    batsim::write(32, &log, &mut written).expect("memory");
    let text = String::from_utf8(written.clone()).expect("text");
    assert!(text.matches("walltime").count() == 1 && text.contains("\"walltime\":200.0"), "{text}");
    let again = batsim::parse("b.json", written).expect("what was written");
    assert_eq!([&log, &again].map(|log| Statistics::of(log, 32).with_estimate), [0.5, 0.5]);
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    for (from, to, said) in [
        ("1072821500 -1 0", "1072821500 -1 long", "a:4: field 4 (RunTime): found \"long\"; expected seconds"),
        (
            "-1 -1 -1 -1 -1 -1 -1 -1 -1 more",
            "",
            "a:4: field 21 (UsedNetwork): found 20 fields; expected 29 fields",
        ),
    ] {
        let error = gwf::parse("a", GRID.replace(from, to).into()).expect_err(to).to_string();
        assert!(error.starts_with(said), "{error}");
    }
    for (from, to, said) in [
        ("\"res\": 4, ", "", "a:2: column 71: found missing field `res`; expected Batsim's"),
        ("\"short\"}", "\"shirt\"}", "a: jobs[0].profile: found \"shirt\"; expected the name of one"),
        ("\"delay\", \"delay\": 100", "\"parallel\"", "a: jobs[1].profile: found \"long\", which is of type"),
        ("12.25", "-1", "a: jobs[0].profile: found a delay of -1; expected a delay in seconds"),
        ("10.5", "-10.5", "a: jobs[0].subtime: found -10.5; expected seconds, 0 or more"),
        ("\"jobs\": [", "\"jobs\": {", "a:"),
    ] {
        let error = batsim::parse("a", JOBS.replacen(from, to, 1).into()).expect_err(to).to_string();
        assert!(error.starts_with(said), "{error}");
    }
}

#[test]
fn the_format_shows_in_the_name_or_in_the_text() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text, format, jobs) in [
        ("a.gwf", GRID, None, 3),
        ("a.json", JOBS, None, 2),
        ("grid", GRID, None, 3),
        ("jobs", JOBS, None, 2),
        ("b.swf", JOBS, Some(Format::Batsim), 2),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        assert_eq!(logs::load(&path, format).expect(name).jobs().len(), jobs, "{name}");
    }
    assert!(logs::load(&folder.path().join("b.swf"), None).is_err());
}

#[test]
fn what_is_no_log_is_not_taken_for_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let load = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        logs::load(&path, None).map(|log| log.jobs().len()).map_err(|error| error.to_string())
    };
    for (name, text, first) in [
        ("s.toml", "[grid]\nmachines = \"machines.csv\"\n", "[grid]"),
        ("tasks.csv", "id,arrival_s,length\n1,0,4\n", "id,arrival_s,length"),
        ("text", "\u{feff}\nsome text\n", "some text"),
    ] {
        let told =
            format!("{name}: found \"{first}\" at its beginning; expected a log of jobs, in the Standard");
        let error = load(name, text).expect_err(name);
        assert!(error.contains(&told), "{error}");
    }
    for name in ["lab.jsonl", "lab.json"] {
        let error = load(name, "{\"at_ns\":17,\"fact\":{},\"seq\":1,\"version\":9}\n").expect_err(name);
        assert!(error.contains(": found the journal of a live grid; expected a log of jobs"), "{error}");
        assert!(error.contains("gleaner workload convert") && error.contains("gleaner replay"), "{error}");
        assert!(error.contains("gleaner advise --journal") && error.contains("not packed"), "{error}");
    }
    let job = "1 0 -1 10 1 -1 -1 1 10 -1 1 1 1 -1 -1 -1 -1 -1\n";
    assert_eq!(load("plain", job), Ok(1));
    assert_eq!(load("named", &format!("; Version: 2\nJobID Submit Wait\n{job}")), Ok(1));
}

#[test]
fn batsims_own_workload_is_read() {
    let Some(path) = shared("batsim/medium_late.json.gz") else { return };
    let log: Log = logs::load(&path, None).expect("a log");
    assert_eq!((log.jobs().len(), log.kept(32).jobs.len()), (801, 801));
    assert_eq!(log.jobs().iter().filter(|job| job.requested_s.is_some()).count(), 801);
}

proptest! {
    #[test]
    fn nothing_makes_a_reader_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..4_usize, 0..14_usize), 0..6),
        of_batsim in any::<bool>(),
    ) {
        let inserts: [&[u8]; 14] =
            [b"", b"\n", b"#", b"-", b"9", b"\xff", b"1e999", b"\"", b"{", b"[", b"null", b",", b"NaN", b"\x1f\x8b"];
        let mut bytes = if of_batsim { JOBS } else { GRID }.as_bytes().to_vec();
        for (at, removed, insert) in edits {
            let at = at.index(bytes.len() + 1);
            let end = (at + removed).min(bytes.len());
            bytes.splice(at..end, inserts[insert].iter().copied());
        }
        for read in [gwf::parse("a", bytes.clone()), batsim::parse("a", bytes)] {
            match read {
                Ok(log) => prop_assert!(log.kept(16).jobs.len() <= log.jobs().len()),
                Err(error) => prop_assert!(!error.found.is_empty() && !error.expected.is_empty()),
            }
        }
    }
}
