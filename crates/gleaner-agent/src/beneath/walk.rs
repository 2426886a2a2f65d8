//! Looking at everything below a folder, while tasks may be changing it.

use super::{for_each_name, open_folder, open_root};
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, openat, statat};
use rustix::io::{Errno, Result};
use std::collections::BTreeSet;
use std::ffi::{CStr, CString, OsStr};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Folders that are held open on the way down; the way back to those further down is found by `..`, and checked.
const HELD_MAX: usize = 48;
/// What a file or folder takes besides what is in it.
const ENTRY_BYTES: u64 = 256;
/// What the system counts room in.
const BLOCK_BYTES: u64 = 512;
/// How often a folder is looked through that changes so that it cannot be.
const TRIES_MAX: u32 = 8;

/// Folders in one folder, whose names are remembered while they are walked through. A folder with more is walked through by nobody.
const FOLDERS_MAX: usize = 2_000_000;

/// How much of a folder was seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Seen {
    /// All, unless whoever looked had enough.
    Whole,
    /// Something was moved away or closed meanwhile, with what is in it.
    Part,
}

/// A folder on the way down, and the folders in it that are yet to be entered.
struct Level {
    /// Always there for the first [`HELD_MAX`] and for the last.
    folder: Option<OwnedFd>,
    is: (u64, u64),
    inner: Vec<CString>,
}

/// Shows everything below a folder, each with the folder that it is in.
pub(crate) fn walk(
    root: OwnedFd,
    visit: impl FnMut(&OwnedFd, &CStr, &Stat) -> Result<ControlFlow<()>>,
) -> Result<Seen> {
    walk_narrow(root, FOLDERS_MAX, visit)
}

/// Likewise, with no more than so many folders in one; else [`Errno::TOOBIG`].
fn walk_narrow(
    root: OwnedFd,
    most: usize,
    mut visit: impl FnMut(&OwnedFd, &CStr, &Stat) -> Result<ControlFlow<()>>,
) -> Result<Seen> {
    let mut seen = Seen::Whole;
    let ControlFlow::Continue(first) = enter(root, most, &mut visit)? else { return Ok(seen) };
    let mut levels = vec![first];
    while let Some(level) = levels.last_mut() {
        let Some(name) = level.inner.pop() else {
            let left = levels.pop().and_then(|level| level.folder);
            if let Some(above) = levels.last_mut().filter(|above| above.folder.is_none()) {
                above.folder = left.and_then(|left| parent(&left, above.is));
                if above.folder.is_none() {
                    seen = Seen::Part;
                    levels.truncate(HELD_MAX);
                }
            }
            continue;
        };
        let here = level.folder.as_ref().expect("the last one is open");
        let inner = match open_folder(here, Path::new(OsStr::from_bytes(name.as_bytes()))) {
            Ok(inner) => inner,
            // Gone, or something else by now.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => continue,
            Err(Errno::ACCESS) => {
                seen = Seen::Part;
                continue;
            }
            Err(why) => return Err(why),
        };
        let ControlFlow::Continue(next) = enter(inner, most, &mut visit)? else { return Ok(seen) };
        if levels.len() > HELD_MAX {
            levels.last_mut().expect("there is one").folder = None;
        }
        levels.push(next);
    }
    Ok(seen)
}

fn enter(
    folder: OwnedFd,
    most: usize,
    visit: &mut impl FnMut(&OwnedFd, &CStr, &Stat) -> Result<ControlFlow<()>>,
) -> Result<ControlFlow<(), Level>> {
    let about = fstat(&folder)?;
    let mut inner = Vec::new();
    let shown = for_each_name(&folder, |name| {
        let about = match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(ControlFlow::Continue(())),
            about => about?,
        };
        if FileType::from_raw_mode(about.st_mode) == FileType::Directory {
            if inner.len() == most {
                return Err(Errno::TOOBIG);
            }
            inner.push(name.to_owned());
        }
        visit(&folder, name, &about)
    })?;
    let is = identity(&about);
    Ok(shown.map_continue(|()| Level { folder: Some(folder), is, inner }))
}

/// The folder above, if it is still the one that was come through.
fn parent(folder: impl AsFd, is: (u64, u64)) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let above = openat(folder, c"..", flags, Mode::empty()).ok()?;
    (identity(&fstat(&above).ok()?) == is).then_some(above)
}

/// What tells a file from all others.
fn identity(about: &Stat) -> (u64, u64) {
    (about.st_dev, about.st_ino)
}

/// Bytes that everything below a folder takes on its disk, each file once; looks no further when it has more than
/// `enough`. None if the folder cannot be looked through, however often, or has too many folders in one: a folder of a task does so on purpose.
pub(crate) fn size(folder: &Path, enough: u64) -> Result<Option<u64>> {
    size_of_narrow(folder, FOLDERS_MAX, enough)
}

