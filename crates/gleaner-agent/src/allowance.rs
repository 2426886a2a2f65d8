//! What the agent may do for a guest besides running its program: bring files here, and store what it left.
//!
//! That takes the owner's processors, disk and network as the program does. **So it stands still when the owner says so, leaves free
//! on the disk what the owner wants free, and takes no more for a run than the run may take.** Who writes at the same time counts what the
//! others may still write.

use crate::owner::DISK_FREE_MIN;
use gleaner_net::Disk;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// After how many bytes it is looked at again.
pub(crate) const PIECE_BYTES: u64 = 4 << 20;

/// What is brought here leaves so many bytes free at least, whatever the owner says: a disk with less than [`DISK_FREE_MIN`] has then been
/// filled by somebody else.
pub(crate) const LEFT_FREE_MIN: u64 = 2 * DISK_FREE_MIN;

/// Why something is not done for a guest.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum Withheld {
    /// It may be done later.
    #[error("the machine's owner wants it to stand still")]
    Stopped,
    /// Its run is over.
    #[error("nobody waits for it any more")]
    Unwanted,
    #[error(
        "the machine's disk is nearly full: beside other files on their way {free} bytes are free, and {keep_free} stay free \
         (its owner's disk_free_min_gb, 32 MiB at least)"
    )]
    DiskFull { free: u64, keep_free: u64 },
}

/// What may be done for one run.
#[derive(Clone, Debug)]
pub(crate) struct Allowance {
    is_stopped: Arc<AtomicBool>,
    is_unwanted: Arc<AtomicBool>,
    /// A folder of the disk that is written to.
    disk: PathBuf,
    /// How much is free there.
    free: fn(&Path) -> io::Result<u64>,
    keep_free: u64,
    reserved: Reserved,
}

/// The bytes that all who write to a disk may still write before they look at it again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reserved(Arc<Mutex<u64>>);

/// Room on the disk that is given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Room {
    of: Reserved,
    bytes: u64,
}

impl Reserved {
    fn bytes(&self) -> MutexGuard<'_, u64> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes room for so many bytes where so many stay free.
    fn take(&self, bytes: u64, keep_free: u64, free: impl FnOnce() -> io::Result<u64>) -> io::Result<Room> {
        // Held meanwhile, so that no two take the same.
        let mut reserved = self.bytes();
        let free = free()?.saturating_sub(*reserved);
        if free < bytes.saturating_add(keep_free) {
            return Err(io::Error::other(Withheld::DiskFull { free, keep_free }));
        }
        *reserved += bytes;
        Ok(Room { of: self.clone(), bytes })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        *self.of.bytes() -= self.bytes;
    }
}

impl Allowance {
    /// Work that stands still while `is_stopped`, and leaves so many bytes free on the disk of a folder, beside what is `reserved` there.
    pub(crate) fn new(is_stopped: Arc<AtomicBool>, disk: &Path, keep_free: u64, reserved: Reserved) -> Self {
        let free = |disk: &Path| Disk::of(disk).map(|disk| disk.free);
        Self { is_stopped, is_unwanted: Arc::default(), disk: disk.to_owned(), free, keep_free, reserved }
    }

    /// The same, on a disk of a test's.
    #[cfg(test)]
    pub(crate) fn on(self, free: fn(&Path) -> io::Result<u64>) -> Self {
        Self { free, ..self }
    }

    /// The same, which ends too when it `is_unwanted`.
    pub(crate) fn unless(self, is_unwanted: Arc<AtomicBool>) -> Self {
        Self { is_unwanted, ..self }
    }

    /// Whether work may go on that writes nothing.
    pub(crate) fn check(&self) -> io::Result<()> {
        if self.is_unwanted.load(Ordering::Relaxed) {
            return Err(io::Error::other(Withheld::Unwanted));
        }
        if self.is_stopped.load(Ordering::Relaxed) {
            return Err(io::Error::other(Withheld::Stopped));
        }
        Ok(())
    }

    /// Room on the disk for the next piece of work that may go on.
    pub(crate) fn piece(&self) -> io::Result<Room> {
        self.check()?;
        self.reserved.take(PIECE_BYTES, self.keep_free, || (self.free)(&self.disk))
    }

    /// Reads what is then written to the disk, or writes it.
    pub(crate) fn to_disk<I>(&self, inner: I) -> Careful<'_, I> {
        Careful { inner, left: 0, allowance: self, is_to_disk: true, room: None }
    }

    /// Writes what goes elsewhere than to the disk.
    pub(crate) fn elsewhere<I>(&self, inner: I) -> Careful<'_, I> {
        Careful { inner, left: 0, allowance: self, is_to_disk: false, room: None }
    }
}

/// Why a failure is one, if it is that something is not done for a guest.
pub(crate) fn withheld(why: &io::Error) -> Option<&Withheld> {
    why.get_ref()?.downcast_ref()
}

