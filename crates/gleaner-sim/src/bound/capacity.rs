//! What the owners leave: the cores of each class as a step function of time.
//!
//! Shares of a core are integers of 2⁻⁴⁰ here, rounded up, so that a class's sum does not depend on the order of
//! the changes and is zero exactly when every owner takes all.

use super::instance::{BoundMachine, Instance};
use std::collections::BTreeMap;

const UNITS_PER_CORE: f64 = (1_u64 << 40) as f64;

/// A class's cores, and the largest share of one core on any of its machines, from one moment on.
#[derive(Clone, Copy, Debug)]
struct Step {
    start: f64,
    cores: f64,
    best_share: f64,
    /// Core-seconds since time 0.
    done: f64,
}

/// Each class's steps, in order of time; the first starts at 0.
#[derive(Debug)]
pub(super) struct Capacity {
    steps: Vec<Vec<Step>>,
    /// When any class changes, in order, without repeats; 0 is not a change.
    changes: Vec<f64>,
    cores: Vec<f64>,
}

fn units(machine: &BoundMachine, load: f64) -> u64 {
    (f64::from(machine.cores) * (1.0 - load) * UNITS_PER_CORE).ceil().max(0.0) as u64
}

/// What the machines of one class leave now.
#[derive(Default)]
struct Pool {
    total: u64,
    /// How many machines leave how much.
    by_units: BTreeMap<u64, usize>,
}

impl Pool {
    fn add(&mut self, units: u64) {
        self.total += units;
        *self.by_units.entry(units).or_default() += 1;
    }

    fn remove(&mut self, units: u64) {
        self.total -= units;
        let count = self.by_units.get_mut(&units).expect("a machine leaves what it was added with");
        *count -= 1;
        if *count == 0 {
            self.by_units.remove(&units);
        }
    }

    fn step(&self, start: f64, done: f64) -> Step {
        let most = self.by_units.last_key_value().map_or(0, |(&units, _)| units);
        let best_share = (most as f64 / UNITS_PER_CORE).min(1.0);
        Step { start, cores: self.total as f64 / UNITS_PER_CORE, best_share, done }
    }
}

fn steps_of(machines: &[&BoundMachine]) -> Vec<Step> {
    let mut pool = Pool::default();
    let mut left: Vec<u64> = machines.iter().map(|machine| units(machine, 0.0)).collect();
    for &units in &left {
        pool.add(units);
    }
    let mut changes: Vec<_> = (0..machines.len())
        .flat_map(|at| machines[at].loads.iter().map(move |&(time, load)| (time, at, load)))
        .collect();
    changes.sort_by_key(|&(time, at, _)| (time, at));
    let mut steps = vec![pool.step(0.0, 0.0)];
    for moment in changes.chunk_by(|a, b| a.0 == b.0) {
        for &(_, at, load) in moment {
            pool.remove(left[at]);
            left[at] = units(machines[at], load);
            pool.add(left[at]);
        }
        push(&mut steps, &pool, moment[0].0.seconds());
    }
    steps
}

/// The next step, unless nothing changed; a change at 0 replaces the first step.
fn push(steps: &mut Vec<Step>, pool: &Pool, start: f64) {
    let last = *steps.last().expect("the first step starts at 0");
    let step = pool.step(start, last.done + last.cores * (start - last.start));
    if start == last.start {
        *steps.last_mut().expect("as above") = step;
    } else if (step.cores, step.best_share) != (last.cores, last.best_share) {
        steps.push(step);
    }
}

impl Capacity {
    pub(super) fn of(instance: &Instance<'_>) -> Self {
        let columns = instance.seconds_per_op.first().map_or(0, Vec::len);
        let mut members: Vec<Vec<&BoundMachine>> = vec![Vec::new(); columns];
        if columns > 0 {
            instance.machines.iter().for_each(|machine| members[machine.class].push(machine));
        }
        let steps: Vec<_> = members.iter().map(|machines| steps_of(machines)).collect();
        let cores = members.iter().map(|class| class.iter().map(|m| f64::from(m.cores)).sum()).collect();
        let mut changes: Vec<f64> =
            steps.iter().flat_map(|steps| &steps[1..]).map(|step| step.start).collect();
        changes.sort_by(f64::total_cmp);
        changes.dedup();
        Self { steps, changes, cores }
    }

    pub(super) fn classes(&self) -> usize {
        self.steps.len()
    }

    /// When any class changes.
    pub(super) fn changes(&self) -> &[f64] {
        &self.changes
    }

    /// Whether any class changes after `after`, up to `until`.
    pub(super) fn changes_within(&self, after: f64, until: f64) -> bool {
        let next = self.changes.partition_point(|&change| change <= after);
        self.changes.get(next).is_some_and(|&change| change <= until)
    }

    /// The cores of the class were no owner there.
    pub(super) fn cores_without_owners(&self, class: usize) -> f64 {
        self.cores[class]
    }

    fn step(&self, class: usize, at: f64) -> &Step {
        let steps = &self.steps[class];
        &steps[steps.partition_point(|step| step.start <= at).saturating_sub(1)]
    }

    /// The class's cores from `at` on.
    pub(super) fn cores_at(&self, class: usize, at: f64) -> f64 {
        self.step(class, at).cores
    }

    /// The largest share of a core that one task can have in the class from `at` on.
    pub(super) fn best_share_at(&self, class: usize, at: f64) -> f64 {
        self.step(class, at).best_share
    }

    /// The largest share of a core that one task can ever have in the class.
    pub(super) fn best_share_ever(&self, class: usize) -> f64 {
        self.steps[class].iter().map(|step| step.best_share).fold(0.0, f64::max)
    }

    /// Core-seconds of the class between two moments.
    pub(super) fn between(&self, class: usize, from: f64, until: f64) -> f64 {
        let done = |at: f64| {
            let step = self.step(class, at);
            step.done + step.cores * (at - step.start)
        };
        done(until) - done(from)
    }
}
