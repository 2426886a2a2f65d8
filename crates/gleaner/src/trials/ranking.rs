//! What was tried, by one number that is to be low.

use super::numbers::Numbers;
use gleaner_papers::statistics::{Estimate, mean};
use gleaner_report::numbers::significant;
use serde::Serialize;

/// All of it.
pub(crate) struct Ranking {
    /// In the order in which they were tried.
    pub(crate) ranked: Vec<Ranked>,
    /// The position of the best; none where everything left work unfinished.
    pub(crate) best: Option<usize>,
    /// How many others cannot be told from it.
    pub(crate) alike: usize,
}

/// One of what was tried.
#[derive(Clone, Serialize)]
pub(crate) struct Ranked {
    /// What its runs left unfinished, together.
    pub(crate) unfinished: f64,
    /// Over its runs; null where any left something unfinished.
    pub(crate) measured: Option<Interval>,
    /// How far above the best with the same seed.
    pub(crate) above_best: Option<Interval>,
    /// Whether the best, or not to be told from it.
    pub(crate) is_alike: bool,
}

/// A mean with its 95 % interval; without ends where one run says nothing about the spread.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub(crate) struct Interval {
    pub(crate) mean: f64,
    pub(crate) low: Option<f64>,
    pub(crate) high: Option<f64>,
}

impl Interval {
    pub(crate) fn of(values: &[f64]) -> Self {
        let Estimate { mean, low, high } = Estimate::of(values);
        let is_known = |end: &f64| end.is_finite();
        Self { mean, low: Some(low).filter(is_known), high: Some(high).filter(is_known) }
    }

    /// What stands after ±.
    pub(crate) fn reach(&self) -> Option<f64> {
        Some((self.high? - self.low?) / 2.0)
    }

    /// Whether the interval leaves 0 out.
    pub(crate) fn is_sure(&self) -> bool {
        self.low.is_some_and(|low| low > 0.0) || self.high.is_some_and(|high| high < 0.0)
    }

    pub(crate) fn said(&self) -> String {
        let mean = significant(self.mean, 4);
        self.reach().map_or(mean.clone(), |reach| format!("{mean} ± {}", significant(reach, 2)))
    }
}

impl Ranking {
    /// From the runs of each, in order of seeds.
    pub(crate) fn of(measure: &str, runs: &[Vec<Numbers>]) -> Self {
        let unfinished: Vec<f64> =
            runs.iter().map(|runs| runs.iter().map(Numbers::unfinished).sum()).collect();
        let numbers = |at: usize| -> Option<Vec<f64>> {
            let whole = unfinished[at] == 0.0;
            whole.then(|| runs[at].iter().map(|run| run.number(measure)).collect::<Option<_>>()).flatten()
        };
        let values: Vec<Option<Vec<f64>>> = (0..runs.len()).map(numbers).collect();
        let means = values.iter().enumerate();
        let means = means.filter_map(|(at, values)| Some((at, mean(values.as_ref()?.iter().copied()))));
        let best = means.min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(at, _)| at);
        let above = |at: usize| -> Option<Interval> {
            let (own, best) = (values[at].as_ref()?, values[best?].as_ref()?);
            Some(Interval::of(&own.iter().zip(best).map(|(own, best)| own - best).collect::<Vec<f64>>()))
        };
        let ranked = |at: usize| {
            let above_best = above(at);
            Ranked {
                unfinished: unfinished[at],
                measured: values[at].as_ref().map(|values| Interval::of(values)),
                above_best,
                is_alike: above_best.is_some_and(|above| above.low.unwrap_or(above.mean) <= 0.0),
            }
        };
        let ranked: Vec<Ranked> = (0..runs.len()).map(ranked).collect();
        let alike = ranked.iter().filter(|ranked| ranked.is_alike).count().saturating_sub(1);
        Self { ranked, best, alike }
    }
}
