//! How much of the coordinator's disk may be taken, so that the journal can always go on.

use gleaner_net::Disk;
use gleaner_wire::limits::{DISK_RESERVE_BYTES, DISK_RESERVE_FILES, DISK_RESERVE_PART};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use thiserror::Error;

/// What a disk has too little of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Lack {
    /// Room for bytes.
    #[error("no space is left")]
    Space,
    /// Whatever room it has, it can hold hardly more files.
    #[error("no inodes are left for more files")]
    Inodes,
}

impl Lack {
    /// What somebody is to do about it.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::Space => "free some space",
            Self::Inodes => "free some inodes (`df -i` counts them)",
        }
    }

    /// What an error says of it, of a file on this disk. The system says the same of both.
    pub(crate) fn of(error: &io::Error, disk: Option<&Disk>) -> Self {
        let said = error.get_ref().and_then(|inner| inner.downcast_ref::<Self>());
        let has_no_file = disk.is_some_and(|disk| disk.free > 0 && !disk.has_files(1));
        said.copied().unwrap_or(if has_no_file { Self::Inodes } else { Self::Space })
    }
}

/// What is free on a folder's disk, less the reserve and what was promised already.
#[derive(Debug)]
pub struct Room {
    folder: PathBuf,
    promised: Mutex<u64>,
}

/// Bytes that somebody may still write.
#[derive(Debug)]
pub(crate) struct Promise<'a> {
    room: &'a Room,
    left: u64,
}

impl Room {
    pub(super) fn of(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), promised: Mutex::new(0) }
    }

    /// What there is too little of for a file of so many bytes; nothing where there is room.
    pub fn lack(&self, bytes: u64) -> io::Result<Option<Lack>> {
        let promised = *self.promised();
        Ok(lack(&Disk::of(&self.folder)?, promised.saturating_add(bytes)))
    }

    /// Of what half of the reserve is gone, as where output came that was on its way when there was no room left for more.
    pub fn shortage(&self) -> io::Result<Option<Lack>> {
        Ok(shortage(&Disk::of(&self.folder)?))
    }

    /// Room for a file of so many bytes; the error is [`ErrorKind::StorageFull`], with the [`Lack`], where there is none.
    pub(crate) fn promise(&self, bytes: u64) -> io::Result<Promise<'_>> {
        let mut promise = Promise { room: self, left: 0 };
        promise.extend(bytes, lack)?;
        Ok(promise)
    }

    /// How much could ever be taken: all that the disk holds, less the reserve.
    pub(crate) fn of_disk(&self) -> io::Result<u64> {
        let Disk { size, .. } = Disk::of(&self.folder)?;
        Ok(size - reserve(size))
    }

    fn promised(&self) -> MutexGuard<'_, u64> {
        self.promised.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What stays free on a disk of so many bytes.
fn reserve(disk: u64) -> u64 {
    DISK_RESERVE_BYTES.min(disk / DISK_RESERVE_PART)
}

/// How many files more a disk stays able to hold that holds so many.
fn reserve_of_files(all: u64) -> u64 {
    DISK_RESERVE_FILES.min(all / DISK_RESERVE_PART)
}

/// How many bytes are free beside the reserve.
fn left(disk: &Disk) -> u64 {
    disk.free.saturating_sub(reserve(disk.size))
}

fn lack(disk: &Disk, bytes: u64) -> Option<Lack> {
    let has_no_file = disk.files.is_some_and(|files| files.free <= reserve_of_files(files.all));
    lack_of_space(disk, bytes).or_else(|| has_no_file.then_some(Lack::Inodes))
}

/// What there is too little of for so many bytes more of a file that is there.
fn lack_of_space(disk: &Disk, bytes: u64) -> Option<Lack> {
    (left(disk) < bytes).then_some(Lack::Space)
}

fn shortage(disk: &Disk) -> Option<Lack> {
    let is_short_of_files = disk.files.is_some_and(|files| files.free < reserve_of_files(files.all) / 2);
    if disk.free < reserve(disk.size) / 2 {
        Some(Lack::Space)
    } else {
        is_short_of_files.then_some(Lack::Inodes)
    }
}

