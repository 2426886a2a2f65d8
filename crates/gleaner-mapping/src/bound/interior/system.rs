//! Newton's equations of the interior-point method. A task's row is solved by itself; what is left is one symmetric
//! system with a row a machine.

use super::point::{Aim, Point, Step, largest};
use crate::bound::cholesky::Factor;

/// Shares that weigh less, beside their task's heaviest, are left out of the system: they cannot be seen in it.
const WEIGHTLESS: f64 = 1e-15;

/// Newton's equations at a point, reduced to one row a machine and factored.
pub(super) struct System {
    /// x/z.
    weights: Vec<f64>,
    /// The sum of a task's weights.
    totals: Vec<f64>,
    factor: Factor,
    /// By how much every cell was raised.
    hold: f64,
    /// The solution for a right side of ones: what the end's change does to the prices.
    ones: Vec<f64>,
}

impl System {
    pub(super) fn of(point: &Point) -> Self {
        let machines = point.machines;
        let weights: Vec<f64> = point.x.iter().zip(&point.z).map(|(x, z)| x / z).collect();
        let totals: Vec<f64> = weights.chunks_exact(machines).map(|row| row.iter().sum()).collect();
        let mut matrix = vec![0.0; machines * machines];
        let mut seen = Seen::default();
        for (row, times) in weights.chunks_exact(machines).zip(point.times.chunks_exact(machines)) {
            add_task(&mut matrix, row, times, &mut seen);
        }
        for machine in 0..machines {
            matrix[machine * (machines + 1)] += point.idle[machine] / point.prices[machine];
        }
        // Close to the optimum the matrix alone says almost nothing about the prices' sum, which is known. Adding the
        // equation that holds it to every row changes no solution and keeps the system well determined.
        let hold = (0..machines).map(|at| matrix[at * (machines + 1)]).fold(0.0, f64::max);
        for cell in &mut matrix {
            *cell += hold;
        }
        let factor = Factor::of(matrix, machines);
        let mut ones = vec![1.0; machines];
        factor.solve(&mut ones);
        Self { weights, totals, factor, hold, ones }
    }

    pub(super) fn step(&self, point: &Point, aim: &Aim) -> Step {
        let machines = point.machines;
        let rows = || point.times.chunks_exact(machines).zip(self.weights.chunks_exact(machines)).enumerate();
        // What x changes by before prices and worths answer.
        let mut x: Vec<f64> = Vec::with_capacity(point.x.len());
        let mut lacks = Vec::with_capacity(point.worths.len());
        let mut side: Vec<f64> = (0..machines)
            .map(|machine| aim.idle[machine] / point.prices[machine] + point.idle[machine] - point.end)
            .collect();
        for (task, (times, weights)) in rows() {
            let cells = task * machines..(task + 1) * machines;
            let start = x.len();
            for ((cell, time), weight) in cells.zip(times).zip(weights) {
                let off = time * point.prices[cell - start] - point.worths[task] - point.z[cell];
                x.push(aim.x[cell] / point.z[cell] - weight * off);
            }
            let lack =
                1.0 - point.x[start..].iter().take(machines).sum::<f64>() - x[start..].iter().sum::<f64>();
            lacks.push(lack);
            for machine in 0..machines {
                let busy = point.x[start + machine]
                    + x[start + machine]
                    + weights[machine] * lack / self.totals[task];
                side[machine] += times[machine] * busy;
            }
        }
        self.factor.solve(&mut side);
        let unpriced = 1.0 - point.prices.iter().sum::<f64>();
        let end = (side.iter().sum::<f64>() - unpriced) / self.ones.iter().sum::<f64>();
        let prices: Vec<f64> = side.iter().zip(&self.ones).map(|(side, one)| side - end * one).collect();
        let end = end + self.hold * unpriced;
        let mut step = Step { x, z: Vec::new(), worths: Vec::new(), idle: Vec::new(), prices, end };
        self.complete(point, aim, &lacks, &mut step);
        step
    }

    /// Fills in what follows from the change of the prices.
    fn complete(&self, point: &Point, aim: &Aim, lacks: &[f64], step: &mut Step) {
        let machines = point.machines;
        step.z.reserve_exact(point.z.len());
        for (task, times) in point.times.chunks_exact(machines).enumerate() {
            let start = task * machines;
            let weights = &self.weights[start..start + machines];
            let answer: f64 = (0..machines).map(|at| weights[at] * times[at] * step.prices[at]).sum();
            let worth = (lacks[task] + answer) / self.totals[task];
            step.worths.push(worth);
            for at in 0..machines {
                let cell = start + at;
                let off = times[at] * point.prices[at] - point.worths[task] - point.z[cell];
                step.z.push(off + times[at] * step.prices[at] - worth);
                step.x[cell] += weights[at] * (worth - times[at] * step.prices[at]);
            }
        }
        step.idle = (0..machines)
            .map(|at| (aim.idle[at] - point.idle[at] * step.prices[at]) / point.prices[at])
            .collect();
    }
}

/// The shares of a task that can be seen in the system: machines, and weight × time.
#[derive(Default)]
struct Seen {
    machines: Vec<usize>,
    values: Vec<f64>,
}

/// Adds diag(w·e²) − (w·e)(w·e)ᵀ/Σw of one task to the lower triangle. The diagonal is summed from what the other
/// weights leave, since w·e² − (w·e)²/Σw would cancel where one weight is nearly all.
fn add_task(matrix: &mut [f64], weights: &[f64], times: &[f64], seen: &mut Seen) {
    let size = weights.len();
    let heaviest = largest(weights) as usize;
    let visible = weights[heaviest] * WEIGHTLESS;
    seen.machines.clear();
    seen.machines.extend((0..size).filter(|at| weights[*at] > visible));
    seen.values.clear();
    seen.values.extend(seen.machines.iter().map(|at| weights[*at] * times[*at]));
    let others: f64 =
        weights.iter().enumerate().filter(|(at, _)| *at != heaviest).map(|(_, weight)| weight).sum();
    let total = weights[heaviest] + others;
    for (rank, (&at, &value)) in seen.machines.iter().zip(&seen.values).enumerate() {
        let row = &mut matrix[at * size..(at + 1) * size];
        let rest = if at == heaviest { others } else { total - weights[at] };
        row[at] += value * times[at] * (rest / total);
        let factor = value / total;
        let before = &seen.values[..rank];
        if rank == at {
            // All machines so far: no look at which they are.
            row.iter_mut().zip(before).for_each(|(cell, other)| *cell -= factor * other);
        } else {
            seen.machines.iter().zip(before).for_each(|(&other, value)| row[other] -= factor * value);
        }
    }
}
