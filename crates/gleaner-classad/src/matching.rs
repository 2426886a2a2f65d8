//! Whether two ads want each other, and how much.

use crate::ad::ClassAd;
use crate::context::Context;
use crate::value::Value;

/// The attribute that says what an ad asks of the other.
pub const REQUIREMENTS: &str = "Requirements";
/// The attribute that says how much an ad likes the other.
pub const RANK: &str = "Rank";

/// Whether the second ad's requirements hold of the first: what classad2 calls `first.matches(second)`.
///
/// An ad without requirements takes nobody; requirements that are a number or a span of time hold if it is not zero.
///
/// ```
/// use gleaner_classad::{ClassAd, Context, matches};
///
/// let machine = ClassAd::parse("[ Memory = 1024 ]")?;
/// let job = ClassAd::parse("[ Requirements = TARGET.Memory >= 512 ]")?;
/// assert!(matches(&machine, &job, &Context::new()));
/// assert!(!matches(&job, &machine, &Context::new()));
/// # Ok::<(), gleaner_classad::ParseError>(())
/// ```
pub fn matches(candidate: &ClassAd, wanting: &ClassAd, context: &Context) -> bool {
    wanting
        .get(REQUIREMENTS)
        .is_some_and(|expr| holds(&expr.evaluate(&context.clone().with_my(wanting).with_target(candidate))))
}

/// Whether requirements of this value are met.
pub(crate) fn holds(value: &Value) -> bool {
    match value {
        // classad2 sees a span of time as a number here.
        Value::RelTime(secs) => *secs != 0.0,
        value => value.as_condition() == Some(true),
    }
}

/// How much the first ad likes the second: its rank as a number, 0 where that is none, as HTCondor counts it.
///
/// ```
/// use gleaner_classad::{ClassAd, Context, rank};
///
/// let job = ClassAd::parse("[ Rank = TARGET.Mips * 2 ]")?;
/// let machine = ClassAd::parse("[ Mips = 500 ]")?;
/// assert_eq!(rank(&job, &machine, &Context::new()), 1000.0);
/// assert_eq!(rank(&machine, &job, &Context::new()), 0.0);
/// # Ok::<(), gleaner_classad::ParseError>(())
/// ```
pub fn rank(wanting: &ClassAd, candidate: &ClassAd, context: &Context) -> f64 {
    as_rank(&wanting.evaluate(RANK, &context.clone().with_target(candidate)))
}

/// The number that a rank's value counts as.
pub(crate) fn as_rank(value: &Value) -> f64 {
    match value {
        Value::Integer(_) | Value::Real(_) | Value::Boolean(_) => {
            value.as_number().filter(|rank| !rank.is_nan()).unwrap_or(0.0)
        }
        _ => 0.0,
    }
}
