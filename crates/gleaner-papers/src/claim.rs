//! What a paper says, what was measured, and how far the one agrees with the other.
//!
//! A verdict is never given by hand: each claim carries a [`Criterion`], which judges the estimate.

use crate::statistics::Estimate;
use gleaner_report::{Verdict, numbers};
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};
use std::fmt;

/// When a claim holds, and when in part; numbers are in the claim's own unit. **All of the confidence interval must be on
/// one side of a bound, or nothing is decided.**
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Criterion {
    /// At most so much.
    AtMost {
        /// For the claim to hold.
        holds: f64,
        /// For it to hold in part.
        partly: f64,
    },
    /// At least so much.
    AtLeast {
        /// For the claim to hold.
        holds: f64,
        /// For it to hold in part.
        partly: f64,
    },
    /// At most so far from a number.
    Near {
        /// The number.
        value: f64,
        /// For the claim to hold.
        holds: f64,
        /// For it to hold in part.
        partly: f64,
    },
    /// Between two numbers; in part wherever it is above 0, up to so much.
    Between {
        /// The smaller number, not below 0.
        from: f64,
        /// The larger one.
        to: f64,
        /// For the claim to hold in part.
        partly: f64,
    },
    /// Below 0.
    Negative,
    /// Above 0.
    Positive,
}

impl Criterion {
    /// The verdict on an estimate.
    pub fn judge(self, measured: Estimate) -> Verdict {
        let Estimate { low, high, .. } = measured;
        match self {
            Criterion::AtMost { holds, partly } => at_most((low, high), holds, partly),
            Criterion::AtLeast { holds, partly } => at_most((-high, -low), -holds, -partly),
            Criterion::Near { value, holds, partly } => {
                let ends = [low - value, value - high];
                let farthest = (low - value).abs().max((high - value).abs());
                at_most((ends[0].max(ends[1]).max(0.0), farthest), holds, partly)
            }
            Criterion::Between { from, to, .. } if low >= from && high <= to => Verdict::Holds,
            Criterion::Between { partly, .. } if high <= 0.0 || low > partly => Verdict::Not,
            Criterion::Between { from, to, partly }
                if low > 0.0 && high <= partly && (high < from || low > to) =>
            {
                Verdict::Partly
            }
            Criterion::Negative if high < 0.0 => Verdict::Holds,
            Criterion::Negative if low >= 0.0 => Verdict::Not,
            Criterion::Positive if low > 0.0 => Verdict::Holds,
            Criterion::Positive if high <= 0.0 => Verdict::Not,
            Criterion::Between { .. } | Criterion::Negative | Criterion::Positive => Verdict::Undecided,
        }
    }
}

fn at_most((low, high): (f64, f64), holds: f64, partly: f64) -> Verdict {
    if high <= holds {
        Verdict::Holds
    } else if low > partly {
        Verdict::Not
    } else if low > holds && high <= partly {
        Verdict::Partly
    } else {
        Verdict::Undecided
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Criterion::AtMost { holds, partly } => write!(f, "holds up to {holds}, partly up to {partly}"),
            Criterion::AtLeast { holds, partly } => write!(f, "holds from {holds} on, partly from {partly}"),
            Criterion::Near { value, holds, partly } => {
                write!(f, "holds within {holds} of {value}, partly within {partly}")
            }
            Criterion::Between { from, to, partly } => {
                write!(f, "holds from {from} to {to}, partly above 0 up to {partly}")
            }
            Criterion::Negative => write!(f, "holds if the interval is below 0"),
            Criterion::Positive => write!(f, "holds if the interval is above 0"),
        }
    }
}

/// Something that must be so besides, for a claim to hold whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Condition {
    /// What.
    pub what: &'static str,
    /// Whether it is.
    pub met: bool,
}

