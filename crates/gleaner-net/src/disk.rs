//! How large the disk of a folder is, and how much of it is left.

use std::io;
use std::path::Path;

/// The disk that a folder is on, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Disk {
    /// All that it holds.
    pub size: u64,
    /// What whoever asks may still write there.
    pub free: u64,
}

impl Disk {
    /// The disk of `folder` as it is now.
    pub fn of(folder: &Path) -> io::Result<Self> {
        let found = rustix::fs::statvfs(folder)?;
        let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
        Ok(Self { size: bytes(found.f_blocks), free: bytes(found.f_bavail) })
    }
}
