//! `docs/limits.md` has every limit as the sources have it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const SOURCES: [(&str, &str); 4] = [
    ("What anyone may hand in", "crates/gleaner-wire/src/limits.rs"),
    (
        "What a log of jobs, or a description in another grid's words, holds",
        "crates/gleaner-workload/src/limits.rs",
    ),
    ("What the coordinator takes at a time", "crates/gleaner-server/src/limits.rs"),
    ("What a row of the journal holds", "crates/gleaner-server/src/store/limits.rs"),
];
const HEAD: &str = "\
# Limits

What is larger is refused, and the refusal names the limit; what takes longer is ended. `cargo test -p gleaner --test limits` compares
this table with the sources, and writes it anew with `GLEANER_WRITE=1`.
";

/// A value as people read it: `64 << 10` of something that is counted in bytes is 64 KiB.
fn plain(name: &str, said: &str, value: &str) -> String {
    let (number, shift) = value.split_once(" << ").unwrap_or((value, "0"));
    let digits = number.replace('_', "");
    let (Ok(number), Ok(shift)) = (digits.parse::<u64>(), shift.parse::<u32>()) else {
        let seconds = value.strip_prefix("Duration::from_secs(").and_then(|rest| rest.strip_suffix(')'));
        return seconds.map_or(format!("`{value}`"), |seconds| format!("{seconds} s"));
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
