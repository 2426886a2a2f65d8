//! Runs of several parts: each goes at the rate of its slowest part, and ends everywhere at once.

use gleaner_core::Part;
use gleaner_units::{MachineId, RunId, Time};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// All such runs.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Wide {
    runs: BTreeMap<RunId, WideRun>,
    /// Those with a part on a machine; no machine without any.
    on: BTreeMap<MachineId, BTreeSet<RunId>>,
    /// When each ends as things stand.
    ends: BTreeSet<(Time, RunId)>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct WideRun {
    parts: Box<[Part]>,
    /// As of `updated`.
    ops_left: f64,
    /// Operations a second since then.
    rate: f64,
    updated: Time,
    end: Time,
}

impl WideRun {
    fn ops_left(&self, now: Time) -> f64 {
        (self.ops_left - self.rate * now.since(self.updated).seconds()).max(0.0)
    }
}

impl Wide {
    /// It stands still until it is [rated](Self::rate).
    pub(crate) fn insert(&mut self, now: Time, run: RunId, ops: f64, parts: &[Part]) {
        for part in parts {
            self.on.entry(part.on).or_default().insert(run);
        }
        self.ends.insert((Time::NEVER, run));
        let (parts, end) = (parts.into(), Time::NEVER);
        self.runs.insert(run, WideRun { parts, ops_left: ops, rate: 0.0, updated: now, end });
    }

    /// Takes a run off its machines; its parts, and the operations that it has left.
    pub(crate) fn remove(&mut self, now: Time, run: RunId) -> Option<(Box<[Part]>, f64)> {
        let old = self.runs.remove(&run)?;
        self.ends.remove(&(old.end, run));
        for part in &old.parts {
            let there = self.on.get_mut(&part.on).expect("where a run has a part");
            there.remove(&run);
            if there.is_empty() {
                self.on.remove(&part.on);
            }
        }
        let left = old.ops_left(now);
        Some((old.parts, left))
    }

    /// The share of a machine changed: the runs with a part there go on at what `rate` says of their parts.
    pub(crate) fn rate(&mut self, now: Time, machine: MachineId, rate: impl Fn(RunId, Part) -> f64) {
        let Some(there) = self.on.get(&machine) else { return };
        for &id in there {
            let run = self.runs.get_mut(&id).expect("what has a part somewhere");
            let ops_left = run.ops_left(now);
            let rate = run.parts.iter().map(|part| rate(id, *part)).fold(f64::INFINITY, f64::min);
            let end = if rate > 0.0 { now.after_seconds(ops_left / rate) } else { Time::NEVER };
            self.ends.remove(&(run.end, id));
            self.ends.insert((end, id));
            (run.ops_left, run.rate, run.updated, run.end) = (ops_left, rate, now, end);
        }
    }

    pub(crate) fn next_completion(&self) -> Option<(Time, RunId)> {
        self.ends.first().copied().filter(|&(end, _)| end != Time::NEVER)
    }

    pub(crate) fn parts_of(&self, run: RunId) -> &[Part] {
        self.runs.get(&run).map_or(&[], |run| &run.parts)
    }

    /// How many have a part on a machine.
    pub(crate) fn residents(&self, machine: MachineId) -> usize {
        self.on.get(&machine).map_or(0, BTreeSet::len)
    }
}
