//! Bodies in JSON, and what is wrong with one: the path of the field, what was found, and what is expected.
//!
//! **No object has a key twice.** Of a map, the last would count in silence, and whoever wrote both meant both.

use super::refusal::Refusal;
use gleaner_wire::meant::with_meant;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeSet;
use std::fmt;

/// Reads a body.
pub(super) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refusal> {
    // A list would do for an object whose fields it has in order.
    if bytes.trim_ascii_start().first() == Some(&b'[') {
        return Err(Refusal::invalid("the request's body is a list; expected an object"));
    }
    let read = read_as(bytes)?;
    read_as::<Once>(bytes)?;
    Ok(read)
}

fn read_as<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Refusal> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let read = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        // The error's own category takes a list that is too long for a syntax error.
        if serde_json::from_slice::<IgnoredAny>(bytes).is_ok() {
            Refusal::invalid(format!("the request's body: {}", told(&error)))
        } else {
            malformed(error.inner())
        }
    })?;
    reader.end().map_err(|error| malformed(&error))?;
    Ok(read)
}

fn malformed(error: &serde_json::Error) -> Refusal {
    Refusal::malformed(format!("the request's body is not JSON: {error}"))
}

/// Where it is, and in words of JSON. Lines and columns say little of a text that a program wrote.
fn told(error: &serde_path_to_error::Error<serde_json::Error>) -> String {
    let (path, inner) = (error.path(), error.inner());
    let (text, place) = (inner.to_string(), format!(" at line {} column {}", inner.line(), inner.column()));
    let text = in_words(&with_meant(text.strip_suffix(place.as_str()).unwrap_or(&text)));
    if path.iter().next().is_none() { text } else { format!("{path}: {text}") }
}

/// Serde calls things as the code does.
fn in_words(text: &str) -> String {
    match text {
        "expected value" => "it has none of the forms that /api/v1/openapi.json lists".to_owned(),
        "recursion limit exceeded" => "it is nested too deep".to_owned(),
        _ => {
            let (found, expected) = text.rsplit_once("expected ").unwrap_or((text, ""));
            let expected = match expected {
                "a map" => "an object",
                "a sequence" => "a list",
                _ if expected.starts_with("struct ") => "an object",
                _ => return text.to_owned(),
            };
            format!("{found}expected {expected}")
        }
    }
}

/// What is read to see that each key of each object is there once.
struct Once;

struct OnceVisitor;

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(OnceVisitor)
    }
}

impl<'de> Visitor<'de> for OnceVisitor {
    type Value = Once;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_str<E>(self, _: &str) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_unit<E>(self) -> Result<Once, E> {
        Ok(Once)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut all: A) -> Result<Once, A::Error> {
        while all.next_element::<Once>()?.is_some() {}
        Ok(Once)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut all: A) -> Result<Once, A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(key) = all.next_key::<String>()? {
            if keys.contains(&key) {
                return Err(A::Error::custom(format_args!("duplicate field `{key}`")));
            }
            all.next_value::<Once>()?;
            keys.insert(key);
        }
        Ok(Once)
    }
}
