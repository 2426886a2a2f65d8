use super::super::claims::Checked;
use super::*;
use gleaner_net::UserKey;
use gleaner_wire::BlobHash;
use gleaner_wire::job::{Checkpointing, Input, LENGTH};
use gleaner_wire::limits::{
    LENGTHS_PER_JOB_MAX, MEMORY_BYTES_MAX, PROFILE_BYTES_MAX, PROFILE_ITEMS_MAX, REASON_BYTES_MAX, SPEED_MAX,
    SPEED_MIN,
};
use gleaner_wire::session::Profile;
use std::collections::BTreeMap;

#[test]
fn a_quorum_is_of_a_few_machines_that_begin_at_the_beginning() {
    let with = |quorum, checkpoint| {
        let spec = JobSpec { quorum, checkpoint, ..JobSpec::new(["true"]) };
        Admitted::check(spec).err().map(|rejection| rejection.message)
    };
    let none = Checkpointing::default;
    assert_eq!((with(1, none()), with(QUORUM_MAX, none())), (None, None));
    for quorum in [0, QUORUM_MAX + 1] {
        let why = with(quorum, none()).expect("refused");
        assert!(why.contains(&format!("quorum is {quorum}; expected 1 to {QUORUM_MAX}")), "{why}");
    }
    let folder = Checkpointing { folder: true, ..none() };
    assert_eq!(with(1, folder.clone()), None);
    for checkpoint in [folder, Checkpointing { exit_code: Some(85), ..none() }] {
        let why = with(2, checkpoint).expect("refused");
        assert!(why.contains("one of the two"), "{why}");
    }
}

fn text(bytes: usize) -> String {
    "x".repeat(bytes)
}

/// An expression of so many bytes.
fn padded(bytes: usize) -> String {
    format!("{}1", " ".repeat(bytes - 1))
}

fn names(count: usize) -> impl Iterator<Item = String> {
    (0..count).map(|number| format!("n{number}"))
}

fn files(count: usize) -> Vec<Input> {
    let blob = BlobHash::from([0; 32]);
    names(count).map(|path| Input { path, blob, executable: false }).collect()
}

fn job() -> JobSpec {
    JobSpec::new(["true"])
}

fn with_parameters(count: usize) -> JobSpec {
    let axes = names(count).map(|name| (name, vec![text(1)])).collect();
    JobSpec { tasks: TaskList::Sweep { axes }, ..job() }
}

/// Each set of files is another task's, so that no order gets too long.
fn with_own_files(count: usize) -> JobSpec {
    let mut files = files(count);
    let sets = (0..count.div_ceil(100)).map(|set| {
        let left = files.len().saturating_sub(100);
        (set.to_string(), files.split_off(left))
    });
    let own = OwnInputs { of: "{GLEANER_INDEX}".to_owned(), files: sets.collect() };
    JobSpec { own_inputs: vec![own], ..job() }
}

fn with_order(bytes: u64) -> JobSpec {
    let words = text(100_000);
    let mut job = JobSpec::new(["program"].into_iter().chain(std::iter::repeat_n(words.as_str(), 20)));
    job.command.push(String::new());
    let left = bytes - job.order_bytes_max();
    job.command[21] = text(left as usize);
    job
}

fn with_lengths(count: usize) -> JobSpec {
    let values = (0..count).map(|number| if number % 2 == 0 { "1" } else { "2" }).collect();
    JobSpec { tasks: TaskList::Rows { names: vec![LENGTH.to_owned()], values }, ..job() }
}

fn signed(bytes: usize) -> JobSpec {
    let signed = Signed { text: text(bytes), key: String::new(), signature: String::new() };
    JobSpec { signed: Some(Box::new(signed)), ..job() }
}

fn comparing(compare: Vec<String>) -> JobSpec {
    JobSpec { quorum: 2, outputs: vec!["out".to_owned()], compare, ..job() }
}

type Change = fn(&mut JobSpec);

