//! Functions of numbers.

use crate::eval::{At, Evaluated, Evaluator, Halt};
use crate::expr::Call;
use crate::functions::conversions::real_of;
use crate::number::truncate_i64;
use crate::value::Value;

fn to_whole(evaluator: &mut Evaluator, call: &Call, at: At<'_>, round: fn(f64) -> f64) -> Evaluated {
    Ok(match evaluator.args(call, at)? {
        Some([Value::Integer(i)]) => Value::Integer(i),
        Some([value]) => {
            real_of(&value).map_or(Value::Error, |real| Value::Integer(truncate_i64(round(real))))
        }
        None => Value::Error,
    })
}

pub(super) fn floor(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    to_whole(evaluator, call, at, f64::floor)
}

pub(super) fn ceiling(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    to_whole(evaluator, call, at, f64::ceil)
}

pub(super) fn round(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    to_whole(evaluator, call, at, f64::round_ties_even)
}

/// `pow(base, exponent)`: an integer where both are and the exponent is not negative.
pub(super) fn pow(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let Some([base, exponent]) = evaluator.args(call, at)? else { return Ok(Value::Error) };
    if let (&Value::Integer(base), &Value::Integer(exponent)) = (&base, &exponent)
        && exponent >= 0
    {
        // HTCondor rounds by adding a half and cutting, below zero too.
        return Ok(Value::Integer(truncate_i64((base as f64).powf(exponent as f64) + 0.5)));
    }
    Ok(match (real_of(&base), real_of(&exponent)) {
        (Ok(base), Ok(exponent)) => Value::Real(base.powf(exponent)),
        _ => Value::Error,
    })
}

/// `quantize(value, step)`: the next multiple of the step; with a list, its first element that is not less, else a
/// multiple of its last.
pub(super) fn quantize(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let Some([value, mut step]) = evaluator.args(call, at)? else { return Ok(Value::Error) };
    let Ok(real) = real_of(&value) else { return Ok(Value::Error) };
    if let Value::List(list) = step {
        step = Value::Real(0.0);
        let chosen = evaluator.for_each(&list, at, |_, element| {
            let Ok(bound) = real_of(&element) else { return Ok(Some(Value::Error)) };
            step = element.clone();
            Ok(if bound >= real { Some(element) } else { None })
        })?;
        if let Some(chosen) = chosen {
            return Ok(chosen);
        }
    }
    let Ok(real_step) = real_of(&step) else { return Ok(Value::Error) };
    Ok(match (&value, &step) {
        (_, Value::Integer(0)) => value,
        (&Value::Integer(value), &Value::Integer(step)) => {
            Value::Integer(value.wrapping_add(step).wrapping_sub(1).wrapping_div(step).wrapping_mul(step))
        }
        (_, Value::Integer(_)) => Value::Real((real / real_step).ceil() * real_step),
        _ if real_step.abs() <= 1e-8 => value,
        _ => Value::Real((real / real_step).ceil() * real_step),
    })
}

/// `random([most])`: an integer below an integer, a real below a real.
pub(super) fn random(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    const GREATEST: u32 = i32::MAX as u32;
    let most = match &*call.args {
        [] => Value::Real(1.0),
        [most] => evaluator.eval(most, at)?,
        _ => return Ok(Value::Error),
    };
    let drawn = evaluator.random() & GREATEST;
    match most {
        Value::Integer(most) if (most as i32) > 0 => {
            Ok(Value::Integer(i64::from(drawn) % i64::from(most as i32)))
        }
        Value::Real(most) if most > 0.0 => Ok(Value::Real(most * (f64::from(drawn) / f64::from(GREATEST)))),
        Value::Integer(_) | Value::Real(_) => Err(Halt::Failed),
        _ => Ok(Value::Error),
    }
}
