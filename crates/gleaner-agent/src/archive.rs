//! Folders as tar archives, and back.
//!
//! - **The same files give the same bytes**: entries are in order of their names, and bear no times and no owners.
//! - **No link is followed**, neither on the way in nor on the way out: a task could have made it point anywhere.
//! - Only files, folders and symbolic links are packed; only these are unpacked, and only below the folder given.

use gleaner_wire::limits::BLOB_BYTES_MAX;
use rustix::fs::OFlags;
use std::collections::BTreeMap;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tar::{Archive, Builder, EntryType, Header};

/// Entries of one archive.
pub const ENTRIES_MAX: usize = 200_000;

/// Why a folder could not be packed or an archive not unpacked.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The system refused.
    #[error("{path}: {why}", path = path.display())]
    File {
        /// What it was about.
        path: PathBuf,
        /// What the system said.
        why: io::Error,
    },
    /// Too many files.
    #[error("{path} holds more than {ENTRIES_MAX} files", path = .0.display())]
    TooMany(PathBuf),
    /// Too many bytes.
    #[error("{path} holds more than {BLOB_BYTES_MAX} bytes", path = .0.display())]
    TooLarge(PathBuf),
    /// Something that does not belong into an archive of ours.
    #[error("the archive holds {0:?}, which is no file, folder or symbolic link in it")]
    Foreign(PathBuf),
}

/// What is in a folder: each path relative to it, with what it is; links are not followed.
pub type Listing = BTreeMap<PathBuf, Metadata>;

/// Everything below `folder` but what is in one of the `except`ed folders right below it.
pub fn list(folder: &Path, except: &[&str]) -> Result<Listing, ArchiveError> {
    let mut found = Listing::new();
    let mut open = vec![PathBuf::new()];
    while let Some(inner) = open.pop() {
        let path = folder.join(&inner);
        let failed = |why| ArchiveError::File { path: path.clone(), why };
        for entry in fs::read_dir(&path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let relative = inner.join(entry.file_name());
            if except.iter().any(|except| relative == Path::new(except)) {
                continue;
            }
            let kind = entry.metadata().map_err(failed)?;
            if kind.is_dir() {
                open.push(relative.clone());
            }
            found.insert(relative, kind);
            if found.len() > ENTRIES_MAX {
                return Err(ArchiveError::TooMany(folder.into()));
            }
        }
    }
    Ok(found)
}

/// Bytes of all files in a listing.
pub fn size(listing: &Listing) -> u64 {
    listing.values().filter(|kind| kind.is_file()).map(Metadata::len).sum()
}

/// Writes what is listed of `folder` to `into`.
pub fn pack(folder: &Path, listing: &Listing, into: impl Write) -> Result<(), ArchiveError> {
    if size(listing) > BLOB_BYTES_MAX {
        return Err(ArchiveError::TooLarge(folder.into()));
    }
    let mut archive = Builder::new(into);
    for (relative, kind) in listing {
        add(&mut archive, folder, relative, kind)
            .map_err(|why| ArchiveError::File { path: folder.join(relative), why })?;
    }
    archive.finish().map_err(|why| ArchiveError::File { path: folder.into(), why })
}

fn add(archive: &mut Builder<impl Write>, folder: &Path, relative: &Path, kind: &Metadata) -> io::Result<()> {
    let path = folder.join(relative);
    let mut header = Header::new_gnu();
    header.set_mode(if kind.is_dir() || kind.permissions().mode() & 0o100 != 0 { 0o755 } else { 0o644 });
    header.set_mtime(0);
    header.set_size(0);
    if kind.is_dir() {
        header.set_entry_type(EntryType::Directory);
        archive.append_data(&mut header, relative, io::empty())
    } else if kind.is_symlink() {
        header.set_entry_type(EntryType::Symlink);
        archive.append_link(&mut header, relative, fs::read_link(path)?)
    } else if kind.is_file() {
        let file = open_plain(&path)?;
        header.set_entry_type(EntryType::Regular);
        header.set_size(kind.len());
        // Exactly as long as the header says; nothing writes to it any more, but a disk can fail.
        archive.append_data(&mut header, relative, file.chain(io::repeat(0)).take(kind.len()))
    } else {
        Ok(())
    }
}

