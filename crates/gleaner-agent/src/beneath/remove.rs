//! Removing a folder with everything in it, however deep it is.
//!
//! What is in a folder of the folder is moved up beside it, until nothing is below anything: so two descriptors are
//! enough, and there is no path to be too long.

use super::{for_each_name, open, open_folder, open_root, unlock};
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode, OFlags, renameat, unlinkat};
use rustix::io::{Errno, Result};
use std::ffi::{CStr, CString, OsStr};
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Removes a folder and everything in it; one that is not there is removed. Removes what it can also if something cannot
/// be removed.
pub(crate) fn remove(folder: &Path) -> io::Result<()> {
    match open_root(folder) {
        Ok(root) => Emptying { root, moved: 0, progress: false, failed: None }.run()?,
        Err(Errno::NOENT) => return Ok(()),
        // A file or a link in its place.
        Err(Errno::NOTDIR | Errno::LOOP) => return fs::remove_file(folder),
        Err(why) => return Err(why.into()),
    }
    fs::remove_dir(folder)
}

struct Emptying {
    root: OwnedFd,
    /// How many were moved up, for their names.
    moved: u64,
    /// Whether this round did anything.
    progress: bool,
    /// What went wrong first in this round.
    failed: Option<Errno>,
}

impl Emptying {
    fn run(mut self) -> Result<()> {
        loop {
            (self.progress, self.failed) = (false, None);
            let mut is_empty = true;
            let root = open_folder(&self.root, Path::new("."))?;
            let _ = for_each_name(&root, |name| {
                is_empty = false;
                self.take_apart(name);
                Ok(ControlFlow::Continue(()))
            })?;
            match self.failed {
                _ if is_empty => return Ok(()),
                Some(why) if !self.progress => return Err(why),
                Some(_) | None => {}
            }
        }
    }

    /// Removes what is right below the root, or moves up what is in it.
    fn take_apart(&mut self, name: &CStr) {
        let done = match unlink(&self.root, name) {
            Err(Errno::NOTEMPTY | Errno::EXIST) => self.empty(name),
            done => done,
        };
        match done {
            Ok(()) => self.progress = true,
            Err(why) => self.failed = self.failed.or(Some(why)),
        }
    }

    fn empty(&mut self, name: &CStr) -> Result<()> {
        let folder = open_folder(&self.root, path(name))?;
        let mut failed = None;
        let _ = for_each_name(&folder, |inner| {
            let done = match unlink(&folder, inner) {
                Err(Errno::NOTEMPTY | Errno::EXIST) => self.move_up(&folder, inner),
                done => done,
            };
            match done {
                Ok(()) => self.progress = true,
                Err(why) => failed = failed.or(Some(why)),
            }
            Ok(ControlFlow::Continue(()))
        })?;
        failed.map_or_else(|| unlinkat(&self.root, name, AtFlags::REMOVEDIR), Err)
    }

    fn move_up(&mut self, from: &OwnedFd, name: &CStr) -> Result<()> {
        loop {
            self.moved += 1;
            let to = CString::new(format!(".moved-{}", self.moved)).expect("it has no zero in it");
            match renameat(from, name, &self.root, to.as_c_str()) {
                // Taken: by a name that the task chose.
                Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOTDIR | Errno::ISDIR) => {}
                // To be moved, a folder must be open to its owner.
                Err(Errno::ACCESS) => {
                    unlock(
                        &open(from, path(name), OFlags::PATH | OFlags::DIRECTORY, Mode::empty())?,
                        Mode::RWXU,
                    )?;
                    return renameat(from, name, &self.root, to.as_c_str());
                }
                moved => return moved,
            }
        }
    }
}

/// Removes a file, or a folder that is empty.
fn unlink(at: &OwnedFd, name: &CStr) -> Result<()> {
    let unlinked = match unlinkat(at, name, AtFlags::empty()) {
        Err(Errno::ISDIR | Errno::PERM) => unlinkat(at, name, AtFlags::REMOVEDIR),
        unlinked => unlinked,
    };
    match unlinked {
        Err(Errno::NOENT) => Ok(()),
        // It is a file after all, which may not be removed.
        Err(Errno::NOTDIR) => Err(Errno::PERM),
        unlinked => unlinked,
    }
}

fn path(name: &CStr) -> &Path {
    Path::new(OsStr::from_bytes(name.to_bytes()))
}

#[cfg(test)]
mod tests {
    use super::super::walk::tests::nest;
    use super::*;
    use rustix::fs::{CWD, FileType, IFlags, ioctl_getflags, ioctl_setflags, mknodat};
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn however_deep_it_is_it_goes() {
        // In memory: a disk takes minutes.
        let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
        let folder = scratch.path().join("task");
        fs::create_dir_all(folder.join("wide/a/b")).unwrap();
        nest(&folder, 30_000);
        nest(&folder.join("wide/a/b"), 100);
        // Names that the removal would give itself.
        fs::create_dir_all(folder.join(".moved-1/x/y")).unwrap();
        fs::write(folder.join(".moved-2"), "").unwrap();
        mknodat(CWD, folder.join("pipe"), FileType::Fifo, Mode::RWXU, 0).unwrap();
        remove(&folder).unwrap();
        assert!(!folder.exists());
        remove(&folder).unwrap();
    }

    #[test]
    fn links_are_removed_and_not_what_they_lead_to() {
        let scratch = tempfile::tempdir().unwrap();
        let (folder, kept) = (scratch.path().join("task"), scratch.path().join("kept"));
        fs::create_dir_all(folder.join("a")).unwrap();
        fs::create_dir_all(kept.join("b")).unwrap();
        fs::write(kept.join("b/file"), "kept").unwrap();
        symlink(&kept, folder.join("link")).unwrap();
        symlink(kept.join("b"), folder.join("a/link")).unwrap();
        remove(&folder).unwrap();
        symlink(&kept, &folder).unwrap();
        remove(&folder).unwrap();
        assert_eq!(fs::read(kept.join("b/file")).unwrap(), b"kept");
    }

    #[test]
    fn what_is_closed_to_its_owner_is_opened() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("task");
        fs::create_dir_all(folder.join("a/b/c")).unwrap();
        fs::write(folder.join("a/b/c/file"), "").unwrap();
        for closed in ["a/b/c", "a/b", "a", ""] {
            fs::set_permissions(folder.join(closed), fs::Permissions::from_mode(0o0)).unwrap();
        }
        remove(&folder).unwrap();
        assert!(!folder.exists());
    }

    /// Only root can mark a file so, and only some file systems know the mark.
    #[test]
    fn all_goes_but_what_cannot_and_that_is_said() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("task");
        fs::create_dir_all(folder.join("a/b")).unwrap();
        fs::write(folder.join("gone"), "").unwrap();
        let fast = fs::File::create(folder.join("a/b/fast")).unwrap();
        let marked = ioctl_getflags(&fast).and_then(|flags| {
            ioctl_setflags(&fast, flags | IFlags::IMMUTABLE)?;
            Ok(flags)
        });
        let Ok(before) = marked else {
            eprintln!("SKIPPED: no file can be made immutable here");
            return;
        };
        let removed = remove(&folder);
        ioctl_setflags(&fast, before).unwrap();
        assert!(removed.is_err());
        assert!(!folder.join("gone").exists());
        remove(&folder).unwrap();
    }
}
