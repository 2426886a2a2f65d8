//! What kind of failure a database error is: what to tell the user depends on no more than this.

use crate::store::OpenError;
use gleaner_net::Disk;
use rusqlite::ErrorCode;
use std::path::Path;

/// Below this, a write that failed for a reason of its own failed for want of space: delayed allocation and the mapped
/// index of the log do not say "no space" but "I/O error".
const LITTLE_SPACE: u64 = 64 << 10;
/// Likewise where the disk can hold fewer files more than these: the log is one, and its index.
const FEW_FILES: u64 = 4;

pub(super) enum Nature {
    DiskFull,
    ReadOnly,
    Damaged,
    Other,
}

pub(super) fn nature(error: &rusqlite::Error, folder: &Path) -> Nature {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Nature::DiskFull,
        Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Nature::ReadOnly,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Nature::Damaged,
        Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) if is_full(folder) => Nature::DiskFull,
        _ => Nature::Other,
    }
}

fn is_full(folder: &Path) -> bool {
    Disk::of(folder).is_ok_and(|disk| disk.free < LITTLE_SPACE || !disk.has_files(FEW_FILES))
}

pub(super) fn open_error(error: rusqlite::Error, file: &Path) -> OpenError {
    let folder = file.parent().unwrap_or(file);
    let file = file.to_owned();
    match nature(&error, folder) {
        Nature::DiskFull => OpenError::DiskFull { file },
        Nature::ReadOnly => OpenError::ReadOnly { file },
        Nature::Damaged => OpenError::Damaged { file, source: error.into() },
        Nature::Other => OpenError::Io { file, source: error.into() },
    }
}
