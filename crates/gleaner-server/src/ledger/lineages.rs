//! Which starts this journal has had, and under which of them each run was ordered: what tells the runs and agents of
//! this past from those of another.

use gleaner_core::{Grid, TaskState};
use gleaner_units::RunId;
use gleaner_wire::Lineage;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Lineages {
    /// In order; the first is that of epoch 1.
    pub(super) starts: Vec<Start>,
    /// When the journal was put back by order last.
    pub(super) restored: Option<Lineage>,
    /// Whether nothing was decided since.
    pub(super) is_untouched: bool,
    /// The epoch in which each run was ordered that the grid knows.
    pub(super) ordered: BTreeMap<RunId, u32>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Start {
    pub(super) lineage: Lineage,
    pub(super) row: u64,
}

impl Lineages {
    pub(super) fn started(&mut self, lineage: Lineage, row: u64) {
        self.starts.push(Start { lineage, row });
    }

    pub(super) fn restored(&mut self, lineage: Lineage) {
        (self.restored, self.is_untouched) = (Some(lineage), true);
    }

    pub(super) fn decided(&mut self) {
        self.is_untouched = false;
    }

    pub(super) fn ordered(&mut self, run: RunId) {
        self.ordered.insert(run, self.starts.len() as u32);
    }

    /// A run of a task that the scheduler has forgotten: it was away when its task was.
    pub(super) fn of_retired(&self, grid: &Grid) -> Option<RunId> {
        let is_retired = |run: &&RunId| grid.task(run.task).state() == TaskState::Retired;
        self.ordered.keys().find(is_retired).copied()
    }

    pub(super) fn of_epoch(&self, epoch: u32) -> Option<Lineage> {
        self.starts.get((epoch as usize).checked_sub(1)?).map(|start| start.lineage)
    }
}
