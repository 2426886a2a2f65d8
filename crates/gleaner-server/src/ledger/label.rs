//! What is learnt of labels: how their tasks' operations divide over CPU, disk and network.

use crate::limits::LABELS_REMEMBERED_MAX;
use gleaner_units::TaskClassId;
use gleaner_wire::session::Usage;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Bound;

/// What is counted with until anything is known.
pub(crate) const UNKNOWN: [f64; 3] = [1.0, 0.0, 0.0];
/// Runs after which the mean moves as if there had been no more: programs change.
const RUNS_MAX: f64 = 50.0;
/// Shares are rounded to steps of this size, so that alike labels stay alike and the scheduler hears of real changes
/// only.
const STEP: f64 = 0.05;
const BYTES_PER_OPERATION: f64 = 1e6;

/// A label.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Label {
    /// From how many runs.
    pub runs: u64,
    /// The running mean of the shares.
    pub mean: [f64; 3],
    /// The mean, rounded: what the scheduler counts with.
    pub composition: [f64; 3],
    /// The classes of its tasks.
    pub classes: Vec<TaskClassId>,
    /// The turn in which the last of them was forgotten.
    idle_since: u64,
}

/// Whose, and which.
pub(super) type LabelKey = (String, String);

/// By user and name: nobody's tasks say anything of another's.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Labels {
    labels: BTreeMap<LabelKey, Label>,
    /// How often a label was left without classes.
    turn: u64,
}

impl Labels {
    /// A user's, or all.
    pub(crate) fn of(&self, user: Option<&str>) -> impl Iterator<Item = (&LabelKey, &Label)> {
        let first = user.map_or(Bound::Unbounded, |user| Bound::Included(key(user, "")));
        let labels = self.labels.range::<LabelKey, _>((first, Bound::Unbounded));
        labels.take_while(move |((owner, _), _)| user.is_none_or(|user| user == owner))
    }

    pub(crate) fn composition(&self, user: &str, name: &str) -> [f64; 3] {
        self.labels.get(&key(user, name)).map_or(UNKNOWN, |label| label.composition)
    }

    /// Tasks of this class follow what is learnt of the label.
    pub(super) fn follow(&mut self, key: &LabelKey, class: TaskClassId) {
        let new =
            || Label { runs: 0, mean: UNKNOWN, composition: UNKNOWN, classes: Vec::new(), idle_since: 0 };
        self.labels.entry(key.clone()).or_insert_with(new).classes.push(class);
    }

    /// There are none any more. A label of which nothing was learnt is forgotten with the last of them, and so is the oldest of too many.
    /// Costs O(the user's labels) with the last of them.
    pub(super) fn unfollow(&mut self, key: &LabelKey, class: TaskClassId) {
        let Some(label) = self.labels.get_mut(key) else { return };
        label.classes.retain(|other| *other != class);
        if !label.classes.is_empty() {
            return;
        }
        self.turn += 1;
        label.idle_since = self.turn;
        if label.runs == 0 {
            self.labels.remove(key);
            return;
        }
        let idle = self.of(Some(&key.0)).filter(|(_, label)| label.classes.is_empty());
        let idle: Vec<(u64, &LabelKey)> = idle.map(|(key, label)| (label.idle_since, key)).collect();
        if idle.len() > LABELS_REMEMBERED_MAX {
            let oldest = idle.into_iter().min().expect("there are some").1.clone();
            self.labels.remove(&oldest);
        }
    }

    /// Learns from a run whose devices did `rates` operations a second while they were at it; the label, if what is counted with changed.
    pub(crate) fn learn(
        &mut self,
        (user, name): (&str, &str),
        usage: &Usage,
        rates: [f64; 3],
    ) -> Option<&Label> {
        let label = self.labels.get_mut(&key(user, name))?;
        let shares = shares(usage, rates)?;
        label.runs += 1;
        let weight = 1.0 / (label.runs as f64).min(RUNS_MAX);
        for (mean, share) in label.mean.iter_mut().zip(shares) {
            *mean += (share - *mean) * weight;
        }
        let rounded = rounded(label.mean);
        let changed = rounded != label.composition;
        label.composition = rounded;
        changed.then_some(&*label)
    }
}

fn key(user: &str, name: &str) -> LabelKey {
    (user.to_owned(), name.to_owned())
}

/// The shares of the operations that a run did; none if it did too little to tell.
///
/// With them the scheduler's Σ C/S gives back, up to a factor that all machines share, the seconds for which the run
/// kept each device busy. What a device could not have moved while the run lasted went to a cache, and is not counted.
fn shares(usage: &Usage, [cpu, disk, network]: [f64; 3]) -> Option<[f64; 3]> {
    let moved = |bytes: u64, speed: f64| (bytes as f64 / BYTES_PER_OPERATION).min(usage.elapsed_s * speed);
    let operations = [
        usage.cpu_s * cpu,
        moved(usage.read_bytes.saturating_add(usage.written_bytes), disk),
        moved(usage.network_bytes.unwrap_or(0), network),
    ];
    let operations = operations.map(|kind| kind.max(0.0));
    let total: f64 = operations.iter().sum();
    (total.is_finite() && total > 0.0).then(|| operations.map(|kind| kind / total))
}

