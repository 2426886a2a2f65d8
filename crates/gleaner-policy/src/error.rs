//! What no policy can be made from.

use serde_json::Value;
use std::fmt::Write as _;
use thiserror::Error;

/// How much of what was given an error shows.
const SHOWN_CHARS: usize = 60;

/// Where a policy is wrong, what was found there, and what is expected instead.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{key}: found {found}; expected {expected}")]
pub struct PolicyError {
    /// The key, as `relocate.gain_min`.
    pub key: String,
    /// What is there.
    pub found: String,
    /// What could be there.
    pub expected: String,
}

impl PolicyError {
    pub(crate) fn new(key: impl Into<String>, found: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { key: key.into(), found: found.into(), expected: expected.into() }
    }
}

/// A value as an error shows it.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        Value::Number(number) if number.is_f64() => format!("{:?}", number.as_f64().unwrap_or_default()),
        Value::Number(number) => number.to_string(),
        Value::Null => "nothing".to_owned(),
        Value::Bool(_) => "a truth value".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a table".to_owned(),
    }
}

/// As it is where it is a word, and no more of it than is needed to find it.
pub(crate) fn printable(text: &str) -> String {
    text.chars().take(SHOWN_CHARS).flat_map(char::escape_debug).collect()
}

/// In quotes, with control characters escaped, and no more than is needed to find it.
pub(crate) fn quoted(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS) {
        Some((end, _)) => format!("{:?}", format!("{}…", &text[..end])),
        None => format!("{text:?}"),
    }
}

/// Of fewer characters nobody can tell which name they begin.
const BEGUN_CHARS_MIN: usize = 4;

/// More than this is no list that anybody reads: the nearest few are shown, and how many there are besides.
const LISTED: usize = 40;
const NEAREST: usize = 5;

/// "one of …", with all that there are or the nearest of many, and the one that was probably meant.
pub(crate) fn one_of(given: &str, known: &[impl AsRef<str>]) -> String {
    let known = || known.iter().map(AsRef::as_ref);
    let given: String = given.chars().take(SHOWN_CHARS).collect();
    let distances = known().map(|known| (strsim::damerau_levenshtein(&given, known), known));
    let mut distances: Vec<(usize, &str)> = distances.collect();
    // Nothing is near to no name: all stay in their order.
    if !given.is_empty() {
        distances.sort_by_key(|(distance, _)| *distance);
    }
    let nearest = distances.first().copied();
    let mut text = if distances.len() > LISTED {
        let few: Vec<&str> = distances.iter().take(NEAREST).map(|(_, name)| *name).collect();
        format!("one of {} and {} more", few.join(", "), distances.len() - NEAREST)
    } else {
        format!("one of {}", known().collect::<Vec<&str>>().join(", "))
    };
    // Where more than a third is otherwise, it was something else that was meant.
    let near = nearest.filter(|(distance, name)| distance * 3 <= name.chars().count());
    // Or somebody wrote only how the name begins.
    let begun = || known().find(|name| given.chars().count() >= BEGUN_CHARS_MIN && name.starts_with(&given));
    if let Some(meant) = near.map(|(_, name)| name).or_else(begun) {
        write!(text, "; did you mean {meant}?").expect("a string takes all");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_listed_and_the_nearest_is_proposed() {
        let known = ["greedy", "social", "social-as-printed", "min-num", "a", "b", "c"];
        let told = one_of("gredy", &known);
        assert_eq!(told, "one of greedy, social, social-as-printed, min-num, a, b, c; did you mean greedy?");
        let many: Vec<String> = (0..47).map(|number| format!("name-{number:02}")).collect();
        let told = one_of("name-07x", &many);
        assert!(told.starts_with("one of name-07, ") && told.contains(" and 42 more"), "{told}");
        let shortest_last = [many, vec!["n".to_owned()]].concat();
        assert!(one_of("", &shortest_last).starts_with("one of name-00, name-01, "));
        assert!(!one_of("best", &known).contains("did you mean"));
        assert!(one_of("gain", &["gain_min"]).ends_with("; did you mean gain_min?"));
    }
}