impl Promise<'_> {
    /// So many bytes are about to be written; whoever announced fewer than they send needs more room for them.
    pub(crate) fn use_up(&mut self, bytes: u64) -> io::Result<()> {
        let more = bytes.saturating_sub(self.left);
        if more > 0 {
            self.extend(more, lack_of_space)?;
        }
        self.left -= bytes;
        *self.room.promised() -= bytes;
        Ok(())
    }

    fn extend(&mut self, bytes: u64, lack: fn(&Disk, u64) -> Option<Lack>) -> io::Result<()> {
        let mut promised = self.room.promised();
        if let Some(lack) = lack(&Disk::of(&self.room.folder)?, promised.saturating_add(bytes)) {
            return Err(io::Error::new(ErrorKind::StorageFull, lack));
        }
        *promised += bytes;
        self.left += bytes;
        Ok(())
    }
}

impl Drop for Promise<'_> {
    fn drop(&mut self) {
        *self.room.promised() -= self.left;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_net::Files;

    #[test]
    fn so_much_stays_free_on_a_large_disk_and_a_part_of_a_small_one() {
        let smallest = DISK_RESERVE_BYTES * DISK_RESERVE_PART;
        for (disk, expected) in [
            (u64::MAX, DISK_RESERVE_BYTES),
            (smallest, DISK_RESERVE_BYTES),
            (smallest - DISK_RESERVE_PART, DISK_RESERVE_BYTES - 1),
            (DISK_RESERVE_PART, 1),
        ] {
            assert_eq!(reserve(disk), expected, "of {disk}");
        }
    }

    #[test]
    fn a_disk_stays_able_to_hold_so_many_files_whatever_room_it_has() {
        let with = |files: Option<(u64, u64)>| Disk {
            size: 1 << 40,
            free: 1 << 39,
            files: files.map(|(all, free)| Files { all, free }),
        };
        let many = DISK_RESERVE_FILES * DISK_RESERVE_PART;
        for (files, lacks, is_short) in [
            (None, false, false),
            (Some((many, DISK_RESERVE_FILES + 1)), false, false),
            (Some((many, DISK_RESERVE_FILES)), true, false),
            (Some((100 * many, DISK_RESERVE_FILES / 2)), true, false),
            (Some((100 * many, DISK_RESERVE_FILES / 2 - 1)), true, true),
            (Some((800, 101)), false, false),
            (Some((800, 100)), true, false),
            (Some((800, 49)), true, true),
            (Some((1, 0)), true, false),
        ] {
            let disk = with(files);
            assert_eq!(lack(&disk, 1), lacks.then_some(Lack::Inodes), "{files:?}");
            assert_eq!(shortage(&disk), is_short.then_some(Lack::Inodes), "{files:?}");
            assert_eq!(lack(&disk, 1 << 39), Some(Lack::Space), "{files:?}");
            assert_eq!(lack_of_space(&disk, 1), None, "{files:?}: a file that is there has its inode");
            let full = io::Error::from(ErrorKind::StorageFull);
            let has_none = files.is_some_and(|(_, free)| free == 0);
            let lacks = if has_none { Lack::Inodes } else { Lack::Space };
            assert_eq!(Lack::of(&full, Some(&disk)), lacks, "{files:?}");
            let said = io::Error::new(ErrorKind::StorageFull, Lack::Inodes);
            assert_eq!(Lack::of(&said, None), Lack::Inodes);
        }
    }

    #[test]
    fn what_is_promised_is_promised_once_and_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let room = Room::of(folder.path());
        let half = left(&Disk::of(folder.path()).unwrap()) / 8 * 5;
        let mut first = room.promise(half).unwrap();
        assert_eq!(room.lack(half).unwrap(), Some(Lack::Space));
        assert_eq!(room.promise(half).map(drop).unwrap_err().kind(), ErrorKind::StorageFull);
        first.use_up(10).unwrap();
        assert_eq!(*room.promised(), half - 10, "what is written shows on the disk");
        first.use_up(half).unwrap();
        assert_eq!(*room.promised(), 0, "more than was announced");
        drop(first);
        assert!(room.lack(half).unwrap().is_none() && *room.promised() == 0);
    }
}