#[test]
fn a_program_compares_output_files_of_several_machines() {
    let with = |change: Change| {
        let mut spec = comparing(vec!["./close".to_owned()]);
        change(&mut spec);
        Admitted::check(spec).err().map_or(String::new(), |rejection| rejection.message)
    };
    assert_eq!(with(|_| {}), "");
    let refused: [(&str, Change); 4] = [
        ("quorum is 1", |spec| spec.quorum = 1),
        ("outputs is empty", |spec| spec.outputs.clear()),
        ("without a NUL", |spec| spec.compare[0].push('\0')),
        ("expected a program", |spec| spec.compare[0].clear()),
    ];
    for (why, change) in refused {
        let said = with(change);
        assert!(said.contains("compare") && said.contains(why), "{said:?} has no {why:?}");
    }
}

#[test]
fn what_was_signed_for_another_grid_or_time_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let key = UserKey::open_or_create(&folder.path().join("key")).expect("a key");
    let signed = |grid: &str, expires_s| {
        let text = SignedText::new(grid.to_owned(), "ada".to_owned(), "drawn".to_owned(), expires_s, &job())
            .to_text();
        let signed = Signed { key: key.public().to_string(), signature: key.sign_job(&text), text };
        let spec = JobSpec { signed: Some(Box::new(signed)), ..job() };
        let checked = Admitted::check(spec).expect("it is signed");
        let now = Time::ZERO.after_seconds(1_000.0);
        checked.check_signed_for("ours", now).err().map_or(String::new(), |rejection| rejection.message)
    };
    assert_eq!(signed("ours", 1_001), "");
    assert!(signed("ours", 1_000).contains("has expired"), "{}", signed("ours", 1_000));
    assert!(
        signed("theirs", 1_001).contains("for the grid theirs; expected ours"),
        "{}",
        signed("theirs", 1_001)
    );
    assert!(Admitted::check(job()).expect("a job").check_signed_for("ours", Time::NEVER).is_ok());
}

#[test]
fn patterns_of_outputs_that_nobody_can_read_are_refused() {
    let said = |pattern: &str| {
        let spec = JobSpec { outputs: vec!["fine/*.png".to_owned(), pattern.to_owned()], ..job() };
        Admitted::check(spec).err().map_or(String::new(), |rejection| rejection.message)
    };
    for pattern in ["out", "./out/", "a[0-9]?", "**/{a,b}", "out-{GLEANER_INDEX}"] {
        assert_eq!(said(pattern), "", "{pattern}");
    }
    for pattern in ["out//x", "out/./x", "./out/.//x/"] {
        assert_eq!(said(pattern), "", "{pattern}");
        let glob = gleaner_wire::outputs::pattern(pattern).expect("a pattern").compile_matcher();
        assert!(glob.is_match("out/x"), "{pattern}");
    }
    for pattern in [".", "./", "././"] {
        assert!(said(pattern).contains("names no file"), "{}", said(pattern));
    }
    for pattern in ["a[", "{a,b", "[z-a]"] {
        assert!(said(pattern).contains("outputs") && said(pattern).contains(pattern), "{}", said(pattern));
    }
}

