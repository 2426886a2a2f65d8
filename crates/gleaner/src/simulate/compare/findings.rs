//! What several runs say together: means with 95 % intervals, and what each policy differs from the first by, seed by seed.

use super::metric::Metric;
use crate::trials::Interval;
use serde::Serialize;
use std::ops::Range;

/// The metric of what a run did not do.
const UNFINISHED: &str = "unfinished";

/// A run's numbers, one for each metric.
pub(super) type OfRun = Vec<Option<f64>>;

/// A metric under one policy.
#[derive(Clone, Debug, Serialize)]
pub(super) struct OfPolicy {
    pub(super) policy: String,
    /// None if no run has such a number.
    pub(super) mean: Option<Interval>,
    /// By how much more than under the first policy, over the seeds of which both have the number and neither left work
    /// unfinished: what a run did not do costs it no time.
    pub(super) more_than_first: Option<Interval>,
    /// The same in per cent of the first policy's mean over these seeds; none where that is 0.
    #[serde(skip)]
    pub(super) percent_more: Option<f64>,
    /// By seed.
    pub(super) values: Vec<Option<f64>>,
}

/// A metric under all policies.
#[derive(Clone, Debug, Serialize)]
pub(super) struct OfMetric {
    pub(super) metric: &'static str,
    pub(super) unit: &'static str,
    #[serde(skip)]
    pub(super) decimals: usize,
    pub(super) policies: Vec<OfPolicy>,
}

/// All of them.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Findings {
    pub(super) policies: Vec<String>,
    pub(super) seeds: Vec<u64>,
    /// Whether each policy came to the same with all seeds: then nothing was drawn.
    pub(super) all_seeds_alike: bool,
    /// Whether some run left work unfinished.
    #[serde(skip)]
    pub(super) leaves_some: bool,
    pub(super) metrics: Vec<OfMetric>,
}

