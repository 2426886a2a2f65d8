//! What comes of a description in another system's words: jobs, what is done otherwise here, and what is not done.

use super::JobDescription;
use crate::InputError;
use gleaner_wire::meant::meant;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// Something that is honoured in another way than there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// Where it stands.
    pub line: u64,
    /// The key as it is written there.
    pub key: String,
    /// What becomes of it.
    pub text: &'static str,
}

/// The jobs of a submit file, or of a job description of OurGrid.
#[derive(Clone, PartialEq, Debug)]
pub struct Submission {
    /// In the order of their first tasks.
    pub jobs: Vec<JobDescription>,
    /// What the user should know.
    pub notes: Vec<Note>,
    /// The files of the user's that it sends, where the description has the place of each; each once.
    pub files: Vec<SentFile>,
    /// Where its requirements stand, if it has some and says them in one place.
    pub requirements_line: Option<u64>,
    /// What is to be said of keys that were to be ignored and are not there.
    pub unmet: Vec<String>,
}

/// A file of the user's that is sent along.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SentFile {
    /// Where it is asked for.
    pub line: u64,
    /// By what word.
    pub key: &'static str,
    /// Where it lies.
    pub source: String,
}

/// Why a submit file cannot be submitted here.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum SubmitFileError {
    /// It makes no sense.
    #[error("{0}")]
    Input(#[from] InputError),
    /// It asks for what there is not.
    #[error("{}", listed(.file, .keys))]
    Unsupported {
        /// The file as it was named.
        file: String,
        /// Every such key, in the order of the file.
        keys: Vec<UnsupportedKey>,
    },
}

/// A key of a submit file that cannot be honoured.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct UnsupportedKey {
    /// Where it stands.
    pub line: u64,
    /// As it is written there.
    pub key: String,
    /// Why not.
    pub why: String,
}

/// Keys that cannot be honoured, each once.
#[derive(Debug, Default)]
pub(super) struct Refusals(BTreeMap<(u64, String), String>);

impl Refusals {
    pub(super) fn add(&mut self, line: u64, key: &str, why: impl Into<String>) {
        self.0.entry((line, key.to_owned())).or_insert_with(|| why.into());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn into_keys(self) -> Vec<UnsupportedKey> {
        self.0.into_iter().map(|((line, key), why)| UnsupportedKey { line, key, why }).collect()
    }
}

/// What the user should know, each once.
#[derive(Debug, Default)]
pub(super) struct Notes(BTreeMap<(u64, String), &'static str>);

impl Notes {
    pub(super) fn add(&mut self, line: u64, key: &str, text: &'static str) {
        self.0.insert((line, key.to_owned()), text);
    }

    pub(super) fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    pub(super) fn into_notes(self) -> Vec<Note> {
        self.0.into_iter().map(|((line, key), text)| Note { line, key, text }).collect()
    }
}

/// What is to be said of keys that were to be ignored and are not among the `keys` of a file, in lower case, that can be: most
/// likely they are mistyped.
pub(super) fn unmet(ignored: &[String], keys: &BTreeSet<String>) -> Vec<String> {
    let of_key = |key: &String| {
        let lower = key.to_ascii_lowercase();
        (!keys.contains(&lower)).then(|| {
            let near = meant(&lower, keys.iter().map(String::as_str));
            format!("--ignore {key}: the file has nothing of that name to go on without{near}")
        })
    };
    ignored.iter().filter_map(of_key).collect()
}

fn listed(file: &str, keys: &[UnsupportedKey]) -> String {
    let mut text = String::new();
    for UnsupportedKey { line, key, why } in keys {
        text += &format!("{file}:{line}: {key}: {why}\n");
    }
    text + "what Gleaner cannot do is not left out by itself: change the file, or say --ignore KEY for each"
}