#[test]
fn what_is_refused_is_said_in_words_of_the_job() {
    let files = |paths: &str| {
        let blob = BlobHash::from([0; 32]);
        let input = |path: &str| Input { path: path.to_owned(), blob, executable: false };
        paths.split(' ').map(input).collect::<Vec<_>>()
    };
    let with = |change: &dyn Fn(&mut JobSpec)| {
        let mut spec = job();
        change(&mut spec);
        Admitted::check(spec).err().map_or(String::new(), |rejection| rejection.message)
    };
    let rows = |value: &str| TaskList::Rows {
        names: vec!["a".to_owned()],
        values: ["fine", value].into_iter().collect(),
    };
    let sweep = |value: &str| TaskList::Sweep {
        axes: vec![("a".to_owned(), vec!["fine".to_owned(), value.to_owned()])],
    };
    assert_eq!(with(&|spec| (spec.inputs, spec.tasks) = (files("a b/c b/d"), rows("x"))), "");
    assert_eq!(with(&|spec| spec.tasks = rows(&text(131_069))), "");
    let unconfined = |folder: &str| {
        with(&|spec| (spec.cwd, spec.confinement) = (Some(folder.to_owned()), Confinement::None))
    };
    assert_eq!(unconfined("/data") + &unconfined("{a}/in"), "");
    for (said, expected) in [
        (with(&|spec| spec.length = Some(-1.0)), "length is -1.0; expected"),
        (with(&|spec| spec.length = Some(f64::NAN)), "length is NaN; expected"),
        (with(&|spec| spec.label = Some("-x".to_owned())), "label begins with -"),
        (with(&|spec| spec.label = Some("a\u{202e}".to_owned())), "label has characters that are not seen"),
        (with(&|spec| spec.label = Some(text(200))), "label has 200 bytes; at most 128 bytes"),
        (with(&|spec| spec.label = Some(String::new())), "label is \"\"; expected a text that is seen"),
        (with(&|spec| spec.label = Some(" ".to_owned())), "label is \" \"; expected a text that is seen"),
        (with(&|spec| spec.name = "-x".to_owned()), "name begins with -"),
        (with(&|spec| spec.command.push("a\0".to_owned())), "command has a text with a NUL in it"),
        (
            with(&|spec| spec.command.push(text(131_072))),
            "command has a text of 131072 bytes; at most 131071",
        ),
        (
            with(&|spec| spec.tasks = rows(&text(131_070))),
            "tasks.rows has a value of 131070 bytes for a; at most 131069",
        ),
        (with(&|spec| spec.tasks = sweep(&text(200_000))), "tasks.sweep has a value of 200000 bytes for a"),
        (with(&|spec| spec.tasks = rows("x\0y")), "tasks.rows has a text with a NUL in it"),
        (with(&|spec| spec.tasks = sweep("x\0y")), "tasks.sweep has a text with a NUL in it"),
        (unconfined("sub"), "cwd does not begin with /"),
        (unconfined(""), "cwd does not begin with /"),
        (with(&|spec| spec.inputs = files(".")), "is no name within"),
        (with(&|spec| spec.inputs = files("./a")), "is no name within"),
        (with(&|spec| spec.inputs = files("a a")), "two inputs are \"a\""),
        (with(&|spec| spec.inputs = files("a a/b")), "\"a\" and \"a/b\" cannot lie"),
        (with(&|spec| spec.inputs = files(&text(256))), "at most 255"),
        (with(&|spec| spec.inputs = files(".tmp")), "has a folder .tmp"),
        (
            with(&|spec| (spec.inputs, spec.checkpoint.folder) = (files(".checkpoint"), true)),
            "has a folder .checkpoint",
        ),
    ] {
        assert!(said.contains(expected) && !said.contains("Some("), "{said:?} has no {expected:?}");
    }
    let speeds = |speeds, cpu_on_core| {
        let profile = Profile { cpu_on_core, ..Profile::new(speeds, 1) };
        Checked::of(profile).err().map_or(String::new(), |rejection| rejection.message)
    };
    for (said, expected) in [
        (speeds([-1.0, 2.0, 3.0], None), "speeds are -1.0, 2.0 and 3.0; expected"),
        (speeds([1.0; 3], Some(1e300)), "speeds are 1.0, 1.0 and 1.0, and 1e300 on a core; expected"),
    ] {
        assert!(said.contains(expected), "{said:?} has no {expected:?}");
    }
}

/// What is handed in, as much as it may be and so many more.
type Handed<T> = fn(usize) -> T;

/// As much as a limit says meets no word about it; one more is refused, and the refusal names the limit.
fn expect_limits<T>(limits: &[(&str, String, Handed<T>)], check: impl Fn(T) -> Result<(), Rejection>) {
    for (name, limit, handed) in limits {
        let said = |more| check(handed(more)).err().map_or(String::new(), |rejection| rejection.message);
        assert!(!said(0).contains(limit), "{name}: as much as it may be is refused: {}", said(0));
        assert!(said(1).contains(limit), "{name}: more is not refused with {limit}: {:?}", said(1));
    }
}