/// One statement of a paper, held against the samples.
#[derive(Clone, PartialEq, Debug)]
pub struct Claim {
    /// `figure/what`, with the reading at the end where a statement is judged under several.
    pub id: String,
    /// The statement, in the paper's words or near them.
    pub claim: &'static str,
    /// The paper's number or word.
    pub paper: &'static str,
    /// What was measured, and over what.
    pub quantity: String,
    /// The same taken in another way, in words.
    pub besides: Option<String>,
    /// What came out.
    pub measured: Estimate,
    /// Its unit.
    pub unit: &'static str,
    /// When the claim holds.
    pub criterion: Criterion,
    /// What else must be so.
    pub condition: Option<Condition>,
    /// How the paper was taken.
    pub reading: &'static str,
}

impl Claim {
    /// How far it holds.
    pub fn verdict(&self) -> Verdict {
        match (self.criterion.judge(self.measured), self.condition) {
            (Verdict::Holds, Some(Condition { met: false, .. })) => Verdict::Partly,
            (verdict, _) => verdict,
        }
    }

    /// The measured number with its unit, for people.
    pub fn said(&self) -> String {
        self.with_unit(&numbers::decimals(self.measured.mean, self.places()))
    }

    /// The confidence interval, for people.
    pub fn interval(&self) -> String {
        let end = |value| numbers::decimals(value, self.places());
        format!("{} to {}", end(self.measured.low), end(self.measured.high))
    }

    /// The criterion in words, with its condition.
    pub fn criterion_in_words(&self) -> String {
        let condition = self.condition.map(|condition| format!("; whole only if {}", condition.what));
        format!("{}{}", self.criterion, condition.unwrap_or_default())
    }

    fn with_unit(&self, number: &str) -> String {
        format!("{number} {}", self.unit)
    }

    /// A decimal for small numbers, none where it would be noise.
    fn places(&self) -> usize {
        match self.measured.mean.abs() {
            ..9.95 => 2,
            ..999.5 => 1,
            _ => 0,
        }
    }

    /// With as many decimals as are shown: the rest differs between machines and means nothing.
    fn rounded(&self, value: f64) -> Option<f64> {
        let scale = 10_f64.powi(i32::try_from(self.places()).unwrap_or(0));
        let rounded = (value * scale).round() / scale;
        // Not −0, and nothing that JSON cannot say.
        rounded.is_finite().then_some(rounded + 0.0)
    }
}

/// How many claims have which verdict: `3 hold, 1 holds in part, …`.
pub(crate) fn tally(claims: &[Claim]) -> String {
    let count = |verdict| claims.iter().filter(|claim| claim.verdict() == verdict).count();
    let [hold, partly, not, undecided] = Verdict::ALL.map(count);
    format!(
        "Of {} claims {hold} hold, {partly} hold in part, {not} do not, {undecided} are undecided",
        claims.len()
    )
}

