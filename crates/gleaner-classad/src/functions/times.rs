//! Functions of times.

#![expect(clippy::unnecessary_wraps, reason = "the functions of the language have one signature")]

use crate::ad::ClassAd;
use crate::eval::{At, Evaluated, Evaluator, Halt};
use crate::expr::Call;
use crate::functions::conversions::int_of;
use crate::number::truncate_i32;
use crate::scope::Scope;
use crate::time::{self, Calendar};
use crate::value::{AbsTime, Value};

/// The instant now, or at the given seconds, in the local zone.
fn local(secs: i64) -> AbsTime {
    AbsTime { secs, offset_secs: time::local_offset(secs) }
}

pub(super) fn time(evaluator: &mut Evaluator, call: &Call, _: At<'_>) -> Evaluated {
    Ok(if call.args.is_empty() { Value::Integer(evaluator.clock.now_secs()) } else { Value::Error })
}

pub(super) fn current_time(evaluator: &mut Evaluator, call: &Call, _: At<'_>) -> Evaluated {
    Ok(if call.args.is_empty() { Value::AbsTime(local(evaluator.clock.now_secs())) } else { Value::Error })
}

pub(super) fn time_zone_offset(evaluator: &mut Evaluator, call: &Call, _: At<'_>) -> Evaluated {
    let offset = time::local_offset(evaluator.clock.now_secs());
    Ok(if call.args.is_empty() { Value::RelTime(f64::from(offset)) } else { Value::Error })
}

pub(super) fn day_time(evaluator: &mut Evaluator, call: &Call, _: At<'_>) -> Evaluated {
    let now = local(evaluator.clock.now_secs());
    let in_day = (now.secs + i64::from(now.offset_secs)).rem_euclid(time::DAY_SECS);
    Ok(if call.args.is_empty() { Value::RelTime(in_day as f64) } else { Value::Error })
}

/// The offset in the second argument of `absTime`, cut to 32 bits.
fn offset_of(value: &Value) -> Option<i32> {
    match *value {
        Value::Integer(i) => Some(i as i32),
        Value::Real(r) | Value::RelTime(r) => Some(truncate_i32(r)),
        _ => None,
    }
}

/// `absTime(secs | time[, offset])`; a string is a literal already where it is written out, and else stays one.
pub(super) fn abs_time(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    if call.args.is_empty() {
        return current_time(evaluator, call, at);
    }
    let Some(args) = evaluator.args_between(call, at, 1, 2)? else { return Ok(Value::Error) };
    let offset = match args.get(1).map(offset_of) {
        None => None,
        Some(Some(offset)) => Some(offset),
        Some(None) => return Ok(Value::Error),
    };
    let secs = match &args[0] {
        Value::Integer(i) => i64::from(*i as i32),
        Value::Real(r) | Value::RelTime(r) => i64::from(truncate_i32(*r)),
        kept @ (Value::AbsTime(_) | Value::String(_) | Value::Undefined) => return Ok(kept.clone()),
        _ => return Ok(Value::Error),
    };
    let offset_secs = offset.unwrap_or_else(|| time::local_offset(secs));
    // One second west is HTCondor's mark for "no offset".
    if offset_secs == -1 && matches!(args[0], Value::Integer(_)) {
        return Err(Halt::Failed);
    }
    Ok(Value::AbsTime(AbsTime { secs, offset_secs }))
}

/// `relTime(secs | time)`.
pub(super) fn rel_time(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let Some([value]) = evaluator.args(call, at)? else { return Ok(Value::Error) };
    Ok(match value {
        Value::Undefined => Value::Undefined,
        Value::Integer(i) => Value::RelTime(f64::from(i as i32)),
        Value::Real(r) => Value::RelTime(r),
        Value::AbsTime(instant) => Value::RelTime(instant.secs as f64),
        Value::RelTime(secs) => Value::RelTime(secs),
        Value::String(_) => Value::RelTime(0.0),
        _ => Value::Error,
    })
}

fn get(
    evaluator: &mut Evaluator,
    call: &Call,
    at: At<'_>,
    of_instant: Option<fn(&Calendar) -> i64>,
    of_span: Option<fn(i64) -> i64>,
) -> Evaluated {
    Ok(match evaluator.args(call, at)? {
        Some([Value::AbsTime(instant)]) => of_instant.map_or(Value::Error, |part| {
            let here = instant.secs.saturating_add(i64::from(time::local_offset(instant.secs)));
            Value::Integer(part(&Calendar::at(here)))
        }),
        Some([Value::RelTime(secs)]) => {
            of_span.map_or(Value::Error, |part| Value::Integer(part(i64::from(truncate_i32(secs)))))
        }
        _ => Value::Error,
    })
}

macro_rules! getters {
    ($($name:ident: $of_instant:expr, $of_span:expr;)*) => {$(
        pub(super) fn $name(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
            get(evaluator, call, at, $of_instant, $of_span)
        }
    )*};
}

getters! {
    get_year: Some(|at| at.year), None;
    get_month: Some(|at| at.month), None;
    get_day_of_year: Some(|at| at.year_day), None;
    get_day_of_month: Some(|at| at.day), None;
    get_day_of_week: Some(|at| at.week_day), None;
    get_days: None, Some(|secs| secs / 86_400);
    get_hours: Some(|at| at.hour), Some(|secs| secs % 86_400 / 3_600);
    get_minutes: Some(|at| at.minute), Some(|secs| secs % 3_600 / 60);
    get_seconds: Some(|at| at.second), Some(|secs| secs % 60);
}

