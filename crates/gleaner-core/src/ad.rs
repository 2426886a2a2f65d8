//! What a class says of itself and asks of others, in the ClassAd language.
//!
//! An ad without `Requirements` takes everyone, as no ad at all does. Evaluation sees no clock and no randomness of the
//! machine: `time()` is 0 and `random()` starts from one seed.

use gleaner_classad::{Budget, ClassAd, Clock, Context, Limits, ParseError, REQUIREMENTS, matches, rank};
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

/// Steps of one evaluation: ordinary requirements take ten to a hundred. What takes more is `error`, and holds of nothing.
pub(crate) const STEPS_PER_EVALUATION: u64 = 100_000;
/// Bytes of a string that an evaluation builds.
const STRING_BYTES_MAX: usize = 1 << 20;
/// Steps of all evaluations about one event: so many for each of them, and some more. Where some need more than their
/// share, the others still have theirs.
const STEPS_EACH: u64 = 200;
const STEPS_BESIDES: u64 = 500_000;

static NOTHING: LazyLock<ClassAd> = LazyLock::new(ClassAd::new);

/// An ad, equal to another if it reads the same.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Ad {
    text: String,
    parsed: ClassAd,
}

impl Ad {
    /// From its text in the new form, as `[ Memory = 16; Requirements = TARGET.Owner == "ada" ]`.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        ClassAd::parse(text).map(Self::from)
    }

    /// The ad itself.
    pub fn class_ad(&self) -> &ClassAd {
        &self.parsed
    }
}

impl From<ClassAd> for Ad {
    fn from(parsed: ClassAd) -> Self {
        Self { text: parsed.to_string(), parsed }
    }
}

impl TryFrom<String> for Ad {
    type Error = ParseError;

    fn try_from(text: String) -> Result<Self, ParseError> {
        Self::parse(&text)
    }
}

impl From<Ad> for String {
    fn from(ad: Ad) -> String {
        ad.text
    }
}

impl PartialEq for Ad {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// What the evaluations about one event may cost together, however much each of them asks for.
pub(crate) struct Work {
    left: u64,
    evaluations: u64,
}

impl Work {
    /// For so many evaluations.
    pub(crate) fn of(evaluations: usize) -> Self {
        let evaluations = evaluations as u64;
        Self { left: STEPS_BESIDES + evaluations * STEPS_EACH, evaluations }
    }

    /// Evaluates once, within an equal share of what is left.
    pub(crate) fn evaluate<T>(&mut self, evaluation: impl FnOnce(Context) -> T) -> T {
        self.try_evaluate(evaluation).0
    }

