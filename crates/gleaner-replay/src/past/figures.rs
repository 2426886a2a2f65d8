//! The figures by which runs of the same tasks are compared.

use gleaner_units::Time;
use serde::Serialize;

/// How it went.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Figures {
    /// From the first task's coming to the last one's end.
    pub makespan_s: f64,
    /// From a task's coming to its first start, on average.
    pub wait_mean_s: f64,
    /// The longest wait.
    pub wait_max_s: f64,
    /// From a task's coming to its end, on average.
    pub flow_mean_s: f64,
    /// Moves of running tasks.
    pub moves: u64,
    /// Seconds that runs ran, all together, however many at a time: what the grid cost. While its owner uses all of a
    /// machine, nothing runs there.
    pub machine_s: f64,
    /// Tasks that never came to their end.
    pub unfinished: u64,
}

/// An outcome of which only the waits are filled in.
pub(super) fn waits_of(waits: impl Iterator<Item = f64>) -> Figures {
    let (count, sum, longest) = waits.fold((0_u32, 0.0, 0.0_f64), |(count, sum, longest), wait| {
        (count + 1, sum + wait, longest.max(wait))
    });
    Figures {
        makespan_s: 0.0,
        wait_mean_s: sum / f64::from(count.max(1)),
        wait_max_s: longest,
        flow_mean_s: 0.0,
        moves: 0,
        machine_s: 0.0,
        unfinished: 0,
    }
}

pub(super) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (count, sum) = values.fold((0_u32, 0.0), |(count, sum), value| (count + 1, sum + value));
    sum / f64::from(count.max(1))
}

pub(super) fn span(from: Option<Time>, to: Option<Time>) -> f64 {
    from.zip(to).map_or(0.0, |(from, to)| to.since(from).seconds())
}
