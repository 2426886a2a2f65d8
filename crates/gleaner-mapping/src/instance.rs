//! Reads the files of ETC instances: `tasks machines x`, then the times task by task.
//!
//! Words are parted by blanks and line ends, which mean the same. The third word of the header is anything: the
//! files of Braun et al. have a 0 there. Every fault is reported with its line and column, both counted from 1.

use crate::Matrix;
use crate::matrix::{TIME_MAX, is_time};
use thiserror::Error;

/// How much of a bad word an error shows.
const SHOWN_CHARS: usize = 40;

/// Where a file is no instance, what was found there, and what was expected.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{line}:{column}: found {found}; expected {expected}")]
pub struct InstanceError {
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
    /// What is there.
    pub found: String,
    /// What could be there.
    pub expected: String,
}

impl Matrix {
    /// The instance that a file's content describes.
    pub fn parse(content: &[u8]) -> Result<Self, InstanceError> {
        // Some programs begin a text with a mark of its byte order.
        let at = if content.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let mut words = Words { content, at };
        let tasks = words.count("the number of tasks, from 1 to 4294967295")?;
        let machines = words.count("the number of machines, from 1 to 4294967295")?;
        words.next().ok_or_else(|| words.ended("a third word in the header, such as 0"))?;
        let times = words.times(tasks as usize, machines as usize)?;
        Ok(Self::new(tasks as usize, machines as usize, times).expect("what was read is checked"))
    }
}

struct Words<'a> {
    content: &'a [u8],
    at: usize,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        let rest = &self.content[self.at..];
        let start = rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        let word = &rest[start..];
        let end = word.iter().position(u8::is_ascii_whitespace).unwrap_or(word.len());
        self.at += start + end;
        Some(&word[..end])
    }

    fn count(&mut self, expected: &str) -> Result<u32, InstanceError> {
        let word = self.next().ok_or_else(|| self.ended(expected))?;
        let count = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
        count.filter(|count| *count > 0).ok_or_else(|| self.bad(word, expected))
    }

    fn times(&mut self, tasks: usize, machines: usize) -> Result<Vec<f64>, InstanceError> {
        // Not so much as the header promises: it may promise what the file does not hold.
        let expected = tasks.saturating_mul(machines);
        let mut times = Vec::with_capacity(expected.min(self.content.len() / 2 + 1));
        while let Some(word) = self.next() {
            if times.len() == expected {
                let all = format!("no more than {expected} times ({tasks} tasks × {machines} machines)");
                return Err(self.bad(word, &all));
            }
            let time = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
            let time = time.filter(|time| is_time(*time));
            times.push(time.ok_or_else(|| self.bad(word, &format!("a time from 0 to {TIME_MAX:e}")))?);
        }
        if times.len() < expected {
            let all = format!(
                "{expected} times ({tasks} tasks × {machines} machines), of which {} are there",
                times.len()
            );
            return Err(self.ended(&all));
        }
        Ok(times)
    }

    /// That the word just read is not what was expected.
    fn bad(&self, word: &[u8], expected: &str) -> InstanceError {
        let text = String::from_utf8_lossy(word);
        let shown: String = text.chars().take(SHOWN_CHARS).collect();
        let more = if text.chars().nth(SHOWN_CHARS).is_some() { "…" } else { "" };
        self.error_at(self.at - word.len(), format!("{:?}", shown + more), expected)
    }

    fn ended(&self, expected: &str) -> InstanceError {
        self.error_at(self.content.len(), "the end of the file".to_owned(), expected)
    }

    fn error_at(&self, at: usize, found: String, expected: &str) -> InstanceError {
        let before = &self.content[..at];
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        InstanceError {
            line: before.split(|byte| *byte == b'\n').count(),
            column: String::from_utf8_lossy(&before[line_start..]).chars().count() + 1,
            found,
            expected: expected.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_and_line_ends_mean_the_same() {
        let expected = Matrix::new(2, 2, vec![1.0, 2.0, 3.5, 0.0]).expect("a matrix");
        for text in ["2 2 0\n1\n2\n3.5\n0\n", "2 2 x 1 2 3.5 0", "\r\n2\t2 0\r\n 1 2\r\n\r\n35e-1 0.0 "] {
            assert_eq!(Matrix::parse(text.as_bytes()), Ok(expected.clone()), "{text:?}");
        }
    }

    #[test]
    fn faults_are_found_where_they_are() {
        let cases = [
            ("", "1:1: found the end of the file; expected the number of tasks"),
            ("2", "1:2: found the end of the file; expected the number of machines"),
            ("2 2", "1:4: found the end of the file; expected a third word"),
            ("0 2 0", "1:1: found \"0\"; expected the number of tasks"),
            ("2 -2 0", "1:3: found \"-2\"; expected the number of machines"),
            (
                "1 2 0\n1",
                "2:2: found the end of the file; expected 2 times (1 tasks × 2 machines), of which 1 are",
            ),
            ("1 2 0\n1 2\n\n  3", "4:3: found \"3\"; expected no more than 2 times"),
            ("1 2 0\n1 -2", "2:3: found \"-2\"; expected a time from 0"),
            ("1 2 0\n1 inf", "2:3: found \"inf\"; expected a time"),
            ("1 2 0\n1 1e999", "2:3: found \"1e999\"; expected a time"),
            ("1 2 0\nNaN 1", "2:1: found \"NaN\"; expected a time"),
            ("1 2 0\n1 1,5", "2:3: found \"1,5\"; expected a time"),
            ("1 2 0\né \u{1b}[m", "2:1: found \"é\"; expected a time"),
            ("4294967295 4294967295 0\n1", "2:2: found the end of the file"),
        ];
        for (text, expected) in cases {
            let said = Matrix::parse(text.as_bytes()).expect_err("no instance").to_string();
            assert!(said.starts_with(expected), "{text:?}: {said}");
        }
        let long = format!("1 1 0 {}", "9".repeat(500));
        assert!(Matrix::parse(long.as_bytes()).expect_err("too much").to_string().len() < 150);
    }
}