impl Findings {
    /// Of runs in order of policy, then of seed.
    pub(super) fn of(metrics: &[Metric], policies: &[String], seeds: Range<u64>, runs: &[OfRun]) -> Self {
        let seeds: Vec<u64> = seeds.collect();
        let by_policy: Vec<&[OfRun]> = runs.chunks(seeds.len()).collect();
        let all_seeds_alike =
            seeds.len() > 1 && by_policy.iter().all(|runs| runs.iter().all(|run| run == &runs[0]));
        let unfinished = metrics.iter().position(|metric| metric.name == UNFINISHED);
        let is_whole = |run: &OfRun| unfinished.is_none_or(|at| run[at].is_none_or(|count| count == 0.0));
        let leaves_some = !runs.iter().all(is_whole);
        let metrics = metrics.iter().enumerate().map(|(at, metric)| {
            let is_fair = |pair: [&OfRun; 2]| metric.name == UNFINISHED || pair.into_iter().all(is_whole);
            let of = |runs: &[OfRun]| runs.iter().map(|run| run[at]).collect::<Vec<_>>();
            let one = |(number, policy): (usize, &String)| {
                let values = of(by_policy[number]);
                let known: Vec<f64> = values.iter().flatten().copied().collect();
                let pairs =
                    by_policy[number].iter().zip(by_policy[0]).filter(|(run, first)| is_fair([run, first]));
                let pairs: Vec<[f64; 2]> =
                    pairs.filter_map(|(run, first)| Some([run[at]?, first[at]?])).collect();
                let more: Vec<f64> = pairs.iter().map(|[run, first]| run - first).collect();
                let of_first: f64 = pairs.iter().map(|[_, first]| first).sum();
                let percent = 100.0 * more.iter().sum::<f64>() / of_first;
                let mean = |values: &[f64]| (!values.is_empty()).then(|| Interval::of(values));
                OfPolicy {
                    policy: policy.clone(),
                    mean: mean(&known),
                    more_than_first: mean(&more).filter(|_| number > 0),
                    percent_more: Some(percent).filter(|percent| percent.is_finite()),
                    values,
                }
            };
            OfMetric {
                metric: metric.name,
                unit: metric.unit,
                decimals: metric.decimals,
                policies: policies.iter().enumerate().map(one).collect(),
            }
        });
        let metrics = metrics.collect();
        Self { policies: policies.to_vec(), seeds, all_seeds_alike, leaves_some, metrics }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const METRICS: [Metric; 1] = [Metric { name: "wait", unit: "s", decimals: 1 }];

    fn findings(values: &[Option<f64>]) -> Findings {
        let runs: Vec<OfRun> = values.iter().map(|value| vec![*value]).collect();
        let policies = ["a".to_owned(), "b".to_owned()];
        Findings::of(&METRICS, &policies, 7..7 + values.len() as u64 / 2, &runs)
    }

    #[test]
    fn differences_are_those_of_pairs() {
        // Far apart from seed to seed, and always one apart at the same seed.
        let some = |values: [f64; 6]| values.map(Some);
        let found = findings(&some([1.0, 100.0, 50.0, 2.0, 101.0, 51.0]));
        let [first, second] = &found.metrics[0].policies[..] else { panic!("two policies") };
        assert!(first.mean.is_some_and(|mean| mean.reach().is_some_and(|reach| reach > 100.0)));
        assert_eq!(first.more_than_first, None);
        assert_eq!(second.more_than_first, Some(Interval { mean: 1.0, low: Some(1.0), high: Some(1.0) }));
        assert_eq!((found.seeds, found.all_seeds_alike), (vec![7, 8, 9], false));
    }

    #[test]
    fn who_left_work_unfinished_is_no_faster() {
        let metrics = [METRICS[0], Metric { name: UNFINISHED, unit: "", decimals: 0 }];
        let runs: Vec<OfRun> =
            [[9.0, 0.0], [8.0, 0.0], [2.0, 3.0], [7.0, 0.0]].map(|run| run.map(Some).into()).into();
        let found = Findings::of(&metrics, &["a".to_owned(), "b".to_owned()], 1..3, &runs);
        let more = |metric: usize| found.metrics[metric].policies[1].more_than_first.map(|more| more.mean);
        assert_eq!((found.leaves_some, more(0), more(1)), (true, Some(-1.0), Some(1.5)));
        let none = Findings::of(
            &metrics,
            &["a".to_owned(), "b".to_owned()],
            1..2,
            &[runs[0].clone(), runs[2].clone()],
        );
        assert_eq!(none.metrics[0].policies[1].more_than_first, None);
    }

    #[test]
    fn per_cents_are_of_the_first_policy_in_the_same_pairs() {
        let metrics = [METRICS[0], Metric { name: UNFINISHED, unit: "", decimals: 0 }];
        let runs: Vec<OfRun> =
            [[100.0, 0.0], [10.0, 5.0], [150.0, 0.0], [200.0, 0.0]].map(|run| run.map(Some).into()).into();
        let found = Findings::of(&metrics, &["a".to_owned(), "b".to_owned()], 1..3, &runs);
        let second = &found.metrics[0].policies[1];
        assert_eq!(second.more_than_first.map(|more| more.mean), Some(50.0));
        assert_eq!(second.percent_more, Some(50.0));
        assert_eq!(findings(&[Some(0.0), Some(1.0)]).metrics[0].policies[1].percent_more, None);
    }

    #[test]
    fn a_single_seed_has_no_interval_and_what_is_not_there_is_left_out() {
        let alone = findings(&[Some(1.0), Some(3.0)]);
        let more = alone.metrics[0].policies[1].more_than_first.expect("a difference");
        assert_eq!((more.mean, more.low, more.is_sure()), (2.0, None, false));
        let half = findings(&[Some(1.0), None, Some(3.0), Some(4.0)]);
        let more = half.metrics[0].policies[1].more_than_first.expect("one pair");
        assert_eq!((more.mean, half.metrics[0].policies[1].mean.expect("two").mean), (2.0, 3.5));
        assert!(findings(&[Some(1.0), Some(1.0), Some(3.0), Some(3.0)]).all_seeds_alike);
    }
}
