//! A site's local manager: what of its room is held, for which run of which meta-scheduler. It is the truth.

use super::setup::Site;
use gleaner_core::{Needs, SiteState};
use gleaner_units::{PartyId, RunId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Whose run.
pub(super) type Holder = (PartyId, RunId);

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Manager {
    site: Site,
    held: BTreeMap<Holder, Needs>,
    cores: u64,
    memory: u64,
    disk: u64,
    /// Runs for which nothing was held, and which were not given up yet.
    refused: BTreeSet<Holder>,
    /// Runs that were given up before their reservation came, which finds them here.
    void: BTreeSet<Holder>,
}

impl Manager {
    pub(super) fn new(site: Site) -> Self {
        let (held, refused, void) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        Self { site, held, cores: 0, memory: 0, disk: 0, refused, void }
    }

    /// Whether it is held now. This is heard once of each run.
    pub(super) fn reserve(&mut self, holder: Holder, needs: Needs) -> bool {
        if self.void.remove(&holder) {
            return false;
        }
        let Site { processors, memory, disk, .. } = self.site;
        let fits = u64::from(needs.cores) <= u64::from(processors) - self.cores
            && needs.memory <= memory - self.memory
            && needs.disk <= disk - self.disk;
        if !fits {
            self.refused.insert(holder);
            return false;
        }
        self.held.insert(holder, needs);
        self.cores += u64::from(needs.cores);
        self.memory += needs.memory;
        self.disk += needs.disk;
        true
    }

    pub(super) fn holds(&self, holder: Holder) -> bool {
        self.held.contains_key(&holder)
    }

    /// Whether it was given up before its reservation came.
    pub(super) fn is_void(&self, holder: Holder) -> bool {
        self.void.contains(&holder)
    }

    /// Whether nothing is remembered of runs for which nothing is held.
    pub(super) fn has_forgotten(&self) -> bool {
        self.refused.is_empty() && self.void.is_empty()
    }

    /// How many cores were held.
    pub(super) fn release(&mut self, holder: Holder) -> u32 {
        let Some(needs) = self.held.remove(&holder) else {
            if !self.refused.remove(&holder) {
                self.void.insert(holder);
            }
            return 0;
        };
        self.cores -= u64::from(needs.cores);
        self.memory -= needs.memory;
        self.disk -= needs.disk;
        needs.cores
    }

    pub(super) fn cores_held(&self) -> u64 {
        self.cores
    }

    pub(super) fn state(&self) -> SiteState {
        SiteState {
            cores_free: self.site.processors - u32::try_from(self.cores).unwrap_or(u32::MAX),
            memory_free: self.site.memory - self.memory,
            disk_free: self.site.disk - self.disk,
            ..SiteState::default()
        }
    }

    /// Whether the site is like this at some time.
    pub(super) fn can_be(&self, state: &SiteState) -> bool {
        let SiteState { cores_free, memory_free, disk_free, .. } = *state;
        let only = SiteState { cores_free, memory_free, disk_free, ..SiteState::default() };
        let Site { processors, memory, disk, .. } = self.site;
        *state == only && cores_free <= processors && memory_free <= memory && disk_free <= disk
    }

    /// Asserts that no more is held than there is.
    ///
    /// # Panics
    /// If more is held.
    pub(super) fn check(&self) {
        let cores: u64 = self.held.values().map(|needs| u64::from(needs.cores)).sum();
        assert_eq!(cores, self.cores, "the held cores do not add up");
        assert!(cores <= u64::from(self.site.processors), "{cores} of {} are held", self.site.processors);
        assert!(self.memory <= self.site.memory && self.disk <= self.site.disk, "more than there is is held");
    }
}
