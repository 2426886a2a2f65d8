//! An array that was found is what comes of translating each process.

use super::*;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use std::collections::BTreeMap;
use std::path::Path;

/// What may stand in a value: plain text, the number of the process in any form, and what readers of values look out for.
const PIECES: [&str; 33] = [
    "a",
    "b.txt",
    "1",
    "9",
    "11",
    "/",
    ".",
    ",",
    " ",
    "=",
    "\"",
    "'",
    ";",
    "{",
    "}",
    "{GLEANER_INDEX}",
    "{GLEANER_1}",
    "{x}",
    "$(Process)",
    "$(ProcId)",
    "$(Step)",
    "$(process)",
    "$(Row)",
    "$(Item)",
    "$(n)",
    "$(p)",
    "$INT(Process)",
    "$INT(Process,%03d)",
    "$Fn(p)",
    "$(DOLLAR)",
    "$BASENAME(p)",
    "$(none:d)",
    "$(Cluster)",
];
const KEYS: [&str; 20] = [
    "arguments",
    "environment",
    "transfer_input_files",
    "transfer_output_files",
    "initialdir",
    "input",
    "output",
    "error",
    "executable",
    "batch_name",
    "requirements",
    "priority",
    "request_memory",
    "max_retries",
    "hold",
    "getenv",
    "universe",
    "transfer_executable",
    "p",
    "n",
];

fn value() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..5).prop_map(|pieces| pieces.concat())
}

fn file() -> impl Strategy<Value = String> {
    let settings = prop::collection::vec((prop::sample::select(&KEYS[..]), value()), 0..5);
    let count = prop::sample::select(&[1, 2, 3, 10, 11, 12, 101, 120][..]);
    (settings, count).prop_map(|(settings, count)| {
        let lines = settings.iter().map(|(key, value)| format!("{key} = {value}\n")).collect::<String>();
        format!(
            "executable = run.sh\np = in_$(Process).txt\nn = 3\nerror = $(n).$(p)\n{lines}queue {count}\n"
        )
    })
}

type Read = Result<Submission, SubmitFileError>;

/// What is read, what would be without looking for an array, and whether one was found.
fn both(text: &str) -> (Read, Read, bool) {
    let variable = |name: &str| (name.to_owned(), "x".to_owned());
    let environment = BTreeMap::from(["A1", "B"].map(variable));
    let around = Surroundings { folder: Path::new(""), environment: &environment, macros: &[], ignored: &[] };
    let source = Source::new("a.sub", text);
    let is_found = statements::read(&source, &around).is_ok_and(|statements| {
        array::find(&statements.batches[0], &around, &mut Notes::default()).is_some()
    });
    (read(&source, &around), read_with(&source, &around, |_, _, _| None), is_found)
}

/// Files of which some are refused, some are arrays, and some are translated process by process.
#[test]
fn an_array_is_what_all_processes_fold_to() {
    let mut runner = TestRunner::default();
    let (mut arrays, mut others) = (0, 0);
    for _ in 0..3_000 {
        let text = file().new_tree(&mut runner).expect("a file").current();
        let (found, expected, is_found) = both(&text);
        assert_eq!(found, expected, "{text}");
        arrays += u32::from(is_found);
        others += u32::from(expected.is_ok() && !is_found);
    }
    assert!(arrays > 300 && others > 300, "{arrays} arrays and {others} others show little");
}

#[test]
fn most_files_are_arrays_and_the_others_are_read_one_by_one() {
    for (settings, is_array) in [
        ("arguments = -n 4\n", true),
        ("arguments = $(Process) $(Step) in.$(p)\nenvironment = \"A=$(Process)\"\n", true),
        ("output = $(Cluster).$(Process).out\nerror = $Fn(p).err\n", true),
        ("transfer_input_files = a_$(Process).csv, b.csv\ninitialdir = run$(Process)\n", true),
        ("arguments = $INT(Process,%03d)\n", false),
        ("environment = \"A$(Process)=1\"\n", false),
        ("priority = $(Process)\n", false),
        ("getenv = A$(Process)\n", false),
        ("batch_name = night$(Process)\n", false),
        ("arguments = {$(Process)}\n", false),
        ("arguments = $(DOLLAR)$(Process)\n", false),
        ("arguments = 11.$(Process)\n", false),
        ("arguments = {GLEANER_1}\n", false),
    ] {
        let text = format!("executable = run.sh\np = in_$(Process).txt\nerror = $(p)\n{settings}queue 12\n");
        let (found, expected, is_found) = both(&text);
        assert_eq!(is_found, is_array, "{text}");
        assert_eq!(found, expected, "{text}");
        assert!(expected.is_ok(), "{text}: {expected:?}");
    }
}
