//! The paper's statements, figure by figure: pure functions from samples to claims.
//!
//! Statements about SOCIAL are judged once for each reading; the names of those to the letter end in `-as-printed`.
//! The bounds of each [`Rule`](crate::Rule) follow the paper's words and are not moved to make a claim hold: "about
//! 1 %" is up to 1.5 %, "almost equivalent" up to 1 %, "similar" and "the same" up to 3 %, a share is met within ten
//! percentage points.

pub mod figure_1;
pub mod figure_2;
pub mod figure_3;
pub mod figure_4;
pub mod guard;

use crate::statistics::Estimate;
use gleaner_policy::Score;

/// The readings of SOCIAL.
pub const READINGS: [Score; 2] = [Score::Social, Score::SocialAsPrinted];

const NO_SOCIAL: &str = "one reading only: SOCIAL has no part in it";

fn reading(social: Score) -> &'static str {
    match social {
        Score::SocialAsPrinted => "SOCIAL as printed",
        Score::SocialWhole => "SOCIAL, gains relative to the whole sum",
        Score::Social | Score::Greedy | Score::MinNum | Score::Power | Score::PowerPerCore => {
            "SOCIAL by execution times"
        }
    }
}

fn id(name: &str, social: Score) -> String {
    match social {
        Score::SocialAsPrinted => format!("{name}-as-printed"),
        Score::SocialWhole => format!("{name}-whole"),
        Score::Social | Score::Greedy | Score::MinNum | Score::Power | Score::PowerPerCore => name.to_owned(),
    }
}

fn percent(of_one: Estimate) -> Estimate {
    let Estimate { mean, low, high } = of_one;
    Estimate { mean: 100.0 * mean, low: 100.0 * low, high: 100.0 * high }
}

/// Of a share: it cannot be below nothing or above everything.
fn percent_of_all(share: Estimate) -> Estimate {
    percent(share.within(0.0, 1.0))
}
