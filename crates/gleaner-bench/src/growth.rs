//! How the cost of an event grows with the number of machines, when each machine has as much to do as before.

use crate::processor_seconds;
use crate::setups::{draw, grid};
use gleaner_policy::{AnyPolicy, Recipe};
use gleaner_sim::{Setup, Simulation};

/// From the paper's grid to a thousand of them.
pub const MACHINES: [usize; 4] = [70, 700, 7_000, 70_000];

/// Tasks on each machine before the clock starts.
const TASKS_PER_MACHINE: usize = 3;
/// Between two arrivals on one machine, on average: a little more than a task takes, so that queues do not grow.
const SECONDS_PER_ARRIVAL: f64 = 40.0;

/// A grid that is full, and the tasks that arrive on it from then on.
#[derive(Clone, PartialEq, Debug)]
pub struct Steady {
    setup: Setup,
    before: usize,
}

impl Steady {
    /// `arrivals` tasks on so many machines.
    pub fn new(machines: usize, arrivals: usize) -> Self {
        let before = TASKS_PER_MACHINE * machines;
        let between = SECONDS_PER_ARRIVAL / machines as f64;
        let mut setup = grid(machines);
        setup.tasks = draw(before + arrivals, |index| between * index.saturating_sub(before) as f64);
        Self { setup, before }
    }

    /// Seconds for each event from the first arrival on the full grid to the last: an arrival with its placement, or
    /// a completion with its relocations.
    pub fn seconds_per_event(&self, recipe: Recipe) -> f64 {
        let mut run = Simulation::new(&self.setup, recipe.build());
        run_until(&mut run, self.before);
        let events = run.progress().events;
        let took = processor_seconds(|| run_until(&mut run, self.setup.tasks.len()));
        took / (run.progress().events - events) as f64
    }
}

/// Until so many tasks have arrived.
fn run_until(run: &mut Simulation<'_, AnyPolicy>, arrived: usize) {
    while run.scheduler().grid().task_count() < arrived && run.step() {}
}

/// The power with which the second of each pair grows in the first: the slope of the line that fits their logarithms
/// best.
pub fn exponent(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / logs.len() as f64;
    let (x_mean, y_mean) = (mean(|log| log.0), mean(|log| log.1));
    let covariance: f64 = logs.iter().map(|(x, y)| (x - x_mean) * (y - y_mean)).sum();
    let variance: f64 = logs.iter().map(|(x, _)| (x - x_mean).powi(2)).sum();
    covariance / variance
}

#[cfg(test)]
mod tests {
    use super::exponent;

    #[test]
    fn a_power_is_found_again() {
        let points = [1.0, 10.0, 1000.0].map(|x: f64| (x, 7.0 * x.powf(0.25)));
        assert!((exponent(&points) - 0.25).abs() < 1e-12);
    }
}
