//! What a process has open, as the kernel lists it: files without a name take room that no folder shows.
//!
//! A process can hide that from all but root and its own user's debuggers, by a program that nobody may read. **Whoever bounds what
//! tasks take has to take one in a sandbox that hides for one that takes too much.**

use crate::family::family;
use crate::kernel_text;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

const BLOCK_BYTES: u64 = 512;

/// A process in a sandbox lets nobody see what it has open.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Hidden;

/// The links to what a process has open, read as they are asked for; none once it is gone.
pub(crate) fn of(process: u32) -> Result<impl Iterator<Item = PathBuf>, Hidden> {
    let open = match fs::read_dir(format!("/proc/{process}/fd")) {
        Err(why) if why.kind() == io::ErrorKind::PermissionDenied && hides(process) => return Err(Hidden),
        open => open.ok(),
    };
    Ok(open.into_iter().flatten().flatten().map(|link| link.path()))
}

/// Bytes of files on a disk that have no name any more, and that a process or its descendants hold open; none where one of them
/// hides that.
pub(crate) fn removed_bytes(first: u32, disk: u64) -> Option<u64> {
    let mut seen = BTreeSet::new();
    let mut bytes = 0;
    for process in family(first) {
        for open in of(process).ok()? {
            let Ok(about) = fs::metadata(open) else { continue };
            if about.is_file() && about.nlink() == 0 && about.dev() == disk && seen.insert(about.ino()) {
                bytes += about.blocks() * BLOCK_BYTES;
            }
        }
    }
    Some(bytes)
}

/// Whether a process that shows nothing is in a sandbox, and not about to be gone: then it has no memory of its own any more.
fn hides(process: u32) -> bool {
    let status = kernel_text::read(format!("/proc/{process}/status")).unwrap_or_default();
    let has = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
    let is_nested = has("NSpid:").is_some_and(|numbers| numbers.split_whitespace().count() > 1);
    is_nested && has("VmRSS:").is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_hides_who_is_not_there_or_in_no_sandbox() {
        assert!(of(std::process::id()).is_ok_and(|mut open| open.next().is_some()));
        assert!(of(u32::MAX).is_ok_and(|mut open| open.next().is_none()));
        assert!(!hides(std::process::id()) && !hides(u32::MAX));
    }
}
