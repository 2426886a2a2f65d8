//! How long the disk takes to keep something for good.

use super::LiveError;
use rustix::fs::fdatasync;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Instant;

/// What is written before each sync, as a small commit would.
const BLOCK: usize = 4 << 10;
const BLOCKS: u64 = 256;

/// A file of fixed length in which blocks are overwritten, as a journal's log is.
pub(super) struct Disk {
    file: File,
    next: u64,
}

impl Disk {
    pub(super) fn new(folder: &Path) -> Result<Self, LiveError> {
        let make = || {
            let file = tempfile::tempfile_in(folder)?;
            file.write_all_at(&vec![0; BLOCK * BLOCKS as usize], 0)?;
            file.sync_all()?;
            Ok(file)
        };
        Ok(Self { file: make().map_err(LiveError::system("a file to sync"))?, next: 0 })
    }

    /// Overwrites a block; the seconds until it is kept.
    pub(super) fn sync(&mut self) -> Result<f64, LiveError> {
        let from = Instant::now();
        self.file
            .write_all_at(&[1; BLOCK], self.next * BLOCK as u64)
            .and_then(|()| Ok(fdatasync(&self.file)?))
            .map_err(LiveError::system("a sync"))?;
        self.next = (self.next + 1) % BLOCKS;
        Ok(from.elapsed().as_secs_f64())
    }
}
