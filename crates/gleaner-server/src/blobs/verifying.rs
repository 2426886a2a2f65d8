//! A reader that tells at the end whether it was the blob that was asked for.

use super::BlobHash;
use std::io::{self, ErrorKind, Read};
use thiserror::Error;

/// The content of a blob is not what its name says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("blob {id} is damaged on the disk: what was read of it must not be used; put it again")]
pub struct DamagedBlob {
    /// The blob.
    pub id: BlobHash,
}

/// Passes on what `inner` reads, and fails instead of ending if that was not `id`.
pub(super) struct Verifying<R> {
    inner: R,
    hasher: blake3::Hasher,
    id: BlobHash,
}

impl<R> Verifying<R> {
    pub(super) fn new(id: BlobHash, inner: R) -> Self {
        Self { inner, hasher: blake3::Hasher::new(), id }
    }
}

impl<R: Read> Read for Verifying<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        let at_end = count == 0 && !buffer.is_empty();
        if at_end && BlobHash::from(self.hasher.finalize()) != self.id {
            return Err(io::Error::new(ErrorKind::InvalidData, DamagedBlob { id: self.id }));
        }
        Ok(count)
    }
}
