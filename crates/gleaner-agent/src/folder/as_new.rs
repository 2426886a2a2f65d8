//! Whether a folder that a run had can be another's: only if it is as it was made, in everything that one task could
//! leave for the next to see or to trip over.
//!
//! Not only files count: a folder's mode, its extended attributes (access lists among them) and its flags can be changed
//! by whoever owns it, and outlast the program that did. **On XFS no folder is as new**: its owner can set how much room each file in it gets at
//! once, and only a call that we may not make tells that.

use gleaner_wire::task_folder::TEMPORARY;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{CWD, IFlags, Mode, OFlags, RawDir, flistxattr, fstat, fstatfs, ioctl_getflags, openat};
use rustix::io::{self, Errno};
use std::mem::MaybeUninit;
use std::path::Path;

/// The mode of a run's folder, which belongs to the task's user.
pub(super) const MODE: u32 = 0o700;
/// More than an empty folder takes on any file system; one that was full may stay large when it is empty again.
const LENGTH_MAX: i64 = 4_096;
/// Names that differ in case only are one: a flag that rustix has no name for.
const CASEFOLD: IFlags = IFlags::from_bits_retain(0x4000_0000);
/// What XFS calls its kind.
const XFS: i64 = 0x5846_5342;
/// What a system with labels gives each file by itself.
const LABEL: &[u8] = b"security.selinux\0";

/// Whether nothing is in a run's folder but its empty folder for temporary files, and both are as they were made;
/// `is_owner` says whose they may be.
pub(crate) fn is_as_new(folder: &Path, is_owner: impl Fn(u32) -> bool) -> bool {
    let check = || -> io::Result<bool> {
        let outer = open(CWD, folder)?;
        let inner = open(&outer, Path::new(TEMPORARY))?;
        Ok(fstatfs(&outer)?.f_type != XFS
            && is_plain(&outer, &is_owner)?
            && is_plain(&inner, &is_owner)?
            && holds_only(&outer, Some(TEMPORARY))?
            && holds_only(&inner, None)?)
    };
    check().unwrap_or(false)
}

fn open(at: impl AsFd, path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(at, path, flags, Mode::empty())
}

fn is_plain(folder: &OwnedFd, is_owner: impl Fn(u32) -> bool) -> io::Result<bool> {
    let data = fstat(folder)?;
    Ok(data.st_mode & 0o7777 == MODE
        && is_owner(data.st_uid)
        && data.st_size <= LENGTH_MAX
        && has_no_attributes(folder)?
        && has_no_flags(folder)?)
}

/// Whether nothing but the system gave a file attributes.
pub(crate) fn has_no_attributes(file: impl AsFd) -> io::Result<bool> {
    let mut names = [0; 64];
    match flistxattr(file, &mut names[..]) {
        Ok(length) => Ok(names[..length].is_empty() || &names[..length] == LABEL),
        // The file system knows none.
        Err(Errno::NOTSUP) => Ok(true),
        Err(other) => Err(other),
    }
}

/// None of those that a file's owner may set; a file system has others for itself.
fn has_no_flags(folder: &OwnedFd) -> io::Result<bool> {
    match ioctl_getflags(folder) {
        Ok(flags) => Ok(!flags.intersects(IFlags::all() | CASEFOLD)),
        Err(Errno::NOTTY | Errno::NOTSUP) => Ok(true),
        Err(other) => Err(other),
    }
}

fn holds_only(folder: &OwnedFd, name: Option<&str>) -> io::Result<bool> {
    // Room for more names than are expected; of any more there is no need to know.
    let mut buffer = [MaybeUninit::uninit(); 512];
    let mut entries = RawDir::new(folder, &mut buffer);
    let mut met = None;
    while let Some(entry) = entries.next() {
        match entry?.file_name().to_bytes() {
            b"." | b".." => {}
            found if met.is_none() && name.is_some_and(|name| name.as_bytes() == found) => met = name,
            _ => return Ok(false),
        }
    }
    Ok(met == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::make_new;
    use rustix::fs::{XattrFlags, ioctl_setflags, setxattr};
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    fn ours(owner: u32) -> bool {
        owner == rustix::process::geteuid().as_raw()
    }

    #[test]
    fn only_a_folder_as_it_was_made_is_as_new() {
        type Deed = fn(&Path);
        let deeds: [(&str, bool, Deed); 9] = [
            ("nothing", true, |_| {}),
            ("what is gone again", true, |folder| {
                fs::write(folder.join("a"), "a").unwrap();
                fs::remove_file(folder.join("a")).unwrap();
            }),
            ("a file", false, |folder| fs::write(folder.join("a"), "a").unwrap()),
            ("a temporary file", false, |folder| fs::write(folder.join(".tmp/a"), "a").unwrap()),
            ("no folder for temporary files", false, |folder| fs::remove_dir(folder.join(".tmp")).unwrap()),
            ("a link instead of it", false, |folder| {
                fs::remove_dir(folder.join(".tmp")).unwrap();
                std::os::unix::fs::symlink("/", folder.join(".tmp")).unwrap();
            }),
            ("another mode", false, |folder| {
                fs::set_permissions(folder, Permissions::from_mode(0o777)).unwrap();
            }),
            ("an attribute", false, |folder| {
                let set = setxattr(folder, "user.note", b"secret", XattrFlags::empty());
                // Where there are no attributes, nothing can be left in one.
                set.unwrap_or_else(|_| fs::write(folder.join("a"), "a").unwrap());
            }),
            ("a flag", false, |folder| {
                let open = fs::File::open(folder).unwrap();
                let set =
                    ioctl_getflags(&open).and_then(|flags| ioctl_setflags(&open, flags | IFlags::NODUMP));
                set.unwrap_or_else(|_| fs::write(folder.join("a"), "a").unwrap());
            }),
        ];
        for (what, expected, deed) in deeds {
            let within = tempfile::tempdir().unwrap();
            let folder = within.path().join("folder");
            make_new(&folder).unwrap();
            deed(&folder);
            let is_on_xfs = rustix::fs::statfs(&folder).unwrap().f_type == XFS;
            assert_eq!(is_as_new(&folder, ours), expected && !is_on_xfs, "{what}");
        }
    }

    #[test]
    fn a_strangers_folder_is_not_as_new() {
        let within = tempfile::tempdir().unwrap();
        let folder = within.path().join("folder");
        make_new(&folder).unwrap();
        assert!(!is_as_new(&folder, |owner| !ours(owner)));
    }
}
