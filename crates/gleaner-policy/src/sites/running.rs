//! Until when what runs is believed to hold its room.

use super::estimate;
use crate::parts::sites::SiteRule;
use gleaner_core::{Grid, Part, Run, Stage};
use gleaner_units::{MachineId, RunId, TaskId, Time};
use std::collections::{BTreeMap, BTreeSet};

/// By run, and in order of end.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Running {
    ends: BTreeMap<RunId, Time>,
    in_order: BTreeSet<(Time, RunId)>,
}

impl Running {
    pub(super) fn of(grid: &Grid, rule: &SiteRule) -> Self {
        let mut running = Self::default();
        for (id, _) in grid.tasks() {
            let runs: Vec<RunId> =
                grid.runs_of(id).filter(|run| run.stage() != Stage::Missing).map(Run::id).collect();
            for run in runs {
                running.take(grid, rule, run);
            }
        }
        running
    }

    pub(super) fn take(&mut self, grid: &Grid, rule: &SiteRule, id: RunId) {
        let Some(run) = grid.find_run(id) else { return };
        let parts: Vec<Part> = grid.parts_of(run).collect();
        let end = estimate::end(grid, rule, id.task, &parts, run.since());
        self.ends.insert(id, end);
        self.in_order.insert((end, id));
    }

    pub(super) fn free(&mut self, run: RunId) {
        if let Some(end) = self.ends.remove(&run) {
            self.in_order.remove(&(end, run));
        }
    }

    /// In order of id.
    pub(super) fn runs<'a>(&'a self, grid: &'a Grid) -> impl Iterator<Item = &'a Run> {
        self.ends.keys().filter_map(|run| grid.find_run(*run))
    }

    /// What gives its room back next, and when, in order; what should have ended is expected at once.
    pub(super) fn in_order(&self, now: Time) -> impl Iterator<Item = (Time, RunId)> + '_ {
        self.in_order.iter().map(move |(end, run)| (*end.max(&now), *run))
    }
}

/// The sites that the runs of a task are on.
pub(super) fn sites_of(grid: &Grid, task: TaskId) -> BTreeSet<MachineId> {
    grid.runs_of(task).flat_map(|run| grid.parts_of(run)).map(|part| part.on).collect()
}
