//! Whether moving arrivals took most of the waiting away, so that rules hardly differ in what is advised about.

use crate::trials::Numbers;
use gleaner_papers::statistics::mean;
use gleaner_report::numbers::seconds;
use serde::Serialize;

/// The mean over a run's tasks or jobs, where it is known.
const WAIT: &str = "wait_mean_s";
/// Shorter waits are nobody's trouble.
const LEAST_S: f64 = 1.0;
/// Of the waiting, more than that part is most of it.
const MOST: f64 = 0.5;

/// What was, and what is left of it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub(super) struct LostWait {
    /// The mean wait under the first rule with arrivals where they are.
    unshaken_mean_s: f64,
    /// The same with arrivals moved.
    shaken_mean_s: f64,
}

impl LostWait {
    /// Of runs of one rule; none where most of the waiting is left, there was hardly any, or nobody says.
    pub(super) fn of(unshaken: &Numbers, shaken: &[Numbers]) -> Option<Self> {
        let unshaken_mean_s = unshaken.number(WAIT)?;
        let waits: Vec<f64> = shaken.iter().map(|run| run.number(WAIT)).collect::<Option<_>>()?;
        let shaken_mean_s = mean(waits);
        let is_lost = unshaken_mean_s >= LEAST_S && shaken_mean_s < (1.0 - MOST) * unshaken_mean_s;
        is_lost.then_some(Self { unshaken_mean_s, shaken_mean_s })
    }

    /// In words, with what to do.
    pub(super) fn said(self, shake_s: f64) -> String {
        let Self { unshaken_mean_s, shaken_mean_s } = self;
        let [was, is] = [unshaken_mean_s, shaken_mean_s].map(seconds);
        format!(
            "Moving arrivals by up to {shake_s} s took {:.0} % of the waiting away: the mean wait is {is}, and {was} with arrivals where \
             they are. So rules hardly differ here: ask again with --shake 0, or with less than {shake_s}.",
            100.0 * (1.0 - shaken_mean_s / unshaken_mean_s)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_lost_where_less_than_half_is_left_of_some() {
        let run = |wait: Option<f64>| Numbers::named([("wait_mean_s", wait)].into_iter());
        let of = |was, is: &[Option<f64>]| {
            let shaken: Vec<Numbers> = is.iter().map(|wait| run(*wait)).collect();
            LostWait::of(&run(was), &shaken)
        };
        let lost = of(Some(3.0), &[Some(0.02), Some(0.04)]).expect("nearly all");
        let said = lost.said(60.0);
        let expected = "Moving arrivals by up to 60 s took 99 % of the waiting away: the mean wait is 30.0 ms, and 3.00 s with";
        assert!(said.starts_with(expected) && said.contains("--shake 0, or with less than 60."), "{said}");
        assert_eq!(of(Some(3.0), &[Some(1.0), Some(2.5)]), None, "more than half is left");
        assert_eq!(of(Some(0.5), &[Some(0.0)]), None, "there was hardly any");
        assert_eq!(of(Some(3.0), &[Some(0.0), None]), None);
        assert_eq!(of(None, &[Some(0.0)]), None);
    }
}
