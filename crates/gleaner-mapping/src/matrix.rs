//! Expected times to compute, one row a task, one column a machine.

use thiserror::Error;

/// The longest time a task may take. Sums of as many of these as there can be tasks stay finite.
pub const TIME_MAX: f64 = 1e290;

/// How long each task would take on each machine. At least one of each; every time is from 0 to [`TIME_MAX`].
///
/// A time of 0 is allowed: such a task ends when it starts, and no heuristic minds.
#[derive(Clone, PartialEq, Debug)]
pub struct Matrix {
    machines: usize,
    times: Vec<f64>,
}

/// Why numbers are no [`Matrix`].
#[derive(Clone, Copy, PartialEq, Debug, Error)]
pub enum InvalidMatrix {
    /// There is nothing to map, or nothing to map it to.
    #[error("found {tasks} tasks and {machines} machines; expected from 1 to {} of each", u32::MAX)]
    Shape {
        /// How many rows.
        tasks: usize,
        /// How many columns.
        machines: usize,
    },
    /// Values are missing, or too many.
    #[error("found {found} times; expected {expected}, one for each task on each machine")]
    Length {
        /// How many there are.
        found: usize,
        /// How many there should be.
        expected: usize,
    },
    /// A time that makes no sense.
    #[error("found {time} for task {task} on machine {machine}; expected a time from 0 to {TIME_MAX:e}")]
    Time {
        /// The row.
        task: usize,
        /// The column.
        machine: usize,
        /// What is there.
        time: f64,
    },
}

impl Matrix {
    /// `times` task by task.
    pub fn new(tasks: usize, machines: usize, times: Vec<f64>) -> Result<Self, InvalidMatrix> {
        let countable = |count: usize| count > 0 && u32::try_from(count).is_ok();
        if !countable(tasks) || !countable(machines) {
            return Err(InvalidMatrix::Shape { tasks, machines });
        }
        let expected = tasks.saturating_mul(machines);
        if times.len() != expected {
            return Err(InvalidMatrix::Length { found: times.len(), expected });
        }
        if let Some(at) = times.iter().position(|time| !is_time(*time)) {
            return Err(InvalidMatrix::Time { task: at / machines, machine: at % machines, time: times[at] });
        }
        Ok(Self { machines, times })
    }

    /// How many rows.
    pub fn tasks(&self) -> usize {
        self.times.len() / self.machines
    }

    /// How many columns.
    pub fn machines(&self) -> usize {
        self.machines
    }

    /// The times of a task, machine by machine.
    #[inline]
    pub fn row(&self, task: usize) -> &[f64] {
        &self.times[task * self.machines..][..self.machines]
    }

    /// The rows, in task order.
    pub fn rows(&self) -> std::slice::ChunksExact<'_, f64> {
        self.times.chunks_exact(self.machines)
    }

    /// The time of a task on a machine.
    #[inline]
    pub fn time(&self, task: usize, machine: usize) -> f64 {
        self.times[task * self.machines + machine]
    }
}

/// Whether a task may take so long.
pub(crate) fn is_time(time: f64) -> bool {
    (0.0..=TIME_MAX).contains(&time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_named() {
        let said = |tasks, machines, times: &[f64]| {
            Matrix::new(tasks, machines, times.to_vec()).expect_err("no matrix").to_string()
        };
        assert!(said(0, 1, &[]).starts_with("found 0 tasks and 1 machines"));
        assert!(said(1, 2, &[1.0]).starts_with("found 1 times; expected 2"));
        assert!(said(2, 2, &[1.0, 2.0, 3.0, -1.0]).starts_with("found -1 for task 1 on machine 1"));
        assert!(said(1, 1, &[f64::NAN]).starts_with("found NaN for task 0"));
    }
}
