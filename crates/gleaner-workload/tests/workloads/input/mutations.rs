//! Whatever a file holds, reading it ends, and an error names its file.

use super::folder::{Folder, LOADS, MACHINES, SCENARIO, TASKS};
use proptest::prelude::*;

/// What tends to upset readers.
const INSERTS: [&[u8]; 16] = [
    b"", b",", b"\n", b"\r", b"\"", b"\"\"", b"\xff", b"\xc3", b"\0", b"-", b"NaN", b"1e999", b"=", b"[",
    b"{", b"a.",
];

fn right(name: &str) -> &'static str {
    match name {
        "scenario.toml" => SCENARIO,
        "machines.csv" => MACHINES,
        "owner_load.csv" => LOADS,
        _ => TASKS,
    }
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(
        name in prop::sample::select(vec!["scenario.toml", "machines.csv", "owner_load.csv", "tasks.csv"]),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..4_usize, 0..INSERTS.len()), 1..6),
        cut in prop::option::weighted(0.2, any::<prop::sample::Index>()),
    ) {
        let mut bytes = right(name).as_bytes().to_vec();
        for (at, removed, insert) in edits {
            let at = at.index(bytes.len() + 1);
            let end = (at + removed).min(bytes.len());
            bytes.splice(at..end, INSERTS[insert].iter().copied());
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len() + 1));
        }
        if let Err(error) = Folder::new().with(name, &bytes).load(&[]) {
            prop_assert!(!error.file.is_empty() && !error.found.is_empty() && !error.expected.is_empty());
        }
    }

    #[test]
    fn no_override_makes_the_reader_panic(argument in "[a-z.=\\[{\"' -]{0,12}(policy|run|grid)?[.=]?[a-z0-9.=\"{]{0,12}") {
        let _ = Folder::new().load(&[&argument]);
    }
}
