//! The linear program's solution by a primal-dual interior-point method (Mehrotra's predictor and corrector).
//!
//! Shares x of tasks on machines, machines' idle time s, and the end C, against the worth u of tasks, the prices λ of
//! machines, and z = λ·time − u, what a share costs beyond the task's worth. At the optimum x·z = 0 and s·λ = 0; the
//! method follows the points where all these products are equal and falls from 1 to nothing. Newton's equations are
//! reduced by hand: a task's row stands alone, so what is left is one system with a row a machine.
//!
//! Invariant: start and steps keep x, s, z and λ positive, so whatever the iterations end with are prices.

mod point;
mod system;

use super::{prices, worth};
use crate::Matrix;
use crate::mapping::{loads, makespan_of};
use point::{Aim, Point, Step, largest};
use system::System;

/// Where the relative difference of both sides counts as nothing.
const GAP_MIN: f64 = 1e-11;
const ITERATIONS_MIN: usize = 25;
const ITERATIONS_MAX: usize = 100;
/// How much t·w² times the iterations may be where more than the least number are made.
const WORK_MAX: usize = 1 << 34;
/// Where it is too small for better prices to matter.
const GAP_SETTLED: f64 = 1e-7;
/// How much of the way to the nearest wall a step goes.
const REACH: f64 = 0.995;
/// A step shorter than this, on both sides, leads nowhere.
const STEP_MIN: f64 = 1e-8;
/// How much of a mean product the corrector takes back at most.
const CORRECTION_MAX: f64 = 5.0;
/// What part of the end both sides differ by at the start, about.
const START_GAP: f64 = 0.1;
/// How often the prices of the start are adjusted.
const START_ROUNDS: usize = 40;
/// The least of them, in even prices.
const START_PRICE_MIN: f64 = 1e-4;
/// How closely a task's worth is found at the start.
const HALVINGS: usize = 20;

/// The machines' prices, and for each task the machine with its largest share. Where the iterations do not come to
/// their end, the prices are the best that adjusting them, or those of the start, gives.
pub(super) fn solve(matrix: &Matrix) -> (Vec<f64>, Vec<u32>) {
    let start = start_prices(matrix);
    let mut point = Point::new(matrix, start.clone());
    let size = matrix.tasks() * matrix.machines() * matrix.machines();
    let mut left = (WORK_MAX / size).clamp(ITERATIONS_MIN, ITERATIONS_MAX);
    while point.gap() > GAP_MIN && left > 0 && point.improve() {
        left -= 1;
    }
    let rounded = point.x.chunks_exact(matrix.machines()).map(largest).collect();
    if point.gap() <= GAP_SETTLED {
        return (point.prices, rounded);
    }
    let better = if worth(matrix, &point.prices) > worth(matrix, &start) { point.prices } else { start };
    (prices::adjusted(matrix, better, START_ROUNDS), rounded)
}

impl Point {
    /// A point near those that the method follows: good prices, and for each task the worth and the shares that make
    /// its products x·z equal.
    fn new(matrix: &Matrix, prices: Vec<f64>) -> Self {
        let (tasks, machines) = (matrix.tasks(), matrix.machines());
        let greedy = crate::Heuristic::Mct.map(matrix);
        let scale = makespan_of(&loads(matrix, &greedy.assignment)).max(f64::MIN_POSITIVE);
        let times: Vec<f64> = matrix.rows().flatten().map(|time| time / scale).collect();
        let product = START_GAP / (tasks * machines) as f64;
        let (mut x, mut z, mut worths) =
            (Vec::with_capacity(times.len()), Vec::with_capacity(times.len()), Vec::new());
        let mut busy = vec![0.0; machines];
        for row in times.chunks_exact(machines) {
            let costs: Vec<f64> = row.iter().zip(&prices).map(|(time, price)| time * price).collect();
            let worth = worth_with(&costs, product);
            let start = x.len();
            worths.push(worth);
            z.extend(costs.iter().map(|cost| cost - worth));
            let sum: f64 = z[start..].iter().map(|z| product / z).sum();
            x.extend(z[start..].iter().map(|z| product / z / sum));
            let shares = row.iter().zip(&x[start..]);
            busy.iter_mut().zip(shares).for_each(|(busy, (time, share))| *busy += time * share);
        }
        let idle: Vec<f64> = prices.iter().map(|price| product / price).collect();
        let end = dot(&busy, &prices) + dot(&idle, &prices);
        Self { machines, times, x, z, worths, idle, prices, end, unequal: 1.0 }
    }

    /// How far the point is from the optimum, in the end.
    fn gap(&self) -> f64 {
        (dot(&self.x, &self.z) + dot(&self.idle, &self.prices)) / self.end + self.unequal
    }