fn instant_of(value: &Value) -> Option<AbsTime> {
    match *value {
        Value::Integer(i) => Some(local(i)),
        Value::Real(r) => Some(local(i64::from(truncate_i32(r)))),
        Value::AbsTime(instant) => Some(instant),
        _ => None,
    }
}

fn split_instant(instant: AbsTime) -> ClassAd {
    let at = Calendar::at(instant.secs.saturating_add(i64::from(instant.offset_secs)));
    let mut ad = ClassAd::new();
    ad.insert("Type", Value::string("AbsoluteTime"));
    let parts = [
        ("Year", at.year),
        ("Month", at.month),
        ("Day", at.day),
        ("Hours", at.hour),
        ("Minutes", at.minute),
        ("Seconds", at.second),
        ("Offset", i64::from(instant.offset_secs)),
    ];
    for (name, part) in parts {
        ad.insert(name, Value::Integer(part));
    }
    ad
}

fn split_span(secs: f64) -> ClassAd {
    let magnitude = i64::from(truncate_i32(secs.abs()));
    let mut parts = [magnitude / 86_400, magnitude % 86_400 / 3_600, magnitude % 3_600 / 60];
    let mut seconds = time::seconds_with_fraction(secs);
    if secs < 0.0 {
        // The sign goes to the greatest part that is not zero.
        match parts.iter_mut().find(|part| **part > 0) {
            Some(part) => *part = -*part,
            None => seconds = -seconds,
        }
    }
    let mut ad = ClassAd::new();
    ad.insert("Type", Value::string("RelativeTime"));
    for (name, part) in ["Days", "Hours", "Minutes"].into_iter().zip(parts) {
        ad.insert(name, Value::Integer(part));
    }
    ad.insert("Seconds", Value::Real(seconds));
    ad
}

/// `splitTime(time)`: an ad with the parts.
pub(super) fn split_time(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let Some([value]) = evaluator.args(call, at)? else { return Ok(Value::Error) };
    let ad = match (&value, instant_of(&value)) {
        (_, Some(instant)) => split_instant(instant),
        (Value::RelTime(secs), None) => split_span(*secs),
        (Value::Undefined, None) => return Ok(Value::Undefined),
        _ => return Ok(Value::Error),
    };
    Ok(Value::Ad(Scope::new(ad, None)))
}

/// The parts of an ad such as `splitTime` makes; what it lacks is 0.
fn calendar_of(evaluator: &mut Evaluator, scope: &Scope) -> Result<Calendar, Halt> {
    let mut part = |name: &str| -> Result<Option<i64>, Halt> {
        let Some(expr) = scope.ad().get(name) else { return Ok(None) };
        Ok(match evaluator.eval_within(expr, scope, Some(scope))? {
            Value::Integer(i) => Some(i64::from(i as i32)),
            _ => None,
        })
    };
    let calendar = Calendar {
        second: part("Seconds")?.unwrap_or(0),
        minute: part("Minutes")?.unwrap_or(0),
        hour: part("Hours")?.unwrap_or(0),
        day: part("Day")?.unwrap_or(0),
        month: part("Month")?.unwrap_or(1),
        year: part("Year")?.unwrap_or(1900),
        ..Calendar::default()
    };
    Ok(calendar.with_counted_days())
}

/// `formatTime([time[, format]])`.
pub(super) fn format_time(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    const BYTES_MAX: usize = 1_022;
    let Some(args) = evaluator.args_between(call, at, 0, 2)? else { return Ok(Value::Error) };
    let calendar = match args.first() {
        None => {
            let now = local(evaluator.clock.now_secs());
            Calendar::at(now.secs + i64::from(now.offset_secs))
        }
        Some(Value::Ad(scope)) => calendar_of(evaluator, scope)?,
        Some(value) => match instant_of(value) {
            Some(instant) => Calendar::at(instant.secs.saturating_add(i64::from(instant.offset_secs))),
            None => return Ok(Value::Error),
        },
    };
    let format = match args.get(1) {
        None => &b"%c"[..],
        Some(format) => match format.as_bytes() {
            Some(format) => format,
            None => return Ok(Value::Error),
        },
    };
    let mut written = time::format(&calendar, format);
    // The buffer of the C library has an end, and what does not fit is not written at all.
    if written.len() > BYTES_MAX {
        written.clear();
    }
    evaluator.string(written)
}

/// `interval(secs)`: `4+03:02:01`, without the parts before the first that is not zero.
pub(super) fn interval(evaluator: &mut Evaluator, call: &Call, at: At<'_>) -> Evaluated {
    let Some([value]) = evaluator.args(call, at)? else { return Ok(Value::Error) };
    let Ok(secs) = int_of(&value) else { return Ok(Value::Error) };
    // Cut to 32 bits.
    let secs = secs as i32;
    let (days, hours, minutes, seconds) =
        (secs / 86_400, secs % 86_400 / 3_600, secs % 3_600 / 60, secs % 60);
    Ok(Value::string(if days != 0 {
        format!("{days}+{:02}:{:02}:{:02}", hours.abs(), minutes.abs(), seconds.abs())
    } else if hours != 0 {
        format!("{hours}:{:02}:{:02}", minutes.abs(), seconds.abs())
    } else if minutes != 0 {
        format!("{minutes}:{:02}", seconds.abs())
    } else {
        format!("{seconds}")
    }))
}
