//! Values that options of several commands take.

use gleaner_wire::limits::{NAME_BYTES_MAX, USER_TOKEN_SECONDS_MAX};
use gleaner_wire::text::is_blank;
use gleaner_workload::submit::{duration_s, size_bytes};

/// A word that can be a tag of a machine.
pub(super) fn tag(text: &str) -> Result<String, String> {
    let good = |c: char| c.is_ascii_alphanumeric() || "-_.@".contains(c);
    let is_tag = !text.is_empty() && text.len() <= NAME_BYTES_MAX && text.chars().all(good);
    is_tag.then(|| text.to_owned()).ok_or_else(|| "expected letters, digits and -_.@".to_owned())
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
