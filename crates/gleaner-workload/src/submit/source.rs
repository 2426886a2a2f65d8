//! A text and what it is called in messages.

use crate::InputError;
use crate::error::Place;
use crate::packed::BOM;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// A file, or what came through a pipe, read as a whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    name: String,
    text: String,
}

impl Source {
    /// No text is longer: ten million lines, of a few words each, are not.
    pub const BYTES_MAX: u64 = 512 << 20;

    /// A text that is called `name` where something is wrong with it.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }

    /// The file at `path`.
    pub fn file(path: &Path) -> Result<Self, InputError> {
        let name = path.display().to_string();
        let opened = File::open(path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => Place::whole(&name).error("", "no such file", "a file that can be read"),
            _ => unreadable(&name, &error),
        })?;
        Self::reader(name, opened)
    }

    /// Whatever comes until the end.
    pub fn reader(name: impl Into<String>, input: impl Read) -> Result<Self, InputError> {
        let name = name.into();
        let mut bytes = Vec::new();
        let mut bounded = input.take(Self::BYTES_MAX + 1);
        bounded.read_to_end(&mut bytes).map_err(|error| unreadable(&name, &error))?;
        if bytes.len() as u64 > Self::BYTES_MAX {
            return Err(Place::whole(&name).error("", "more than 512 MiB", "at most 512 MiB"));
        }
        if bytes.starts_with(BOM) {
            bytes.drain(..BOM.len());
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = before.split(|&byte| byte == b'\n').count() as u64;
            Place::whole(&name).at_line(line).error("", "bytes that are not UTF-8", "UTF-8 text")
        })?;
        Ok(Self { name, text })
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it holds.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// All of it.
    pub(crate) fn place(&self) -> Place {
        Place::whole(&self.name)
    }
}

fn unreadable(name: &str, error: &std::io::Error) -> InputError {
    Place::whole(name).error("", format!("that reading fails: {error}"), "a file that can be read")
}
