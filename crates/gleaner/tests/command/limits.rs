//! `docs/limits.md` has every limit as the sources have it, and each has a test.

use crate::program::root;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::rc::Rc;

const SOURCES: [(&str, &str); 5] = [
    ("What anyone may send", "crates/gleaner-wire/src/limits.rs"),
    ("Logs of jobs, scenarios, and descriptions of other grids", "crates/gleaner-workload/src/limits.rs"),
    ("Requests and connections", "crates/gleaner-http/src/limits.rs"),
    ("What the coordinator handles at a time", "crates/gleaner-server/src/limits.rs"),
    ("Rows of the journal", "crates/gleaner-server/src/store/limits.rs"),
];
const HEAD: &str = "\
# Limits

Gleaner refuses what exceeds one of these limits, and the refusal names the limit. It ends what takes longer than a limit says. A limit
with two numbers holds for all clients together, and for each of them. The last column names the tests that show what happens at the
limit and beyond it. `cargo test -p gleaner --test command limits::` compares these tables with the sources, and looks for the tests; with
`GLEANER_WRITE=1` it writes the tables.
";
/// What says in the sources which tests a limit has: names of functions, with commas between them.
const TESTED_BY: &str = "// Tested by: ";

/// A value as people read it: `64 << 10` of something that is counted in bytes is 64 KiB.
fn plain(name: &str, said: &str, value: &str) -> String {
    let (number, shift) = value.split_once(" << ").unwrap_or((value, "0"));
    let digits = number.replace('_', "");
    let (Ok(number), Ok(shift)) = (digits.parse::<u64>(), shift.parse::<u32>()) else {
        return constructed(value);
    };
    let number = number << shift;
    let is_bytes = name.contains("BYTES") || said.starts_with("Bytes") || said.contains("in bytes");
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let unit = (0..units.len()).rev().find(|unit| is_bytes && number % (1 << (10 * unit)) == 0 && number > 0);
    match unit {
        Some(unit) => format!("{} {}", number >> (10 * unit), units[unit]),
        None => grouped(number),
    }
}

/// A value that is no plain number: a time, a number for all and one for each, or as the source has it.
fn constructed(value: &str) -> String {
    let within = |start, end| value.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
    let seconds = within("Duration::from_secs(", ")").map(|seconds| format!("{seconds} s"));
    let hours = || within("Duration::from_hours(", ")").map(|hours| format!("{hours} h"));
    let share = || {
        let (all, each) = within("Share { all: ", " }")?.split_once(", each: ")?;
        Some(format!("{all}, {each} each"))
    };
    seconds.or_else(hours).or_else(share).unwrap_or_else(|| format!("`{value}`"))
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(" ")
}

struct Limit {
    name: String,
    value: String,
    said: String,
    tests: Vec<String>,
}

fn limits(source: &str) -> Vec<Limit> {
    let mut limits = Vec::new();
    let (mut said, mut tests) = (Vec::new(), Vec::new());
    for line in source.lines() {
        if let Some(words) = line.strip_prefix("/// ") {
            said.push(words);
            continue;
        }
        if let Some(names) = line.strip_prefix(TESTED_BY) {
            tests.extend(names.split(", ").map(str::to_owned));
            continue;
        }
        let constant = line.strip_prefix("pub(crate) const ").or_else(|| line.strip_prefix("pub const "));
        if let Some((name, rest)) = constant.and_then(|constant| constant.split_once(": ")) {
            let value = rest.split_once(" = ").expect("a value").1.trim_end_matches(';');
            assert!(!said.is_empty(), "{name} says of nothing what it limits");
            let (said, value) = (said.join(" "), value.to_owned());
            limits.push(Limit { name: name.to_owned(), value, said, tests: std::mem::take(&mut tests) });
        }
        said.clear();
        assert!(tests.is_empty(), "{tests:?} test no limit");
    }
    limits
}

fn table(limits: &[Limit]) -> String {
    let mut table = String::from("| limit | value | of what | tested by |\n|---|---:|---|---|\n");
    for Limit { name, value, said, tests } in limits {
        let tests: Vec<String> = tests.iter().map(|test| format!("`{test}`")).collect();
        let (value, tests) = (plain(name, said, value), tests.join(", "));
        writeln!(table, "| `{name}` | {value} | {said} | {tests} |").expect("memory");
    }
    table
}

fn all_limits() -> Vec<(&'static str, Vec<Limit>)> {
    let read = |source| fs::read_to_string(root().join(source)).expect("a source");
    SOURCES.map(|(title, source)| (title, limits(&read(source)))).into()
}

#[test]
fn every_limit_is_in_the_table() {
    let mut expected = HEAD.to_owned();
    for (title, limits) in all_limits() {
        write!(expected, "\n## {title}\n\n{}", table(&limits)).expect("memory");
    }
    let file = root().join("docs/limits.md");
    if std::env::var_os("GLEANER_WRITE").is_some() {
        fs::write(&file, &expected).expect("the docs");
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    assert!(found == expected, "docs/limits.md is not what the sources say: run this with GLEANER_WRITE=1");
}

/// The texts of the files in which each test is, by its name.
fn tests_below(folder: &Path, tests: &mut BTreeMap<String, Vec<Rc<str>>>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a file").path();
        if path.is_dir() {
            tests_below(&path, tests);
        } else if path.extension().is_some_and(|end| end == "rs") {
            let text: Rc<str> = fs::read_to_string(&path).expect("a source").into();
            tests_in(&text).for_each(|name| tests.entry(name).or_default().push(Rc::clone(&text)));
        }
    }
}

/// Functions behind an attribute that makes a test of them.
fn tests_in(text: &str) -> impl Iterator<Item = String> {
    let mut is_test = false;
    text.lines().filter_map(move |line| {
        let line = line.trim_start();
        if line.starts_with("#[") {
            is_test |= line.starts_with("#[test") || line.starts_with("#[tokio::test");
            return None;
        }
        let function = line.strip_prefix("async fn ").or_else(|| line.strip_prefix("fn "));
        let name = function.and_then(|rest| rest.split_once('(')).map(|(name, _)| name.to_owned());
        name.filter(|_| std::mem::take(&mut is_test))
    })
}

/// Whether a text has the name as a word of its own.
fn names(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(name)
        .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part))
}

#[test]
fn every_limit_has_a_test_that_names_it() {
    let mut tests = BTreeMap::new();
    tests_below(&root().join("crates"), &mut tests);
    let mut wrong = Vec::new();
    for Limit { name, tests: named, .. } in all_limits().into_iter().flat_map(|(_, limits)| limits) {
        if named.is_empty() {
            wrong.push(format!("{name} has no test"));
        }
        for test in named {
            let texts = tests.get(&test).map_or(&[][..], Vec::as_slice);
            if !texts.iter().any(|text| names(text, &name)) {
                wrong.push(format!("{name}: no test is called {test} in a file that names the limit"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
