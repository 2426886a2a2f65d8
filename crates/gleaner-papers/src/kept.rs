//! Results that are kept, so that a long experiment can be stopped and gone on with: one JSON line a simulation, written
//! as soon as it is done. A line that was cut off when the program ended is dropped.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use thiserror::Error;

/// The file in the folder.
const NAME: &str = "simulations.jsonl";
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
    #[error("{}:{line}: found {found}; expected results of {edition}, or another folder", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Counted from 1.
        line: usize,
        /// What is there.
        found: String,
        /// Whose results are expected.
        edition: &'static str,
    },
}

/// Sees how far the work is, from any thread.
#[derive(Clone, Copy)]
pub struct Progress<'a> {
    /// A simulation is done, or was found among those kept.
    pub done: &'a (dyn Fn() + Sync),
    /// Whether to stop.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// Why there are no findings.
#[derive(Debug, Error)]
pub enum Interrupted {
    /// The watch asked to stop.
    #[error("stopped before the end")]
    Stopped,
    /// What was done could not be kept.
    #[error(transparent)]
    Kept(#[from] KeptError),
}

#[derive(Serialize, Deserialize)]
struct Line<O> {
    edition: String,
    simulation: String,
    outcome: O,
}

/// Results by what they are of. An `O` is what came of one simulation.
#[derive(Debug)]
pub struct Kept<O> {
    edition: &'static str,
    known: BTreeMap<String, O>,
    file: Option<(PathBuf, Mutex<File>)>,
}

impl<O: Clone + Serialize + DeserializeOwned> Kept<O> {
    /// Nothing is known, and nothing kept.
    pub fn nowhere() -> Self {
        Self { edition: "", known: BTreeMap::new(), file: None }
    }

    /// What a folder has of earlier runs; new results are kept there. The `edition` says whose results they are, and changes
    /// whenever they mean something else than before: then what was kept is not taken.
    pub fn in_folder(dir: &Path, edition: &'static str) -> Result<Self, KeptError> {
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
            let read: Result<Line<O>, _> = serde_json::from_str(line);
            let read = read.ok().filter(|line| line.edition == edition);
            let Line { simulation, outcome, .. } = read.ok_or_else(|| {
                let found = format!("{:?}", line.chars().take(60).collect::<String>());
                KeptError::Foreign { path: path.clone(), line: at + 1, found, edition }
            })?;
            known.insert(simulation, outcome);
        }
        Ok(Self { edition, known, file: Some((path, Mutex::new(file))) })
    }

    /// What is known of a simulation.
    pub fn find(&self, simulation: &str) -> Option<O> {
        self.known.get(simulation).cloned()
    }

    /// Keeps what came of one, if there is where.
    pub fn keep(&self, simulation: String, outcome: O) -> Result<(), KeptError> {
        let Some((path, file)) = &self.file else { return Ok(()) };
        let line = Line { edition: self.edition.to_owned(), simulation, outcome };
        let text = serde_json::to_string(&line).expect("plain data can always be written to memory") + "\n";
        let mut file = file.lock().expect("no other thread ends while it writes");
        file.write_all(text.as_bytes()).map_err(|error| KeptError::Io { path: path.clone(), error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_found_again_and_a_torn_line_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let kept = Kept::<f64>::in_folder(folder.path(), "ours 2").expect("a new file");
        kept.keep("a".to_owned(), 0.1).expect("kept");
        kept.keep("b".to_owned(), 2.0).expect("kept");
        let path = folder.path().join(NAME);
        let text = std::fs::read_to_string(&path).expect("a file");
        std::fs::write(&path, &text[..text.len() - 5]).expect("torn");
        let again = Kept::<f64>::in_folder(folder.path(), "ours 2").expect("a file of ours");
        assert_eq!((again.find("a"), again.find("b")), (Some(0.1), None));
        again.keep("b".to_owned(), 3.0).expect("kept");
        let last = Kept::<f64>::in_folder(folder.path(), "ours 2").expect("a file of ours");
        assert_eq!((last.find("a"), last.find("b")), (Some(0.1), Some(3.0)));
    }

    #[test]
    fn what_is_not_ours_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(NAME), "{\"edition\":\"ours 1\"}\n").expect("written");
        let error = Kept::<f64>::in_folder(folder.path(), "ours 2").expect_err("not ours").to_string();
        assert!(error.contains("simulations.jsonl:1: found"), "{error}");
    }
}
