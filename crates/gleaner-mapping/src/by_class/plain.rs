//! Sufferage on a [`ClassedGrid`] as one would write it down, for tests to compare with: O(t·(t·classes + machines)).
//!
//! Nothing here is shared with what is fast.

use super::ClassedGrid;
use crate::Mapping;
use gleaner_core::tie_threshold;

/// What the machines of one speed offer.
struct Offer {
    speed: f64,
    /// When the first two are free; the second is infinite if there is none.
    free: f64,
    second: f64,
    /// The lowest of those that tie for being free first.
    machine: usize,
}

impl Offer {
    fn end(&self, length: f64) -> f64 {
        self.free + length * (1.0 / self.speed)
    }
}

/// A grid while it is mapped.
struct Plain<'a> {
    lengths: &'a [f64],
    speed_of: Vec<f64>,
    ready: Vec<f64>,
    assignment: Vec<Option<u32>>,
}

/// The mapping of [`ClassedGrid::map_from`] with Sufferage, found the slow way.
pub fn sufferage(grid: &ClassedGrid, ready: &[f64]) -> Mapping {
    let mut plain = Plain::new(grid, ready);
    while let Some(task) = {
        let offers = plain.offers();
        plain.lowest_most(&plain.left(), &offers)
    } {
        let machine = choice(&plain.offers(), plain.lengths[task]);
        plain.assign(task, machine);
    }
    plain.done()
}

/// The mapping of [`ClassedGrid::map_from`] with Sufferage in passes, found the slow way.
pub fn sufferage_passes(grid: &ClassedGrid, ready: &[f64]) -> Mapping {
    let mut plain = Plain::new(grid, ready);
    while !plain.left().is_empty() {
        let (left, offers) = (plain.left(), plain.offers());
        for offer in &offers {
            let suitors = left.iter().copied();
            let suitors = suitors.filter(|task| choice(&offers, plain.lengths[*task]) == offer.machine);
            if let Some(task) = plain.lowest_most(&suitors.collect::<Vec<_>>(), &offers) {
                plain.assign(task, offer.machine);
            }
        }
    }
    plain.done()
}

/// How much is lost by the second: nothing if it ties with the first.
fn loss(first: f64, second: f64) -> f64 {
    if second <= first + 1e-12 * first { 0.0 } else { second - first }
}

fn suffers(offers: &[Offer], length: f64) -> f64 {
    let end = |offer: &&Offer| offer.end(length);
    let first = offers.iter().min_by(|left, right| end(left).total_cmp(&end(right))).expect("an offer");
    let others = offers.iter().filter(|offer| offer.speed != first.speed);
    let elsewhere = others.map(|offer| offer.end(length)).fold(f64::INFINITY, f64::min);
    let least = loss(first.free, first.second).min(loss(first.end(length), elsewhere));
    if least.is_finite() { least } else { 0.0 }
}

/// Of the offers that tie for being done first, the lowest machine.
fn choice(offers: &[Offer], length: f64) -> usize {
    let first = offers.iter().map(|offer| offer.end(length)).fold(f64::INFINITY, f64::min);
    let tied = offers.iter().filter(|offer| offer.end(length) <= first + 1e-12 * first);
    tied.map(|offer| offer.machine).min().expect("the first ties with itself")
}

impl<'a> Plain<'a> {
    fn new(grid: &'a ClassedGrid, ready: &[f64]) -> Self {
        let speeds = grid.classes().iter();
        let speeds = speeds.flat_map(|class| std::iter::repeat_n(class.speed, class.machines));
        Self {
            lengths: grid.lengths(),
            speed_of: speeds.collect(),
            ready: ready.to_vec(),
            assignment: vec![None; grid.tasks()],
        }
    }

    fn left(&self) -> Vec<usize> {
        (0..self.lengths.len()).filter(|task| self.assignment[*task].is_none()).collect()
    }

    fn offers(&self) -> Vec<Offer> {
        let mut speeds = self.speed_of.clone();
        speeds.sort_by(f64::total_cmp);
        speeds.dedup();
        speeds.into_iter().map(|speed| self.offer(speed)).collect()
    }

    fn offer(&self, speed: f64) -> Offer {
        let machines = || (0..self.ready.len()).filter(|machine| self.speed_of[*machine] == speed);
        let mut moments: Vec<f64> = machines().map(|machine| self.ready[machine]).collect();
        moments.sort_by(f64::total_cmp);
        let free = moments[0];
        let machine = machines().find(|machine| self.ready[*machine] <= free + 1e-12 * free);
        let second = moments.get(1).copied().unwrap_or(f64::INFINITY);
        Offer { speed, free, second, machine: machine.expect("the first ties with itself") }
    }

    fn lowest_most(&self, among: &[usize], offers: &[Offer]) -> Option<usize> {
        let sufferages = among.iter().map(|task| suffers(offers, self.lengths[*task]));
        let sufferages: Vec<f64> = sufferages.collect();
        let least = tie_threshold(sufferages.iter().copied().fold(0.0, f64::max));
        among.iter().zip(sufferages).find(|(_, sufferage)| *sufferage >= least).map(|(task, _)| *task)
    }

    fn assign(&mut self, task: usize, machine: usize) {
        self.assignment[task] = Some(machine as u32);
        self.ready[machine] += self.lengths[task] / self.speed_of[machine];
    }

    fn done(self) -> Mapping {
        Mapping {
            makespan: self.ready.into_iter().fold(0.0, f64::max),
            assignment: self.assignment.into_iter().map(|machine| machine.expect("all are mapped")).collect(),
        }
    }
}
