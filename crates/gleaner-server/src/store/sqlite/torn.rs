//! Whether the last commit was broken off: by a loss of power, a kill, or a disk that lost what it had.
//!
//! `SQLite` recovers without a word: it takes the log up to the last commit that is whole. But what was written for the
//! next one still lies behind that, and bears the same salts as the log's head; what is left of earlier rounds of the log
//! bears others. Where the salts themselves were lost nothing shows, and nothing more can be said.

use std::fs::File;
use std::io;
use std::ops::RangeInclusive;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// The log's head, and the head of each of its frames: of either only the salts are of interest.
const HEAD_BYTES: u64 = 32;
const FRAME_HEAD_BYTES: u64 = 24;
/// Any other size is no size of a page.
const PAGE_BYTES: RangeInclusive<u64> = 512..=65_536;
const PAGE_SIZE_AT: u64 = 8;
const HEAD_SALTS_AT: u64 = 16;
const FRAME_SALTS_AT: u64 = 8;

/// The log that belongs to a database file.
pub(super) fn log_of(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push("-wal");
    path.into()
}

/// How many bytes of the log's present round lie behind the `kept` frames that `SQLite` took from it.
pub(super) fn torn_bytes(log: &Path, kept: u64) -> io::Result<u64> {
    let log = match File::open(log) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        opened => opened?,
    };
    let length = log.metadata()?.len();
    if length < HEAD_BYTES {
        return Ok(length);
    }
    let mut page_size = [0; 4];
    log.read_exact_at(&mut page_size, PAGE_SIZE_AT)?;
    let page_bytes = u64::from(u32::from_be_bytes(page_size));
    if !PAGE_BYTES.contains(&page_bytes) {
        return Ok(length);
    }
    let frame = FRAME_HEAD_BYTES + page_bytes;
    let salts = salts_at(&log, HEAD_SALTS_AT)?;
    let kept_end = HEAD_BYTES + kept * frame;
    let mut torn_end = kept_end;
    let mut at = kept_end;
    while at + FRAME_SALTS_AT + 8 <= length {
        if salts_at(&log, at + FRAME_SALTS_AT)? == salts {
            torn_end = length.min(at + frame);
        }
        at += frame;
    }
    Ok(torn_end - kept_end)
}

fn salts_at(log: &File, at: u64) -> io::Result<[u8; 8]> {
    let mut salts = [0; 8];
    log.read_exact_at(&mut salts, at)?;
    Ok(salts)
}
