//! Functions of strings that are lists: items between delimiters, without the space around them.

use crate::eval::{At, Evaluated, Evaluator, Halt};
use crate::expr::Call;
use crate::functions::exceptional;
use crate::functions::patterns::{Options, Pattern};
use crate::number::{leading_real, truncate_i64};
use crate::value::Value;

const DELIMITERS: &[u8] = b", ";

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

/// The items of a list that are not empty.
fn items<'t>(list: &'t [u8], delimiters: &'t [u8]) -> impl Iterator<Item = &'t [u8]> {
    let mut rest = list;
    std::iter::from_fn(move || {
        let skipped = rest.iter().take_while(|byte| delimiters.contains(byte) || is_space(**byte)).count();
        rest = &rest[skipped..];
        let length = rest.iter().take_while(|byte| !delimiters.contains(byte)).count();
        let (item, behind) = rest.split_at(length);
        rest = behind;
        let trimmed = item.iter().rposition(|byte| !is_space(*byte)).map_or(0, |last| last + 1);
        if trimmed == 0 { None } else { Some(&item[..trimmed]) }
    })
}

/// A list and its delimiters, both strings.
fn list_and_delimiters(
    evaluator: &mut Evaluator,
    call: &Call,
    at: At<'_>,
) -> Result<Option<(Value, Value)>, Halt> {
    let Some(mut args) = evaluator.args_between(call, at, 1, 2)? else { return Ok(None) };
    let delimiters =
        if args.len() == 2 { args.pop() } else { None }.unwrap_or_else(|| Value::string(DELIMITERS));
    let Some(list) = args.pop() else { return Ok(None) };
    let [text, among] = [&list, &delimiters].map(|value| value.as_bytes().map_or(0, <[u8]>::len));
    evaluator.cut(text, among)?;
    Ok(if list.as_bytes().is_some() && delimiters.as_bytes().is_some() {
        Some((list, delimiters))
    } else {
        None
    })
}

pub(super) fn size(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    Ok(match list_and_delimiters(evaluator, call, at)? {
        Some((list, delimiters)) => {
            let (list, delimiters) =
                (list.as_bytes().unwrap_or_default(), delimiters.as_bytes().unwrap_or_default());
            Value::Integer(items(list, delimiters).count() as i64)
        }
        None => Value::Error,
    })
}

/// How a list of numbers becomes one.
struct Summary {
    start: f64,
    combine: fn(f64, f64) -> f64,
    averages: bool,
    of_nothing: Value,
}

fn summarize(evaluator: &mut Evaluator, call: &Call, at: At<'_>, summary: &Summary) -> Evaluated {
    let Some((list, delimiters)) = list_and_delimiters(evaluator, call, at)? else { return Ok(Value::Error) };
    let mut result = summary.start;
    let mut count = 0_u32;
    let mut is_real = false;
    for item in items(list.as_bytes().unwrap_or_default(), delimiters.as_bytes().unwrap_or_default()) {
        let Some((number, _)) = leading_real(item) else { return Ok(Value::Error) };
        is_real |= !item.iter().all(|byte| matches!(byte, b'+' | b'-' | b'0'..=b'9'));
        result = (summary.combine)(number, result);
        count += 1;
    }
    if count == 0 {
        return Ok(summary.of_nothing.clone());
    }
    if summary.averages {
        result /= f64::from(count);
    }
    Ok(if is_real { Value::Real(result) } else { Value::Integer(truncate_i64(result)) })
}

pub(super) fn sum(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let summary = Summary {
        start: 0.0,
        combine: |item, sum| item + sum,
        averages: false,
        of_nothing: Value::Real(0.0),
    };
    summarize(evaluator, call, at, &summary)
}

pub(super) fn avg(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let summary =
        Summary { start: 0.0, combine: |item, sum| item + sum, averages: true, of_nothing: Value::Real(0.0) };
    summarize(evaluator, call, at, &summary)
}

// HTCondor starts at the greatest and the least positive float, so that the greatest of negative numbers is nearly 0.

pub(super) fn min(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let summary = Summary {
        start: f64::from(f32::MAX),
        combine: |item, least| if item < least { item } else { least },
        averages: false,
        of_nothing: Value::Undefined,
    };
    summarize(evaluator, call, at, &summary)
}

pub(super) fn max(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let summary = Summary {
        start: f64::from(f32::MIN_POSITIVE),
        combine: |item, greatest| if item > greatest { item } else { greatest },
        averages: false,
        of_nothing: Value::Undefined,
    };
    summarize(evaluator, call, at, &summary)
}

