//! How much room on the disk a run takes: what is in its folder, and what is in none any more but held open.

use super::family::family;
use crate::beneath;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const BLOCK_BYTES: u64 = 512;
/// What a run that names no limit keeps where less is free on the disk than its owner wants.
const BYTES_WHERE_SHORT: u64 = 256 << 20;

/// The bytes that a run may take on the disk, given what it named, 0 for nothing.
pub(super) fn bound(named: u64, is_disk_short: bool) -> Option<u64> {
    match (named, is_disk_short) {
        (0, false) => None,
        (0, true) => Some(BYTES_WHERE_SHORT),
        (named, _) => Some(named),
    }
}

/// Whether a run takes more than so many bytes. `first` is its first process, if it has one.
pub(super) fn takes_more_than(limit: u64, folder: &Path, first: Option<u32>) -> io::Result<bool> {
    let Some(in_folder) = beneath::size(folder, limit)? else { return Ok(true) };
    if in_folder > limit {
        return Ok(true);
    }
    let Some(first) = first else { return Ok(false) };
    Ok(in_folder + held_open(first, fs::metadata(folder)?.dev()) > limit)
}

/// Bytes of files on a disk that have no name any more, and that a process or its descendants hold open.
fn held_open(first: u32, disk: u64) -> u64 {
    let mut seen = BTreeSet::new();
    let mut bytes = 0;
    for process in family(first) {
        // Whoever is gone by now holds nothing open.
        for open in fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten() {
            let Ok(about) = fs::metadata(open.path()) else { continue };
            if about.is_file() && about.nlink() == 0 && about.dev() == disk && seen.insert(about.ino()) {
                bytes += about.blocks() * BLOCK_BYTES;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::process::{Command, Stdio};

    #[test]
    fn who_names_no_limit_has_one_where_the_disk_is_short() {
        for (named, is_short, expected) in
            [(0, false, None), (0, true, Some(BYTES_WHERE_SHORT)), (9, false, Some(9)), (9, true, Some(9))]
        {
            assert_eq!(bound(named, is_short), expected, "{named} {is_short}");
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
