//! A folder that goes away, and the program run in it.

use assert_cmd::assert::Assert;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

pub(crate) struct Scratch(TempDir);

impl Scratch {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().expect("a folder for the test"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a file of the test");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

pub(crate) fn json(text: &[u8]) -> Value {
    serde_json::from_slice(text).expect("one JSON document")
}

/// Runs the program in a folder to its end.
pub(crate) fn gleaner(folder: &Scratch, arguments: &[&str]) -> Assert {
    let mut command = assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("gleaner"));
    command.current_dir(folder.path("")).args(arguments).assert()
}
