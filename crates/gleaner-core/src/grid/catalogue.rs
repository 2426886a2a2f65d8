//! Where data is, and how fast it moves: files, their copies at sites, which site a machine is at, and links between sites.
//!
//! All of it is a belief: copies come and go elsewhere, and links are shared with others.

use gleaner_units::{FileId, MachineId, SiteId, TaskClassId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
struct File {
    bytes: u64,
    at: BTreeSet<SiteId>,
}

/// What is known of data and of the ways that it takes.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Catalogue {
    files: Vec<File>,
    sites: BTreeMap<MachineId, SiteId>,
    bytes_per_s: BTreeMap<(SiteId, SiteId), f64>,
    inputs: BTreeMap<TaskClassId, Vec<FileId>>,
}

impl Catalogue {
    /// How large a file is.
    pub fn bytes(&self, file: FileId) -> u64 {
        self.files[file.index()].bytes
    }

    /// The sites that have a copy of a file, in order.
    pub fn holders(&self, file: FileId) -> &BTreeSet<SiteId> {
        &self.files[file.index()].at
    }

    /// The site that a machine is at, if that was said.
    pub fn site_of(&self, machine: MachineId) -> Option<SiteId> {
        self.sites.get(&machine).copied()
    }

    /// What the tasks of a class read.
    pub fn inputs(&self, class: TaskClassId) -> &[FileId] {
        self.inputs.get(&class).map_or(&[], Vec::as_slice)
    }

    /// How many bytes a second go from one site to another: infinitely many within a site, none where no link is known.
    pub fn bytes_per_s(&self, from: SiteId, to: SiteId) -> f64 {
        if from == to {
            return f64::INFINITY;
        }
        self.bytes_per_s.get(&(from, to)).copied().unwrap_or(0.0)
    }

    /// How many seconds it takes to read at a site what tasks of a class read, one file after the other: none where nobody
    /// measured how fast data is read there.
    pub fn seconds_to_read(&self, class: TaskClassId, at: SiteId) -> f64 {
        let bytes_per_s = self.bytes_per_s.get(&(at, at)).copied().unwrap_or(f64::INFINITY);
        self.inputs(class).iter().map(|file| self.bytes(*file) as f64 / bytes_per_s).sum()
    }

    /// All links, in order of where they lead from, then of where they lead to.
    pub fn links(&self) -> impl Iterator<Item = ((SiteId, SiteId), f64)> + '_ {
        self.bytes_per_s.iter().map(|(ends, rate)| (*ends, *rate))
    }

    /// The links out of a site, in order.
    pub fn links_from(&self, site: SiteId) -> impl Iterator<Item = (SiteId, f64)> + '_ {
        let links =
            self.bytes_per_s.range((site, SiteId::FIRST)..).take_while(move |((from, _), _)| *from == site);
        links.filter(|((from, to), _)| from != to).map(|((_, to), rate)| (*to, *rate))
    }

    /// The copy of a file that is soonest at a site, and after how many seconds; the lowest site of several. None where no
    /// copy can come there.
    pub fn nearest_copy(&self, file: FileId, to: SiteId) -> Option<(SiteId, f64)> {
        let File { bytes, at } = &self.files[file.index()];
        let ways = at.iter().map(|&from| (from, self.bytes_per_s(from, to)));
        let best = ways
            .filter(|(_, rate)| *rate > 0.0)
            .max_by(|one, other| one.1.total_cmp(&other.1).then(other.0.cmp(&one.0)));
        best.map(|(from, rate)| (from, *bytes as f64 / rate))
    }

    /// How many seconds it takes to bring to a site what tasks of a class read, one file after the other; infinitely many
    /// where something cannot come there.
    pub fn seconds_to_bring(&self, class: TaskClassId, to: SiteId) -> f64 {
        let seconds =
            |file: &FileId| self.nearest_copy(*file, to).map_or(f64::INFINITY, |(_, seconds)| seconds);
        self.inputs(class).iter().map(seconds).sum()
    }

    /// # Panics
    /// If it is not the next file.
    pub(super) fn file_met(&mut self, file: FileId, bytes: u64) {
        assert_eq!(file.index(), self.files.len(), "{file} is not the next file");
        self.files.push(File { bytes, at: BTreeSet::new() });
    }

    pub(super) fn stored(&mut self, file: FileId, site: SiteId) {
        self.files[file.index()].at.insert(site);
    }

    pub(super) fn removed(&mut self, file: FileId, site: SiteId) {
        self.files[file.index()].at.remove(&site);
    }

    pub(super) fn sited(&mut self, machine: MachineId, site: SiteId) {
        self.sites.insert(machine, site);
    }

    pub(super) fn inputs_named(&mut self, class: TaskClassId, files: &[FileId]) {
        self.inputs.insert(class, files.to_vec());
    }

    pub(super) fn no_inputs_named(&mut self, class: TaskClassId) {
        self.inputs.remove(&class);
    }

    pub(super) fn link_measured(&mut self, (from, to): (SiteId, SiteId), bytes_per_s: f64) {
        self.bytes_per_s.insert((from, to), bytes_per_s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_copy_is_the_one_that_is_there_first() {
        let (file, class) = (FileId::new(0), TaskClassId::new(0));
        let site = SiteId::new;
        let mut catalogue = Catalogue::default();
        catalogue.file_met(file, 600);
        catalogue.inputs_named(class, &[file, file]);
        assert_eq!(catalogue.nearest_copy(file, site(0)), None, "nobody has it");
        catalogue.stored(file, site(1));
        catalogue.stored(file, site(2));
        assert_eq!(catalogue.nearest_copy(file, site(0)), None, "no link is known");
        catalogue.link_measured((site(1), site(0)), 10.0);
        catalogue.link_measured((site(2), site(0)), 20.0);
        assert_eq!(catalogue.nearest_copy(file, site(0)), Some((site(2), 30.0)));
        assert_eq!(catalogue.seconds_to_bring(class, site(0)).to_bits(), 60.0_f64.to_bits());
        assert_eq!(catalogue.nearest_copy(file, site(1)), Some((site(1), 0.0)), "it is there");
        catalogue.removed(file, site(2));
        assert_eq!(catalogue.nearest_copy(file, site(0)), Some((site(1), 60.0)));
    }
}
