//! The tasks as the bounds see them: what is left of each after the clock's rounding, in order of arrival.

use super::instance::Instance;

/// A finish is rounded to the nearest nanosecond, so a task may lack what this long does.
const EARLIEST_ROUNDING_S: f64 = 0.5e-9;

/// One task's share of the work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) arrival: f64,
    pub(super) kind: usize,
    /// Operations that are done by the rounded finish in any case.
    pub(super) amount: f64,
    /// On how many cores at a time.
    pub(super) cores: f64,
}

impl Item {
    /// The operations that its cores could do meanwhile.
    pub(super) fn area(&self) -> f64 {
        self.amount * self.cores
    }
}

/// All tasks, in order of arrival.
#[derive(Debug)]
pub(super) struct Work {
    items: Vec<Item>,
}

impl Work {
    /// `None` if a task's kind runs nowhere.
    pub(super) fn of(instance: &Instance<'_>) -> Option<Self> {
        let least = |row: &Vec<f64>| row.iter().copied().fold(f64::INFINITY, f64::min);
        let best: Vec<f64> = instance.seconds_per_op.iter().map(least).collect();
        let mut items = Vec::with_capacity(instance.tasks.len());
        for task in instance.tasks {
            let best = best[task.kind];
            if best.is_infinite() {
                return None;
            }
            // 0 where an operation takes no time at all.
            let amount = (task.length.amount() - EARLIEST_ROUNDING_S / best).max(0.0);
            let (arrival, cores) = (task.arrival.seconds(), f64::from(task.cores));
            items.push(Item { arrival, kind: task.kind, amount, cores });
        }
        items.sort_by(|a, b| a.arrival.total_cmp(&b.arrival));
        Some(Self { items })
    }

    /// In order of arrival.
    pub(super) fn items(&self) -> &[Item] {
        &self.items
    }

    pub(super) fn first_arrival(&self) -> Option<f64> {
        self.items.first().map(|item| item.arrival)
    }

    /// Whether any task arrives after `after`, up to `until`.
    pub(super) fn breaks_within(&self, after: f64, until: f64) -> bool {
        let next = self.items.partition_point(|item| item.arrival <= after);
        self.items.get(next).is_some_and(|item| item.arrival <= until)
    }
}
