//! Conversions between types, as functions and for the use of other functions.

use crate::eval::{At, Evaluated, Evaluator};
use crate::expr::Call;
use crate::number::{leading_real, truncate_i32, truncate_i64};
use crate::time;
use crate::unparse::{Style, Writer};
use crate::value::{Text, Value};

/// The value as text; `Err` holds the `undefined` or `error` that has none.
pub(super) fn text_of(value: &Value) -> Result<Text, Value> {
    Ok(match value {
        Value::Undefined => return Err(Value::Undefined),
        Value::Error => return Err(Value::Error),
        Value::String(text) => text.clone(),
        Value::AbsTime(instant) => time::write_absolute(*instant).into(),
        Value::RelTime(secs) => time::write_relative(*secs).into(),
        other => {
            let mut writer = Writer::new(Style::Condor);
            writer.value(other);
            writer.into_string().into()
        }
    })
}

/// The value as a real.
pub(super) fn real_of(value: &Value) -> Result<f64, Value> {
    Ok(match value {
        Value::Undefined => return Err(Value::Undefined),
        Value::Error | Value::List(_) | Value::Ad(_) => return Err(Value::Error),
        Value::Boolean(b) => f64::from(u8::from(*b)),
        Value::Integer(i) => *i as f64,
        Value::Real(r) => *r,
        Value::String(text) => leading_real(text.as_bytes()).ok_or(Value::Error)?.0,
        Value::AbsTime(instant) => instant.secs as f64,
        Value::RelTime(secs) => f64::from(truncate_i32(*secs)),
    })
}

/// The value as an integer.
pub(super) fn int_of(value: &Value) -> Result<i64, Value> {
    match value {
        Value::Integer(i) => Ok(*i),
        Value::AbsTime(instant) => Ok(instant.secs),
        other => real_of(other).map(truncate_i64),
    }
}

pub(super) fn to_int(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let Some([value]) = evaluator.args(call, at)? else { return Ok(Value::Error) };
    Ok(int_of(&value).map_or_else(|exceptional| exceptional, Value::Integer))
}

pub(super) fn to_real(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let Some([value]) = evaluator.args(call, at)? else { return Ok(Value::Error) };
    Ok(real_of(&value).map_or_else(|exceptional| exceptional, Value::Real))
}

pub(super) fn to_string(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let Some([value]) = evaluator.args(call, at)? else { return Ok(Value::Error) };
    match text_of(&value) {
        Ok(text) => evaluator.string(text),
        Err(exceptional) => Ok(exceptional),
    }
}

pub(super) fn to_bool(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let Some([value]) = evaluator.args(call, at)? else { return Ok(Value::Error) };
    Ok(match &value {
        Value::RelTime(secs) => Value::Boolean(truncate_i32(*secs) != 0),
        Value::String(text) if text.as_bytes().eq_ignore_ascii_case(b"true") => Value::Boolean(true),
        Value::String(text) if text.as_bytes().eq_ignore_ascii_case(b"false") => Value::Boolean(false),
        Value::String(_) | Value::Undefined => Value::Undefined,
        other => other.as_condition().map_or(Value::Error, Value::Boolean),
    })
}
