//! What lies below a folder that a task may write to, reached by descriptors.
//!
//! - **No link is followed and no way leads out**, whatever a task made of its folder, and whatever a process of its that
//!   is left still makes of it.
//! - **No depth is too deep and no number too large**: nothing here recurses, few descriptors are open at a time, and no
//!   path is longer than what is asked for.
//! - A folder that its owner closed to themselves (`chmod 0`) is opened again, and so is a file that is to be packed.

mod remove;
mod walk;

pub(crate) use remove::remove;
pub(crate) use walk::{Seen, holds_more_than, size, walk};

use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, RawDir, ResolveFlags, SeekFrom, chmodat, mkdirat, openat, openat2, seek,
    statat,
};
use rustix::io::{Errno, Result};
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::ops::ControlFlow;
use std::path::{Component, Path};

/// A folder, to look at what is in it.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);
/// Room for the names that are read at a time.
const NAMES_BYTES: usize = 32 << 10;

/// Opens a folder of our own, in which no task can put anything else: only what is below it is a task's.
pub fn open_root(folder: &Path) -> Result<OwnedFd> {
    open_unlocked(folder, |flags| {
        openat(CWD, folder, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
    })
}

/// Opens a folder below `at`.
pub(crate) fn open_folder(at: impl AsFd, path: &Path) -> Result<OwnedFd> {
    open_unlocked(path, |flags| open(&at, path, flags, Mode::empty()))
}

/// Opens what is below `at`. A named pipe is to be opened with [`OFlags::NONBLOCK`], or it is waited for.
pub(crate) fn open(at: impl AsFd, path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match openat2(&at, path, flags, mode, within) {
        // Kernels before 5.6, and filters of system calls that do not know it.
        Err(Errno::NOSYS | Errno::PERM) => open_stepwise(at, path, flags, mode),
        opened => opened,
    }
}

/// The same, folder by folder.
fn open_stepwise(at: impl AsFd, path: &Path, flags: OFlags, mode: Mode) -> Result<OwnedFd> {
    let mut steps = path.components();
    let last = steps.next_back().ok_or(Errno::NOENT)?;
    let is_within = |step: &Component<'_>| matches!(step, Component::Normal(_) | Component::CurDir);
    let mut folder = None;
    for step in steps {
        if !is_within(&step) {
            return Err(Errno::XDEV);
        }
        let flags = FOLDER | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let at = folder.as_ref().map_or(at.as_fd(), AsFd::as_fd);
        folder = Some(openat(at, step.as_os_str(), flags, Mode::empty())?);
    }
    if !is_within(&last) {
        return Err(Errno::XDEV);
    }
    openat(folder.as_ref().map_or(at.as_fd(), AsFd::as_fd), last.as_os_str(), flags, mode)
}

/// Whether the system opens a whole path at once for us.
pub(crate) fn has_openat2(at: impl AsFd) -> bool {
    let flags = FOLDER | OFlags::CLOEXEC;
    openat2(at, ".", flags, Mode::empty(), ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS).is_ok()
}

/// Makes a file that is not there yet, as open to others as the process's umask lets it be.
pub(crate) fn create(at: impl AsFd, path: &Path, is_executable: bool) -> Result<OwnedFd> {
    let mode = Mode::from_raw_mode(if is_executable { 0o777 } else { 0o666 });
    open(at, path, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, mode)
}

/// Opens a folder below `at`, and makes it with those on the way to it where they are missing.
pub(crate) fn make_folders(at: impl AsFd, path: &Path) -> Result<OwnedFd> {
    let within = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    match open_folder(&at, within) {
        Err(Errno::NOENT) => {}
        opened => return opened,
    }
    let mut folder = open_folder(&at, Path::new("."))?;
    for part in path {
        match mkdirat(&folder, part, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(why) => return Err(why),
        }
        folder = open_folder(&folder, Path::new(part))?;
    }
    Ok(folder)
}

/// Opens a folder, if need be after its mode was changed so that its owner may.
fn open_unlocked(path: &Path, open: impl Fn(OFlags) -> Result<OwnedFd>) -> Result<OwnedFd> {
    let opened = match open(FOLDER) {
        Err(Errno::ACCESS) if path.file_name().is_some() => {
            unlock(&open(OFlags::PATH | OFlags::DIRECTORY)?, Mode::RWXU)?;
            open(FOLDER)
        }
        opened => opened,
    }?;
    // Its names may be read, and nothing else of it. Somebody else's stays as it is, and what is asked of it says so.
    if let Err(Errno::ACCESS) = statat(&opened, c".", AtFlags::empty()) {
        let _ = unlock(&opened, Mode::RWXU);
    }
    Ok(opened)
}

/// Gives a folder or file this mode, so that its owner may open it. Its descriptor need not be good for anything else.
pub(crate) fn unlock(closed: &OwnedFd, mode: Mode) -> Result<()> {
    let itself = format!("/proc/self/fd/{}", closed.as_raw_fd());
    chmodat(CWD, itself, mode, AtFlags::empty())
}

/// Shows each name in a folder, from the first on; what appears or goes meanwhile may be shown or not.
pub(crate) fn for_each_name(
    folder: &OwnedFd,
    mut show: impl FnMut(&CStr) -> Result<ControlFlow<()>>,
) -> Result<ControlFlow<()>> {
    seek(folder, SeekFrom::Start(0))?;
    let mut room = vec![MaybeUninit::uninit(); NAMES_BYTES];
    let mut entries = RawDir::new(folder, &mut room);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name();
        if name != c"." && name != c".." && show(name)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    /// Both ways of opening, one of which this kernel may not need.
    const WAYS: [fn(&OwnedFd, &Path) -> Result<OwnedFd>; 2] = [
        |at, path| open(at, path, OFlags::RDONLY, Mode::empty()),
        |at, path| open_stepwise(at, path, OFlags::RDONLY | OFlags::NOFOLLOW, Mode::empty()),
    ];

    #[test]
    fn no_link_is_followed_and_nothing_outside_is_opened() {
        let scratch = tempfile::tempdir().unwrap();
        let inner = scratch.path().join("inner");
        fs::create_dir_all(inner.join("a/b")).unwrap();
        fs::write(inner.join("a/b/file"), "").unwrap();
        fs::write(scratch.path().join("secret"), "").unwrap();
        symlink("..", inner.join("up")).unwrap();
        symlink(scratch.path(), inner.join("away")).unwrap();
        symlink("/proc/self/root", inner.join("magic")).unwrap();
        symlink("a", inner.join("around")).unwrap();
        let root = open_root(&inner).unwrap();
        for (path, is_opened) in [
            ("a/b/file", true),
            ("a", true),
            ("./a/b", true),
            ("../secret", false),
            ("a/../../secret", false),
            ("up/secret", false),
            ("away/secret", false),
            ("away", false),
            ("magic/etc/passwd", false),
            ("around/b/file", false),
            ("/etc/passwd", false),
        ] {
            for way in WAYS {
                assert_eq!(way(&root, Path::new(path)).is_ok(), is_opened, "{path}");
            }
        }
        assert!(open_root(&inner.join("up")).is_err(), "a link in place of the folder itself");
    }
}