fn size_of_narrow(folder: &Path, most: usize, enough: u64) -> Result<Option<u64>> {
    for _ in 0..TRIES_MAX {
        let (mut bytes, mut linked) = (0, BTreeSet::new());
        let seen = walk_narrow(open_root(folder)?, most, |_, _, about| {
            let is_first = about.st_nlink < 2
                || FileType::from_raw_mode(about.st_mode) == FileType::Directory
                || linked.insert(identity(about));
            let room = if is_first { about.st_blocks.cast_unsigned() * BLOCK_BYTES } else { 0 };
            bytes += ENTRY_BYTES + room;
            Ok(if bytes > enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        });
        match seen {
            Err(Errno::TOOBIG) => return Ok(None),
            Err(why) => return Err(why),
            Ok(seen) if seen == Seen::Whole || bytes > enough => return Ok(Some(bytes)),
            Ok(_) => {}
        }
    }
    Ok(None)
}

/// Whether more than so many files and folders are below a folder. One that cannot be looked through, however often, has as many.
pub(crate) fn holds_more_than(most: u64, folder: &Path) -> Result<bool> {
    for _ in 0..TRIES_MAX {
        let mut count = 0;
        let seen = walk(open_root(folder)?, |_, _, _| {
            count += 1;
            Ok(if count > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        if seen == Seen::Whole || count > most {
            return Ok(count > most);
        }
    }
    Ok(true)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use rustix::fs::{mkdirat, symlinkat};
    use std::fs;

    /// Folders in folders, deeper than any path is long.
    pub(in crate::beneath) fn nest(folder: &Path, depth: usize) {
        let mut at = open_root(folder).unwrap();
        for _ in 0..depth {
            mkdirat(&at, "n", Mode::RWXU).unwrap();
            symlinkat("/etc", &at, "link").unwrap();
            at = open_folder(&at, Path::new("n")).unwrap();
        }
        let flags = OFlags::WRONLY | OFlags::CREATE;
        let file = super::super::open(&at, Path::new("deep"), flags, Mode::RWXU).unwrap();
        rustix::io::write(&file, &vec![1; 100_000]).unwrap();
    }

    #[test]
    fn what_lies_deep_counts_and_a_file_counts_once() {
        // In memory: a disk takes minutes.
        let scratch = tempfile::tempdir_in("/dev/shm").unwrap();
        nest(scratch.path(), 5_000);
        let deep = size(scratch.path(), u64::MAX).unwrap().unwrap();
        assert!(deep > 100_000, "{deep}");
        let wide = tempfile::tempdir().unwrap();
        fs::write(wide.path().join("0"), vec![1; 1 << 20]).unwrap();
        for link in 1..10 {
            fs::hard_link(wide.path().join("0"), wide.path().join(link.to_string())).unwrap();
        }
        let once = size(wide.path(), u64::MAX).unwrap().unwrap();
        assert!((1 << 20..2 << 20).contains(&once), "{once}");
    }

    #[test]
    fn holes_take_no_room_and_names_do() {
        let scratch = tempfile::tempdir().unwrap();
        fs::File::create(scratch.path().join("holes")).unwrap().set_len(1 << 40).unwrap();
        assert!(size(scratch.path(), u64::MAX).unwrap().unwrap() < 1 << 20);
        for number in 0..1_000 {
            fs::write(scratch.path().join(number.to_string()), "").unwrap();
        }
        assert!(size(scratch.path(), u64::MAX).unwrap().unwrap() >= 1_000 * ENTRY_BYTES);
        let enough = size(scratch.path(), 10_000).unwrap().unwrap();
        assert!((10_000..20_000).contains(&enough), "{enough}");
    }

    #[test]
    fn many_folders_in_one_are_too_much_and_take_no_memory() {
        let scratch = tempfile::tempdir().unwrap();
        for number in 0..5 {
            fs::create_dir_all(scratch.path().join(format!("{number}/inner"))).unwrap();
        }
        for (most, is_seen) in [(4, false), (5, true)] {
            let found = size_of_narrow(scratch.path(), most, u64::MAX).unwrap();
            assert_eq!(found.is_some(), is_seen, "{most}: {found:?}");
        }
    }

    #[test]
    fn files_and_folders_are_counted_whatever_is_in_them() {
        let scratch = tempfile::tempdir().unwrap();
        fs::create_dir_all(scratch.path().join("a/b")).unwrap();
        fs::write(scratch.path().join("a/b/c"), "").unwrap();
        for (most, expected) in [(0, true), (2, true), (3, false), (u64::MAX, false)] {
            assert_eq!(holds_more_than(most, scratch.path()).unwrap(), expected, "{most}");
        }
    }

    /// What moves a folder away below which the walk is must not lead the walk out of the tree.
    #[test]
    fn a_folder_that_is_moved_leads_nowhere_else() {
        let scratch = tempfile::tempdir().unwrap();
        let (inside, outside) = (scratch.path().join("in"), scratch.path().join("out"));
        fs::create_dir_all(&inside).unwrap();
        fs::create_dir_all(&outside).unwrap();
        fs::write(outside.join("secret"), "").unwrap();
        let deep = vec!["n"; HELD_MAX + 3].join("/");
        fs::create_dir_all(inside.join(&deep)).unwrap();
        fs::write(inside.join(&deep).join("last"), "").unwrap();
        let mut names = Vec::new();
        let seen = walk(open_root(&inside).unwrap(), |_, name, _| {
            names.push(name.to_owned());
            if name == c"last" {
                fs::rename(inside.join(&deep), outside.join("moved")).unwrap();
            }
            Ok(ControlFlow::Continue(()))
        });
        assert_eq!(seen, Ok(Seen::Part));
        assert!(!names.iter().any(|name| name.as_c_str() == c"secret"), "{names:?}");
    }
}
