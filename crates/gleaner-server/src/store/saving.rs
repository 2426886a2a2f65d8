//! Folders in which something is put together and that do not stay.

use std::path::{Path, PathBuf};
use std::{fs, io};

/// The folder in which a damaged journal is put together; it is removed in the end.
#[derive(Debug)]
pub(super) struct Saving(PathBuf);

impl Saving {
    /// The folder at that path.
    pub(super) fn of(folder: &Path) -> Self {
        Self(folder.to_owned())
    }
}

impl Drop for Saving {
    fn drop(&mut self) {
        if let Err(error) = clear(&self.0) {
            tracing::warn!("{} cannot be removed: {error}", self.0.display());
        }
    }
}

/// Removes a folder, if it is there.
pub(super) fn clear(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}
