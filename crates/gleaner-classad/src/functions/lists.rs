//! Functions of lists.
//!
//! Elements are evaluated with the names of the place of the call, not of the list: HTCondor does so.

use crate::eval::{At, Evaluated, Evaluator, Halt};
use crate::expr::{BinaryOp, Call};
use crate::ops;
use crate::value::{List, Value};

impl Evaluator {
    /// The values of a list's elements, one after the other, until the visitor has seen enough.
    pub(super) fn for_each(
        &mut self,
        list: &List,
        at: At<'_>,
        mut visit: impl FnMut(&mut Self, Value) -> Result<Option<Value>, Halt>,
    ) -> Result<Option<Value>, Halt> {
        let at = at.owned_by(list.scope.as_ref());
        for item in list.items() {
            let value = self.eval(item, at)?;
            if let Some(answer) = visit(self, value)? {
                return Ok(Some(answer));
            }
        }
        Ok(None)
    }

    /// The only argument as a list; `Err` holds the answer where it is none.
    fn list_arg(&mut self, call: &Call, at: At<'_>) -> Result<Result<List, Value>, Halt> {
        Ok(match self.args(call, at)? {
            Some([Value::List(list)]) => Ok(list),
            Some([Value::Undefined]) => Err(Value::Undefined),
            _ => Err(Value::Error),
        })
    }
}

pub(super) fn size(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let Some([value]) = evaluator.args(call, at)? else { return Ok(Value::Error) };
    Ok(match value {
        Value::Undefined => Value::Undefined,
        Value::List(list) => Value::Integer(list.len() as i64),
        Value::Ad(scope) => Value::Integer(scope.ad().len() as i64),
        Value::String(text) => Value::Integer(text.as_bytes().len() as i64),
        _ => Value::Error,
    })
}

/// The sum of the elements that are defined, and how many these are; `None` where one is no number.
fn sum_and_count(evaluator: &mut Evaluator, list: &List, at: At<'_>) -> Result<Option<(Value, usize)>, Halt> {
    let mut sum: Option<Value> = None;
    let mut count = 0;
    let spoilt = evaluator.for_each(list, at, |_, value| {
        if value.is_undefined() {
            return Ok(None);
        }
        if value.as_number().is_none() {
            return Ok(Some(Value::Error));
        }
        count += 1;
        sum = Some(match sum.take() {
            Some(sum) => ops::binary(BinaryOp::Add, &sum, &value),
            None => value,
        });
        Ok(None)
    })?;
    Ok(if spoilt.is_some() { None } else { Some((sum.unwrap_or(Value::Integer(0)), count)) })
}

pub(super) fn sum(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let list = match evaluator.list_arg(call, at)? {
        Ok(list) => list,
        Err(answer) => return Ok(answer),
    };
    Ok(sum_and_count(evaluator, &list, at)?.map_or(Value::Error, |(sum, _)| sum))
}

pub(super) fn avg(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let list = match evaluator.list_arg(call, at)? {
        Ok(list) => list,
        Err(answer) => return Ok(answer),
    };
    Ok(match sum_and_count(evaluator, &list, at)? {
        None => Value::Error,
        Some((sum, 0)) => sum,
        Some((sum, count)) => ops::binary(BinaryOp::Divide, &sum, &Value::Real(count as f64)),
    })
}

/// Brings two numbers to one type, as a comparison does in HTCondor, where it leaves them so.
fn promote(left: Value, right: Value) -> (Value, Value) {
    let whole =
        |value: Value| if let Value::Boolean(b) = value { Value::Integer(i64::from(b)) } else { value };
    match (whole(left), whole(right)) {
        (Value::Integer(a), Value::Real(b)) => (Value::Real(a as f64), Value::Real(b)),
        (Value::Real(a), Value::Integer(b)) => (Value::Real(a), Value::Real(b as f64)),
        both => both,
    }
}

