//! The Standard Workload Format.

use crate::shared;
use gleaner_workload::swf::{Entry, Filter, Log, Statistics, with_field};
use proptest::prelude::*;
use std::io::Write;

const SMALL: &str = "; Version: 2.2\r\n; MaxNodes: 8\r\n; MaxProcs: 16 (all)\r\n;   goes on: here\r\n\r\n\
    \t1   0  5  10.50  4 9.25 -1 4 20 -1 1 3 1 -1 1 -1 -1 -1\r\n\
    ; in between\r\n\
    2 0 0 0 -1 -1 -1 2 -1 -1 1 3 1 -1 1 -1 1&7 -1 extra fields\r\n\
    3 -1 0 5 1 -1 -1 2 -1 -1 1 3 1 -1 1 -1 -1 -1";

fn parse(text: &str) -> Log {
    Log::parse("a.swf", text.into()).expect("a log")
}

fn line(fields: &[(usize, &str)]) -> String {
    let line = "1 0 5 10 4 9 -1 4 20 -1 1 3 1 -1 1 -1 -1 -1".as_bytes().to_vec();
    let line = fields.iter().fold(line, |line, &(field, value)| with_field(&line, field, value));
    String::from_utf8(line).expect("text")
}

#[test]
fn a_log_is_written_as_it_was_read() {
    let log = parse(SMALL);
    let mut written = Vec::new();
    log.write(&mut written).expect("memory");
    assert_eq!(String::from_utf8(written).expect("text"), SMALL);
    let first = log.jobs()[0];
    assert_eq!(
        (first.run_s, first.cpu_s, first.memory_kb, first.user),
        (Some(10.5), Some(9.25), None, Some(3))
    );
    assert_eq!((log.jobs()[1].preceding, log.jobs()[2].submit_s), (Some(1), None));
    let entry = |key: &str, value: &str| Entry { key: key.to_owned(), value: value.to_owned() };
    let header = [entry("Version", "2.2"), entry("MaxNodes", "8"), entry("MaxProcs", "16 (all)")];
    assert_eq!(log.header(), [&header[..], &[entry("", "goes on: here")]].concat());
    assert_eq!(log.processors(), Some(16));
}

#[test]
fn lines_can_be_changed_and_left_out_and_nothing_else_changes() {
    let mut written = Vec::new();
    let filled = |place: usize, line: &[u8]| (place != 0).then(|| with_field(line, 3, "77"));
    parse(SMALL).write_with(&mut written, filled).expect("memory");
    let written = String::from_utf8(written).expect("text");
    let expected = SMALL.replace("\t1   0  5  10.50  4 9.25 -1 4 20 -1 1 3 1 -1 1 -1 -1 -1\r\n", "");
    assert_eq!(written, expected.replace("2 0 0 0", "2 0 77 0").replace("3 -1 0 5", "3 -1 77 5"));
}

#[test]
fn packed_or_not_a_log_is_the_same() {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(SMALL.as_bytes()).expect("memory");
    let packed = Log::parse("a.swf", packer.finish().expect("memory")).expect("a log");
    assert_eq!((packed.text(), packed.jobs()), (SMALL.as_bytes(), parse(SMALL).jobs()));
}

#[test]
fn what_cannot_be_scheduled_is_left_out_and_counted() {
    let lines = [
        line(&[(2, "30"), (1, "7")]),
        line(&[(2, "-1")]),
        line(&[(4, "-1")]),
        line(&[(5, "0"), (8, "-1")]),
        line(&[(5, "-1"), (8, "16")]),
        line(&[(5, "17"), (8, "1")]),
        line(&[(2, "20"), (9, "0"), (4, "0")]),
        line(&[(2, "20"), (9, "-1"), (4, "7.5")]),
        line(&[(9, "0.25")]),
    ];
    let kept = parse(&lines.join("\n")).kept(16);
    let seen: Vec<_> =
        kept.jobs.iter().map(|job| (job.place, job.processors, job.estimate.seconds())).collect();
    // By submit time, then by place.
    assert_eq!(seen, [(4, 16, 20.0), (8, 4, 1.0), (6, 4, 1.0), (7, 4, 7.5), (0, 4, 20.0)]);
    let reasons =
        "1 without a submit time, 1 without a run time, 1 without processors, 1 larger than the machine";
    assert_eq!((kept.left_out.count(), kept.left_out.to_string()), (4, reasons.to_owned()));
    assert_eq!(parse(&line(&[])).kept(4).left_out.to_string(), "none");
}

/// A job that was interrupted twice: its own line, and its three parts, of which the first alone says when it was submitted.
fn interrupted(number: &str, submit: &str) -> [String; 4] {
    let of_job = |fields: &[(usize, &str)]| line(&[&[(1, number)], fields].concat());
    [
        of_job(&[(2, submit), (4, "60")]),
        of_job(&[(2, submit), (4, "10"), (11, "2")]),
        of_job(&[(2, "-1"), (4, "20"), (11, "2")]),
        of_job(&[(2, "-1"), (4, "30"), (11, "3")]),
    ]
}

