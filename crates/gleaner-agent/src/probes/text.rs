//! A file of the kernel's, line by line, so that what is wrong in it can be named.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::error::ProbeError;

/// How much of what was found an error shows.
const FOUND_MAX: usize = 60;

/// What a file held when it was read.
#[derive(Debug)]
pub(crate) struct Text {
    file: PathBuf,
    body: String,
}

/// One line of a [`Text`].
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    file: &'a Path,
    number: usize,
    /// The line without its end.
    pub(crate) text: &'a str,
}

impl Text {
    pub(crate) fn new(file: PathBuf, body: String) -> Self {
        Self { file, body }
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = Line<'_>> {
        let numbered = self.body.lines().zip(1..);
        numbered.map(|(text, number)| Line { file: &self.file, number, text })
    }

    /// The first line; an empty one if the file has none.
    pub(crate) fn first(&self) -> Line<'_> {
        self.lines().next().unwrap_or(Line { file: &self.file, number: 1, text: "" })
    }

    /// What follows the last closing bracket: what is in brackets is a name that may be anything, line ends included.
    pub(crate) fn after_name(&self) -> Option<&str> {
        self.body.rsplit_once(')').map(|(_, rest)| rest)
    }

    /// The first line whose first word is `key`.
    pub(crate) fn find_line(&self, key: &str) -> Option<Line<'_>> {
        self.lines().find(|line| line.text.split_whitespace().next() == Some(key))
    }

    /// The number beside `key`, where a file has a key and a number in each line.
    pub(crate) fn find_number(&self, key: &str) -> Result<Option<u64>, ProbeError> {
        self.find_line(key).map(|line| line.number(1, "a whole number")).transpose()
    }

    /// What follows `KEY=`, in files of the shell's kind.
    pub(crate) fn find_value(&self, key: &str) -> Option<&str> {
        self.body.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))
    }
}

impl<'a> Line<'a> {
    pub(crate) fn words(self) -> impl Iterator<Item = &'a str> {
        self.text.split_whitespace()
    }

    /// The word at `index`, from 0, read as a number.
    pub(crate) fn number<T: FromStr>(self, index: usize, expected: &'static str) -> Result<T, ProbeError> {
        let word = self.words().nth(index);
        word.and_then(|word| word.parse().ok()).ok_or_else(|| self.garbled(expected))
    }

    /// The error that this line is not what was expected.
    pub(crate) fn garbled(self, expected: &'static str) -> ProbeError {
        ProbeError::Garbled {
            file: self.file.to_owned(),
            line: self.number,
            expected,
            found: self.text.chars().take(FOUND_MAX).collect(),
        }
    }
}
