//! Where copies of files are: those that stay, and those that were brought and are kept while there is room.

use super::setup::BrokeringSetup;
use gleaner_units::{FileId, SiteId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, VecDeque};

/// The copies that there are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Replicas {
    /// By file.
    at: Vec<BTreeSet<SiteId>>,
    /// By site with a quota: what was brought and is kept, the oldest first.
    kept: Vec<VecDeque<FileId>>,
    /// By site with a quota: the bytes of all that is there, which are no more.
    stored: Vec<u64>,
}

/// What became of a file that was brought.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Stored {
    /// Whether it stays.
    pub(super) kept: bool,
    /// What went for it.
    pub(super) gone: Vec<FileId>,
}

impl Replicas {
    pub(super) fn new(setup: &BrokeringSetup) -> Self {
        let sites = setup.storage.len();
        Self {
            at: setup.files.iter().map(|file| file.at.iter().copied().collect()).collect(),
            kept: vec![VecDeque::new(); sites],
            stored: (0..sites).map(|site| setup.stored_at(SiteId::new(site))).collect(),
        }
    }

    /// The sites that hold a file, in order.
    pub(super) fn holders(&self, file: FileId) -> &BTreeSet<SiteId> {
        &self.at[file.index()]
    }

    /// What there is room for at a site.
    pub(super) fn free(&self, setup: &BrokeringSetup, site: SiteId) -> u64 {
        setup.storage[site.index()].quota.map_or(u64::MAX, |quota| quota - self.stored[site.index()])
    }

    /// A copy came from outside, and stays: what was brought makes room for it.
    pub(super) fn came(&mut self, setup: &BrokeringSetup, file: FileId, site: SiteId) -> Stored {
        let at = site.index();
        if !self.at[file.index()].insert(site) {
            // What was brought there goes no more.
            self.kept[at].retain(|other| *other != file);
            return Stored::default();
        }
        let gone = setup.storage[at].quota.map(|quota| self.store(setup, file, (site, quota)));
        Stored { kept: true, gone: gone.unwrap_or_default() }
    }

    /// A file was brought to a site: it stays if there is room, or would be without older ones that were brought too.
    pub(super) fn brought(&mut self, setup: &BrokeringSetup, file: FileId, site: SiteId) -> Stored {
        let bytes = |file: FileId| setup.files[file.index()].bytes;
        let at = site.index();
        if !setup.model.keeps_replicas || self.at[file.index()].contains(&site) {
            return Stored::default();
        }
        let mut gone = Vec::new();
        if let Some(quota) = setup.storage[at].quota {
            let brought: u64 = self.kept[at].iter().map(|file| bytes(*file)).sum();
            if bytes(file) > quota - (self.stored[at] - brought) {
                return Stored::default();
            }
            gone = self.store(setup, file, (site, quota));
            self.kept[at].push_back(file);
        }
        self.at[file.index()].insert(site);
        Stored { kept: true, gone }
    }

    /// A file takes room at a site with a quota; what was brought goes for it, the oldest first, as far as need be.
    fn store(&mut self, setup: &BrokeringSetup, file: FileId, (site, quota): (SiteId, u64)) -> Vec<FileId> {
        let bytes = |file: FileId| setup.files[file.index()].bytes;
        let at = site.index();
        let mut gone = Vec::new();
        while bytes(file) > quota - self.stored[at] {
            let oldest = self.kept[at].pop_front().expect("it has room without what was brought");
            self.at[oldest.index()].remove(&site);
            self.stored[at] -= bytes(oldest);
            gone.push(oldest);
        }
        self.stored[at] += bytes(file);
        gone
    }
}
