//! Room on the disk for a start: a file, and a folder of empty ones, that are given up where nothing else is left, so that a coordinator
//! whose disk is full, or can hold no more files, can be asked what there is.

use super::Lack;
use gleaner_net::{Disk, Files};
use gleaner_wire::limits::{START_RESERVE_BYTES, START_RESERVE_FILES, START_RESERVE_PART};
use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::Errno;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

const FILE: &str = "reserve";
/// The folder of the empty files.
const INODES: &str = "reserve.inodes";
/// What is kept is made where so many times as much is free.
const PLENTY: u64 = 3;

/// At a start: gives up what less is free of than it holds.
pub(super) fn use_if_needed(folder: &Path) -> io::Result<()> {
    let (disk, inodes) = (Disk::of(folder)?, folder.join(INODES));
    let needs_space = disk.free < of_disk(disk.size) && path(folder).exists();
    let needs_inodes = disk.files.is_some_and(|files| files.free < of_files(files)) && inodes.exists();
    if needs_space {
        fs::remove_file(path(folder))?;
    }
    if needs_inodes {
        fs::remove_dir_all(inodes)?;
    }
    if needs_space || needs_inodes { Ok(()) } else { keep(folder) }
}

/// Makes what is missing where there is plenty.
pub(super) fn keep(folder: &Path) -> io::Result<()> {
    let disk = Disk::of(folder)?;
    let space = keep_space(folder, &disk);
    space.and(disk.files.map_or(Ok(()), |files| keep_inodes(folder, files)))
}

fn keep_inodes(folder: &Path, files: Files) -> io::Result<()> {
    let count = of_files(files);
    if has_inodes(folder, count) || files.free < PLENTY * count {
        return Ok(());
    }
    let folder = folder.join(INODES);
    DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
    (0..count).try_for_each(|number| {
        let path = folder.join(number.to_string());
        File::options().write(true).create(true).truncate(false).mode(0o600).open(path).map(drop)
    })
}

/// Whether there are so many empty files: they are made in order.
fn has_inodes(folder: &Path, count: u64) -> bool {
    count == 0 || folder.join(INODES).join((count - 1).to_string()).exists()
}

fn keep_space(folder: &Path, disk: &Disk) -> io::Result<()> {
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

/// Of what there is no reserve, and too little for one: nothing but what somebody asks by hand is to be recorded, or the next start would
/// have nothing to give up.
pub(super) fn missing(folder: &Path) -> io::Result<Option<Lack>> {
    // What cannot be made is not there.
    let _ = keep(folder);
    let disk = Disk::of(folder)?;
    if disk.free < PLENTY * of_disk(disk.size) && !path(folder).exists() {
        return Ok(Some(Lack::Space));
    }
    let lacks_inodes = |files: Files| {
        let count = of_files(files);
        files.free < PLENTY * count && !has_inodes(folder, count)
    };
    Ok(disk.files.is_some_and(lacks_inodes).then_some(Lack::Inodes))
}

fn path(folder: &Path) -> PathBuf {
    folder.join(FILE)
}

/// How large the file is on a disk of so many bytes.
fn of_disk(bytes: u64) -> u64 {
    START_RESERVE_BYTES.min(bytes / START_RESERVE_PART)
}

/// How many empty files there are on a disk that holds so many.
fn of_files(files: Files) -> u64 {
    START_RESERVE_FILES.min(files.all / START_RESERVE_PART)
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
    fn it_has_as_many_files_as_it_may_or_a_part_of_those_of_a_small_disk() {
        let fewest = START_RESERVE_FILES * START_RESERVE_PART;
        let of = |all: u64| of_files(Files { all, free: all });
        assert_eq!([u64::MAX, fewest].map(of), [START_RESERVE_FILES; 2]);
        assert_eq!(of(fewest - START_RESERVE_PART), START_RESERVE_FILES - 1);
    }

    #[test]
    fn it_is_kept_where_there_is_room() {
        let folder = tempfile::tempdir().unwrap();
        use_if_needed(folder.path()).unwrap();
        let disk = Disk::of(folder.path()).unwrap();
        let kept = fs::metadata(path(folder.path())).unwrap();
        assert_eq!(kept.len(), of_disk(disk.size));
        assert_eq!(missing(folder.path()).unwrap(), None);
        let inodes = fs::read_dir(folder.path().join(INODES)).map_or(0, Iterator::count);
        assert_eq!(inodes as u64, disk.files.map_or(0, of_files));
        keep(folder.path()).unwrap();
        assert_eq!(fs::metadata(path(folder.path())).unwrap().len(), kept.len());
    }
}
