//! Functions of strings.

use crate::eval::{At, Evaluated, Evaluator, Halt};
use crate::expr::Call;
use crate::functions::conversions::text_of;
use crate::ops::compare_folded;
use crate::value::{List, Value};

pub(super) fn strcat(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let mut joined = Vec::new();
    for arg in &call.args {
        match text_of(&evaluator.eval(arg, at)?) {
            Ok(text) => joined.extend_from_slice(text.as_bytes()),
            Err(exceptional) => return Ok(exceptional),
        }
        if joined.len() > evaluator.limits.string_bytes {
            return Err(Halt::Exhausted);
        }
    }
    evaluator.string(joined)
}

/// Strings put together with a separator in between; undefined ones are left out.
struct Joiner {
    separator: Option<Vec<u8>>,
    joined: Vec<u8>,
    has_undefined: bool,
    has_item: bool,
}

impl Joiner {
    fn new(separator: Option<Vec<u8>>) -> Self {
        Self { separator, joined: Vec::new(), has_undefined: false, has_item: false }
    }

    /// Adds a value, the separator first if there is none yet; gives the answer if that is already clear.
    fn add(&mut self, evaluator: &mut Evaluator, value: &Value) -> Result<Option<Value>, Halt> {
        let text = match text_of(value) {
            Ok(text) => text,
            Err(Value::Undefined) => {
                self.separator.get_or_insert_default();
                self.has_undefined = true;
                return Ok(None);
            }
            Err(exceptional) => return Ok(Some(exceptional)),
        };
        let Some(separator) = &self.separator else {
            self.separator = Some(text.as_bytes().to_vec());
            return Ok(None);
        };
        // Empty strings at the front leave no separator behind.
        if !self.joined.is_empty() {
            self.joined.extend_from_slice(separator);
        }
        self.has_item = true;
        self.joined.extend_from_slice(text.as_bytes());
        if self.joined.len() > evaluator.limits.string_bytes { Err(Halt::Exhausted) } else { Ok(None) }
    }

    /// Nothing but undefined strings make an undefined one.
    fn finish(self, evaluator: &mut Evaluator) -> Evaluated {
        if self.has_undefined && !self.has_item {
            Ok(Value::Undefined)
        } else {
            evaluator.string(self.joined)
        }
    }
}

/// `join(sep, a, b, …)`, `join(sep, list)` or `join(list)`.
pub(super) fn join(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let mut joiner = Joiner::new(None);
    if let [.., last] = &*call.args
        && call.args.len() <= 2
        && let Value::List(list) = evaluator.eval(last, at)?
    {
        if call.args.len() == 2 {
            let separator = evaluator.eval(&call.args[0], at)?;
            if let Some(answer) = joiner.add(evaluator, &separator)? {
                return Ok(answer);
            }
        } else {
            joiner = Joiner::new(Some(Vec::new()));
        }
        if let Some(answer) =
            evaluator.for_each(&list, at, |evaluator, value| joiner.add(evaluator, &value))?
        {
            return Ok(answer);
        }
        return joiner.finish(evaluator);
    }
    for arg in &call.args {
        let value = evaluator.eval(arg, at)?;
        if let Some(answer) = joiner.add(evaluator, &value)? {
            return Ok(answer);
        }
    }
    joiner.finish(evaluator)
}

fn change_case(evaluator: &mut Evaluator, call: &Call, at: At<'_>, change: fn(&mut [u8])) -> Evaluated {
    let Some([value]) = evaluator.args(call, at)? else { return Ok(Value::Error) };
    match text_of(&value) {
        Ok(text) => {
            let mut bytes = text.as_bytes().to_vec();
            change(&mut bytes);
            evaluator.string(bytes)
        }
        Err(exceptional) => Ok(exceptional),
    }
}

pub(super) fn to_lower(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    change_case(evaluator, call, at, <[u8]>::make_ascii_lowercase)
}

pub(super) fn to_upper(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    change_case(evaluator, call, at, <[u8]>::make_ascii_uppercase)
}