#[test]
fn each_limit_of_a_job_is_kept_and_named() {
    let limits: [(&str, String, Handed<JobSpec>); 26] = [
        ("TASKS_PER_JOB_MAX", TASKS_PER_JOB_MAX.to_string(), |more| {
            let last = TASKS_PER_JOB_MAX + more as u32;
            JobSpec { tasks: TaskList::Array { first: 1, last, step: 1 }, ..job() }
        }),
        ("PARAMETERS_MAX", format!("at most {PARAMETERS_MAX}"), |more| {
            with_parameters(PARAMETERS_MAX + more)
        }),
        ("ITEMS_MAX of words", format!("at most {ITEMS_MAX}"), |more| JobSpec {
            command: vec![text(1); ITEMS_MAX + more],
            ..job()
        }),
        ("ITEMS_MAX of variables", format!("at most {ITEMS_MAX}"), |more| JobSpec {
            env: names(ITEMS_MAX + more).map(|name| (name, text(1))).collect(),
            ..job()
        }),
        ("ITEMS_MAX of inputs", format!("at most {ITEMS_MAX}"), |more| JobSpec {
            inputs: files(ITEMS_MAX + more),
            ..job()
        }),
        ("ITEMS_MAX of outputs", format!("at most {ITEMS_MAX}"), |more| JobSpec {
            outputs: names(ITEMS_MAX + more).collect(),
            ..job()
        }),
        ("ITEMS_MAX of own inputs", format!("at most {ITEMS_MAX}"), |more| {
            let own = |of| OwnInputs { of, files: BTreeMap::new() };
            JobSpec { own_inputs: names(ITEMS_MAX + more).map(own).collect(), ..job() }
        }),
        ("OWN_INPUTS_MAX", format!("at most {OWN_INPUTS_MAX}"), |more| with_own_files(OWN_INPUTS_MAX + more)),
        ("NAME_BYTES_MAX of a name", format!("{NAME_BYTES_MAX} bytes"), |more| JobSpec {
            name: text(NAME_BYTES_MAX + more),
            ..job()
        }),
        ("NAME_BYTES_MAX of a label", format!("{NAME_BYTES_MAX} bytes"), |more| JobSpec {
            label: Some(text(NAME_BYTES_MAX + more)),
            ..job()
        }),
        ("NAME_BYTES_MAX of a variable", format!("{NAME_BYTES_MAX} bytes"), |more| JobSpec {
            env: BTreeMap::from([(text(NAME_BYTES_MAX + more), text(1))]),
            ..job()
        }),
        ("WORD_BYTES_MAX of an argument", WORD_BYTES_MAX.to_string(), |more| JobSpec {
            command: vec![text(1), text(WORD_BYTES_MAX + more)],
            ..job()
        }),
        ("WORD_BYTES_MAX of a variable", format!("at most {}", WORD_BYTES_MAX - 2), |more| JobSpec {
            env: BTreeMap::from([(text(1), text(WORD_BYTES_MAX - 2 + more))]),
            ..job()
        }),
        ("ORDER_BYTES_MAX", ORDER_BYTES_MAX.to_string(), |more| with_order(ORDER_BYTES_MAX + more as u64)),
        ("EXPRESSION_BYTES_MAX of requirements", format!("at most {EXPRESSION_BYTES_MAX}"), |more| JobSpec {
            requirements: Some(padded(EXPRESSION_BYTES_MAX + more)),
            ..job()
        }),
        ("EXPRESSION_BYTES_MAX of a rank", format!("at most {EXPRESSION_BYTES_MAX}"), |more| JobSpec {
            rank: Some(padded(EXPRESSION_BYTES_MAX + more)),
            ..job()
        }),
        ("PROGRAM_BYTES_MAX", format!("longer than {PROGRAM_BYTES_MAX}"), |more| JobSpec {
            command: vec!["x".repeat(PROGRAM_BYTES_MAX + more)],
            ..job()
        }),
        ("SLOTS_MAX", format!("1 to {SLOTS_MAX}"), |more| {
            let mut job = job();
            job.needs.cores = SLOTS_MAX + more as u32;
            job
        }),
        ("MEMORY_BYTES_MAX of memory", format!("more than {MEMORY_BYTES_MAX}"), |more| {
            let mut job = job();
            job.needs.memory = MEMORY_BYTES_MAX + more as u64;
            job
        }),
        ("MEMORY_BYTES_MAX of disk", format!("more than {MEMORY_BYTES_MAX}"), |more| {
            let mut job = job();
            job.needs.disk = MEMORY_BYTES_MAX + more as u64;
            job
        }),
        ("LENGTH_MAX", format!("{LENGTH_MAX:e}"), |more| JobSpec {
            length: Some(LENGTH_MAX * (1.0 + more as f64)),
            ..job()
        }),
        ("LENGTHS_PER_JOB_MAX", format!("more than {LENGTHS_PER_JOB_MAX}"), |more| {
            with_lengths(LENGTHS_PER_JOB_MAX + more)
        }),
        ("QUORUM_MAX", format!("1 to {QUORUM_MAX}"), |more| JobSpec {
            quorum: QUORUM_MAX + more as u32,
            ..job()
        }),
        ("ITEMS_MAX of a program that compares", format!("at most {ITEMS_MAX} words"), |more| {
            comparing(vec!["x".to_owned(); ITEMS_MAX + more])
        }),
        ("WORD_BYTES_MAX of a program that compares", format!("{WORD_BYTES_MAX} bytes together"), |more| {
            comparing(vec![text(WORD_BYTES_MAX - 1 + more), "x".to_owned()])
        }),
        ("SIGNED_BYTES_MAX", format!("at most {SIGNED_BYTES_MAX}"), |more| signed(SIGNED_BYTES_MAX + more)),
    ];
    expect_limits(&limits, |job| Admitted::check(job).map(drop));
}

