//! Results that are kept, so that a long experiment can be stopped and gone on with: one JSON line a simulation, written
//! as soon as it is done. A line that was cut off when the program ended is dropped.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use thiserror::Error;

/// The file in the folder.
const NAME: &str = "simulations.jsonl";
/// Whenever results mean something else than before, this changes, and what was kept is not taken.
const EDITION: u32 = 2;

/// What came of a simulation.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Outcome {
    /// When the last task ended; if some did not, when the trace did.
    pub makespan_s: f64,
    /// How many tasks did not end.
    pub unfinished: usize,
    /// Whether it was given up before the trace ended.
    pub stalls: bool,
    /// The part of the time in which machines were there that they ran something, until the makespan or until the run was
    /// given up.
    pub use_share: f64,
    /// The part of what they could have done that was done.
    pub work_share: f64,
    /// How often a machine went before its task was done.
    pub aborts: u64,
    /// Credits in all, less what was given back.
    pub paid: f64,
}

/// Why results cannot be kept, or those kept not be read.
#[derive(Debug, Error)]
pub enum KeptError {
    /// The operating system refused.
    #[error("cannot keep results in {}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        #[source]
        error: io::Error,
    },
    /// A line is not one of ours.
    #[error("{}:{line}: found {found}; expected results of edition {EDITION}, or another folder", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is there.
        found: String,
    },
}

#[derive(Serialize, Deserialize)]
struct Line {
    edition: u32,
    simulation: String,
    #[serde(flatten)]
    outcome: Outcome,
}

/// Results by what they are of.
#[derive(Debug, Default)]
pub struct Kept {
    known: BTreeMap<String, Outcome>,
    file: Option<(PathBuf, Mutex<File>)>,
}

impl Kept {
    /// Nothing is known, and nothing kept.
    pub fn nowhere() -> Self {
        Self::default()
    }

    /// What a folder has of earlier runs; new results are kept there.
    pub fn in_folder(dir: &Path) -> Result<Self, KeptError> {
        let path = dir.join(NAME);
        let io = |error| KeptError::Io { path: path.clone(), error };
        std::fs::create_dir_all(dir).map_err(io)?;
        let options = OpenOptions::new().create(true).append(true).read(true).clone();
        let mut file = options.open(&path).map_err(io)?;
        let text = io::read_to_string(&mut file).map_err(io)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        file.set_len(whole as u64).map_err(io)?;
        let mut known = BTreeMap::new();
        for (at, line) in text[..whole].lines().enumerate() {
            let read: Result<Line, _> = serde_json::from_str(line);
            let read = read.ok().filter(|line| line.edition == EDITION);
            let Line { simulation, outcome, .. } = read.ok_or_else(|| {
                let found = format!("{:?}", line.chars().take(60).collect::<String>());
                KeptError::Foreign { path: path.clone(), line: at + 1, found }
            })?;
            known.insert(simulation, outcome);
        }
        Ok(Self { known, file: Some((path, Mutex::new(file))) })
    }

    /// What is known of a simulation.
    pub(super) fn find(&self, simulation: &str) -> Option<Outcome> {
        self.known.get(simulation).copied()
    }

    /// Keeps what came of one, if there is where.
    pub(super) fn keep(&self, simulation: String, outcome: Outcome) -> Result<(), KeptError> {
        let Some((path, file)) = &self.file else { return Ok(()) };
        let line = Line { edition: EDITION, simulation, outcome };
        let text = serde_json::to_string(&line).expect("plain data can always be written to memory") + "\n";
        let mut file = file.lock().expect("no other thread ends while it writes");
        file.write_all(text.as_bytes()).map_err(|error| KeptError::Io { path: path.clone(), error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(makespan_s: f64) -> Outcome {
        Outcome {
            makespan_s,
            unfinished: 0,
            stalls: false,
            use_share: 0.5,
            work_share: 0.25,
            aborts: 3,
            paid: 1e18 + 0.5,
        }
    }

    #[test]
    fn what_was_kept_is_found_again_and_a_torn_line_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let kept = Kept::in_folder(folder.path()).expect("a new file");
        kept.keep("a".to_owned(), outcome(0.1)).expect("kept");
        kept.keep("b".to_owned(), outcome(2.0)).expect("kept");
        let path = folder.path().join(NAME);
        let text = std::fs::read_to_string(&path).expect("a file");
        std::fs::write(&path, &text[..text.len() - 5]).expect("torn");
        let again = Kept::in_folder(folder.path()).expect("a file of ours");
        assert_eq!((again.find("a"), again.find("b")), (Some(outcome(0.1)), None));
        again.keep("b".to_owned(), outcome(3.0)).expect("kept");
        let last = Kept::in_folder(folder.path()).expect("a file of ours");
        assert_eq!((last.find("a"), last.find("b")), (Some(outcome(0.1)), Some(outcome(3.0))));
    }

    #[test]
    fn what_is_not_ours_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(NAME), "{\"edition\":0}\n").expect("written");
        let error = Kept::in_folder(folder.path()).expect_err("not ours").to_string();
        assert!(error.contains("simulations.jsonl:1: found \"{\\\"edition\\\":0}\""), "{error}");
    }
}
