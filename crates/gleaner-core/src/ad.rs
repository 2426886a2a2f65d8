//! What a class says of itself and asks of others, in the ClassAd language.
//!
//! An ad without `Requirements` takes everyone, as no ad at all does. Evaluation sees no clock and no randomness of the
//! machine: `time()` is 0 and `random()` starts from one seed.

use gleaner_classad::{ClassAd, Clock, Context, ParseError, REQUIREMENTS, matches, rank};
use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

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

pub(crate) fn context() -> Context {
    Context::new().with_clock(Clock::Fixed(0)).with_seed(0)
}

pub(crate) fn or_nothing(ad: Option<&Ad>) -> &ClassAd {
    ad.map_or(&NOTHING, Ad::class_ad)
}

/// Whether what `wanting` asks for holds of `candidate`.
fn accepts(wanting: Option<&Ad>, candidate: Option<&Ad>) -> bool {
    let asks = wanting.map(Ad::class_ad).filter(|ad| ad.get(REQUIREMENTS).is_some());
    asks.is_none_or(|asks| matches(or_nothing(candidate), asks, &context()))
}

/// Whether each takes the other.
pub(crate) fn agree(one: Option<&Ad>, other: Option<&Ad>) -> bool {
    accepts(one, other) && accepts(other, one)
}

/// How much a task likes a machine; 0 if it says nothing of it.
pub(crate) fn liking(task: Option<&Ad>, machine: Option<&Ad>) -> f64 {
    task.map_or(0.0, |task| rank(task.class_ad(), or_nothing(machine), &context()))
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
            assert_eq!(agree(ad(task).as_ref(), ad(machine).as_ref()), expected, "{task} with {machine}");
        }
    }

    #[test]
    fn a_rank_is_a_number_and_otherwise_nothing() {
        let machine = ad("[ Memory = 4 ]");
        for (task, expected) in
            [("", 0.0), ("[ Rank = TARGET.Memory * 2 ]", 8.0), ("[ Rank = TARGET.Disk ]", 0.0)]
        {
            assert_eq!(liking(ad(task).as_ref(), machine.as_ref()), expected, "{task}");
        }
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
