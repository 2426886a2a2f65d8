//! The paper's statements, figure by figure: pure functions from samples to claims.
//!
//! Statements about SOCIAL are judged once for each reading; the names of other readings than the default end in one of [`SUFFIXES`].
//! The bounds of each [`Criterion`](crate::Criterion) follow the paper's words and are not moved to make a claim hold: "about
//! 1 %" is up to 1.5 %, "almost equivalent" up to 1 %, "similar" and "the same" up to 3 %, a share is met within ten
//! percentage points.

pub mod figure_1;
pub mod figure_2;
pub mod figure_3;
pub mod figure_4;
pub mod guard;
pub mod late;
pub mod ties;

use crate::statistics::Estimate;
use gleaner_policy::Score;

/// The readings of SOCIAL that differ in where new tasks go.
pub const READINGS: [Score; 2] = [Score::Social, Score::SocialAsPrinted];
/// Those and the one that differs in which are moved.
pub const ALL_READINGS: [Score; 3] = [Score::Social, Score::SocialWhole, Score::SocialAsPrinted];
/// What each reading adds to a claim's name, and how a table calls it.
pub const SUFFIXES: [(&str, &str); 6] = [
    ("-as-printed", "SOCIAL as printed"),
    ("-whole", "SOCIAL, gains of the whole sum"),
    ("-difference-1", "MIN-NUM, a difference of 1"),
    ("-lengths-0.3", "lengths × 0.30"),
    ("-ties-to-the-fastest", "SOCIAL as printed, ties to the fastest"),
    ("-ties-shuffled", "SOCIAL as printed, ties in any order"),
];

/// How the readings of SOCIAL as printed begin.
pub const TO_THE_LETTER: &str = "SOCIAL as printed";

const NO_SOCIAL: &str = "one reading only: SOCIAL has no part in it";

fn reading(social: Score) -> &'static str {
    match social {
        Score::SocialAsPrinted => TO_THE_LETTER,
        Score::SocialWhole => "SOCIAL, gains relative to the whole sum",
        Score::Social
        | Score::Greedy
        | Score::MinNum
        | Score::Power
        | Score::PowerPerCore
        | Score::ReliablePower
        | Score::Energy
        | Score::EnergyDelay
        | Score::ReliableEnergyDelay => "SOCIAL by execution times",
    }
}

fn id(name: &str, social: Score) -> String {
    match social {
        Score::SocialAsPrinted => format!("{name}-as-printed"),
        Score::SocialWhole => format!("{name}-whole"),
        Score::Social
        | Score::Greedy
        | Score::MinNum
        | Score::Power
        | Score::PowerPerCore
        | Score::ReliablePower
        | Score::Energy
        | Score::EnergyDelay
        | Score::ReliableEnergyDelay => name.to_owned(),
    }
}

/// Of a share: it cannot be below nothing or above everything.
fn percent_of_all(share: Estimate) -> Estimate {
    share.within(0.0, 1.0).percent()
}
