//! Whether what an agent brings is of this past: of the starts and orders that this journal has, or of another's.

use super::Ledger;
use crate::store::TaskRange;
use gleaner_units::RunId;
use gleaner_wire::{Had, Lineage, Met};

/// Whether an agent was with this coordinator before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Acquaintance {
    /// All that the agent heard of is in this journal, or it heard of nothing.
    Known,
    /// It was with a past that is no more, which was ordered.
    PutBack,
    /// It was with a past that is no more, and nobody ordered that.
    Stranger,
}

impl Ledger {
    /// What the last start drew.
    ///
    /// # Panics
    /// Before the first start.
    pub(crate) fn lineage(&self) -> Lineage {
        self.books.lineages.starts.last().expect("a desk starts before anything else").lineage
    }

    /// When the journal was put back by order last, if ever.
    pub(crate) fn restored(&self) -> Option<Lineage> {
        self.books.lineages.restored
    }

    /// Whether the journal was put back, and nothing was decided since.
    pub(crate) fn is_just_restored(&self) -> bool {
        self.books.lineages.is_untouched
    }

    /// How many facts there are: the number of the journal's last row.
    pub fn rows(&self) -> u64 {
        self.books.rows
    }

    /// The start under which a run was ordered, of those that the grid knows.
    pub(crate) fn lineage_of(&self, run: RunId) -> Option<Lineage> {
        self.books.lineages.of_epoch(*self.books.lineages.ordered.get(&run)?)
    }

    /// Whether a run that an agent has may be one that was ordered here.
    pub(crate) fn may_have_ordered(&self, had: Had) -> bool {
        if let Some(lineage) = self.lineage_of(had.run) {
            return lineage == had.lineage;
        }
        // What the grid has forgotten counts for nothing, but its end is answered, and shown.
        let task = had.run.task;
        task.index() < self.task_count()
            && had.run.number <= self.grid().task(task).runs()
            && self.grid().find_run(had.run).is_none()
            && self.books.lineages.starts.iter().any(|start| start.lineage == had.lineage)
    }

    /// Whether all that an agent heard of before is in this journal.
    pub(crate) fn knows(&self, met: &Met) -> Acquaintance {
        let lineages = &self.books.lineages;
        let next = lineages.starts.get(met.epoch as usize);
        let reached = next.map_or(self.books.rows, |next| next.row - 1);
        if lineages.of_epoch(met.epoch) == Some(met.lineage) && met.row <= reached {
            return Acquaintance::Known;
        }
        if self.was_restored_since(met) { Acquaintance::PutBack } else { Acquaintance::Stranger }
    }

    /// Whether the journal was restored by order since an agent was here: what it heard of need not be there.
    pub(crate) fn was_restored_since(&self, met: &Met) -> bool {
        self.books.lineages.restored.is_some_and(|restored| !met.restores.contains(&restored))
    }

    /// Forgets when runs of some tasks were ordered that are over.
    pub(super) fn forget_orders(&mut self, tasks: TaskRange) {
        let runs = RunId::new(tasks.first(), 0)..=RunId::new(tasks.last(), u32::MAX);
        let ordered = self.books.lineages.ordered.range(runs).map(|(&run, _)| run);
        let over: Vec<RunId> = ordered.filter(|&run| self.grid().find_run(run).is_none()).collect();
        for run in over {
            self.books.lineages.ordered.remove(&run);
        }
    }
}