/// Opens a file that is no link; a named pipe in its place is not waited for.
fn open_plain(path: &Path) -> io::Result<File> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

/// Puts the files of an archive into `folder`.
pub fn unpack(archive: impl Read, folder: &Path) -> Result<(), ArchiveError> {
    let failed = |why| ArchiveError::File { path: folder.into(), why };
    let mut archive = Archive::new(archive);
    archive.set_preserve_mtime(false);
    let mut left = BLOB_BYTES_MAX;
    for (count, entry) in archive.entries().map_err(failed)?.enumerate() {
        let mut entry = entry.map_err(failed)?;
        let name = entry.path().map_err(failed)?.into_owned();
        let kind = entry.header().entry_type();
        if !matches!(kind, EntryType::Regular | EntryType::Directory | EntryType::Symlink) {
            return Err(ArchiveError::Foreign(name));
        }
        if count >= ENTRIES_MAX {
            return Err(ArchiveError::TooMany(folder.into()));
        }
        left = left.checked_sub(entry.size()).ok_or_else(|| ArchiveError::TooLarge(folder.into()))?;
        let is_inside =
            entry.unpack_in(folder).map_err(|why| ArchiveError::File { path: folder.join(&name), why })?;
        if !is_inside {
            return Err(ArchiveError::Foreign(name));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn packed(folder: &Path) -> Vec<u8> {
        let mut bytes = Vec::new();
        pack(folder, &list(folder, &["left-out"]).expect("it is there"), &mut bytes).expect("it can be read");
        bytes
    }

    #[test]
    fn what_is_packed_comes_back_and_always_as_the_same_bytes() {
        let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for folder in ["b", "left-out", "b/left-out"] {
            fs::create_dir(from.path().join(folder)).unwrap();
        }
        for file in ["z", "b/a", "b/left-out/kept", "left-out/gone"] {
            fs::write(from.path().join(file), file).unwrap();
        }
        fs::set_permissions(from.path().join("z"), fs::Permissions::from_mode(0o751)).unwrap();
        symlink("/etc/passwd", from.path().join("link")).unwrap();
        let bytes = packed(from.path());
        unpack(bytes.as_slice(), to.path()).unwrap();
        assert_eq!(packed(to.path()), bytes);
        assert_eq!(fs::read(to.path().join("b/left-out/kept")).unwrap(), b"b/left-out/kept");
        assert_eq!(fs::read_link(to.path().join("link")).unwrap(), Path::new("/etc/passwd"));
        assert!(!to.path().join("left-out").exists());
    }

    #[test]
    fn an_archive_cannot_reach_outside() {
        for (name, kind) in [("../x", EntryType::Regular), ("x", EntryType::Link), ("x", EntryType::Char)] {
            let mut header = Header::new_gnu();
            header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
            header.set_size(0);
            header.set_mode(0o644);
            header.set_entry_type(kind);
            header.set_cksum();
            let mut archive = Builder::new(Vec::new());
            archive.append(&header, io::empty()).unwrap();
            let folder = tempfile::tempdir().unwrap();
            let inner = folder.path().join("inner");
            fs::create_dir(&inner).unwrap();
            let result = unpack(archive.into_inner().unwrap().as_slice(), &inner);
            assert!(matches!(result, Err(ArchiveError::Foreign(_))), "{name}: {result:?}");
            assert!(!folder.path().join("x").exists());
        }
    }

    #[test]
    fn a_link_inside_does_not_lead_files_outside() {
        let mut archive = Builder::new(Vec::new());
        let outside = tempfile::tempdir().unwrap();
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Symlink);
        header.set_size(0);
        archive.append_link(&mut header, "door", outside.path()).unwrap();
        let mut header = Header::new_gnu();
        header.set_size(4);
        header.set_mode(0o644);
        archive.append_data(&mut header, "door/evil", &b"evil"[..]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        assert!(unpack(archive.into_inner().unwrap().as_slice(), folder.path()).is_err());
        assert!(!outside.path().join("evil").exists());
    }
}
