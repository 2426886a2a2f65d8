//! Operators on values.
//!
//! Invariant: strict operators give `error` where an operand is `error`, else `undefined` where one is `undefined`;
//! `=?=`, `=!=`, `&&`, `||` and `?:` are the ones that are not strict.

use std::cmp::Ordering;

use crate::expr::{BinaryOp, UnaryOp};
use crate::number::truncate_i32;
use crate::value::{AbsTime, Value};

pub(crate) fn unary(op: UnaryOp, operand: Value) -> Value {
    if operand.is_exceptional() {
        return operand;
    }
    match (op, operand) {
        (UnaryOp::Plus, operand @ (Value::Integer(_) | Value::Real(_) | Value::RelTime(_))) => operand,
        (UnaryOp::Minus, Value::Integer(i)) => Value::Integer(i.wrapping_neg()),
        (UnaryOp::Minus, Value::Real(r)) => Value::Real(-r),
        (UnaryOp::Minus, Value::RelTime(secs)) => Value::RelTime(-secs),
        (UnaryOp::Not, operand) => operand.as_condition().map_or(Value::Error, |b| Value::Boolean(!b)),
        (UnaryOp::Complement, Value::Integer(i)) => Value::Integer(!i),
        _ => Value::Error,
    }
}

/// Any binary operator, both operands known.
#[inline]
pub(crate) fn binary(op: BinaryOp, left: &Value, right: &Value) -> Value {
    match op {
        BinaryOp::Or | BinaryOp::And => return logical(op, left, right),
        BinaryOp::Is => return identity(left, right, true),
        BinaryOp::Isnt => return identity(left, right, false),
        _ => {}
    }
    if left.is_error() || right.is_error() {
        return Value::Error;
    }
    if left.is_undefined() || right.is_undefined() {
        return Value::Undefined;
    }
    match op {
        BinaryOp::Equal
        | BinaryOp::NotEqual
        | BinaryOp::Less
        | BinaryOp::LessOrEqual
        | BinaryOp::Greater
        | BinaryOp::GreaterOrEqual => comparison(op, left, right),
        BinaryOp::Add | BinaryOp::Subtract | BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Modulus => {
            arithmetic(op, left, right)
        }
        _ => bitwise(op, left, right),
    }
}

/// Whether `&&` or `||` needs no right operand: what the left one decides.
#[inline]
pub(crate) fn decided(op: BinaryOp, left: &Value) -> Option<Value> {
    let deciding = match op {
        BinaryOp::Or => true,
        BinaryOp::And => false,
        _ => return None,
    };
    match left.as_condition() {
        Some(b) if b == deciding => Some(Value::Boolean(deciding)),
        Some(_) => None,
        None if left.is_undefined() => None,
        None => Some(Value::Error),
    }
}

fn logical(op: BinaryOp, left: &Value, right: &Value) -> Value {
    if let Some(value) = decided(op, left) {
        return value;
    }
    let Some(right) = right.as_condition() else {
        return if right.is_undefined() { Value::Undefined } else { Value::Error };
    };
    if left.is_undefined() && right == (op == BinaryOp::And) {
        Value::Undefined
    } else {
        Value::Boolean(right)
    }
}

fn identity(left: &Value, right: &Value, wanted: bool) -> Value {
    let same = match (left, right) {
        (Value::Undefined, Value::Undefined) | (Value::Error, Value::Error) => true,
        (Value::Boolean(a), Value::Boolean(b)) => a == b,
        (Value::Integer(a), Value::Integer(b)) => a == b,
        (Value::Real(a), Value::Real(b)) | (Value::RelTime(a), Value::RelTime(b)) => a == b,
        (Value::String(a), Value::String(b)) => a == b,
        (Value::AbsTime(a), Value::AbsTime(b)) => a == b,
        (Value::List(a), Value::List(b)) if a.is_made != b.is_made => false,
        (Value::List(_), Value::List(_)) | (Value::Ad(_), Value::Ad(_)) => return Value::Error,
        _ => false,
    };
    Value::Boolean(same == wanted)
}

/// Two numbers brought to one type.
enum Pair {
    Integers(i64, i64),
    Reals(f64, f64),
}

#[inline]
fn pair(left: &Value, right: &Value) -> Option<Pair> {
    let whole = |value: &Value| match *value {
        Value::Integer(i) => Some(i),
        Value::Boolean(b) => Some(i64::from(b)),
        _ => None,
    };
    Some(match (whole(left), whole(right)) {
        (Some(a), Some(b)) => Pair::Integers(a, b),
        _ => Pair::Reals(left.as_number()?, right.as_number()?),
    })
}

/// Strings compare without regard to ASCII case.
pub(crate) fn compare_folded(left: &[u8], right: &[u8]) -> Ordering {
    left.iter().map(u8::to_ascii_lowercase).cmp(right.iter().map(u8::to_ascii_lowercase))
}

