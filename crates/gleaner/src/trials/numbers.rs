//! What a run came to.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The numbers of a run's summary.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Numbers(BTreeMap<String, f64>);

impl Numbers {
    /// All numbers of a document's first level.
    pub(crate) fn of(summary: &impl Serialize) -> Self {
        let tree = serde_json::to_value(summary).expect("plain data can always be written to memory");
        let numbers = tree.as_object().into_iter().flatten();
        Self(numbers.filter_map(|(key, value)| Some((key.clone(), value.as_f64()?))).collect())
    }

    /// By the names of what they measure; what is none is left out.
    pub(crate) fn named<'a>(named: impl Iterator<Item = (&'a str, Option<f64>)>) -> Self {
        Self(named.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect())
    }

    /// What the summary says there.
    pub(crate) fn number(&self, key: &str) -> Option<f64> {
        self.0.get(key).copied()
    }

    /// Whether two runs came to the same, but for the seeds that they had.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let said = |numbers: &Self| {
            numbers.0.clone().into_iter().filter(|(key, _)| key != "seed").collect::<Vec<_>>()
        };
        said(self) == said(other)
    }

    /// How many tasks or jobs did not end.
    pub(crate) fn unfinished(&self) -> f64 {
        self.number("unfinished").unwrap_or(0.0)
    }
}