/// `substr(s, offset[, length])`; what is negative counts from the end.
pub(super) fn substr(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let Some(args) = evaluator.args_between(call, at, 2, 3)? else { return Ok(Value::Error) };
    if args.iter().any(Value::is_undefined) {
        return Ok(Value::Undefined);
    }
    let (Value::String(text), Value::Integer(offset)) = (&args[0], &args[1]) else { return Ok(Value::Error) };
    let wanted = match args.get(2) {
        None => None,
        // Numbers are cut to 32 bits.
        Some(Value::Integer(length)) => Some(i64::from(*length as i32)),
        Some(_) => return Ok(Value::Error),
    };
    let bytes = text.as_bytes();
    let total = bytes.len() as i64;
    let mut offset = i64::from(*offset as i32);
    if offset < 0 {
        offset = (total + offset).max(0);
    }
    let offset = offset.min(total);
    let left = total - offset;
    let length = match wanted {
        None => left,
        Some(length) if length < 0 => (left + length).max(0),
        Some(length) => length.min(left),
    };
    evaluator.string(bytes[offset as usize..(offset + length) as usize].to_vec())
}

fn compare(
    evaluator: &mut Evaluator,
    call: &Call,
    at: At<'_>,
    order: fn(&[u8], &[u8]) -> std::cmp::Ordering,
) -> Evaluated {
    let Some([left, right]) = evaluator.args(call, at)? else { return Ok(Value::Error) };
    if left.is_undefined() || right.is_undefined() {
        return Ok(Value::Undefined);
    }
    Ok(match (text_of(&left), text_of(&right)) {
        (Ok(left), Ok(right)) => Value::Integer(order(left.as_bytes(), right.as_bytes()) as i64),
        _ => Value::Error,
    })
}

pub(super) fn strcmp(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    compare(evaluator, call, at, Ord::cmp)
}

pub(super) fn stricmp(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    compare(evaluator, call, at, compare_folded)
}

/// Both sides of the first `@`; without one the whole is the first side or, for slots, the second.
fn split_at_sign(evaluator: &mut Evaluator, call: &Call, at: At<'_>, whole_is_first: bool) -> Evaluated {
    let Some([Value::String(text)]) = evaluator.args(call, at)? else { return Ok(Value::Error) };
    let bytes = text.as_bytes();
    let (first, second) = match bytes.iter().position(|&byte| byte == b'@') {
        Some(place) => (&bytes[..place], &bytes[place + 1..]),
        None if whole_is_first => (bytes, &b""[..]),
        None => (&b""[..], bytes),
    };
    Ok(Value::List(List::made_of([Value::string(first), Value::string(second)])))
}

pub(super) fn split_user_name(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    split_at_sign(evaluator, call, at, true)
}

pub(super) fn split_slot_name(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    split_at_sign(evaluator, call, at, false)
}

/// `split(s[, separators])`: space around a separator belongs to it, and two of the same separator have an empty
/// string between them.
pub(super) fn split(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let Some(args) = evaluator.args_between(call, at, 1, 2)? else { return Ok(Value::Error) };
    let Some(bytes) = args[0].as_bytes() else { return Ok(Value::Error) };
    let separators = match args.get(1) {
        None => &b", \t"[..],
        Some(separators) => match separators.as_bytes() {
            Some(separators) => separators,
            None => return Ok(Value::Error),
        },
    };
    evaluator.cut(bytes.len(), separators.len())?;
    let is_space = |byte: u8| byte.is_ascii_whitespace() || byte == 0x0b;
    let mut parts = Vec::new();
    let mut start = 0;
    let mut previous = None;
    for (place, &byte) in bytes.iter().enumerate().filter(|(_, byte)| separators.contains(byte)) {
        if place > start {
            parts.push(Value::string(&bytes[start..place]));
        } else if previous == Some(byte) {
            parts.push(Value::string(""));
        }
        if !is_space(byte) {
            previous = Some(byte);
        }
        start = place + 1;
    }
    if start < bytes.len() {
        parts.push(Value::string(&bytes[start..]));
    }
    evaluator.spend(parts.len() as u64)?;
    Ok(Value::List(List::made_of(parts)))
}
