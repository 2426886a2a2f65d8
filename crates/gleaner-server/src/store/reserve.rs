//! Room on the disk for a start: a file that is given up where nothing else is left, so that a coordinator whose disk is
//! full can be asked what there is.

use gleaner_net::Disk;
use gleaner_wire::limits::{START_RESERVE_BYTES, START_RESERVE_PART};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

const FILE: &str = "reserve";
/// It is made where so many times its size are free.
const PLENTY: u64 = 3;

/// At a start: gives the file up where less is free than it holds.
pub(super) fn use_if_needed(folder: &Path) -> io::Result<()> {
    let disk = Disk::of(folder)?;
    if disk.free < of_disk(disk.size) && path(folder).exists() {
        return fs::remove_file(path(folder));
    }
    keep(folder)
}

/// Makes the file where there is plenty of room.
pub(super) fn keep(folder: &Path) -> io::Result<()> {
    let disk = Disk::of(folder)?;
    let (size, path) = (of_disk(disk.size), path(folder));
    let has_it = fs::metadata(&path).is_ok_and(|data| data.len() >= size);
    if !has_it && disk.free >= PLENTY * size {
        let file = File::options().write(true).create(true).truncate(false).mode(0o600).open(&path)?;
        let made = match fallocate(&file, FallocateFlags::empty(), 0, size) {
            // As where a program shows the folder.
            Err(Errno::OPNOTSUPP) => io::copy(&mut io::repeat(1).take(size), &mut &file).map(drop),
            made => made.map_err(io::Error::from),
        };
        if let Err(why) = made {
            fs::remove_file(&path)?;
            return Err(why);
        }
    }
    Ok(())
}

/// Whether there is no reserve, and no room for one: nothing but what somebody asks by hand is to be recorded, or the next start would
/// have nothing to give up.
pub(super) fn is_missing(folder: &Path) -> io::Result<bool> {
    keep(folder)?;
    let disk = Disk::of(folder)?;
    Ok(disk.free < PLENTY * of_disk(disk.size) && !path(folder).exists())
}

fn path(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

/// How large the file is on a disk of so many bytes.
fn of_disk(bytes: u64) -> u64 {
    START_RESERVE_BYTES.min(bytes / START_RESERVE_PART)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_as_large_as_it_may_be_or_a_part_of_a_small_disk() {
        let smallest = START_RESERVE_BYTES * START_RESERVE_PART;
        assert_eq!([u64::MAX, smallest].map(of_disk), [START_RESERVE_BYTES; 2]);
        assert_eq!(of_disk(smallest - START_RESERVE_PART), START_RESERVE_BYTES - 1);
    }

    #[test]
    fn it_is_kept_where_there_is_room() {
        let folder = tempfile::tempdir().unwrap();
        use_if_needed(folder.path()).unwrap();
        let disk = Disk::of(folder.path()).unwrap();
        let kept = fs::metadata(path(folder.path())).unwrap();
        assert_eq!(kept.len(), of_disk(disk.size));
        assert!(!is_missing(folder.path()).unwrap());
        keep(folder.path()).unwrap();
        assert_eq!(fs::metadata(path(folder.path())).unwrap().len(), kept.len());
    }
}