fn bound(evaluator: &mut Evaluator, call: &Call, at: At<'_>, better: BinaryOp) -> Evaluated {
    let list = match evaluator.list_arg(call, at)? {
        Ok(list) => list,
        Err(answer) => return Ok(answer),
    };
    let mut best: Option<Value> = None;
    let spoilt = evaluator.for_each(&list, at, |_, value| {
        if value.is_undefined() {
            return Ok(None);
        }
        if value.as_number().is_none() {
            return Ok(Some(Value::Error));
        }
        best = Some(match best.take() {
            None => value,
            Some(best) => {
                let (value, best) = promote(value, best);
                if ops::binary(better, &value, &best).as_condition() == Some(true) { value } else { best }
            }
        });
        Ok(None)
    })?;
    Ok(spoilt.or(best).unwrap_or_default())
}

pub(super) fn min(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    bound(evaluator, call, at, BinaryOp::Less)
}

pub(super) fn max(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    bound(evaluator, call, at, BinaryOp::Greater)
}

fn membership(evaluator: &mut Evaluator, call: &Call, at: At<'_>, equal: BinaryOp) -> Evaluated {
    let Some([wanted, list]) = evaluator.args(call, at)? else { return Ok(Value::Error) };
    let strict = equal == BinaryOp::Equal;
    if list.is_undefined() || strict && wanted.is_undefined() {
        return Ok(Value::Undefined);
    }
    let Value::List(list) = list else { return Ok(Value::Error) };
    if matches!(wanted, Value::List(_) | Value::Ad(_)) || strict && wanted.is_error() {
        return Ok(Value::Error);
    }
    let found = evaluator.for_each(&list, at, |_, value| {
        Ok(match ops::binary(equal, &value, &wanted) {
            Value::Boolean(true) => Some(Value::Boolean(true)),
            _ => None,
        })
    })?;
    Ok(found.unwrap_or(Value::Boolean(false)))
}

pub(super) fn member(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    membership(evaluator, call, at, BinaryOp::Equal)
}

pub(super) fn identical_member(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    membership(evaluator, call, at, BinaryOp::Is)
}

fn comparison(written: &[u8]) -> Option<BinaryOp> {
    Some(match written {
        b"<" => BinaryOp::Less,
        b"<=" => BinaryOp::LessOrEqual,
        b"!=" => BinaryOp::NotEqual,
        b"==" => BinaryOp::Equal,
        b">" => BinaryOp::Greater,
        b">=" => BinaryOp::GreaterOrEqual,
        b"is" => BinaryOp::Is,
        b"isnt" => BinaryOp::Isnt,
        _ => return None,
    })
}

/// Compares the elements until one decides; `decisive` is the outcome that does.
fn compare_each(evaluator: &mut Evaluator, call: &Call, at: At<'_>, decisive: bool) -> Evaluated {
    if call.args.len() != 3 {
        return Ok(Value::Error);
    }
    let op = match evaluator.eval(&call.args[0], at)? {
        Value::Undefined => return Ok(Value::Undefined),
        written => match written.as_bytes().and_then(comparison) {
            Some(op) => op,
            None => return Ok(Value::Error),
        },
    };
    let list = match evaluator.eval(&call.args[1], at)? {
        Value::Undefined => return Ok(Value::Undefined),
        Value::List(list) => list,
        _ => return Ok(Value::Error),
    };
    let wanted = evaluator.eval(&call.args[2], at)?;
    let decided = evaluator.for_each(&list, at, |_, value| {
        Ok(match ops::binary(op, &value, &wanted) {
            Value::Boolean(b) if b == decisive => Some(Value::Boolean(b)),
            Value::Boolean(_) => None,
            // A comparison that is undefined fails, whether one or all must hold.
            Value::Undefined => Some(Value::Boolean(false)),
            _ => Some(Value::Error),
        })
    })?;
    Ok(decided.unwrap_or(Value::Boolean(!decisive)))
}

pub(super) fn any_compare(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    compare_each(evaluator, call, at, true)
}

pub(super) fn all_compare(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    compare_each(evaluator, call, at, false)
}
