//! What a disk may hold after a loss of power.
//!
//! What a file was synced with is there. Each later write is there, is not, or is torn: some of its first sectors are
//! there. Names follow their folder: what was created, removed and renamed since the folder was synced happened up to
//! some point and not after it. That is what POSIX leaves open less what no file system does (folders are there once
//! they were made).

use super::calls::Call;
use rand_core::Rng as _;
use rand_pcg::Pcg64;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const SECTOR: usize = 512;

/// Whether this disk does what it is told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Syncs {
    Honoured,
    Ignored,
}

#[derive(Default)]
struct File {
    synced: Vec<u8>,
    unsynced: Vec<Change>,
    /// Where the next write without a position goes.
    end: usize,
}

enum Change {
    Write(usize, Vec<u8>),
    Truncate(usize),
}

/// Which file is called so from now on, if any.
type Naming = (String, Option<usize>);

pub(super) struct Disk {
    files: Vec<File>,
    names: BTreeMap<String, usize>,
    synced_names: BTreeMap<String, usize>,
    /// In order, for all folders: no program here rests on the order between two.
    unsynced_names: Vec<Naming>,
    /// By the number of an opening: a file, or a folder.
    open: BTreeMap<u64, Option<usize>>,
    syncs: Syncs,
}

impl Disk {
    pub(super) fn after(calls: &[Call], syncs: Syncs) -> Self {
        let mut disk = Self {
            files: Vec::new(),
            names: BTreeMap::new(),
            synced_names: BTreeMap::new(),
            unsynced_names: Vec::new(),
            open: BTreeMap::new(),
            syncs,
        };
        for call in calls {
            disk.take(call);
        }
        disk
    }

    fn take(&mut self, call: &Call) {
        match call {
            Call::Open { path, file, creates, truncates } => self.open(path, *file, *creates, *truncates),
            Call::Write { file, at, bytes } => {
                let Some(file) = self.file(*file) else { return };
                let at = at.map_or(file.end, |at| at as usize);
                file.end = at + bytes.len();
                file.unsynced.push(Change::Write(at, bytes.clone()));
            }
            Call::Truncate { file, length } => {
                let Some(file) = self.file(*file) else { return };
                file.unsynced.push(Change::Truncate(*length as usize));
            }
            Call::Sync { file } if self.syncs == Syncs::Honoured => match self.open.get(file) {
                Some(Some(file)) => self.files[*file].sync(),
                // A folder.
                Some(None) => {
                    self.synced_names = self.names.clone();
                    self.unsynced_names.clear();
                }
                None => {}
            },
            Call::Remove { path } => self.name(path, None),
            Call::Rename { from, to } => {
                if let Some(file) = self.names.get(from).copied() {
                    self.name(to, Some(file));
                    // One step: whoever has the new name has lost the old one.
                    self.names.remove(from);
                    self.unsynced_names.push((from.clone(), None));
                }
            }
            Call::Sync { .. } | Call::Word(_) => {}
        }
    }

    fn open(&mut self, path: &str, number: u64, creates: bool, truncates: bool) {
        let known = self.names.get(path).copied();
        let file = if known.is_none() && creates {
            self.files.push(File::default());
            self.name(path, Some(self.files.len() - 1));
            Some(self.files.len() - 1)
        } else {
            known
        };
        if let Some(file) = file.filter(|_| truncates) {
            self.files[file].unsynced.push(Change::Truncate(0));
            self.files[file].end = 0;
        }
        self.open.insert(number, file);
    }

    fn file(&mut self, number: u64) -> Option<&mut File> {
        let file = self.open.get(&number).copied().flatten()?;
        self.files.get_mut(file)
    }

    fn name(&mut self, path: &str, file: Option<usize>) {
        match file {
            Some(file) => drop(self.names.insert(path.to_owned(), file)),
            None => drop(self.names.remove(path)),
        }
        self.unsynced_names.push((path.to_owned(), file));
    }

    /// Writes into `folder` what is left of the one folder that was worked in.
    pub(super) fn lose_power(mut self, folder: &Path, chance: &mut Pcg64) {
        let mut names = self.synced_names.clone();
        let happened = chance.next_u64() as usize % (self.unsynced_names.len() + 1);
        for (path, file) in self.unsynced_names.drain(..).take(happened) {
            match file {
                Some(file) => drop(names.insert(path, file)),
                None => drop(names.remove(&path)),
            }
        }
        let Some(home) = names.keys().find_map(|path| path.strip_suffix("/gleaner.db")).map(str::to_owned)
        else {
            return;
        };
        for (path, file) in names {
            let Some(inner) = path.strip_prefix(&home) else { continue };
            let path = folder.join(inner.trim_start_matches('/'));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, self.files[file].after_a_loss(chance)).unwrap();
        }
    }
}

impl File {
    fn sync(&mut self) {
        for change in std::mem::take(&mut self.unsynced) {
            change.make(&mut self.synced);
        }
    }

    fn after_a_loss(&self, chance: &mut Pcg64) -> Vec<u8> {
        let mut left = self.synced.clone();
        for change in &self.unsynced {
            match (chance.next_u64() % 3, change) {
                (0, _) => {}
                (1, Change::Write(at, bytes)) => {
                    let sectors = chance.next_u64() as usize % (bytes.len() / SECTOR + 1);
                    let first = &bytes[..(sectors * SECTOR).min(bytes.len())];
                    Change::Write(*at, first.to_vec()).make(&mut left);
                }
                _ => change.make(&mut left),
            }
        }
        left
    }
}

impl Change {
    fn make(&self, content: &mut Vec<u8>) {
        match self {
            Self::Write(at, bytes) => {
                let end = at + bytes.len();
                content.resize(content.len().max(end), 0);
                content[*at..end].copy_from_slice(bytes);
            }
            Self::Truncate(length) => content.resize(*length, 0),
        }
    }
}
