//! Functions of environments, arguments and users.

use std::collections::BTreeMap;

use crate::eval::{At, Evaluated, Evaluator, Halt};
use crate::expr::Call;
use crate::value::{List, Value};

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Words between blanks; in single quotes blanks count, and a quote is written twice. `None`: a quote is missing.
fn split_quoted(text: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    let mut word: Option<Vec<u8>> = None;
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if is_blank(byte) {
            words.extend(word.take());
        } else if byte == b'\'' {
            let word = word.get_or_insert_default();
            loop {
                match bytes.next()? {
                    b'\'' if bytes.next_if_eq(&b'\'').is_some() => word.push(b'\''),
                    b'\'' => break,
                    quoted => word.push(quoted),
                }
            }
        } else {
            word.get_or_insert_default().push(byte);
        }
    }
    words.extend(word);
    Some(words)
}

/// Writes words so that [`split_quoted`] reads them, with the quotes where HTCondor sets them.
fn join_quoted<'w>(words: impl IntoIterator<Item = &'w [u8]>) -> Vec<u8> {
    let mut written = Vec::new();
    for word in words {
        if !written.is_empty() {
            written.push(b' ');
        }
        if word.is_empty() {
            written.extend_from_slice(b"''");
        }
        for &byte in word {
            if !is_blank(byte) && byte != b'\'' {
                written.push(byte);
                continue;
            }
            // A quoted part that has just ended goes on.
            if written.last() == Some(&b'\'') {
                written.pop();
            } else {
                written.push(b'\'');
            }
            if byte == b'\'' {
                written.push(b'\'');
            }
            written.extend_from_slice(&[byte, b'\'']);
        }
    }
    written
}

/// The version of the syntax in the second argument: 1 or 2.
fn syntax(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Result<Option<i32>, Halt> {
    match &*call.args {
        [_] => Ok(Some(2)),
        [_, version] => Ok(match evaluator.eval(version, at)? {
            Value::Integer(version) => Some(version as i32).filter(|version| matches!(version, 1 | 2)),
            _ => None,
        }),
        _ => Ok(None),
    }
}

pub(super) fn args_to_list(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let Some(version) = syntax(evaluator, call, at)? else { return Ok(Value::Error) };
    let value = evaluator.eval(&call.args[0], at)?;
    let Some(text) = value.as_bytes() else { return Ok(Value::Error) };
    let words = if version == 1 {
        Some(text.split(|byte| is_blank(*byte)).filter(|word| !word.is_empty()).map(<[u8]>::to_vec).collect())
    } else {
        split_quoted(text)
    };
    Ok(words.map_or(Value::Error, |words: Vec<_>| {
        Value::List(List::made_of(words.into_iter().map(Value::string)))
    }))
}

pub(super) fn list_to_args(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let Some(version) = syntax(evaluator, call, at)? else { return Ok(Value::Error) };
    let Value::List(list) = evaluator.eval(&call.args[0], at)? else { return Ok(Value::Error) };
    let mut words = Vec::new();
    let answer = evaluator.for_each(&list, at, |_, value| match value {
        Value::String(word) if version == 2 || !word.as_bytes().iter().any(|byte| is_blank(*byte)) => {
            words.push(word);
            Ok(None)
        }
        _ => Ok(Some(Value::Error)),
    })?;
    if let Some(answer) = answer {
        return Ok(answer);
    }
    if version == 2 {
        return evaluator.string(join_quoted(words.iter().map(crate::value::Text::as_bytes)));
    }
    let mut written: Vec<u8> = Vec::new();
    for word in &words {
        if !written.is_empty() {
            written.push(b' ');
        }
        written.extend_from_slice(word.as_bytes());
    }
    evaluator.string(written)
}

type Variables = BTreeMap<Vec<u8>, Vec<u8>>;

/// Sets `name=value`; false where that is not what it is.
fn set(variables: &mut Variables, entry: &[u8]) -> bool {
    match entry.iter().position(|&byte| byte == b'=') {
        None | Some(0) => false,
        Some(place) => {
            variables.insert(entry[..place].to_vec(), entry[place + 1..].to_vec());
            true
        }
    }
}

fn write_environment(evaluator: &mut Evaluator, variables: &Variables) -> Evaluated {
    let entries: Vec<Vec<u8>> =
        variables.iter().map(|(name, value)| [name, &b"="[..], value].concat()).collect();
    evaluator.string(join_quoted(entries.iter().map(Vec::as_slice)))
}

/// `envV1ToV2("a=1;b=2")`; a sign at the start is the delimiter instead.
pub(super) fn env_v1_to_v2(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let Some([value]) = evaluator.args(call, at)? else { return Ok(Value::Error) };
    let text = match &value {
        Value::Undefined => return Ok(Value::Undefined),
        Value::String(text) => text.as_bytes(),
        _ => return Ok(Value::Error),
    };
    let (delimiter, text) = match text.split_first() {
        Some((first, rest))
            if !first.is_ascii_alphanumeric() && !matches!(first, b'_' | b'=') && !is_blank(*first) =>
        {
            (*first, rest)
        }
        _ => (b';', text),
    };
    let mut variables = Variables::new();
    for entry in text.split(|&byte| byte == delimiter || byte == b'\n') {
        let entry = &entry[entry.iter().take_while(|byte| is_blank(**byte)).count()..];
        if !entry.is_empty() && !set(&mut variables, entry) {
            return Ok(Value::Error);
        }
    }
    write_environment(evaluator, &variables)
}

/// `mergeEnvironment(env, …)`: later ones win, undefined ones are left out.
pub(super) fn merge_environment(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let mut variables = Variables::new();
    for arg in &call.args {
        let text = match evaluator.eval(arg, at)? {
            Value::Undefined => continue,
            Value::String(text) => text,
            _ => return Ok(Value::Error),
        };
        let Some(entries) = split_quoted(text.as_bytes()) else { return Ok(Value::Error) };
        if !entries.iter().all(|entry| set(&mut variables, entry)) {
            return Ok(Value::Error);
        }
    }
    write_environment(evaluator, &variables)
}

/// The home folder in the system's list of users.
fn home_of(user: &[u8]) -> Option<Vec<u8>> {
    let users = std::fs::read("/etc/passwd").ok()?;
    users.split(|&byte| byte == b'\n').find_map(|line| {
        let fields: Vec<&[u8]> = line.split(|&byte| byte == b':').collect();
        if fields.first() == Some(&user) {
            fields.get(5).filter(|home| !home.is_empty()).map(|home| home.to_vec())
        } else {
            None
        }
    })
}

/// `userHome(user[, default])`
pub(super) fn user_home(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let Some(args) = evaluator.args_between(call, at, 1, 2)? else { return Err(Halt::Failed) };
    let default = args.get(1).filter(|default| default.as_bytes().is_some_and(|default| !default.is_empty()));
    let otherwise = |value: Value| default.cloned().unwrap_or(value);
    Ok(match &args[0] {
        Value::Undefined => otherwise(Value::Undefined),
        Value::String(user) => match home_of(user.as_bytes()) {
            Some(home) => Value::string(home),
            None => otherwise(Value::Undefined),
        },
        _ => otherwise(Value::Error),
    })
}

/// `userMap(map, user[, preferred[, default]])`: no maps are configured here, so the default is what there is.
pub(super) fn user_map(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let Some(mut args) = evaluator.args_between(call, at, 2, 4)? else { return Ok(Value::Error) };
    if args[..2].iter().any(Value::is_error) {
        return Ok(Value::Error);
    }
    Ok(if args.len() == 4 { args.swap_remove(3) } else { Value::Undefined })
}
