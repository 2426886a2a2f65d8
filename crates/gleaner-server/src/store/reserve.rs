//! Room on the disk for a start: a file that is given up where nothing else is left, so that a coordinator whose disk is
//! full can be asked what there is.

use gleaner_wire::limits::{START_RESERVE_BYTES, START_RESERVE_PART};
use rustix::fs::{FallocateFlags, StatVfs, fallocate, statvfs};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

const FILE: &str = "reserve";

/// At a start: gives the file up where less is free than it holds.
pub(super) fn use_if_needed(folder: &Path) -> io::Result<()> {
    let disk = statvfs(folder)?;
    if free(&disk) < size(&disk) && path(folder).exists() {
        return fs::remove_file(path(folder));
    }
    keep(folder)
}

/// Makes the file where there is plenty of room.
pub(super) fn keep(folder: &Path) -> io::Result<()> {
    let disk = statvfs(folder)?;
    let (size, path) = (size(&disk), path(folder));
    let has_it = fs::metadata(&path).is_ok_and(|data| data.len() >= size);
    if !has_it && free(&disk) >= 3 * size {
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

/// Whether so little is free that the next start would need the reserve, or this one did: nothing but what somebody asks by
/// hand is to be recorded.
pub(super) fn is_needed(folder: &Path) -> io::Result<bool> {
    let disk = statvfs(folder)?;
    Ok(free(&disk) < 2 * size(&disk) && !path(folder).exists())
}

fn path(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

fn size(disk: &StatVfs) -> u64 {
    of_disk(disk.f_blocks * disk.f_frsize)
}

/// How large the file is on a disk of so many bytes.
fn of_disk(bytes: u64) -> u64 {
    START_RESERVE_BYTES.min(bytes / START_RESERVE_PART)
}

fn free(disk: &StatVfs) -> u64 {
    disk.f_bavail * disk.f_frsize
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
        let disk = statvfs(folder.path()).unwrap();
        let kept = fs::metadata(path(folder.path())).unwrap();
        assert_eq!(kept.len(), size(&disk));
        assert!(!is_needed(folder.path()).unwrap());
        keep(folder.path()).unwrap();
        assert_eq!(fs::metadata(path(folder.path())).unwrap().len(), kept.len());
    }
}
