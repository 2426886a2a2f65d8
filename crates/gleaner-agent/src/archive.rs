//! Folders as tar archives, and back.
//!
//! - **The same files give the same bytes**: entries are in order of their names, and bear no times and no owners.
//! - **No link is followed**, neither on the way in nor on the way out: a task could have made it point anywhere. Folders
//!   are passed as descriptors, and what is below is opened by [`crate::beneath`] them.
//! - Only files, folders and symbolic links are packed; only these are unpacked, and only below the folder given.
//! - **An archive comes from a stranger**: what it claims of names and sizes takes no memory beyond [`PATH_BYTES_MAX`].

mod place;
mod unpack;

pub use place::{Existing, place};
pub(crate) use unpack::unpack_at_most;
pub use unpack::{Taking, unpack};

use crate::beneath;
use gleaner_wire::limits::BLOB_BYTES_MAX;
use gleaner_wire::text::tamed;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat, fstat, readlinkat, statat};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use tar::{Builder, EntryType, Header};

/// Entries of one archive.
pub const ENTRIES_MAX: usize = 200_000;
/// Bytes of a path in an archive: what the system opens at once.
pub const PATH_BYTES_MAX: usize = 4_095;
/// Bytes of all paths in an archive together.
pub const PATHS_BYTES_MAX: usize = 64 << 20;

/// Why a folder could not be packed or an archive not unpacked. Paths are those in the archive, and so is some of what is said of them:
/// **each is shown without what moves a cursor or deceives the eye**.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The system refused.
    #[error("{path}: {why}", path = shown(path.display()), why = shown(why))]
    File {
        /// What it was about.
        path: PathBuf,
        /// What the system said.
        why: io::Error,
    },
    /// The archive itself makes no sense, or cannot be read or written.
    #[error("the archive: {}", shown(.0))]
    Archive(io::Error),
    /// Too many files.
    #[error("more than {ENTRIES_MAX} files, or {mib} MiB of their names", mib = PATHS_BYTES_MAX >> 20)]
    TooMany,
    /// Too many bytes.
    #[error("more than {BLOB_BYTES_MAX} bytes")]
    TooLarge,
    /// A path that is too long.
    #[error("a path of more than {PATH_BYTES_MAX} bytes: the folders in it are too deep")]
    TooDeep,
    /// Something that does not belong into an archive of ours.
    #[error("the archive holds {path:?}, which is no file, folder or symbolic link in it", path = shown(.0.display()))]
    Foreign(PathBuf),
    /// A link where there are to be files only.
    #[error(
        "the archive holds {path:?}, a link to {target:?}: no agent keeps links, so this is no task's output",
        path = shown(path.display()), target = shown(target.display())
    )]
    Link {
        /// Where it would be.
        path: PathBuf,
        /// Where it would lead.
        target: PathBuf,
    },
    /// Something is where a file would be put.
    #[error("{path} is there already", path = shown(.0.display()))]
    Exists(PathBuf),
    /// A file of somebody else's.
    #[error("{path} is another user's file, and has more names than this one", path = shown(.0.display()))]
    NotItsOwn(PathBuf),
}

/// A text of a stranger's.
fn shown(text: impl Display) -> String {
    tamed(&text.to_string(), usize::MAX)
}

/// What is in a folder: each path relative to it, with what it is; links are not followed.
pub type Listing = BTreeMap<PathBuf, Stat>;

/// Everything below `folder` but what is in one of the `except`ed folders right below it.
pub fn list(folder: impl AsFd, except: &[&str]) -> Result<Listing, ArchiveError> {
    let mut found = Listing::new();
    let mut names_bytes = 0;
    let mut open = vec![PathBuf::new()];
    while let Some(inner) = open.pop() {
        let failed = |why: Errno| ArchiveError::File { path: inner.clone(), why: why.into() };
        let within = if inner.as_os_str().is_empty() { Path::new(".") } else { &inner };
        let opened = beneath::open_folder(&folder, within).map_err(failed)?;
        let mut refused = None;
        let _ = beneath::for_each_name(&opened, |name| {
            let relative = inner.join(OsStr::from_bytes(name.to_bytes()));
            if except.iter().any(|except| relative == Path::new(except)) {
                return Ok(ControlFlow::Continue(()));
            }
            let about = statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW)?;
            let length = relative.as_os_str().len();
            names_bytes += length;
            if length > PATH_BYTES_MAX {
                refused = Some(ArchiveError::TooDeep);
            } else if found.len() >= ENTRIES_MAX || names_bytes > PATHS_BYTES_MAX {
                refused = Some(ArchiveError::TooMany);
            } else {
                if kind_of(&about) == FileType::Directory {
                    open.push(relative.clone());
                }
                found.insert(relative, about);
                return Ok(ControlFlow::Continue(()));
            }
            Ok(ControlFlow::Break(()))
        })
        .map_err(failed)?;
        refused.map_or(Ok(()), Err)?;
    }
    Ok(found)
}

