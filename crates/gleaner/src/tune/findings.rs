//! What came of a sweep: a mean for each setting, how far it is above the best, and which to use.

use super::parameter::{Plain, Setting, Sweep};
use crate::simulate::Numbers;
use gleaner_papers::statistics::{Estimate, mean};
use gleaner_report::numbers::significant;
use serde::Serialize;
use std::collections::BTreeMap;

/// All of it.
#[derive(Serialize)]
pub(super) struct Findings {
    version: u32,
    /// What is to be low.
    pub(super) measure: String,
    /// Runs with each setting.
    pub(super) seeds: usize,
    /// In the order of the sweep.
    pub(super) settings: Vec<Tried>,
    /// The position of the setting to use; null where every setting left work unfinished.
    pub(super) best: Option<usize>,
    /// What to lay over the scenario: the setting to use.
    pub(super) set: Vec<String>,
    /// How many others cannot be told from it.
    pub(super) alike: usize,
    #[serde(skip)]
    pub(super) sweep: Sweep,
}

/// One setting.
#[derive(Serialize)]
pub(super) struct Tried {
    values: BTreeMap<String, f64>,
    /// What its runs left unfinished, together.
    pub(super) unfinished: f64,
    /// Over its runs; null where any left something unfinished.
    pub(super) measured: Option<Interval>,
    /// How far above the best with the same seed.
    pub(super) above_best: Option<Interval>,
    /// Whether the best, or not to be told from it.
    pub(super) is_alike: bool,
    #[serde(skip)]
    pub(super) setting: Setting,
}

/// A mean with its 95 % interval; without ends where one run says nothing about the spread.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Interval {
    pub(super) mean: f64,
    pub(super) low: Option<f64>,
    pub(super) high: Option<f64>,
}

impl Interval {
    fn of(values: &[f64]) -> Self {
        if let [only] = values {
            return Self { mean: *only, low: None, high: None };
        }
        let Estimate { mean, low, high } = Estimate::of(values);
        Self { mean, low: Some(low), high: Some(high) }
    }

    /// What stands after ±.
    pub(super) fn reach(&self) -> Option<String> {
        let (low, high) = (self.low?, self.high?);
        Some(significant((high - low) / 2.0, 2))
    }

    pub(super) fn said(&self) -> String {
        let mean = significant(self.mean, 4);
        self.reach().map_or(mean.clone(), |reach| format!("{mean} ± {reach}"))
    }
}

impl Findings {
    /// From each setting's runs, in order of seeds.
    pub(super) fn of(sweep: Sweep, measure: String, runs: &[Vec<Numbers>]) -> Self {
        let settings = sweep.settings();
        let unfinished: Vec<f64> =
            runs.iter().map(|runs| runs.iter().map(Numbers::unfinished).sum()).collect();
        let numbers = |at: usize| -> Option<Vec<f64>> {
            let whole = unfinished[at] == 0.0;
            whole.then(|| runs[at].iter().map(|run| run.number(&measure)).collect::<Option<_>>()).flatten()
        };
        let values: Vec<Option<Vec<f64>>> = (0..settings.len()).map(numbers).collect();
        let means = values.iter().enumerate();
        let means = means.filter_map(|(at, values)| Some((at, mean(values.as_ref()?.iter().copied()))));
        let best = means.min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(at, _)| at);
        let above = |at: usize| -> Option<Interval> {
            let (own, best) = (values[at].as_ref()?, values[best?].as_ref()?);
            Some(Interval::of(&own.iter().zip(best).map(|(own, best)| own - best).collect::<Vec<f64>>()))
        };
        let tried = |(at, setting): (usize, &Setting)| {
            let above_best = above(at);
            let is_alike = above_best.is_some_and(|above| above.low.unwrap_or(above.mean) <= 0.0);
            Tried {
                values: sweep
                    .axes
                    .iter()
                    .map(|(key, _)| key.clone())
                    .zip(setting.0.iter().copied())
                    .collect(),
                unfinished: unfinished[at],
                measured: values[at].as_ref().map(|values| Interval::of(values)),
                above_best,
                is_alike,
                setting: setting.clone(),
            }
        };
        let settings: Vec<Tried> = settings.iter().enumerate().map(tried).collect();
        let alike = settings.iter().filter(|tried| tried.is_alike).count().saturating_sub(1);
        let set = best.map_or_else(Vec::new, |best| sweep.overrides(&settings[best].setting));
        Self {
            version: 1,
            measure,
            seeds: runs.first().map_or(0, Vec::len),
            settings,
            best,
            set,
            alike,
            sweep,
        }
    }

    /// A line each.
    pub(super) fn table(&self) -> String {
        let keys = self.sweep.axes.iter().map(|(key, _)| key.as_str());
        let measure = &self.measure;
        let columns = [
            format!("{measure}_mean"),
            format!("{measure}_low"),
            format!("{measure}_high"),
            "above_best_mean".to_owned(),
            "above_best_low".to_owned(),
            "above_best_high".to_owned(),
            "unfinished".to_owned(),
        ];
        let header = keys.map(str::to_owned).chain(columns).collect::<Vec<String>>().join(",");
        let number = |number: Option<f64>| number.map_or(String::new(), |number| number.to_string());
        let interval = |interval: Option<Interval>| {
            let of = |part: fn(Interval) -> Option<f64>| number(interval.and_then(part));
            [of(|interval| Some(interval.mean)), of(|interval| interval.low), of(|interval| interval.high)]
        };
        let line = |tried: &Tried| {
            let values = tried.setting.0.iter().map(|value| Plain(*value).to_string());
            let cells = values.chain(interval(tried.measured)).chain(interval(tried.above_best));
            cells.chain([tried.unfinished.to_string()]).collect::<Vec<String>>().join(",")
        };
        let lines = [header].into_iter().chain(self.settings.iter().map(line));
        lines.map(|line| line + "\n").collect()
    }
}
