//! How long a policy takes a task of a simulation to be, where it goes by what ran before.

use gleaner_policy::{AnyPolicy, Source};
use gleaner_sim::Simulation;
use gleaner_units::TaskId;
use serde::Serialize;

/// What is believed.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Believed {
    /// On the fastest machine; none where nothing is known.
    seconds: Option<f64>,
    /// From what: `runs`, `declared` or `nobody`.
    from: &'static str,
}

impl Believed {
    /// None where the policy goes by no runs.
    pub(super) fn of(run: &Simulation<'_, AnyPolicy>, task: TaskId) -> Option<Self> {
        let (grid, policy) = (run.scheduler().grid(), run.scheduler().policy());
        let source = policy.source_of_length(grid, task)?;
        let row = grid.classes().seconds_per_op_row(grid.task(task).class());
        let fastest = row.iter().copied().fold(f64::INFINITY, f64::min);
        let from = match source {
            Source::Runs => "runs",
            Source::Declared => "declared",
            Source::Nobody => "nobody",
        };
        let length = policy.length(grid, task).filter(|_| source != Source::Nobody);
        let seconds = length.map(|length| length.amount() * fastest).filter(|seconds| seconds.is_finite());
        Some(Self { seconds, from })
    }

    /// For people.
    pub(super) fn words(&self) -> String {
        let Some(seconds) = self.seconds else { return "nobody knows how long it takes".to_owned() };
        let by = if self.from == "runs" { "by what its user's jobs took before" } else { "as was declared" };
        format!("it is believed to take {seconds:.1} s, {by}")
    }
}