/// Bytes of all files in a listing, as if they had no holes.
pub fn size(listing: &Listing) -> u64 {
    let files = listing.values().filter(|about| is_file(about));
    files.fold(0, |total, about| total.saturating_add(about.st_size.cast_unsigned()))
}

/// Whether something listed is a plain file.
pub fn is_file(about: &Stat) -> bool {
    kind_of(about) == FileType::RegularFile
}

/// Whether it is neither a plain file nor a folder.
pub(crate) fn is_other(about: &Stat) -> bool {
    !is_file(about) && kind_of(about) != FileType::Directory
}

fn kind_of(about: &Stat) -> FileType {
    FileType::from_raw_mode(about.st_mode)
}

/// Writes what is listed of `folder` to `into`.
pub fn pack(folder: impl AsFd, listing: &Listing, into: impl Write) -> Result<(), ArchiveError> {
    if size(listing) > BLOB_BYTES_MAX {
        return Err(ArchiveError::TooLarge);
    }
    let owner = fstat(&folder).map_err(|why| ArchiveError::Archive(why.into()))?.st_uid;
    let mut archive = Builder::new(into);
    for (relative, about) in listing {
        // All that a task makes is its own; a second name for another's file is not its to give away.
        if is_file(about) && about.st_nlink > 1 && about.st_uid != owner {
            return Err(ArchiveError::NotItsOwn(relative.clone()));
        }
        add(&mut archive, &folder, relative, about)
            .map_err(|why| ArchiveError::File { path: relative.clone(), why })?;
    }
    archive.into_inner().and_then(|mut into| into.flush()).map_err(ArchiveError::Archive)
}

fn add(
    archive: &mut Builder<impl Write>,
    folder: impl AsFd,
    relative: &Path,
    about: &Stat,
) -> io::Result<()> {
    let mut header = Header::new_gnu();
    let is_executable = about.st_mode & 0o100 != 0;
    header.set_mode(if kind_of(about) == FileType::Directory || is_executable { 0o755 } else { 0o644 });
    header.set_mtime(0);
    header.set_size(0);
    match kind_of(about) {
        FileType::Directory => {
            header.set_entry_type(EntryType::Directory);
            archive.append_data(&mut header, relative, io::empty())
        }
        FileType::Symlink => {
            header.set_entry_type(EntryType::Symlink);
            let link = beneath::open(folder, relative, OFlags::PATH, Mode::empty())?;
            let target = readlinkat(&link, c"", Vec::new())?;
            archive.append_link(&mut header, relative, OsStr::from_bytes(target.to_bytes()))
        }
        FileType::RegularFile => {
            let length = about.st_size.cast_unsigned();
            let file = File::from(open_listed(folder, relative, about)?);
            header.set_entry_type(EntryType::Regular);
            header.set_size(length);
            // Exactly as long as the header says; nothing writes to it any more, but a disk can fail.
            archive.append_data(&mut header, relative, file.chain(io::repeat(0)).take(length))
        }
        // Pipes, sockets and devices.
        _ => Ok(()),
    }
}

/// Opens the very file that was listed, also where its task made it unreadable; what else may be in its place by now is not
/// waited for and not read.
pub(crate) fn open_listed(folder: impl AsFd, relative: &Path, about: &Stat) -> io::Result<OwnedFd> {
    let open = |flags| -> io::Result<OwnedFd> {
        let file = beneath::open(&folder, relative, flags, Mode::empty())?;
        let now = fstat(&file)?;
        if is_file(&now) && (now.st_dev, now.st_ino) == (about.st_dev, about.st_ino) {
            Ok(file)
        } else {
            Err(io::Error::other("it is another file than it was a moment ago"))
        }
    };
    let to_read = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    match open(to_read) {
        Err(why) if why.kind() == io::ErrorKind::PermissionDenied => {
            let closed = open(OFlags::PATH)?;
            beneath::unlock(&closed, Mode::from_raw_mode(about.st_mode) | Mode::RUSR)?;
            open(to_read)
        }
        opened => opened,
    }
}

#[cfg(test)]
mod mutants;
#[cfg(test)]
mod tests;
