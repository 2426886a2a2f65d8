//! What was unpacked, moved to where it is to be: all of it, or nothing where something is in its way.

use super::{ArchiveError, Listing, is_file, kind_of, list};
use crate::beneath;
use rustix::fd::AsFd;
use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, renameat};
use rustix::io::Errno;
use std::path::Path;

/// What becomes of files and links that are where a file is to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Existing {
    /// They stay, and are an error.
    Stays,
    /// The file takes their place.
    GivesWay,
}

/// Moves the files below `from` to below `to`, on the same file system. `from` has files and folders only, and nobody else
/// writes to it. Nothing is moved before it is known that there is room for all.
pub fn place(from: impl AsFd, to: impl AsFd, existing: Existing) -> Result<(), ArchiveError> {
    let found: Listing = list(&from, &[])?;
    found.iter().try_for_each(|(path, about)| expect_room(&to, path, about, existing))?;
    for (path, about) in &found {
        let failed = |why: Errno| ArchiveError::File { path: path.clone(), why: why.into() };
        if is_file(about) {
            let within =
                beneath::make_folders(&to, path.parent().unwrap_or(Path::new(""))).map_err(failed)?;
            renameat(&from, path, &within, path.file_name().unwrap_or_default()).map_err(failed)?;
        } else {
            beneath::make_folders(&to, path).map_err(failed)?;
        }
    }
    Ok(())
}

/// That what is listed can be put there.
fn expect_room(to: impl AsFd, path: &Path, about: &Stat, existing: Existing) -> Result<(), ArchiveError> {
    let failed = |why: Errno| ArchiveError::File { path: path.to_owned(), why: why.into() };
    let there = match beneath::open(to, path, OFlags::PATH, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(()),
        opened => opened.and_then(fstat).map_err(failed)?,
    };
    let is_folder = |about: &Stat| kind_of(about) == FileType::Directory;
    match (is_folder(about), is_folder(&there), existing) {
        (true, true, _) | (false, false, Existing::GivesWay) => Ok(()),
        (true, false, _) => Err(failed(Errno::NOTDIR)),
        (false, _, Existing::Stays) => Err(ArchiveError::Exists(path.to_owned())),
        (false, true, Existing::GivesWay) => Err(failed(Errno::ISDIR)),
    }
}
