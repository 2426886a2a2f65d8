//! The program as a test runs it, and what it says.

use assert_cmd::Command;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Output;

/// The folder of the whole project.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The scenario of an example.
pub(crate) fn example(name: &str) -> PathBuf {
    root().join("examples").join(name).join("scenario.toml")
}

/// Runs the program to its end, in the folder in which the tests are run.
pub(crate) fn gleaner(arguments: &[&str]) -> Output {
    gleaner_in(Path::new("."), arguments)
}

pub(crate) fn gleaner_in(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("gleaner"));
    command.current_dir(folder).args(arguments).output().expect("it runs")
}

/// Runs a command on a scenario.
pub(crate) fn gleaner_on(command: &str, scenario: &Path, arguments: &[&str]) -> Output {
    gleaner(&[&[command, scenario.to_str().expect("a plain path")], arguments].concat())
}

/// What it says as JSON, if nothing is wrong.
pub(crate) fn document(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).expect("one document")
}
