//! The linear program's solution by a primal-dual interior-point method (Mehrotra's predictor and corrector).
//!
//! Shares x of tasks on machines, machines' idle time s, and the end C, against the worth u of tasks, the prices λ of
//! machines, and z = λ·time − u, what a share costs beyond the task's worth. At the optimum x·z = 0 and s·λ = 0; the
//! method follows the points where all these products are equal and falls from 1 to nothing. Newton's equations are
//! reduced by hand: a task's row stands alone, so what is left is one system with a row a machine.
//!
//! Invariant: start and steps keep x, s, z and λ positive, so whatever the iterations end with are prices.

use super::cholesky::Factor;
use crate::Matrix;
use crate::mapping::{loads, makespan_of};

/// Where the relative difference of both sides counts as nothing.
const GAP_MIN: f64 = 1e-11;
const ITERATIONS_MAX: usize = 60;
/// How much of the way to the nearest wall a step goes.
const REACH: f64 = 0.995;
/// A step shorter than this, on both sides, leads nowhere.
const STEP_MIN: f64 = 1e-8;
/// Shares that weigh less, beside their task's heaviest, are left out of the system: they cannot be seen in it.
const WEIGHTLESS: f64 = 1e-15;

/// The machines' prices, and for each task the machine with its largest share.
pub(super) fn solve(matrix: &Matrix) -> (Vec<f64>, Vec<u32>) {
    let mut point = Point::new(matrix);
    for _ in 0..ITERATIONS_MAX {
        if point.gap() <= GAP_MIN || !point.improve() {
            break;
        }
    }
    let rounded = point.x.chunks_exact(matrix.machines()).map(largest).collect();
    (point.prices, rounded)
}

fn largest(shares: &[f64]) -> u32 {
    let shares = (0..).zip(shares);
    shares.fold((0, 0.0), |most, (machine, &share)| if share > most.1 { (machine, share) } else { most }).0
}

/// Where the method is. Times are scaled so that the end is about 1.
struct Point {
    machines: usize,
    times: Vec<f64>,
    /// x, a row a task.
    x: Vec<f64>,
    /// z, likewise.
    z: Vec<f64>,
    /// u.
    worths: Vec<f64>,
    /// s.
    idle: Vec<f64>,
    /// λ.
    prices: Vec<f64>,
    /// C.
    end: f64,
}

/// A change of a [`Point`].
struct Step {
    x: Vec<f64>,
    z: Vec<f64>,
    worths: Vec<f64>,
    idle: Vec<f64>,
    prices: Vec<f64>,
    end: f64,
}

/// What the products x·z and s·λ should change by.
struct Aim {
    x: Vec<f64>,
    idle: Vec<f64>,
}

impl Point {
    fn new(matrix: &Matrix) -> Self {
        let (tasks, machines) = (matrix.tasks(), matrix.machines());
        let greedy = crate::Heuristic::Mct.map(matrix);
        let scale = makespan_of(&loads(matrix, &greedy.assignment)).max(f64::MIN_POSITIVE);
        let times: Vec<f64> = matrix.rows().flatten().map(|time| time / scale).collect();
        let (share, price) = (1.0 / machines as f64, 1.0 / machines as f64);
        let mut busy = vec![0.0; machines];
        for row in times.chunks_exact(machines) {
            busy.iter_mut().zip(row).for_each(|(busy, time)| *busy += time * share);
        }
        let end = 1.1 * makespan_of(&busy).max(f64::MIN_POSITIVE);
        // A little below what each task is worth at these prices, so that z is positive for times of 0 too.
        let worth = |row: &[f64]| 0.5 * price * crate::scan::least(row) - 0.1 / tasks as f64;
        let worths: Vec<f64> = times.chunks_exact(machines).map(worth).collect();
        let z = times.chunks_exact(machines).zip(&worths);
        let z = z.flat_map(|(row, worth)| row.iter().map(move |time| price * time - worth)).collect();
        Self {
            machines,
            x: vec![share; times.len()],
            z,
            worths,
            idle: busy.iter().map(|busy| end - busy).collect(),
            prices: vec![price; machines],
            end,
            times,
        }
    }

    fn gap(&self) -> f64 {
        let worth: f64 = self.worths.iter().sum();
        (self.end - worth) / self.end
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
        for (aim, (dx, dz)) in aim.x.iter_mut().zip(predicted.x.iter().zip(&predicted.z)) {
            *aim += even - dx * dz;
        }
        for (aim, (ds, dprice)) in aim.idle.iter_mut().zip(predicted.idle.iter().zip(&predicted.prices)) {
            *aim += even - ds * dprice;
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
        add(&mut self.x, primal, &step.x);
        add(&mut self.idle, primal, &step.idle);
        self.end += primal * step.end;
        add(&mut self.z, dual, &step.z);
        add(&mut self.worths, dual, &step.worths);
        add(&mut self.prices, dual, &step.prices);
    }
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

/// Newton's equations at a point, reduced to one row a machine and factored.
struct System {
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
    fn of(point: &Point) -> Self {
        let machines = point.machines;
        let weights: Vec<f64> = point.x.iter().zip(&point.z).map(|(x, z)| x / z).collect();
        let totals: Vec<f64> = weights.chunks_exact(machines).map(|row| row.iter().sum()).collect();
        let mut matrix = vec![0.0; machines * machines];
        let mut seen = Vec::with_capacity(machines);
        for (row, times) in weights.chunks_exact(machines).zip(point.times.chunks_exact(machines)) {
            add_task(&mut matrix, machines, row, times, &mut seen);
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

    fn step(&self, point: &Point, aim: &Aim) -> Step {
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

/// Adds diag(w·e²) − (w·e)(w·e)ᵀ/Σw of one task to the lower triangle. The diagonal is summed from what the other
/// weights leave, since w·e² − (w·e)²/Σw would cancel where one weight is nearly all.
fn add_task(
    matrix: &mut [f64],
    machines: usize,
    weights: &[f64],
    times: &[f64],
    seen: &mut Vec<(usize, f64)>,
) {
    let heaviest = largest(weights) as usize;
    let visible = weights[heaviest] * WEIGHTLESS;
    seen.clear();
    let visible_ones = weights.iter().enumerate().filter(|(_, weight)| **weight > visible);
    seen.extend(visible_ones.map(|(at, weight)| (at, weight * times[at])));
    let others: f64 =
        weights.iter().enumerate().filter(|(at, _)| *at != heaviest).map(|(_, weight)| weight).sum();
    let total = weights[heaviest] + others;
    for (rank, &(at, value)) in seen.iter().enumerate() {
        let row = &mut matrix[at * machines..(at + 1) * machines];
        let rest = if at == heaviest { others } else { total - weights[at] };
        row[at] += value * times[at] * (rest / total);
        let factor = value / total;
        for &(other, other_value) in &seen[..rank] {
            row[other] -= factor * other_value;
        }
    }
}
