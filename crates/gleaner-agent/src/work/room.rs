//! How much room on the disk a run takes: what is in its folder, and what is in none any more but held open.

use crate::duties::Excess;
use crate::{beneath, descriptors};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// What a run that names no limit keeps where less is free on the disk than its owner wants.
const BYTES_WHERE_SHORT: u64 = 256 << 20;
/// Files and folders that any run keeps where hardly any more can be made.
const FILES_WHERE_SHORT: u64 = 1 << 16;

/// What is short on a disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Shortage {
    pub(super) bytes: bool,
    /// The file system has a number of files that it can hold.
    pub(super) files: bool,
}

/// What a run may take on the disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bound {
    bytes: Option<u64>,
    files: Option<u64>,
    is_named: bool,
}

impl Bound {
    /// The bound of a run that named so many bytes, 0 for none; none if it has none.
    pub(super) fn of(named: u64, short: Shortage) -> Option<Self> {
        let is_named = named > 0;
        let named = is_named.then_some(named);
        let bytes = named.or(short.bytes.then_some(BYTES_WHERE_SHORT));
        let files = short.files.then_some(FILES_WHERE_SHORT);
        (bytes.is_some() || files.is_some()).then_some(Self { bytes, files, is_named })
    }

    /// What a run takes more of, if it does. `first` is its first process, if it has one.
    pub(super) fn exceeded(self, folder: &Path, first: Option<u32>) -> io::Result<Option<Excess>> {
        if let Some(most) = self.files
            && beneath::holds_more_than(most, folder)?
        {
            return Ok(Some(Excess::Files(most)));
        }
        let Some(most) = self.bytes else { return Ok(None) };
        let excess = if self.is_named { Excess::Named(most) } else { Excess::Bytes(most) };
        Ok(takes_more_than(most, folder, first)?.then_some(excess))
    }
}

/// Whether a run takes more than so many bytes.
fn takes_more_than(limit: u64, folder: &Path, first: Option<u32>) -> io::Result<bool> {
    let Some(in_folder) = beneath::size(folder, limit)? else { return Ok(true) };
    if in_folder > limit {
        return Ok(true);
    }
    let Some(first) = first else { return Ok(false) };
    let held = descriptors::removed_bytes(first, fs::metadata(folder)?.dev());
    Ok(held.is_none_or(|held| in_folder + held > limit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::process::{Command, Stdio};

    #[test]
    fn who_names_no_limit_has_one_where_the_disk_is_short() {
        let short = |bytes, files| Shortage { bytes, files };
        for (named, short, expected) in [
            (0, short(false, false), None),
            (0, short(true, false), Some((Some(BYTES_WHERE_SHORT), None))),
            (0, short(false, true), Some((None, Some(FILES_WHERE_SHORT)))),
            (9, short(false, false), Some((Some(9), None))),
            (9, short(true, true), Some((Some(9), Some(FILES_WHERE_SHORT)))),
        ] {
            let bound = Bound::of(named, short);
            assert_eq!(bound.map(|bound| (bound.bytes, bound.files)), expected, "{named} {short:?}");
        }
    }

    #[test]
    fn empty_files_are_counted_where_hardly_any_more_can_be_made() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        for (files, expected) in [(2, Some(Excess::Files(2))), (3, None)] {
            let bound = Bound { bytes: Some(1 << 20), files: Some(files), is_named: false };
            assert_eq!(bound.exceeded(folder.path(), None).unwrap(), expected, "{files}");
        }
        fs::write(folder.path().join("a"), vec![1; 1 << 20]).unwrap();
        for (is_named, expected) in [(true, Excess::Named(1 << 19)), (false, Excess::Bytes(1 << 19))] {
            let bound = Bound { bytes: Some(1 << 19), files: None, is_named };
            assert_eq!(bound.exceeded(folder.path(), None).unwrap(), Some(expected));
        }
    }

    #[test]
    fn a_file_without_a_name_takes_room_while_it_is_open() {
        const SIZE: usize = 1 << 20;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, vec![1; SIZE]).unwrap();
        let limit = SIZE as u64 / 2;
        assert!(takes_more_than(limit, folder.path(), None).unwrap());
        let held = Stdio::from(File::open(&path).unwrap());
        let mut child = Command::new("sleep").arg("60").stdin(held).spawn().unwrap();
        fs::remove_file(&path).unwrap();
        let named = takes_more_than(limit, folder.path(), None).unwrap();
        let held = takes_more_than(limit, folder.path(), Some(child.id())).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!named && held);
    }
}
