//! Functions of regular expressions: PCRE2, the library HTCondor uses, over bytes and not over characters.

mod options;
mod search;

pub(super) use options::Options;

use std::fmt::Write as _;

use pcre2::bytes::CaptureLocations;
use search::{Found, Search};

use crate::eval::{At, Evaluated, Evaluator, Halt};
use crate::expr::Call;
use crate::functions::exceptional;
use crate::value::Value;

pub(super) struct Pattern {
    search: Search,
    /// After an empty match only one that is not empty may begin at the same place. PCRE2 has an option for that; the
    /// same is said here by a pattern that must not end where the search began.
    not_empty: Option<Search>,
    options: Options,
}

impl Pattern {
    /// `None` where the pattern is none.
    pub(super) fn compile(
        evaluator: &mut Evaluator,
        pattern: &[u8],
        options: Options,
    ) -> Result<Option<Self>, Halt> {
        let source = as_utf8(pattern);
        let search = Search::compile(evaluator, &source, options)?;
        Ok(search.map(|search| Self { search, not_empty: None, options }))
    }

    /// Whether the pattern is found; `None` where the search gives up.
    pub(super) fn is_match(&self, evaluator: &mut Evaluator, text: &[u8]) -> Result<Option<bool>, Halt> {
        Ok(match self.search.run(evaluator, text, 0)? {
            Found::Match(_) => Some(true),
            Found::Nothing => Some(false),
            Found::GivenUp => None,
        })
    }

    /// What searches on after an empty match.
    fn after_empty(&mut self, evaluator: &mut Evaluator) -> Result<&Search, Halt> {
        if self.not_empty.is_none() {
            let source = &self.search.source;
            let extended = format!("\\G(?:{source}\n)(?!\\G)");
            let plain = format!("\\G(?:{source})(?!\\G)");
            if self.options.extended {
                self.not_empty = Search::compile(evaluator, &extended, self.options)?;
            }
            if self.not_empty.is_none() {
                self.not_empty = Search::compile(evaluator, &plain, self.options)?;
            }
        }
        Ok(self.not_empty.as_ref().unwrap_or(&self.search))
    }
}

/// The builder takes UTF-8 only. Bytes beyond ASCII go in as escapes, which mean the same bytes.
fn as_utf8(pattern: &[u8]) -> String {
    let mut source = String::with_capacity(pattern.len());
    for (place, &byte) in pattern.iter().enumerate() {
        if byte.is_ascii() {
            source.push(byte as char);
        } else {
            let escaped = place > 0 && pattern[place - 1] == b'\\';
            if escaped {
                source.pop();
            }
            let _ = write!(source, "\\x{byte:02x}");
        }
    }
    source
}

/// The arguments of a pattern function with its optional letters: all strings, or what the result is instead.
fn prepare(
    evaluator: &mut Evaluator,
    call: &Call,
    at: At<'_>,
    required: usize,
) -> Result<Result<Vec<Value>, Value>, Halt> {
    let Some(args) = evaluator.args_between(call, at, required, required + 1)? else {
        return Ok(Err(Value::Error));
    };
    if let Some(value) = exceptional(&args) {
        return Ok(Err(value));
    }
    if args.get(required).is_some_and(|letters| letters.as_bytes().is_none()) {
        return Ok(Err(Value::Error));
    }
    Ok(Ok(args))
}

fn bytes(args: &[Value], place: usize) -> Option<&[u8]> {
    args.get(place).and_then(Value::as_bytes)
}

/// `regexp(pattern, text[, options])`
pub(super) fn regexp(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let args = match prepare(evaluator, call, at, 2)? {
        Ok(args) => args,
        Err(value) => return Ok(value),
    };
    let (Some(pattern), Some(text)) = (bytes(&args, 0), bytes(&args, 1)) else { return Ok(Value::Error) };
    let options = Options::of(bytes(&args, 2).unwrap_or_default());
    let Some(pattern) = Pattern::compile(evaluator, pattern, options)? else { return Ok(Value::Error) };
    Ok(pattern.is_match(evaluator, text)?.map_or(Value::Error, Value::Boolean))
}