/// The first list, the second list and the delimiters, undefined ones empty; or the answer.
fn two_lists(
    evaluator: &mut Evaluator,
    call: &Call,
    at: At<'_>,
) -> Result<Result<[Vec<u8>; 3], Value>, Halt> {
    let Some(args) = evaluator.args_between(call, at, 2, 3)? else { return Ok(Err(Value::Error)) };
    if args.iter().any(|arg| !arg.is_undefined() && arg.as_bytes().is_none()) {
        return Ok(Err(Value::Error));
    }
    if args[0].is_undefined() && args[1].is_undefined() {
        return Ok(Err(Value::Undefined));
    }
    let bytes = |place: usize| args.get(place).and_then(Value::as_bytes);
    let lists = [
        bytes(0).unwrap_or_default().to_vec(),
        bytes(1).unwrap_or_default().to_vec(),
        bytes(2).unwrap_or(b", \t\r\n").to_vec(),
    ];
    evaluator.cut(lists[0].len() + lists[1].len(), lists[2].len())?;
    Ok(Ok(lists))
}

fn is_member(evaluator: &mut Evaluator, call: &Call, at: At<'_>, fold: fn(&[u8]) -> Vec<u8>) -> Evaluated {
    Ok(match two_lists(evaluator, call, at)? {
        Ok([item, list, delimiters]) => {
            let wanted = fold(&item);
            Value::Boolean(items(&list, &delimiters).any(|item| fold(item) == wanted))
        }
        Err(answer) => answer,
    })
}

fn is_subset(evaluator: &mut Evaluator, call: &Call, at: At<'_>, fold: fn(&[u8]) -> Vec<u8>) -> Evaluated {
    Ok(match two_lists(evaluator, call, at)? {
        Ok([part, _, _]) if part.is_empty() => Value::Boolean(true),
        Ok([part, list, delimiters]) => {
            let known: std::collections::HashSet<Vec<u8>> = items(&list, &delimiters).map(fold).collect();
            let mut wanted = items(&part, &delimiters).peekable();
            // A list of delimiters only has no item that is known.
            Value::Boolean(wanted.peek().is_some() && wanted.all(|item| known.contains(&fold(item))))
        }
        Err(answer) => answer,
    })
}

pub(super) fn member(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    is_member(evaluator, call, at, <[u8]>::to_vec)
}

pub(super) fn member_any_case(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    is_member(evaluator, call, at, <[u8]>::to_ascii_lowercase)
}

pub(super) fn subset(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    is_subset(evaluator, call, at, <[u8]>::to_vec)
}

pub(super) fn subset_any_case(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    is_subset(evaluator, call, at, <[u8]>::to_ascii_lowercase)
}

/// `stringListsIntersect(a, b[, delimiters])`: this one keeps the space around items.
pub(super) fn intersect(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let Some(args) = evaluator.args_between(call, at, 2, 3)? else { return Ok(Value::Error) };
    if let Some(value) = exceptional(&args) {
        return Ok(value);
    }
    let (Some(first), Some(second)) = (args[0].as_bytes(), args[1].as_bytes()) else {
        return Ok(Value::Error);
    };
    let delimiters = match args.get(2).map(Value::as_bytes) {
        Some(None) => return Ok(Value::Error),
        Some(Some(delimiters)) if !delimiters.is_empty() => delimiters,
        _ => b" ,",
    };
    evaluator.cut(first.len() + second.len(), delimiters.len())?;
    let split = |list| <[u8]>::split(list, |byte| delimiters.contains(byte)).filter(|item| !item.is_empty());
    let known: std::collections::HashSet<&[u8]> = split(second).collect();
    Ok(Value::Boolean(split(first).any(|item| known.contains(item))))
}

/// `stringList_regexpMember(pattern, list[, delimiters[, options]])`
pub(super) fn regexp_member(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let Some(args) = evaluator.args_between(call, at, 2, 4)? else { return Ok(Value::Error) };
    let Some(strings) = args.iter().map(Value::as_bytes).collect::<Option<Vec<_>>>() else {
        return Ok(Value::Error);
    };
    let delimiters = strings.get(2).copied().unwrap_or(DELIMITERS);
    let options = Options::of_any_case(strings.get(3).copied().unwrap_or_default());
    evaluator.cut(strings[1].len(), delimiters.len())?;
    let Some(pattern) = Pattern::compile(evaluator, strings[0], options)? else { return Ok(Value::Error) };
    let mut answer = Value::Undefined;
    for item in items(strings[1], delimiters) {
        let found = pattern.is_match(evaluator, item)? == Some(true);
        answer = Value::Boolean(found || answer.as_condition() == Some(true));
    }
    Ok(answer)
}