impl Serialize for Claim {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Estimate { mean, low, high } = self.measured;
        let measured = self.rounded(mean).map(|mean| self.with_unit(&format!("{mean:.*}", self.places())));
        let ci = [self.rounded(low), self.rounded(high)];
        let besides = self.besides.as_ref().map(|besides| format!("; {besides}")).unwrap_or_default();
        let measured = format!("{}: {}{besides}", measured.unwrap_or_default(), self.quantity);
        let mut fields = serializer.serialize_struct("Claim", 7)?;
        fields.serialize_field("id", &self.id)?;
        fields.serialize_field("claim", self.claim)?;
        fields.serialize_field("paper", self.paper)?;
        fields.serialize_field("measured", &measured)?;
        fields.serialize_field("ci", &ci)?;
        fields.serialize_field("verdict", self.verdict().word())?;
        fields.serialize_field("reading", self.reading)?;
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn criteria_judge_by_what_they_say() {
        let estimate = |mean: f64| Estimate { mean, low: mean - 0.5, high: mean + 0.5 };
        let near = Criterion::Near { value: 10.0, holds: 3.0, partly: 10.0 };
        let at_most = Criterion::AtMost { holds: 1.5, partly: 3.0 };
        let at_least = Criterion::AtLeast { holds: 50.0, partly: 25.0 };
        let judged = [
            (near, 7.5, Verdict::Holds),
            (near, 7.0, Verdict::Undecided),
            (near, 16.0, Verdict::Partly),
            (near, -1.0, Verdict::Not),
            (near, -0.2, Verdict::Undecided),
            (at_most, 1.0, Verdict::Holds),
            (at_most, 1.5, Verdict::Undecided),
            (at_most, 2.1, Verdict::Partly),
            (at_most, 3.1, Verdict::Undecided),
            (at_most, 3.6, Verdict::Not),
            (at_least, 51.0, Verdict::Holds),
            (at_least, 50.0, Verdict::Undecided),
            (at_least, 30.0, Verdict::Partly),
            (at_least, 24.0, Verdict::Not),
            (Criterion::Negative, -1.1, Verdict::Holds),
            (Criterion::Negative, -0.4, Verdict::Undecided),
            (Criterion::Negative, 0.5, Verdict::Not),
            (Criterion::Positive, 1.1, Verdict::Holds),
            (Criterion::Positive, 0.4, Verdict::Undecided),
            (Criterion::Positive, -2.0, Verdict::Not),
            (at_most, f64::NAN, Verdict::Undecided),
        ];
        for (criterion, mean, verdict) in judged {
            assert_eq!(criterion.judge(estimate(mean)), verdict, "{criterion} on {mean}");
        }
    }

    #[test]
    fn of_a_statement_with_a_direction_the_size_comes_second() {
        let between = Criterion::Between { from: 1.0, to: 6.0, partly: 8.5 };
        let judged = [
            (-1.4, -1.0, Verdict::Not),
            (-8.3, -0.05, Verdict::Not),
            (-0.3, 0.8, Verdict::Undecided),
            (0.1, 0.8, Verdict::Partly),
            (0.1, 1.2, Verdict::Undecided),
            (1.0, 6.0, Verdict::Holds),
            (5.0, 7.0, Verdict::Undecided),
            (6.5, 8.5, Verdict::Partly),
            (8.0, 9.0, Verdict::Undecided),
            (8.6, 9.0, Verdict::Not),
        ];
        for (low, high, verdict) in judged {
            let estimate = Estimate { mean: f64::midpoint(low, high), low, high };
            assert_eq!(between.judge(estimate), verdict, "{low} to {high}");
        }
    }

    #[test]
    fn what_is_only_known_from_one_side_is_judged_from_that_side() {
        let at_most = Criterion::AtMost { holds: 1.5, partly: 3.0 };
        let known = Estimate { mean: 4.0, low: 3.5, high: 4.5 };
        assert_eq!(at_most.judge(known.or_more(true)), Verdict::Not);
        assert_eq!(at_most.judge(known.or_less(true)), Verdict::Undecided);
        assert_eq!(Criterion::Positive.judge(known.or_more(true)), Verdict::Holds);
        assert_eq!(Criterion::Positive.judge(known.or_more(true).or_less(true)), Verdict::Undecided);
    }

    #[test]
    fn a_condition_that_is_not_met_takes_the_whole_away() {
        let mut claim = Claim {
            id: "figure-0/test".to_owned(),
            claim: "c",
            paper: "p",
            quantity: "q".to_owned(),
            besides: None,
            measured: Estimate { mean: -0.001, low: f64::NEG_INFINITY, high: -0.001 },
            unit: "%",
            criterion: Criterion::AtMost { holds: 0.0, partly: 1.0 },
            condition: Some(Condition { what: "the rest is so too", met: true }),
            reading: "r",
        };
        assert_eq!(claim.verdict(), Verdict::Holds);
        let written = serde_json::to_value(&claim).expect("plain data");
        assert_eq!(written["measured"], "0.00 %: q");
        assert_eq!(written["ci"], serde_json::json!([null, 0.0]));
        claim.condition = Some(Condition { what: "the rest is so too", met: false });
        assert_eq!(claim.verdict(), Verdict::Partly);
    }
}