/// `regexpMember(pattern, list[, options])`
pub(super) fn regexp_member(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let args = match prepare(evaluator, call, at, 2)? {
        Ok(args) => args,
        Err(value) => return Ok(value),
    };
    let (Some(pattern), Value::List(list)) = (bytes(&args, 0), &args[1]) else { return Ok(Value::Error) };
    let options = Options::of(bytes(&args, 2).unwrap_or_default());
    let pattern = Pattern::compile(evaluator, pattern, options)?;
    let mut without = Value::Boolean(false);
    let answer = evaluator.for_each(list, at, |evaluator, value| {
        let Some(text) = value.as_bytes() else {
            if value.is_undefined() {
                without = Value::Undefined;
                return Ok(None);
            }
            return Ok(Some(Value::Error));
        };
        let found = match &pattern {
            Some(pattern) => pattern.is_match(evaluator, text)?,
            // A pattern that is none matches nothing here.
            None => None,
        };
        Ok(if found == Some(true) { Some(Value::Boolean(true)) } else { None })
    })?;
    Ok(answer.unwrap_or(without))
}

fn substitute(evaluator: &mut Evaluator, call: &Call, at: At<'_>, more_options: &[u8]) -> Evaluated {
    let args = match prepare(evaluator, call, at, 3)? {
        Ok(args) => args,
        Err(value) => return Ok(value),
    };
    let (Some(pattern), Some(text), Some(replacement)) = (bytes(&args, 0), bytes(&args, 1), bytes(&args, 2))
    else {
        return Ok(Value::Error);
    };
    let options = Options::of(&[bytes(&args, 3).unwrap_or_default(), more_options].concat());
    let Some(mut pattern) = Pattern::compile(evaluator, pattern, options)? else { return Ok(Value::Error) };
    match replaced(evaluator, &mut pattern, text, replacement)? {
        Some(written) => evaluator.string(written),
        None => Ok(Value::Error),
    }
}

/// The text with its matches replaced, `None` where HTCondor gives an error.
fn replaced(
    evaluator: &mut Evaluator,
    pattern: &mut Pattern,
    text: &[u8],
    replacement: &[u8],
) -> Result<Option<Vec<u8>>, Halt> {
    let mut written = Vec::new();
    let mut from = 0;
    let mut was_empty = false;
    loop {
        evaluator.spend(2 + (text.len() - from.min(text.len())) as u64 / 64)?;
        if from > text.len() {
            return Ok(None);
        }
        let search = if was_empty { pattern.after_empty(evaluator)? } else { &pattern.search };
        let groups = match search.run(evaluator, text, from)? {
            Found::Match(groups) => Some(groups),
            Found::Nothing => None,
            Found::GivenUp => return Ok(None),
        };
        let Some((groups, whole)) = groups.and_then(|groups| groups.get(0).map(|whole| (groups, whole)))
        else {
            if was_empty {
                written.extend(text.get(from));
                from += 1;
                was_empty = false;
                continue;
            }
            break;
        };
        if pattern.options.full {
            written.extend_from_slice(text.get(from..whole.0).unwrap_or_default());
        }
        if !expand(replacement, text, &groups, &mut written) {
            return Ok(None);
        }
        if written.len() > evaluator.limits.string_bytes {
            return Err(Halt::Exhausted);
        }
        from = whole.1;
        was_empty = was_empty || whole.0 == whole.1;
        if !pattern.options.global {
            break;
        }
    }
    if pattern.options.full {
        written.extend_from_slice(text.get(from..).unwrap_or_default());
    }
    Ok(Some(written))
}

/// Writes the replacement with `\0` to `\9` for the groups; false where it names one beyond the last that matched.
fn expand(replacement: &[u8], text: &[u8], groups: &CaptureLocations, written: &mut Vec<u8>) -> bool {
    let matched =
        (0..groups.len()).rev().find(|&group| groups.get(group).is_some()).map_or(0, |last| last + 1);
    let mut bytes = replacement.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match (byte, bytes.peek()) {
            (b'\\', Some(digit @ b'0'..=b'9')) => {
                let group = usize::from(digit - b'0');
                bytes.next();
                if group >= matched {
                    return false;
                }
                if let Some((start, end)) = groups.get(group) {
                    written.extend_from_slice(&text[start..end]);
                }
            }
            _ => written.push(byte),
        }
    }
    true
}

pub(super) fn regexps(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    substitute(evaluator, call, at, b"")
}

pub(super) fn replace(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    substitute(evaluator, call, at, b"f")
}

pub(super) fn replace_all(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    substitute(evaluator, call, at, b"fg")
}