#[test]
fn each_limit_of_a_machine_is_kept_and_named() {
    fn machine() -> Profile {
        Profile::new([1.0; 3], 1)
    }
    let limits: [(&str, String, Handed<Profile>); 11] = [
        ("SPEED_MIN", format!("0 or {SPEED_MIN:e} to"), |more| Profile {
            speeds: [1.0, 0.0, SPEED_MIN / (1.0 + more as f64)],
            ..machine()
        }),
        ("SPEED_MAX", format!("to {SPEED_MAX:e}"), |more| Profile {
            speeds: [1.0, 1.0, SPEED_MAX * (1.0 + more as f64)],
            ..machine()
        }),
        ("MEMORY_BYTES_MAX of disk", format!("at most {MEMORY_BYTES_MAX}"), |more| Profile {
            disk: Some(MEMORY_BYTES_MAX + more as u64),
            ..machine()
        }),
        ("MEMORY_BYTES_MAX of memory", format!("at most {MEMORY_BYTES_MAX}"), |more| Profile {
            memory: MEMORY_BYTES_MAX + more as u64,
            ..machine()
        }),
        ("SLOTS_MAX of cores", format!("1 to {SLOTS_MAX}"), |more| Profile {
            cores: SLOTS_MAX + more as u32,
            ..machine()
        }),
        ("SLOTS_MAX of slots", format!("1 to {SLOTS_MAX}"), |more| Profile {
            slots: SLOTS_MAX + more as u32,
            ..machine()
        }),
        ("NAME_BYTES_MAX", format!("at most {NAME_BYTES_MAX}"), |more| Profile {
            user: text(NAME_BYTES_MAX + more),
            ..machine()
        }),
        ("PROFILE_ITEMS_MAX of tags", format!("at most {PROFILE_ITEMS_MAX}"), |more| Profile {
            tags: names(PROFILE_ITEMS_MAX + more).collect(),
            ..machine()
        }),
        ("PROFILE_ITEMS_MAX of attributes", format!("at most {PROFILE_ITEMS_MAX}"), |more| {
            let attributes = names(PROFILE_ITEMS_MAX + more).map(|name| (name, "1".to_owned()));
            Profile { attributes: attributes.collect(), ..machine() }
        }),
        ("PROFILE_BYTES_MAX", format!("at most {PROFILE_BYTES_MAX}"), |more| {
            let parts = 8;
            let one = |name: String| {
                let bytes = PROFILE_BYTES_MAX / parts - name.len();
                (name, padded(bytes))
            };
            let mut attributes: BTreeMap<String, String> = names(parts).map(one).collect();
            attributes.entry("n0".to_owned()).or_default().push_str(&" ".repeat(more));
            Profile { attributes, ..machine() }
        }),
        ("REASON_BYTES_MAX", format!("at most {REASON_BYTES_MAX}"), |more| Profile {
            sandbox: Err(text(REASON_BYTES_MAX + more)),
            ..machine()
        }),
    ];
    expect_limits(&limits, |profile| Checked::of(profile).map(drop));
}
