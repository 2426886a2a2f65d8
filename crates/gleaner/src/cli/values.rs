//! Values that options of several commands take.

use clap::builder::{PathBufValueParser, TypedValueParser};
use gleaner_agent::confine::MEMORY_BYTES_MIN;
use gleaner_wire::limits::{NAME_BYTES_MAX, USER_TOKEN_SECONDS_MAX};
use gleaner_wire::text::{is_blank, is_name};
use gleaner_workload::submit::{duration_s, size_bytes};
use std::path::{Path, PathBuf};

/// What stands for standard input where a file is read, and for standard output where one is written.
pub(crate) const DASH: &str = "-";

/// A file that is read.
pub(super) fn file_to_read() -> impl TypedValueParser<Value = PathBuf> {
    let named = |path: PathBuf| if path == Path::new(DASH) { PathBuf::from("/dev/stdin") } else { path };
    PathBufValueParser::new().map(named)
}

/// A word that can be a tag of a machine.
pub(super) fn tag(text: &str) -> Result<String, String> {
    let good = |c: char| c.is_ascii_alphanumeric() || "-_.@".contains(c);
    let is_tag = !text.is_empty() && text.len() <= NAME_BYTES_MAX && text.chars().all(good);
    is_tag.then(|| text.to_owned()).ok_or_else(|| "expected letters, digits and -_.@".to_owned())
}

/// A name that a coordinator takes from a machine.
pub(super) fn machine_name(text: &str) -> Result<String, String> {
    let expected =
        || format!("expected letters, digits and -_.@, not a - first, at most {NAME_BYTES_MAX} bytes");
    is_name(text).then(|| text.to_owned()).ok_or_else(expected)
}

/// A program and its words, apart by spaces.
pub(super) fn program(text: &str) -> Result<String, String> {
    let expected = || "expected a program and its words; leave the option out for none".to_owned();
    (!text.trim().is_empty()).then(|| text.to_owned()).ok_or_else(expected)
}

/// A label that is seen: the coordinator says what else it is not to be.
pub(super) fn label(text: &str) -> Result<String, String> {
    let expected = || "expected a text that is seen; leave the option out for no label".to_owned();
    (!is_blank(text)).then(|| text.to_owned()).ok_or_else(expected)
}

pub(super) fn seconds(text: &str) -> Result<f64, String> {
    duration_s(text).map_err(|error| format!("expected a {}", error.expected))
}

/// How long a token or a signature is good.
pub(super) fn life(text: &str) -> Result<u32, String> {
    let whole = seconds(text)?.round() as u32;
    let expected = || format!("expected 1 second to {} days", USER_TOKEN_SECONDS_MAX / 86_400);
    (1..=USER_TOKEN_SECONDS_MAX).contains(&whole).then_some(whole).ok_or_else(expected)
}

pub(super) fn bytes(text: &str) -> Result<u64, String> {
    size_bytes(text).map_err(|error| format!("expected a {}", error.expected))
}

/// Gigabytes of memory for a task: every task that gets fewer than a program starts in would fail.
pub(super) fn task_memory_gb(text: &str) -> Result<f64, String> {
    let least = MEMORY_BYTES_MIN as f64 / 1e9;
    let expected = || format!("expected gigabytes, from {least}, since no program starts in less, to 100000");
    let meant = text.parse().ok().filter(|gigabytes| (least..=100_000.0).contains(gigabytes));
    meant.ok_or_else(expected)
}
