//! Comparison of versions: like `strverscmp`, with runs of digits as numbers.

use std::cmp::Ordering;

use crate::eval::{At, Evaluated, Evaluator};
use crate::expr::Call;
use crate::functions::conversions::text_of;
use crate::value::Value;

/// Less than, equal to or greater than zero; how much is HTCondor's affair, but `versioncmp` shows it.
pub(super) fn natural_difference(left: &[u8], right: &[u8]) -> i64 {
    let byte = |text: &[u8], place: usize| text.get(place).copied().unwrap_or(0);
    let signed = |byte: u8| i64::from(byte as i8);
    let same = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    let (a, b) = (byte(left, same), byte(right, same));
    if a == 0 && b == 0 {
        return 0;
    }
    let characters = signed(a) - signed(b);
    // The number in which the difference lies begins before it.
    let start = left[..same].iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |place| place + 1);
    if start == same && !(a.is_ascii_digit() && b.is_ascii_digit()) {
        return characters;
    }
    let run =
        |text: &[u8], wanted: fn(&u8) -> bool| text[start..].iter().take_while(|byte| wanted(byte)).count();
    // A last zero with no digit behind it is a digit and not a leading zero.
    let leading_zeros = |text: &[u8]| {
        let zeros = run(text, |byte| *byte == b'0');
        if zeros > 0 && !byte(text, start + zeros).is_ascii_digit() { zeros - 1 } else { zeros }
    };
    let (left_zeros, right_zeros) = (leading_zeros(left) as i64, leading_zeros(right) as i64);
    if left_zeros != right_zeros {
        // More leading zeros make a smaller fraction.
        return right_zeros - left_zeros;
    }
    if left_zeros > 0 {
        return characters;
    }
    let digits = |text: &[u8]| run(text, u8::is_ascii_digit) as i64;
    match digits(left) - digits(right) {
        0 => characters,
        longer => longer,
    }
}

fn difference(evaluator: &mut Evaluator, call: &Call, at: At<'_>, answer: fn(i64) -> Value) -> Evaluated {
    let Some([left, right]) = evaluator.args(call, at)? else { return Ok(Value::Error) };
    if left.is_undefined() || right.is_undefined() {
        return Ok(Value::Undefined);
    }
    Ok(match (text_of(&left), text_of(&right)) {
        (Ok(left), Ok(right)) => answer(natural_difference(left.as_bytes(), right.as_bytes())),
        _ => Value::Error,
    })
}

pub(super) fn versioncmp(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    difference(evaluator, call, at, Value::Integer)
}

macro_rules! orders {
    ($($name:ident: $pattern:pat,)*) => {$(
        pub(super) fn $name(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
            difference(evaluator, call, at, |difference| Value::Boolean(matches!(difference.cmp(&0), $pattern)))
        }
    )*};
}

orders! {
    version_eq: Ordering::Equal,
    version_ge: Ordering::Greater | Ordering::Equal,
    version_gt: Ordering::Greater,
    version_le: Ordering::Less | Ordering::Equal,
    version_lt: Ordering::Less,
}

/// `version_in_range(version, least, greatest)`
pub(super) fn version_in_range(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let Some([version, least, greatest]) = evaluator.args(call, at)? else { return Ok(Value::Error) };
    if least.is_undefined() || greatest.is_undefined() {
        return Ok(Value::Undefined);
    }
    Ok(match (text_of(&version), text_of(&least), text_of(&greatest)) {
        (Ok(version), Ok(least), Ok(greatest)) => Value::Boolean(
            natural_difference(least.as_bytes(), version.as_bytes()) <= 0
                && natural_difference(version.as_bytes(), greatest.as_bytes()) <= 0,
        ),
        _ => Value::Error,
    })
}