/// To steps, and so that they still add up to 1: what rounding took goes to the largest.
fn rounded(shares: [f64; 3]) -> [f64; 3] {
    let steps = shares.map(|share| (share / STEP).round());
    let mut rounded = steps.map(|steps| steps * STEP);
    let largest = (0..3).max_by(|&one, &other| shares[one].total_cmp(&shares[other])).unwrap_or(0);
    rounded[largest] = 1.0 - (0..3).filter(|&kind| kind != largest).map(|kind| rounded[kind]).sum::<f64>();
    rounded
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATES: [f64; 3] = [1000.0, 500.0, 100.0];

    fn usage(elapsed_s: f64, cpu_s: f64, [read, written, network]: [u64; 3]) -> Usage {
        Usage {
            elapsed_s,
            cpu_s,
            read_bytes: read * 1_000_000,
            written_bytes: written * 1_000_000,
            network_bytes: Some(network * 1_000_000),
            memory_bytes: 0,
        }
    }

    #[test]
    fn shares_follow_what_was_used() {
        for (name, usage, expected) in [
            ("nothing", usage(10.0, 0.0, [0, 0, 0]), None),
            ("no time", usage(0.0, 0.0, [500, 0, 0]), None),
            ("CPU only", usage(10.0, 10.0, [0, 0, 0]), Some([1.0, 0.0, 0.0])),
            ("disk only", usage(2.0, 0.0, [250, 250, 0]), Some([0.0, 1.0, 0.0])),
            ("a second of each", usage(3.0, 1.0, [250, 250, 100]), Some([0.625, 0.3125, 0.0625])),
            ("into the cache", usage(2.0, 1.0, [0, 100_000, 0]), Some([0.5, 0.5, 0.0])),
            (
                "a network unknown",
                Usage { network_bytes: None, ..usage(2.0, 1.0, [0, 0, 0]) },
                Some([1.0, 0.0, 0.0]),
            ),
        ] {
            assert_eq!(shares(&usage, RATES), expected, "{name}");
        }
    }

    #[test]
    fn a_label_is_learnt_from_its_runs() {
        let mut labels = Labels::default();
        labels.follow(&key("ada", "sort"), TaskClassId::new(0));
        assert_eq!(labels.composition("ada", "sort"), UNKNOWN);
        assert!(
            labels.learn(("ada", "sort"), &usage(1.0, 0.0, [0, 0, 0]), RATES).is_none(),
            "nothing was done"
        );
        // 500 operations of CPU and 1,500 of disk.
        let learnt =
            labels.learn(("ada", "sort"), &usage(5.0, 0.5, [0, 1500, 0]), RATES).expect("it changed");
        assert_eq!(learnt.composition, [0.25, 0.75, 0.0]);
        assert!(
            labels.learn(("ada", "sort"), &usage(5.0, 0.5, [0, 1510, 0]), RATES).is_none(),
            "it hardly changed"
        );
        assert!(labels.learn(("ada", "other"), &usage(1.0, 1.0, [0, 0, 0]), RATES).is_none());
        assert!(
            labels.learn(("bob", "sort"), &usage(1.0, 1.0, [0, 0, 0]), RATES).is_none(),
            "another's label"
        );
    }

    #[test]
    fn rounded_shares_add_up_to_one() {
        for shares in [[0.333, 0.333, 0.334], [0.024, 0.951, 0.025], [1.0, 0.0, 0.0], [0.476, 0.476, 0.048]] {
            let sum: f64 = rounded(shares).iter().sum();
            assert!((sum - 1.0).abs() < 1e-12, "{shares:?}");
            assert!(rounded(shares).iter().all(|&share| share >= 0.0));
        }
    }

    #[test]
    fn so_many_labels_of_a_user_are_remembered() {
        let mut labels = Labels::default();
        let come_and_go = |labels: &mut Labels, user: &str, name: &str| {
            labels.follow(&key(user, name), TaskClassId::new(0));
            labels.learn((user, name), &usage(10.0, 0.0, [1_000_000, 0, 0]), RATES);
            labels.unfollow(&key(user, name), TaskClassId::new(0));
        };
        come_and_go(&mut labels, "bob", "his");
        for number in 0..LABELS_REMEMBERED_MAX {
            come_and_go(&mut labels, "ada", &number.to_string());
        }
        // The first one has tasks again, and the second is the oldest.
        come_and_go(&mut labels, "ada", "0");
        come_and_go(&mut labels, "ada", "one more");
        let is_known = |user: &str, name: &str| labels.composition(user, name) != UNKNOWN;
        assert_eq!(labels.of(None).count(), 1 + LABELS_REMEMBERED_MAX);
        assert!(is_known("bob", "his") && is_known("ada", "0") && is_known("ada", "one more"));
        assert!(!is_known("ada", "1"));
    }
}