#[test]
fn every_job_below_one_that_is_submitted_later_is_out_of_order() {
    let lines = ["10", "1", "2", "3", "10", "11"].map(|submit| line(&[(2, submit)]));
    assert_eq!(Statistics::of(&parse(&lines.join("\n")), 16).out_of_order, 3);
    // Of an interrupted job its own line counts, and not that its last part is submitted later.
    let mut of_one = interrupted("7", "100");
    of_one[3] = line(&[(1, "7"), (2, "900"), (11, "3")]);
    let text = [&of_one[..], &interrupted("8", "200")[..]].concat().join("\n");
    assert_eq!(Statistics::of(&parse(&text), 16).out_of_order, 0);
}

#[test]
fn a_part_of_a_job_is_no_job_and_stays_with_it() {
    let (first, second) = (interrupted("7", "100"), interrupted("8", "200"));
    let text = [&first[..], &second[..]].concat().join("\n") + "\n";
    let log = parse(&text);
    let kept = log.kept(16);
    let seen: Vec<_> = kept.jobs.iter().map(|job| (job.place, job.run.seconds())).collect();
    assert_eq!(seen, [(0, 60.0), (4, 60.0)]);
    let said = "6 that are a part (status 2, 3 or 4) of a job that has another line";
    assert_eq!((kept.left_out.count(), kept.left_out.to_string().as_str()), (6, said));
    let told = Statistics::of(&log, 16);
    assert_eq!((told.jobs, told.kept, told.run_mean_s), (2, 2, 60.0));
    let part =
        |filter| String::from_utf8(log.filtered(&filter).expect("a part").text().to_vec()).expect("text");
    assert_eq!(part(Filter { to_s: Some(150.0), ..Filter::default() }), first.join("\n") + "\n");
    assert_eq!(part(Filter { cores: Some(16), ..Filter::default() }), text);
    // With the same load twice as dense, the first part comes with its job.
    let dense = part(Filter { scale_load: Some(2.0), ..Filter::default() });
    assert_eq!(dense, [&first[..], &interrupted("8", "150")[..]].concat().join("\n") + "\n");
}

#[test]
fn a_filter_by_cores_leaves_out_what_is_too_large_and_nothing_else() {
    let small = [line(&[(4, "-1")]), line(&[(2, "-1")]), line(&[(5, "-1"), (8, "-1")])];
    let large = [line(&[(5, "129")]), line(&[(4, "-1"), (5, "-1"), (8, "129")])];
    let log = parse(&[&small[..], &large[..]].concat().join("\n"));
    let part = log.filtered(&Filter { cores: Some(128), ..Filter::default() }).expect("a part");
    assert_eq!(part.text(), (small.join("\n") + "\n").as_bytes());
}

#[test]
fn where_only_parts_of_a_job_are_known_they_are_jobs() {
    let lines = [line(&[(1, "3"), (11, "2")]), line(&[(1, "4"), (11, "1")]), line(&[(1, "3"), (11, "4")])];
    assert_eq!(parse(&lines.join("\n")).kept(16).jobs.len(), 3);
    // Two logs in one file: each part belongs to the job above it.
    let twice = [interrupted("7", "100"), interrupted("7", "900")].concat();
    let late = Filter { from_s: Some(500.0), ..Filter::default() };
    let kept = parse(&twice.join("\n")).filtered(&late).expect("a part");
    assert_eq!(kept.jobs().iter().filter_map(|job| job.submit_s).collect::<Vec<_>>(), [900.0, 900.0]);
    assert_eq!(kept.jobs().len(), 4);
}

#[test]
fn a_bad_line_is_named_with_its_field() {
    for (bad, said) in [
        (line(&[(4, "ten")]), "a.swf:3: field 4 (run time): found \"ten\"; expected seconds"),
        (line(&[(2, "1e300")]), "a.swf:3: field 2 (submit time): found \"1e300\"; expected seconds, at most"),
        (
            line(&[(5, "2.5")]),
            "a.swf:3: field 5 (allocated processors): found \"2.5\"; expected a whole number",
        ),
        (line(&[(8, "4294967296")]), "a.swf:3: field 8 (requested processors): found"),
        (line(&[(7, "nan")]), "a.swf:3: field 7 (used memory): found \"nan\"; expected a finite number"),
        (line(&[(7, "inf")]), "a.swf:3: field 7 (used memory): found \"inf\""),
        (line(&[(17, "4&&5")]), "a.swf:3: field 17 (preceding job): found \"4&&5\"; expected a job number"),
        (line(&[(12, "ada\u{1b}")]), "a.swf:3: field 12 (user): found \"ada\\u{1b}\""),
        ("1 0 5".to_owned(), "a.swf:3: field 4 (run time): found 3 fields; expected 18 fields"),
    ] {
        let text = format!("; Version: 2\n{}\n{bad}\n", line(&[]));
        let error = Log::parse("a.swf", text.into()).expect_err("a bad line").to_string();
        assert!(error.starts_with(said), "{error}");
    }
    let error = Log::load("/nonexistent/a.swf").expect_err("no file").to_string();
    assert_eq!(error, "/nonexistent/a.swf: found no such file; expected a file that can be read");
}

