//! A blob on its way in: a file of its own that goes away again unless it is published.

use crate::blobs::{BlobError, Put, PutError};
use crate::store::{Lack, Promise};
use gleaner_net::Disk;
use gleaner_wire::BlobHash;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const BUFFER_BYTES: usize = 64 << 10;

pub(super) struct Incoming {
    file: File,
    path: PathBuf,
}

impl Incoming {
    pub(super) fn create(path: PathBuf) -> Result<Self, PutError> {
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        Ok(Self { file: file.map_err(|source| failure(&path, source))?, path })
    }

    /// Writes all that `body` holds, if that is `at_most` bytes and there is room for them.
    pub(super) fn fill(
        &mut self,
        body: &mut dyn Read,
        at_most: u64,
        mut promise: Promise<'_>,
    ) -> Result<Put, PutError> {
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut hasher = blake3::Hasher::new();
        let mut bytes = 0;
        loop {
            let part = match body.read(&mut buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                read => &buffer[..read.map_err(|source| PutError::Body { source })?],
            };
            if part.is_empty() {
                return Ok(Put { id: BlobHash::from(hasher.finalize()), bytes });
            }
            bytes += part.len() as u64;
            if bytes > at_most {
                return Err(PutError::TooLarge { at_most });
            }
            hasher.update(part);
            let kept = promise.use_up(part.len() as u64).and_then(|()| self.file.write_all(part));
            kept.map_err(|source| failure(&self.path, source))?;
        }
    }

    /// What was written outlasts the loss of power from here on, and counts as written at `at`.
    pub(super) fn sync(&self, at: SystemTime) -> Result<(), PutError> {
        let synced = self.file.set_modified(at).and_then(|()| self.file.sync_all());
        synced.map_err(|source| failure(&self.path, source))
    }

    /// Gives it its final name.
    pub(super) fn publish(self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        // Gone already if it was published; what stays for another reason is swept at the next start.
        let _ = fs::remove_file(&self.path);
    }
}

pub(super) fn failure(path: &Path, source: io::Error) -> PutError {
    match source.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            // Its folder may be what could not be made.
            let disk = path.ancestors().skip(1).find_map(|folder| Disk::of(folder).ok());
            PutError::DiskFull(Lack::of(&source, disk.as_ref()))
        }
        _ => PutError::Io(BlobError { path: path.to_owned(), source }),
    }
}
