//! The functions of the language.
//!
//! A function gets its arguments unevaluated, since some look at the expression and some leave an argument alone.
//! A wrong number of arguments is `error`.

mod contexts;
mod conversions;
mod environment;
mod lists;
mod numbers;
mod patterns;
mod string_lists;
mod strings;
mod times;
mod types;
mod versions;

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

use crate::eval::{At, Evaluated, Evaluator, Halt};
use crate::expr::Call;
use crate::name::Name;
use crate::value::Value;

pub(crate) struct Function {
    name: &'static str,
    pub(crate) run: fn(&mut Evaluator, &Call, At<'_>) -> Evaluated,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

macro_rules! table {
    ($($name:literal => $run:path,)*) => { &[$(Function { name: $name, run: $run },)*] };
}

static FUNCTIONS: &[Function] = table! {
    "absTime" => times::abs_time,
    "allCompare" => lists::all_compare,
    "anyCompare" => lists::any_compare,
    "argsToList" => environment::args_to_list,
    "avg" => lists::avg,
    "bool" => conversions::to_bool,
    "ceil" => numbers::ceiling,
    "ceiling" => numbers::ceiling,
    "countMatches" => contexts::count_matches,
    "currentTime" => times::current_time,
    "dayTime" => times::day_time,
    "debug" => contexts::debug,
    "envV1ToV2" => environment::env_v1_to_v2,
    "eval" => contexts::eval,
    "evalInEachContext" => contexts::eval_in_each_context,
    "floor" => numbers::floor,
    "formatTime" => times::format_time,
    "getDayOfMonth" => times::get_day_of_month,
    "getDayOfWeek" => times::get_day_of_week,
    "getDayOfYear" => times::get_day_of_year,
    "getDays" => times::get_days,
    "getHours" => times::get_hours,
    "getMinutes" => times::get_minutes,
    "getMonth" => times::get_month,
    "getSeconds" => times::get_seconds,
    "getYear" => times::get_year,
    "identicalMember" => lists::identical_member,
    "ifThenElse" => contexts::if_then_else,
    "int" => conversions::to_int,
    "interval" => times::interval,
    "isAbsTime" => types::is_abs_time,
    "isBoolean" => types::is_boolean,
    "isClassAd" => types::is_class_ad,
    "isError" => types::is_error,
    "isInteger" => types::is_integer,
    "isList" => types::is_list,
    "isReal" => types::is_real,
    "isRelTime" => types::is_rel_time,
    "isString" => types::is_string,
    "isUndefined" => types::is_undefined,
    "join" => strings::join,
    "listToArgs" => environment::list_to_args,
    "max" => lists::max,
    "member" => lists::member,
    "mergeEnvironment" => environment::merge_environment,
    "min" => lists::min,
    "pow" => numbers::pow,
    "quantize" => numbers::quantize,
    "random" => numbers::random,
    "real" => conversions::to_real,
    "regexp" => patterns::regexp,
    "regexpMember" => patterns::regexp_member,
    "regexps" => patterns::regexps,
    "relTime" => times::rel_time,
    "replace" => patterns::replace,
    "replaceAll" => patterns::replace_all,
    "round" => numbers::round,
    "size" => lists::size,
    "split" => strings::split,
    "splitSlotName" => strings::split_slot_name,
    "splitTime" => times::split_time,
    "splitUserName" => strings::split_user_name,
    "strcat" => strings::strcat,
    "strcmp" => strings::strcmp,
    "stricmp" => strings::stricmp,
    "string" => conversions::to_string,
    "stringListAvg" => string_lists::avg,
    "stringListIMember" => string_lists::member_any_case,
    "stringListISubsetMatch" => string_lists::subset_any_case,
    "stringListMax" => string_lists::max,
    "stringListMember" => string_lists::member,
    "stringListMin" => string_lists::min,
    "stringList_regexpMember" => string_lists::regexp_member,
    "stringListSize" => string_lists::size,
    "stringListsIntersect" => string_lists::intersect,
    "stringListSubsetMatch" => string_lists::subset,
    "stringListSum" => string_lists::sum,
    "substr" => strings::substr,
    "sum" => lists::sum,
    "time" => times::time,
    "timeZoneOffset" => times::time_zone_offset,
    "toLower" => strings::to_lower,
    "toUpper" => strings::to_upper,
    "unparse" => contexts::unparse,
    "unresolved" => contexts::unresolved,
    "userHome" => environment::user_home,
    "userMap" => environment::user_map,
    "version_in_range" => versions::version_in_range,
    "versioncmp" => versions::versioncmp,
    "versionEQ" => versions::version_eq,
    "versionGE" => versions::version_ge,
    "versionGT" => versions::version_gt,
    "versionLE" => versions::version_le,
    "versionLT" => versions::version_lt,
};

/// The function of this name, whatever its case.
pub(crate) fn find(name: &Name) -> Option<&'static Function> {
    static BY_NAME: LazyLock<HashMap<Vec<u8>, &'static Function>> = LazyLock::new(|| {
        FUNCTIONS.iter().map(|function| (function.name.to_ascii_lowercase().into_bytes(), function)).collect()
    });
    BY_NAME.get(name.folded()).copied()
}

/// The names of all functions.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|function| function.name)
}

impl Evaluator {
    /// The values of exactly so many arguments; `None` for another number of them.
    fn args<const N: usize>(&mut self, call: &Call, at: At<'_>) -> Result<Option<[Value; N]>, Halt> {
        if call.args.len() != N {
            return Ok(None);
        }
        let mut values = [const { Value::Undefined }; N];
        for (value, arg) in values.iter_mut().zip(&call.args) {
            *value = self.eval(arg, at)?;
        }
        self.read(&values)?;
        Ok(Some(values))
    }

    /// The values of all arguments, if their number is in the range.
    fn args_between(
        &mut self,
        call: &Call,
        at: At<'_>,
        least: usize,
        most: usize,
    ) -> Result<Option<Vec<Value>>, Halt> {
        if !(least..=most).contains(&call.args.len()) {
            return Ok(None);
        }
        let values: Vec<Value> = call.args.iter().map(|arg| self.eval(arg, at)).collect::<Result<_, _>>()?;
        self.read(&values)?;
        Ok(Some(values))
    }

    /// Pays for a look at all bytes of the arguments.
    fn read(&mut self, values: &[Value]) -> Result<(), Halt> {
        let bytes: usize = values.iter().filter_map(Value::as_bytes).map(<[u8]>::len).sum();
        self.spend(bytes as u64 / 1024)
    }

    /// Pays for looking each byte of a text up among delimiters.
    fn cut(&mut self, text: usize, delimiters: usize) -> Result<(), Halt> {
        let looks = (text as u64).saturating_mul(1 + delimiters as u64 / 64);
        self.spend(looks / 16)
    }
}

/// What becomes of arguments when one of them is `error`, or else one is `undefined`.
fn exceptional(values: &[Value]) -> Option<Value> {
    if values.iter().any(Value::is_error) {
        Some(Value::Error)
    } else if values.iter().any(Value::is_undefined) {
        Some(Value::Undefined)
    } else {
        None
    }
}