#[test]
fn the_logs_of_the_archive_are_read_in_full() {
    // Jobs, processors of the machine, kept.
    for (name, jobs, cores, kept) in [
        ("NASA-iPSC-1993-3.1-cln.swf", 18_239, Some(128), 18_239),
        ("KTH-SP2-filtered.swf.gz", 28_481, Some(100), 28_481),
        ("LLNL-Atlas-2006-2.1-cln.swf.gz", 43_778, Some(9_216), 39_207),
        ("alea-hpc2n-subset.swf", 3_170, Some(240), 3_145),
        ("alea-jaros1.swf", 12, None, 12),
        ("alea-jaros2.swf", 12, None, 12),
        ("alea-jaros3.swf", 16, None, 16),
        ("lublin_256.swf", 10_000, Some(256), 10_000),
    ] {
        let Some(path) = shared(&format!("swf/{name}")) else { return };
        let log = Log::load(&path).expect("a log");
        assert_eq!((log.jobs().len(), log.processors()), (jobs, cores), "{name}");
        assert_eq!(log.kept(cores.unwrap_or(64)).jobs.len(), kept, "{name}");
        if !name.ends_with("gz") {
            assert!(std::fs::read(&path).expect("it was read") == log.text(), "{name}");
        }
        let mut same = Vec::new();
        log.write_with(&mut same, |place, line| {
            let job = log.jobs()[place];
            Some(with_field(line, 3, &job.wait_s.unwrap_or(-1.0).to_string()))
        })
        .expect("memory");
        assert!(same == log.text(), "{name}: a field that is replaced by itself changes the line");
    }
}

proptest! {
    #[test]
    fn whatever_a_file_holds_reading_it_ends_and_writing_it_back_changes_nothing(
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..4_usize, 0..12_usize), 0..6)
    ) {
        let inserts: [&[u8]; 12] =
            [b"", b"\n", b"\r", b";", b"\t", b"-", b"9", b"\xff", b"1e999", b"&", b"\x1f\x8b", b"NaN"];
        let mut bytes = SMALL.as_bytes().to_vec();
        for (at, removed, insert) in edits {
            let at = at.index(bytes.len() + 1);
            let end = (at + removed).min(bytes.len());
            bytes.splice(at..end, inserts[insert].iter().copied());
        }
        match Log::parse("a.swf", bytes.clone()) {
            Ok(log) => {
                prop_assert_eq!(log.text(), &bytes[..]);
                let mut written = Vec::new();
                log.write_with(&mut written, |_, line| Some(line.to_vec())).expect("memory");
                prop_assert_eq!(written, bytes);
                let kept = log.kept(16);
                prop_assert_eq!(kept.jobs.len() as u64 + kept.left_out.count(), log.jobs().len() as u64);
                let again = Log::of("b.swf", &[], log.jobs()).expect("its own jobs");
                prop_assert_eq!(again.jobs(), log.jobs());
            }
            Err(error) => prop_assert!(!error.found.is_empty() && !error.expected.is_empty()),
        }
    }
}

#[test]
fn only_a_first_line_of_words_names_columns_and_a_mark_before_it_is_passed_over() {
    let job = line(&[]);
    let jobs = |text: String| Log::parse("a.swf", text.into_bytes()).map(|log| log.jobs().len());
    assert_eq!(jobs(format!("; Version: 2\nJobID Submit Wait\n{job}\n")), Ok(1));
    for bad in [
        format!("x{job}\n{job}\n"),
        format!("JobID Submit\nSubmit again\n{job}\n"),
        format!("{job}\nJobID\n"),
    ] {
        assert!(jobs(bad.clone()).is_err(), "{bad}");
    }
    let marked = format!("\u{feff}; MaxProcs: 4\n{job}\n");
    let log = Log::parse("a.swf", marked.clone().into_bytes()).expect("a log");
    assert_eq!((log.processors(), log.line(0)), (Some(4), job.as_bytes()));
    let mut written = Vec::new();
    log.write_with(&mut written, |_, line| Some(line.to_vec())).expect("memory");
    assert_eq!(String::from_utf8(written).expect("text"), marked);
    assert_eq!(jobs(format!("\u{feff}{job}\n")), Ok(1));
}

#[test]
fn a_file_without_jobs_is_no_log() {
    let folder = tempfile::tempdir().expect("a folder");
    for text in ["", "; Version: 2\n", "\n\n", "some text or other\n"] {
        let path = folder.path().join("a.swf");
        std::fs::write(&path, text).expect("a file");
        let error = gleaner_workload::logs::load(&path, None).expect_err(text).to_string();
        assert!(error.contains("a.swf: found no jobs; expected a log of jobs"), "{text}: {error}");
    }
}