    /// Likewise; also whether it took more than it may, so that its value is an error.
    pub(crate) fn try_evaluate<T>(&mut self, evaluation: impl FnOnce(Context) -> T) -> (T, bool) {
        let share = self.left / self.evaluations.max(1);
        let share = share.clamp(STEPS_EACH, STEPS_PER_EVALUATION);
        let budget = Budget::new(share);
        let limits = Limits { string_bytes: STRING_BYTES_MAX, ..Limits::DEFAULT };
        let context = Context::new().with_clock(Clock::Fixed(0)).with_seed(0).with_limits(limits);
        let value = evaluation(context.with_budget(&budget));
        self.left = self.left.saturating_sub(share - budget.left());
        self.evaluations = self.evaluations.saturating_sub(1);
        (value, budget.take_exceeded())
    }
}

pub(crate) fn or_nothing(ad: Option<&Ad>) -> &ClassAd {
    ad.map_or(&NOTHING, Ad::class_ad)
}

/// Whether what `wanting` asks for holds of `candidate`.
fn accepts(wanting: Option<&Ad>, candidate: Option<&Ad>, context: &Context) -> bool {
    let asks = wanting.map(Ad::class_ad).filter(|ad| ad.get(REQUIREMENTS).is_some());
    asks.is_none_or(|asks| matches(or_nothing(candidate), asks, context))
}

/// Whether each takes the other.
pub(crate) fn agree(one: Option<&Ad>, other: Option<&Ad>, work: &mut Work) -> bool {
    work.evaluate(|context| accepts(one, other, &context) && accepts(other, one, &context))
}

/// How much a task likes a machine; 0 if it says nothing of it.
pub(crate) fn liking(task: Option<&Ad>, machine: Option<&Ad>, work: &mut Work) -> f64 {
    task.map_or(0.0, |task| work.evaluate(|context| rank(task.class_ad(), or_nothing(machine), &context)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ad(text: &str) -> Option<Ad> {
        (!text.is_empty()).then(|| Ad::parse(text).expect("an ad"))
    }

    #[test]
    fn both_sides_must_agree_and_silence_is_consent() {
        let cases = [
            ("", "", true),
            ("", "[ Memory = 4 ]", true),
            ("[ Requirements = TARGET.Memory >= 8 ]", "", false),
            ("[ Requirements = TARGET.Memory >= 8 ]", "[ Memory = 4 ]", false),
            ("[ Requirements = TARGET.Memory >= 8 ]", "[ Memory = 8 ]", true),
            ("[ Owner = \"eve\" ]", "[ Requirements = TARGET.Owner == \"ada\" ]", false),
            ("", "[ Requirements = TARGET.Owner =!= \"eve\" ]", true),
        ];
        for (task, machine, expected) in cases {
            let agreed = agree(ad(task).as_ref(), ad(machine).as_ref(), &mut Work::of(1));
            assert_eq!(agreed, expected, "{task} with {machine}");
        }
    }

    #[test]
    fn a_rank_is_a_number_and_otherwise_nothing() {
        let machine = ad("[ Memory = 4 ]");
        for (task, expected) in
            [("", 0.0), ("[ Rank = TARGET.Memory * 2 ]", 8.0), ("[ Rank = TARGET.Disk ]", 0.0)]
        {
            assert_eq!(liking(ad(task).as_ref(), machine.as_ref(), &mut Work::of(1)), expected, "{task}");
        }
    }

    /// Tries each way to divide the letters among the repetitions.
    const ENDLESS: &str = "[ Requirements = regexp(\"^(a+)+$\", strcat(TARGET.Name, \"b\")) || true ]";

    #[test]
    fn one_ad_cannot_use_up_what_the_others_need() {
        let machine = ad(&format!("[ Name = \"{}\"; Memory = 8 ]", "a".repeat(64)));
        let endless = "[ Requirements = size(split(TARGET.Name)) + sum({1, 2, 3}) > 0 && regexp(\"a\", TARGET.Name) && \
                       anyCompare(\"==\", split(strcat(TARGET.Name, \",\", TARGET.Name)), TARGET.Name) ]";
        assert!(
            agree(ad(endless).as_ref(), machine.as_ref(), &mut Work::of(1)),
            "what is usual is affordable"
        );
        let mut work = Work::of(1_000);
        for _ in 0..999 {
            agree(ad(ENDLESS).as_ref(), machine.as_ref(), &mut work);
        }
        assert!(agree(ad("[ Requirements = TARGET.Memory >= 8 ]").as_ref(), machine.as_ref(), &mut work));
        assert_eq!(work.left, work.left.min(STEPS_BESIDES + 1_000 * STEPS_EACH));
    }

    #[test]
    fn what_takes_too_much_work_is_an_error() {
        let doubling =
            (0..90).fold(String::from("[ "), |text, at| format!("{text}a{at} = a{0} + a{0}; ", at + 1));
        let endless = ad(&format!("{doubling} a90 = 1; Requirements = a0 > 0 ]"));
        let accepts = |context| accepts(endless.as_ref(), None, &context);
        assert_eq!(Work::of(1).try_evaluate(accepts), (false, true));
    }

    #[test]
    fn an_ad_is_saved_as_its_text() {
        let one = Ad::parse("[ a = 1;  b = a+1 ]").expect("an ad");
        let text = serde_json::to_string(&one).expect("JSON");
        let back: Ad = serde_json::from_str(&text).expect("an ad");
        assert_eq!(back, one);
        assert!(serde_json::from_str::<Ad>("\"[ a = \"").is_err());
    }
}
