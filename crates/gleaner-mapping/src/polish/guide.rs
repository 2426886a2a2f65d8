//! Which machines are cheap for a task, by the prices of a lower bound.

use crate::Matrix;
use crate::bound::Bound;

/// How much more than a task's least cost counts as cheap, in mean tasks' parts of the bound.
const MARGIN: f64 = 1.0 / 32.0;

pub(super) struct Guide<'a> {
    matrix: &'a Matrix,
    prices: Vec<f64>,
    /// The most that a machine may cost to be cheap for each task.
    limits: Vec<f64>,
    /// Where each task's cheap machines start, and where the last one's end.
    starts: Vec<usize>,
    cheap: Vec<u32>,
}

impl<'a> Guide<'a> {
    pub(super) fn new(matrix: &'a Matrix, bound: &Bound) -> Self {
        let margin = Self::margin(matrix, bound);
        let prices = bound.prices.clone();
        let mut guide = Self {
            matrix,
            prices,
            limits: Vec::new(),
            starts: vec![0],
            cheap: Vec::with_capacity(matrix.tasks()),
        };
        for row in matrix.rows() {
            let costs = || row.iter().zip(&guide.prices).map(|(time, price)| time * price);
            let limit = costs().fold(f64::INFINITY, f64::min) + margin;
            let cheap = (0..).zip(costs()).filter(|(_, cost)| *cost <= limit).map(|(machine, _)| machine);
            guide.cheap.extend(cheap);
            guide.limits.push(limit);
            guide.starts.push(guide.cheap.len());
        }
        guide
    }

    /// How much more than its least cost a task may cost on a machine that is drawn.
    pub(super) fn margin(matrix: &Matrix, bound: &Bound) -> f64 {
        MARGIN * bound.value * matrix.machines() as f64 / matrix.tasks() as f64
    }

    pub(super) fn tasks(&self) -> usize {
        self.limits.len()
    }

    /// A machine for a task from 32 random bits: of all, or of the cheap ones.
    #[inline]
    pub(super) fn machine(&self, task: usize, bits: u64, of_all: bool) -> usize {
        if of_all {
            return below(bits, self.prices.len());
        }
        let cheap = &self.cheap[self.starts[task]..self.starts[task + 1]];
        cheap[below(bits, cheap.len())] as usize
    }

    #[inline]
    pub(super) fn is_cheap(&self, task: usize, machine: usize) -> bool {
        self.matrix.time(task, machine) * self.prices[machine] <= self.limits[task]
    }
}

/// A number below `count` from 32 random bits.
#[inline]
pub(super) fn below(bits: u64, count: usize) -> usize {
    ((bits * count as u64) >> 32) as usize
}
