//! The submit files of `../shared/data/submit`: each is translated, or each key that cannot be is named.

use super::{commands, read_in};
use gleaner_workload::submit::SubmitFileError;
use std::fmt::Write;
use std::path::Path;

/// A file in a few words: its commands, or the keys that are in the way.
fn told(name: &str, text: &str) -> String {
    let mut told = format!("{name}\n");
    match read_in(Path::new(""), name, text, &[]) {
        Ok(submission) => {
            for job in &submission.jobs {
                let commands = commands(job);
                let shown = commands.iter().map(|words| words.join(" ")).collect::<Vec<_>>().join(" | ");
                let _ = writeln!(told, "  runs {}", shown.chars().take(90).collect::<String>());
            }
            let notes = submission.notes.iter().map(|note| format!("  notes {}:{}\n", note.line, note.key));
            told.extend(notes);
        }
        Err(SubmitFileError::Unsupported { keys, .. }) => {
            told.extend(keys.iter().map(|key| format!("  {}:{}: {}\n", key.line, key.key, key.why)));
        }
        Err(SubmitFileError::Input(error)) => {
            let _ = writeln!(told, "  {error}");
        }
    }
    told
}

#[test]
fn each_is_translated_or_each_key_that_is_not_is_named() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/submit");
    let Ok(entries) = folder.read_dir() else {
        eprintln!("skipped: there is no {}", folder.display());
        return;
    };
    let mut files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut all = String::new();
    for file in &files {
        let name = file.file_name().and_then(|name| name.to_str()).expect("a plain name");
        let short = name.trim_start_matches("src_condor_");
        all += &told(short, &std::fs::read_to_string(file).expect("a readable file"));
    }
    let expected = include_str!("shared_data.txt");
    let (found, expected): (Vec<&str>, Vec<&str>) = (all.lines().collect(), expected.lines().collect());
    let first = (0..found.len().max(expected.len())).find(|&at| found.get(at) != expected.get(at));
    if let Some(at) = first {
        panic!("line {}: found {:?}, expected {:?}\n\n{all}", at + 1, found.get(at), expected.get(at));
    }
}