    /// One predictor and corrector; false where there is no way on.
    fn improve(&mut self) -> bool {
        let system = System::of(self);
        let aim = Aim {
            x: self.x.iter().zip(&self.z).map(|(x, z)| -x * z).collect(),
            idle: self.idle.iter().zip(&self.prices).map(|(s, price)| -s * price).collect(),
        };
        let predicted = system.step(self, &aim);
        let aim = self.centred(aim, &predicted);
        let step = system.step(self, &aim);
        if !step.prices.iter().chain([&step.end]).all(|change| change.is_finite()) {
            return false;
        }
        let (primal, dual) = (self.primal_room(&step) * REACH, self.dual_room(&step) * REACH);
        self.go(&step, primal.min(1.0), dual.min(1.0));
        primal.max(dual) > STEP_MIN
    }

    /// The aim of the corrector: products as even as the predictor shows that they can be made small, and the
    /// predictor's own error taken back.
    fn centred(&self, mut aim: Aim, predicted: &Step) -> Aim {
        let products = (self.x.len() + self.machines) as f64;
        let before = dot(&self.x, &self.z) + dot(&self.idle, &self.prices);
        let (primal, dual) = (self.primal_room(predicted).min(1.0), self.dual_room(predicted).min(1.0));
        let moved = |at: &[f64], by: &[f64], other: &[f64], other_by: &[f64]| -> f64 {
            let pairs = at.iter().zip(by).zip(other.iter().zip(other_by));
            pairs.map(|((x, dx), (z, dz))| (x + primal * dx) * (z + dual * dz)).sum()
        };
        let after = moved(&self.x, &predicted.x, &self.z, &predicted.z)
            + moved(&self.idle, &predicted.idle, &self.prices, &predicted.prices);
        let left = (after / before).clamp(0.0, 1.0);
        let even = before / products * left * left * left;
        // A correction far beyond the products themselves would leave no room for a step.
        let most = CORRECTION_MAX * before / products;
        let correction = |change: f64, other: f64| (change * other).clamp(-most, most);
        for (aim, (dx, dz)) in aim.x.iter_mut().zip(predicted.x.iter().zip(&predicted.z)) {
            *aim += even - correction(*dx, *dz);
        }
        for (aim, (ds, dprice)) in aim.idle.iter_mut().zip(predicted.idle.iter().zip(&predicted.prices)) {
            *aim += even - correction(*ds, *dprice);
        }
        aim
    }

    fn primal_room(&self, step: &Step) -> f64 {
        room(&self.x, &step.x).min(room(&self.idle, &step.idle))
    }

    fn dual_room(&self, step: &Step) -> f64 {
        room(&self.z, &step.z).min(room(&self.prices, &step.prices))
    }

    fn go(&mut self, step: &Step, primal: f64, dual: f64) {
        self.unequal *= 1.0 - primal;
        add(&mut self.x, primal, &step.x);
        add(&mut self.idle, primal, &step.idle);
        self.end += primal * step.end;
        add(&mut self.z, dual, &step.z);
        add(&mut self.worths, dual, &step.worths);
        add(&mut self.prices, dual, &step.prices);
    }
}

/// Prices that are nearly right, none of them nearly 0.
fn start_prices(matrix: &Matrix) -> Vec<f64> {
    let prices = prices::adjusted(matrix, prices::inverse_totals(matrix), START_ROUNDS);
    let least = START_PRICE_MIN / prices.len() as f64;
    let sum: f64 = prices.iter().map(|price| price.max(least)).sum();
    prices.iter().map(|price| price.max(least) / sum).collect()
}

/// The worth u for which the shares product / (cost − u) add up to 1: between `product` and as many times that as
/// there are machines below the least cost.
fn worth_with(costs: &[f64], product: f64) -> f64 {
    let least = crate::scan::least(costs);
    let (mut low, mut high) = (product, product * costs.len() as f64);
    for _ in 0..HALVINGS {
        let below = 0.5 * (low + high);
        let sum: f64 = costs.iter().map(|cost| product / (cost - least + below)).sum();
        if sum > 1.0 { low = below } else { high = below }
    }
    least - high
}

/// How many times a step can be gone until something is no longer positive.
fn room(at: &[f64], step: &[f64]) -> f64 {
    let rooms = at.iter().zip(step).filter(|(_, step)| **step < 0.0);
    rooms.fold(1e9, |least, (at, step)| f64::min(least, -at / step))
}

fn add(at: &mut [f64], part: f64, step: &[f64]) {
    at.iter_mut().zip(step).for_each(|(at, step)| *at += part * step);
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}
