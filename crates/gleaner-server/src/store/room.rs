//! How much of the coordinator's disk may be taken, so that the journal can always go on.

use gleaner_net::Disk;
use gleaner_wire::limits::{DISK_RESERVE_BYTES, DISK_RESERVE_PART};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

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

    /// Whether there is room for so many bytes.
    pub fn has(&self, bytes: u64) -> io::Result<bool> {
        let promised = *self.promised();
        Ok(self.free()? >= promised.saturating_add(bytes))
    }

    /// Whether half of the reserve is gone, as where output came that was on its way when there was no room left for more.
    pub fn is_short(&self) -> io::Result<bool> {
        let disk = Disk::of(&self.folder)?;
        Ok(disk.free < reserve(disk.size) / 2)
    }

    /// Room for so many bytes; the error is [`ErrorKind::StorageFull`] where there is none.
    pub(crate) fn promise(&self, bytes: u64) -> io::Result<Promise<'_>> {
        let mut promise = Promise { room: self, left: 0 };
        promise.extend(bytes)?;
        Ok(promise)
    }

    /// How much could ever be taken: all that the disk holds, less the reserve.
    pub(crate) fn of_disk(&self) -> io::Result<u64> {
        let Disk { size, .. } = Disk::of(&self.folder)?;
        Ok(size - reserve(size))
    }

    fn free(&self) -> io::Result<u64> {
        let disk = Disk::of(&self.folder)?;
        Ok(disk.free.saturating_sub(reserve(disk.size)))
    }

    fn promised(&self) -> MutexGuard<'_, u64> {
        self.promised.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What stays free on a disk of so many bytes.
fn reserve(disk: u64) -> u64 {
    DISK_RESERVE_BYTES.min(disk / DISK_RESERVE_PART)
}

impl Promise<'_> {
    /// So many bytes are about to be written; whoever announced fewer than they send needs more room for them.
    pub(crate) fn use_up(&mut self, bytes: u64) -> io::Result<()> {
        self.extend(bytes.saturating_sub(self.left))?;
        self.left -= bytes;
        *self.room.promised() -= bytes;
        Ok(())
    }

    fn extend(&mut self, bytes: u64) -> io::Result<()> {
        if bytes > 0 {
            let mut promised = self.room.promised();
            if self.room.free()? < promised.saturating_add(bytes) {
                return Err(ErrorKind::StorageFull.into());
            }
            *promised += bytes;
            self.left += bytes;
        }
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
        let folder = tempfile::tempdir().unwrap();
        let Disk { size, free } = Disk::of(folder.path()).unwrap();
        let left = Room::of(folder.path()).free().unwrap();
        // Others write there meanwhile.
        let expected = free.saturating_sub(reserve(size));
        assert!(left.abs_diff(expected) <= reserve(size) / 2, "{left} of {expected}");
    }

    #[test]
    fn what_is_promised_is_promised_once_and_given_back() {
        let folder = tempfile::tempdir().unwrap();
        let room = Room::of(folder.path());
        let half = room.free().unwrap() / 8 * 5;
        let mut first = room.promise(half).unwrap();
        assert!(!room.has(half).unwrap());
        assert_eq!(room.promise(half).map(drop).unwrap_err().kind(), ErrorKind::StorageFull);
        first.use_up(10).unwrap();
        assert_eq!(*room.promised(), half - 10, "what is written shows on the disk");
        first.use_up(half).unwrap();
        assert_eq!(*room.promised(), 0, "more than was announced");
        drop(first);
        assert!(room.has(half).unwrap() && *room.promised() == 0);
    }
}
