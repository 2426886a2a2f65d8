//! An archive's entries put below a folder, one by one.

use super::{ArchiveError, ENTRIES_MAX, PATH_BYTES_MAX};
use crate::beneath;
use gleaner_wire::limits::BLOB_BYTES_MAX;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::symlinkat;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};
use tar::{Archive, Entry, EntryType};

/// What is taken from an archive. What is there stays, and is an error.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Taking {
    /// All, links too, into a folder whose links nobody of ours follows.
    All,
    /// Files and folders; a link is an error.
    Files,
}

/// Puts the files of an archive into `folder`, with the modes that the process's umask leaves.
pub fn unpack(archive: impl Read, folder: impl AsFd, taking: Taking) -> Result<(), ArchiveError> {
    unpack_at_most(BLOB_BYTES_MAX, archive, folder, taking).map(drop)
}

/// Likewise, with no more than so many bytes in all files together, counted as [`size`](super::size) does; how many there are.
pub(crate) fn unpack_at_most(
    most: u64,
    archive: impl Read,
    folder: impl AsFd,
    taking: Taking,
) -> Result<u64, ArchiveError> {
    let mut archive = Archive::new(archive);
    let (mut left, mut taken) = (BLOB_BYTES_MAX, 0);
    let (mut count, mut long) = (0, Long::default());
    for entry in archive.entries().map_err(ArchiveError::Archive)?.raw(true) {
        let mut entry = entry.map_err(ArchiveError::Archive)?;
        left = left.checked_sub(entry.size()).ok_or(ArchiveError::TooLarge)?;
        match entry.header().entry_type() {
            EntryType::GNULongName => long.name = Some(read_path(&mut entry)?),
            EntryType::GNULongLink => long.target = Some(read_path(&mut entry)?),
            kind => {
                count += 1;
                if count > ENTRIES_MAX {
                    return Err(ArchiveError::TooMany);
                }
                // All entries together are no more than what was left at first.
                taken += entry.size();
                if taken > most {
                    return Err(ArchiveError::TooLarge);
                }
                put(&mut entry, kind, std::mem::take(&mut long), &folder, taking)?;
            }
        }
    }
    Ok(taken)
}

/// What the entries before one say of it, where its own fields are too short.
#[derive(Default)]
struct Long {
    name: Option<PathBuf>,
    target: Option<PathBuf>,
}

fn put(
    entry: &mut Entry<'_, impl Read>,
    kind: EntryType,
    long: Long,
    folder: impl AsFd,
    taking: Taking,
) -> Result<(), ArchiveError> {
    let name = long.name.unwrap_or_else(|| OsStr::from_bytes(&entry.path_bytes()).into());
    let path = inside(&name)?;
    let failed = |why: io::Error| match why.kind() {
        io::ErrorKind::AlreadyExists => ArchiveError::Exists(path.clone()),
        _ => ArchiveError::File { path: path.clone(), why },
    };
    match (kind, path.file_name()) {
        (EntryType::Directory, _) => {
            beneath::make_folders(folder, &path).map(drop).map_err(|why| failed(why.into()))
        }
        (EntryType::Regular, Some(name)) => {
            let within = parent(folder, &path).map_err(|why| failed(why.into()))?;
            put_file(entry, &within, name).map_err(failed)
        }
        (EntryType::Symlink, Some(name)) => {
            let own = || entry.link_name_bytes().map(|bytes| OsStr::from_bytes(&bytes).into());
            let target: PathBuf = long.target.or_else(own).unwrap_or_default();
            if taking != Taking::All {
                return Err(ArchiveError::Link { path, target });
            }
            let within = parent(folder, &path).map_err(|why| failed(why.into()))?;
            symlinkat(&target, &within, name).map_err(|why| failed(why.into()))
        }
        _ => Err(ArchiveError::Foreign(name)),
    }
}

fn put_file(entry: &mut Entry<'_, impl Read>, within: &OwnedFd, name: &OsStr) -> io::Result<()> {
    let is_executable = entry.header().mode()? & 0o100 != 0;
    let mut file = File::from(beneath::create(within, Path::new(name), is_executable)?);
    let claimed = entry.size();
    if io::copy(entry, &mut file)? == claimed { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// A long path, as an entry of its own.
fn read_path(entry: &mut Entry<'_, impl Read>) -> Result<PathBuf, ArchiveError> {
    let mut bytes = Vec::new();
    // With the zero behind it.
    let most = PATH_BYTES_MAX as u64 + 1;
    if entry.size() > most {
        return Err(ArchiveError::TooDeep);
    }
    entry.take(most).read_to_end(&mut bytes).map_err(ArchiveError::Archive)?;
    if bytes.last() == Some(&0) {
        bytes.pop();
    }
    Ok(OsString::from_vec(bytes).into())
}

/// The path without what says nothing, if it leads nowhere else.
fn inside(name: &Path) -> Result<PathBuf, ArchiveError> {
    let mut path = PathBuf::new();
    for part in name.components() {
        match part {
            Component::Normal(part) => path.push(part),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(ArchiveError::Foreign(name.into()));
            }
        }
    }
    if path.as_os_str().len() > PATH_BYTES_MAX { Err(ArchiveError::TooDeep) } else { Ok(path) }
}

/// The folder in which a path's last part is to be, made if need be.
fn parent(folder: impl AsFd, path: &Path) -> rustix::io::Result<OwnedFd> {
    beneath::make_folders(folder, path.parent().unwrap_or(Path::new("")))
}