/// Whether the disk, or what this user may have of it, is full.
pub(crate) fn is_full(why: &io::Error) -> bool {
    matches!(why.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Reads or writes as long as it may: whether it is to stop is looked at each time, since bytes may come slowly, and the disk after
/// each piece.
pub(crate) struct Careful<'a, I> {
    inner: I,
    /// Bytes until the disk is looked at again.
    left: u64,
    allowance: &'a Allowance,
    is_to_disk: bool,
    /// What the piece may take on the disk.
    room: Option<Room>,
}

impl<I> Careful<'_, I> {
    /// How many of so many bytes may be taken now.
    fn granted(&mut self, wanted: usize) -> io::Result<usize> {
        self.allowance.check()?;
        if self.left == 0 {
            // By now the disk has what was written of the last one.
            self.room = None;
            if self.is_to_disk {
                self.room = Some(self.allowance.piece()?);
            }
            self.left = PIECE_BYTES;
        }
        Ok(wanted.min(usize::try_from(self.left).unwrap_or(usize::MAX)))
    }
}

impl<R: Read> Read for Careful<'_, R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let most = self.granted(bytes.len())?;
        let count = self.inner.read(&mut bytes[..most])?;
        self.left -= count as u64;
        Ok(count)
    }
}

impl<W: Write> Write for Careful<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let most = self.granted(bytes.len())?;
        let count = self.inner.write(&bytes[..most])?;
        self.left -= count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endless_source_is_read_until_the_owner_stops_it_or_the_disk_is_to_stay_free() {
        let folder = tempfile::tempdir().unwrap();
        let is_stopped = Arc::new(AtomicBool::new(false));
        for (keep_free, stops_at) in [(0, 3 * PIECE_BYTES), (u64::MAX, u64::MAX)] {
            is_stopped.store(false, Ordering::Relaxed);
            let allowance = Allowance::new(is_stopped.clone(), folder.path(), keep_free, Reserved::default());
            let mut source = allowance.to_disk(io::repeat(1));
            let mut read = 0;
            let mut chunk = vec![0; 1 << 20];
            let why = loop {
                match source.read(&mut chunk) {
                    Ok(count) => read += count as u64,
                    Err(why) => break why,
                }
                is_stopped.store(read >= stops_at, Ordering::Relaxed);
            };
            match withheld(&why) {
                Some(Withheld::Stopped) => assert_eq!(keep_free, 0),
                Some(Withheld::DiskFull { keep_free: kept, .. }) => assert_eq!(*kept, u64::MAX),
                Some(Withheld::Unwanted) | None => panic!("{why}"),
            }
            assert!(read <= stops_at, "{read}");
        }
        let stopped = Allowance::new(is_stopped, folder.path(), 0, Reserved::default());
        stopped.is_stopped.store(true, Ordering::Relaxed);
        let why = stopped.elsewhere(io::sink()).write_all(b"output").unwrap_err();
        assert_eq!(withheld(&why), Some(&Withheld::Stopped));
    }

    #[test]
    fn what_nobody_waits_for_ends_at_once_however_slowly_it_comes() {
        let folder = tempfile::tempdir().unwrap();
        let is_unwanted = Arc::new(AtomicBool::new(false));
        let allowance = Allowance::new(Arc::default(), folder.path(), 0, Reserved::default());
        let allowance = allowance.unless(is_unwanted.clone());
        let mut source = allowance.to_disk(io::repeat(1));
        let mut byte = [0];
        assert_eq!(source.read(&mut byte).unwrap(), 1);
        is_unwanted.store(true, Ordering::Relaxed);
        assert_eq!(withheld(&source.read(&mut byte).unwrap_err()), Some(&Withheld::Unwanted));
    }

    #[test]
    fn two_who_write_at_a_time_do_not_take_the_same_room() {
        let (folder, reserved) = (tempfile::tempdir().unwrap(), Reserved::default());
        let one = || {
            let allowance = Allowance::new(Arc::default(), folder.path(), PIECE_BYTES, reserved.clone());
            // There is room for one piece and a half.
            allowance.on(|_| Ok(5 * PIECE_BYTES / 2))
        };
        let (first, second) = (one(), one());
        let mut writes = first.to_disk(io::sink());
        for _ in 0..2 {
            writes.write_all(&vec![1; PIECE_BYTES as usize]).unwrap();
            let why = second.to_disk(io::sink()).write_all(b"more").unwrap_err();
            let full = Withheld::DiskFull { free: 3 * PIECE_BYTES / 2, keep_free: PIECE_BYTES };
            assert_eq!(withheld(&why), Some(&full));
            second.elsewhere(io::sink()).write_all(b"what takes none").unwrap();
        }
        drop(writes);
        second.to_disk(io::sink()).write_all(b"more").unwrap();
        assert_eq!(*reserved.bytes(), 0);
    }
}
