//! Whether the best rule is to take the place of the first: **the runs that did not choose it say so**, to the sentence and to the
//! table alike.

use crate::trials::{Interval, Numbers, Ranking};

/// Nobody changes a rule for less, as a share.
const LEAST_GAIN: f64 = 0.01;

/// What the best and the first came to, run again.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Verdict {
    /// How much less the best has, as a share; none where the first is the best, or either left work unfinished.
    pub(super) gain: Option<Interval>,
    /// Whether the best left work unfinished when it was run again.
    pub(super) best_leaves_some: bool,
    /// Whether the first one did, now or before.
    first_leaves_some: bool,
    /// The position of the best among what was tried, if it is to be used and not the first.
    pub(super) better: Option<usize>,
}

impl Verdict {
    /// `again` has the runs of the first and of the best, where that is another.
    pub(super) fn of(measure: &str, ranking: &Ranking, again: Option<&[Vec<Numbers>]>) -> Self {
        let leaves_some =
            |at: usize| again.is_some_and(|runs| runs[at].iter().any(|run| run.unfinished() > 0.0));
        let first_leaves_some = ranking.ranked[0].unfinished > 0.0 || leaves_some(0);
        let best_leaves_some = leaves_some(1);
        let gain = again.and_then(|runs| gain(measure, runs)).filter(|_| !first_leaves_some);
        let is_gain = gain.is_some_and(|gain| gain.mean >= LEAST_GAIN && gain.low.unwrap_or(gain.mean) > 0.0);
        let is_better = !best_leaves_some && (is_gain || first_leaves_some);
        let better = ranking.best.filter(|best| *best != 0 && is_better);
        Self { gain, best_leaves_some, first_leaves_some, better }
    }

    /// The same ranking, but that the first is as good as the best if it is to be kept, and only then.
    pub(super) fn settle(self, mut ranking: Ranking) -> Ranking {
        if ranking.best.is_some_and(|best| best != 0) {
            ranking.ranked[0].is_alike = self.better.is_none() && !self.first_leaves_some;
        }
        ranking.alike = ranking.ranked.iter().filter(|ranked| ranked.is_alike).count().saturating_sub(1);
        ranking
    }
}

/// How much less the second has than the first, seed by seed; none where either left work unfinished.
fn gain(measure: &str, runs: &[Vec<Numbers>]) -> Option<Interval> {
    let [now, best] = runs else { return None };
    let pairs = now.iter().zip(best).map(|(now, best)| {
        let whole = now.unfinished() == 0.0 && best.unfinished() == 0.0;
        let (now, best) = (now.number(measure)?, best.number(measure)?);
        whole.then(|| if now == 0.0 { 0.0 } else { (now - best) / now })
    });
    let shares: Vec<f64> = pairs.collect::<Option<_>>()?;
    Some(Interval::of(&shares))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(values: &[f64]) -> Vec<Numbers> {
        values.iter().map(|value| Numbers::named([("flow", Some(*value))].into_iter())).collect()
    }

    /// The rules' first runs, the runs again of the first and the best, and which rules are as good as the best then.
    fn settled(first: [&[f64]; 3], again: [&[f64]; 2]) -> (bool, Vec<bool>, usize) {
        let ranking = Ranking::of("flow", &first.map(runs));
        assert_eq!(ranking.best, Some(1));
        let verdict = Verdict::of("flow", &ranking, Some(&again.map(runs)[..]));
        let Ranking { ranked, alike, .. } = verdict.settle(ranking);
        (verdict.better.is_some(), ranked.iter().map(|ranked| ranked.is_alike).collect(), alike)
    }

    #[test]
    fn a_rule_to_be_left_is_not_as_good_and_one_to_be_kept_is() {
        let scattered: [&[f64]; 3] = [&[3.0, 9.0, 2.0], &[2.5, 4.0, 3.0], &[2.6, 4.0, 3.1]];
        let clear: [&[f64]; 3] = [&[9.0, 9.1, 9.2], &[2.0, 2.1, 2.2], &[9.5, 9.6, 9.7]];
        let gains: [&[f64]; 2] = [&[4.0, 4.1, 4.2], &[3.0, 3.1, 3.2]];
        let does_not: [&[f64]; 2] = [&[4.0, 3.0, 4.2], &[3.0, 4.1, 4.3]];
        assert_eq!(settled(scattered, gains), (true, vec![false, true, true], 1));
        assert_eq!(settled(scattered, does_not), (false, vec![true, true, true], 2));
        assert_eq!(settled(clear, gains), (true, vec![false, true, false], 0));
        assert_eq!(settled(clear, does_not), (false, vec![true, true, false], 1));
    }
}
