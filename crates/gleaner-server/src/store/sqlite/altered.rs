//! Puts together what is left of a database whose log was altered, without the database.

use super::log::Log;
use super::torn::log_of;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

/// Copies a database with all pages that its log has of whole commits, less those that are not what was written: most
/// pages are written again by a later commit. The copy has no log.
pub(in crate::store) fn altered_copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::copy(from, to)?;
    let Some(log) = Log::salvage(&log_of(from))? else { return Ok(()) };
    let file = OpenOptions::new().write(true).open(to)?;
    let frames: Vec<_> = log.frames().collect();
    let whole = frames.iter().rposition(|frame| frame.is_last).map_or(0, |last| last + 1);
    for frame in frames[..whole].iter().filter(|frame| frame.is_intact && frame.number > 0) {
        let place = u64::from(frame.number - 1) * log.page_bytes() as u64;
        file.write_all_at(frame.page, place)?;
    }
    file.sync_all()
}
