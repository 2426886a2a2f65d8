//! `docs/limits.md` has every limit as the sources have it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const SOURCES: [(&str, &str); 4] = [
    ("What anyone may send", "crates/gleaner-wire/src/limits.rs"),
    ("Logs of jobs, scenarios, and descriptions of other grids", "crates/gleaner-workload/src/limits.rs"),
    ("What the coordinator handles at a time", "crates/gleaner-server/src/limits.rs"),
    ("Rows of the journal", "crates/gleaner-server/src/store/limits.rs"),
];
const HEAD: &str = "\
# Limits

Gleaner refuses what exceeds one of these limits, and the refusal names the limit. It ends what takes longer than a limit says. A limit
with two numbers holds for all clients together, and for each of them. `cargo test -p gleaner --test limits` compares these tables with
the sources; with `GLEANER_WRITE=1` it writes them.
";

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

fn table(source: &str) -> String {
    let mut table = String::from("| limit | value | of what |\n|---|---:|---|\n");
    let mut said = Vec::new();
    for line in source.lines() {
        if let Some(words) = line.strip_prefix("/// ") {
            said.push(words);
            continue;
        }
        let constant = line.strip_prefix("pub(crate) const ").or_else(|| line.strip_prefix("pub const "));
        if let Some((name, rest)) = constant.and_then(|constant| constant.split_once(": ")) {
            let value = rest.split_once(" = ").expect("a value").1.trim_end_matches(';');
            assert!(!said.is_empty(), "{name} says of nothing what it limits");
            let said = said.join(" ");
            writeln!(table, "| `{name}` | {} | {said} |", plain(name, &said, value)).expect("memory");
        }
        said.clear();
    }
    table
}

#[test]
fn every_limit_is_in_the_table() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut expected = HEAD.to_owned();
    for (title, source) in SOURCES {
        let source = fs::read_to_string(root.join(source)).expect("a source");
        write!(expected, "\n## {title}\n\n{}", table(&source)).expect("memory");
    }
    let file = root.join("docs/limits.md");
    if std::env::var_os("GLEANER_WRITE").is_some() {
        fs::write(&file, &expected).expect("the docs");
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    assert!(found == expected, "docs/limits.md is not what the sources say: run this with GLEANER_WRITE=1");
}
