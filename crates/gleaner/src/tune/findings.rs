//! What came of a sweep: a mean for each setting, how far it is above the best, and which to use.

use super::parameter::{Plain, Setting, Sweep};
use crate::trials::{Interval, Numbers, Ranked, Ranking};
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
    #[serde(flatten)]
    pub(super) ranked: Ranked,
    #[serde(skip)]
    pub(super) setting: Setting,
}

impl Findings {
    /// From each setting's runs, in order of seeds.
    pub(super) fn of(sweep: Sweep, measure: String, runs: &[Vec<Numbers>]) -> Self {
        let Ranking { ranked, best, alike } = Ranking::of(&measure, runs);
        let keys: Vec<String> = sweep.axes.iter().map(|(key, _)| key.clone()).collect();
        let tried = |(setting, ranked): (Setting, Ranked)| {
            let values = keys.iter().cloned().zip(setting.0.iter().copied()).collect();
            Tried { values, ranked, setting }
        };
        let settings: Vec<Tried> = sweep.settings().into_iter().zip(ranked).map(tried).collect();
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
            let cells =
                values.chain(interval(tried.ranked.measured)).chain(interval(tried.ranked.above_best));
            cells.chain([tried.ranked.unfinished.to_string()]).collect::<Vec<String>>().join(",")
        };
        let lines = [header].into_iter().chain(self.settings.iter().map(line));
        lines.map(|line| line + "\n").collect()
    }
}
