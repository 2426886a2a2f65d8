//! What bad input is reported as.

use serde::Serialize;
use std::fmt;
use std::sync::Arc;
use thiserror::Error;

/// How much of a field an error shows: enough to find it, and no megabyte of it.
const SHOWN_CHARS: usize = 60;

/// Where the input is bad, what was found there, and what is expected instead.
#[derive(Clone, PartialEq, Eq, Debug, Error, Serialize)]
pub struct InputError {
    /// The file as it was named, or the `--set` argument.
    pub file: String,
    /// Counted from 1; none where it is not about one line, as in an override.
    pub line: Option<u64>,
    /// The key, as `policy.relocate.gain_min`, or the column; empty where it is not about one of them.
    pub field: String,
    /// What is there.
    pub found: String,
    /// What could be there.
    pub expected: String,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.field.is_empty() {
            write!(f, ": {}", self.field)?;
        }
        write!(f, ": found {}; expected {}", self.found, self.expected)
    }
}

/// A line of a file, or the file as a whole.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    file: Arc<str>,
    line: Option<u64>,
}

impl Place {
    pub(crate) fn whole(file: &str) -> Self {
        Self { file: file.into(), line: None }
    }

    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    pub(crate) fn at_line(&self, line: u64) -> Self {
        Self { file: Arc::clone(&self.file), line: Some(line) }
    }

    /// What stands there under this key, as errors about it begin.
    pub(crate) fn of(&self, field: &str) -> String {
        let line = self.line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{}{line}: {}", self.file, printable(&shortened(field)))
    }

    pub(crate) fn error(
        &self,
        field: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> InputError {
        InputError {
            file: self.file.to_string(),
            line: self.line,
            field: printable(&shortened(field)),
            found: found.into(),
            expected: expected.into(),
        }
    }
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// `text` with its control characters escaped, so that none reaches a terminal.
pub(crate) fn printable(text: &str) -> String {
    if !text.contains(char::is_control) {
        return text.to_owned();
    }
    let escaped = |c: char| if c.is_control() { c.escape_debug().to_string() } else { c.to_string() };
    text.chars().map(escaped).collect()
}

/// `text` in quotes, its control characters escaped too.
pub(crate) fn quoted(text: &str) -> String {
    format!("{:?}", shortened(text))
}
