//! The transfers that a scheduler knows to be under way: of the data of jobs that it placed and that have not started.

use super::map::Bandwidth;
use crate::parts::sites::SiteRule;
use gleaner_core::{Grid, Run, Stage};
use gleaner_units::SiteId;
use std::collections::BTreeMap;

/// How many there are, by site.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Traffic {
    out_of: BTreeMap<SiteId, u32>,
    into: BTreeMap<SiteId, u32>,
}

impl Traffic {
    /// That of some runs, if the rule counts it. Each part of a run brings each of its files from the nearest copy.
    pub(super) fn counted<'a>(grid: &'a Grid, rule: &SiteRule, runs: impl Iterator<Item = &'a Run>) -> Self {
        let catalogue = grid.catalogue();
        let mut traffic = Self::default();
        if rule.reading.bandwidth == Bandwidth::Idle {
            return traffic;
        }
        for run in runs.filter(|run| matches!(run.stage(), Stage::Asked | Stage::Sent)) {
            let files = catalogue.inputs(grid.task(run.id().task).class());
            for to in grid.parts_of(run).filter_map(|part| catalogue.site_of(part.on)) {
                let from = files.iter().filter_map(|file| catalogue.nearest_copy(*file, to));
                from.filter(|(from, _)| *from != to).for_each(|(from, _)| traffic.add(from, to));
            }
        }
        traffic
    }

    fn add(&mut self, from: SiteId, to: SiteId) {
        *self.out_of.entry(from).or_default() += 1;
        *self.into.entry(to).or_default() += 1;
    }

    /// How many would share the way between two sites with one that starts now, itself included.
    pub(super) fn sharers(&self, from: SiteId, to: SiteId) -> f64 {
        let count = |side: &BTreeMap<SiteId, u32>, site| side.get(&site).copied().unwrap_or(0);
        f64::from(1 + count(&self.out_of, from).max(count(&self.into, to)))
    }
}