fn comparison(op: BinaryOp, left: &Value, right: &Value) -> Value {
    let order = match (left, right) {
        (Value::String(a), Value::String(b)) => Some(compare_folded(a.as_bytes(), b.as_bytes())),
        (Value::AbsTime(a), Value::AbsTime(b)) => Some(a.secs.cmp(&b.secs)),
        (Value::RelTime(a), Value::RelTime(b)) => a.partial_cmp(b),
        _ => match pair(left, right) {
            Some(Pair::Integers(a, b)) => Some(a.cmp(&b)),
            Some(Pair::Reals(a, b)) => a.partial_cmp(&b),
            None => return Value::Error,
        },
    };
    // Without an order, which takes a NaN, only `!=` holds.
    Value::Boolean(match op {
        BinaryOp::Equal => order == Some(Ordering::Equal),
        BinaryOp::NotEqual => order != Some(Ordering::Equal),
        BinaryOp::Less => order == Some(Ordering::Less),
        BinaryOp::LessOrEqual => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        BinaryOp::Greater => order == Some(Ordering::Greater),
        _ => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
    })
}

fn arithmetic(op: BinaryOp, left: &Value, right: &Value) -> Value {
    match pair(left, right) {
        Some(Pair::Integers(a, b)) => match op {
            BinaryOp::Add => Value::Integer(a.wrapping_add(b)),
            BinaryOp::Subtract => Value::Integer(a.wrapping_sub(b)),
            BinaryOp::Multiply => Value::Integer(a.wrapping_mul(b)),
            _ if b == 0 => Value::Error,
            // The one quotient that does not fit: HTCondor takes the nearest that does.
            BinaryOp::Divide => Value::Integer(a.saturating_div(b)),
            _ => Value::Integer(a.wrapping_rem(b)),
        },
        Some(Pair::Reals(a, b)) => {
            let result = match op {
                BinaryOp::Add => a + b,
                BinaryOp::Subtract => a - b,
                BinaryOp::Multiply => a * b,
                BinaryOp::Divide => a / b,
                _ => return Value::Error,
            };
            if result == f64::INFINITY { Value::Error } else { Value::Real(result) }
        }
        None => time_arithmetic(op, left, right),
    }
}

fn time_arithmetic(op: BinaryOp, left: &Value, right: &Value) -> Value {
    let later = |time: AbsTime, secs: f64, sign: i64| {
        let by = i64::from(truncate_i32(secs)) * sign;
        Value::AbsTime(AbsTime { secs: time.secs.wrapping_add(by), ..time })
    };
    match (op, left, right) {
        (BinaryOp::Add, Value::AbsTime(time), Value::RelTime(secs))
        | (BinaryOp::Add, Value::RelTime(secs), Value::AbsTime(time)) => later(*time, *secs, 1),
        (BinaryOp::Subtract, Value::AbsTime(time), Value::RelTime(secs)) => later(*time, *secs, -1),
        (BinaryOp::Subtract, Value::AbsTime(a), Value::AbsTime(b)) => {
            Value::RelTime(a.secs.wrapping_sub(b.secs) as f64)
        }
        (BinaryOp::Add, Value::RelTime(a), Value::RelTime(b)) => Value::RelTime(a + b),
        (BinaryOp::Subtract, Value::RelTime(a), Value::RelTime(b)) => Value::RelTime(a - b),
        (BinaryOp::Multiply, Value::RelTime(secs), Value::Integer(_) | Value::Real(_)) => {
            right.as_number().map_or(Value::Error, |factor| Value::RelTime(secs * factor))
        }
        (BinaryOp::Multiply, Value::Integer(_) | Value::Real(_), Value::RelTime(secs)) => {
            left.as_number().map_or(Value::Error, |factor| Value::RelTime(factor * secs))
        }
        (BinaryOp::Divide, Value::RelTime(secs), Value::Integer(_) | Value::Real(_)) => {
            right.as_number().map_or(Value::Error, |divisor| Value::RelTime(secs / divisor))
        }
        _ => Value::Error,
    }
}

fn bitwise(op: BinaryOp, left: &Value, right: &Value) -> Value {
    let (&Value::Integer(a), &Value::Integer(b)) = (left, right) else { return Value::Error };
    Value::Integer(match op {
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        BinaryOp::BitAnd => a & b,
        // Distances are taken modulo 64, as the processor does.
        BinaryOp::ShiftLeft => a.wrapping_shl(b as u32),
        BinaryOp::ShiftRight if a < 0 => a >> b.clamp(0, 63),
        BinaryOp::ShiftRightUnsigned if a < 0 => {
            (((a as u64) >> 1) as i64).wrapping_shr(b.wrapping_sub(1) as u32)
        }
        _ => a.wrapping_shr(b as u32),
    })
}
