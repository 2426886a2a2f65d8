//! What the agent may do for a guest besides running its program: bring files here, and store what it left.
//!
//! That takes the owner's processors, disk and network as the program does. **So it stands still when the owner says so, leaves free
//! on the disk what the owner wants free, and takes no more for a run than the run may take.**

use gleaner_net::Disk;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// After how many bytes it is looked at again.
pub(crate) const PIECE_BYTES: u64 = 16 << 20;

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
        "the machine's disk is nearly full: {free} bytes are free, and its owner keeps {keep_free} (disk_free_min_gb)"
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
}

impl Allowance {
    /// Work that stands still while `is_stopped`, and leaves so many bytes free on the disk of a folder.
    pub(crate) fn new(is_stopped: Arc<AtomicBool>, disk: &Path, keep_free: u64) -> Self {
        let free = |disk: &Path| Disk::of(disk).map(|disk| disk.free);
        Self { is_stopped, is_unwanted: Arc::default(), disk: disk.to_owned(), free, keep_free }
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

    /// Whether work may go on that writes so many bytes to the disk.
    pub(crate) fn check_room(&self, bytes: u64) -> io::Result<()> {
        self.check()?;
        let free = (self.free)(&self.disk)?;
        if free < bytes.saturating_add(self.keep_free) {
            return Err(io::Error::other(Withheld::DiskFull { free, keep_free: self.keep_free }));
        }
        Ok(())
    }

    /// Reads what is then written to the disk, or writes it.
    pub(crate) fn to_disk<I>(&self, inner: I) -> Careful<'_, I> {
        Careful { inner, left: 0, allowance: self, room: PIECE_BYTES }
    }

    /// Writes what goes elsewhere than to the disk.
    pub(crate) fn elsewhere<I>(&self, inner: I) -> Careful<'_, I> {
        Careful { inner, left: 0, allowance: self, room: 0 }
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
    /// What a piece takes on the disk.
    room: u64,
}

impl<I> Careful<'_, I> {
    /// How many of so many bytes may be taken now.
    fn granted(&mut self, wanted: usize) -> io::Result<usize> {
        self.allowance.check()?;
        if self.left == 0 {
            if self.room > 0 {
                self.allowance.check_room(self.room)?;
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
            let allowance = Allowance::new(is_stopped.clone(), folder.path(), keep_free);
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
        let stopped = Allowance::new(is_stopped, folder.path(), 0);
        stopped.is_stopped.store(true, Ordering::Relaxed);
        let why = stopped.elsewhere(io::sink()).write_all(b"output").unwrap_err();
        assert_eq!(withheld(&why), Some(&Withheld::Stopped));
    }

    #[test]
    fn what_nobody_waits_for_ends_at_once_however_slowly_it_comes() {
        let folder = tempfile::tempdir().unwrap();
        let is_unwanted = Arc::new(AtomicBool::new(false));
        let allowance = Allowance::new(Arc::default(), folder.path(), 0).unless(is_unwanted.clone());
        let mut source = allowance.to_disk(io::repeat(1));
        let mut byte = [0];
        assert_eq!(source.read(&mut byte).unwrap(), 1);
        is_unwanted.store(true, Ordering::Relaxed);
        assert_eq!(withheld(&source.read(&mut byte).unwrap_err()), Some(&Withheld::Unwanted));
    }
}
