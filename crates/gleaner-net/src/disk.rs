//! How large the disk of a folder is, and how much of it is left.

use std::io;
use std::path::Path;

/// The disk that a folder is on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Disk {
    /// Bytes that it holds.
    pub size: u64,
    /// Bytes that whoever asks may still write there.
    pub free: u64,
    /// How many files it holds, where that has a bound: some file systems have as many as there is room for.
    pub files: Option<Files>,
}

/// How many files a disk holds (inodes), folders among them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Files {
    /// In all.
    pub all: u64,
    /// How many more whoever asks may make there.
    pub free: u64,
}

impl Disk {
    /// The disk of `folder` as it is now.
    pub fn of(folder: &Path) -> io::Result<Self> {
        let found = rustix::fs::statvfs(folder)?;
        let bytes = |blocks: u64| blocks.saturating_mul(found.f_frsize);
        let files = Files { all: found.f_files, free: found.f_favail };
        Ok(Self {
            size: bytes(found.f_blocks),
            free: bytes(found.f_bavail),
            files: (files.all > 0).then_some(files),
        })
    }

    /// Whether it can hold so many more files.
    pub fn has_files(&self, count: u64) -> bool {
        self.files.is_none_or(|files| files.free >= count)
    }
}
