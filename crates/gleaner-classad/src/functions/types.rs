//! Questions about the type of a value.

use crate::eval::{At, Evaluated, Evaluator};
use crate::expr::Call;
use crate::value::Value;

fn ask(evaluator: &mut Evaluator, call: &Call, at: At<'_>, question: impl Fn(&Value) -> bool) -> Evaluated {
    Ok(match evaluator.args(call, at)? {
        Some([value]) => Value::Boolean(question(&value)),
        None => Value::Error,
    })
}

macro_rules! questions {
    ($($name:ident: $pattern:pat,)*) => {$(
        pub(super) fn $name(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
            ask(evaluator, call, at, |value| matches!(value, $pattern))
        }
    )*};
}

questions! {
    is_undefined: Value::Undefined,
    is_error: Value::Error,
    is_boolean: Value::Boolean(_),
    is_integer: Value::Integer(_),
    is_real: Value::Real(_),
    is_string: Value::String(_),
    is_abs_time: Value::AbsTime(_),
    is_rel_time: Value::RelTime(_),
    is_list: Value::List(_),
    is_class_ad: Value::Ad(_),
}
