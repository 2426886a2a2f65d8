//! Blobs without a disk. It is full when it is told to be.

use gleaner_server::blobs::{Blob, BlobError, Blobs, DamagedBlob, Put, PutError, Removed, Terms};
use gleaner_server::store::Lack;
use gleaner_units::Time;
use gleaner_wire::BlobHash;
use std::collections::BTreeMap;
use std::io::{self, Cursor, ErrorKind, Read};
use std::sync::{Arc, Mutex, MutexGuard};

/// Clones are the same blobs.
#[derive(Clone, Debug)]
pub(crate) struct MemoryBlobs {
    space: u64,
    blobs: Arc<Mutex<BTreeMap<BlobHash, Kept>>>,
}

#[derive(Debug)]
struct Kept {
    at: Time,
    content: Arc<[u8]>,
}

impl MemoryBlobs {
    /// No blobs, and space for so many bytes.
    pub(crate) fn with_space(bytes: u64) -> Self {
        Self { space: bytes, blobs: Arc::default() }
    }

    /// Changes a bit of a blob that is there and not empty, as a disk may.
    pub(crate) fn damage(&self, id: BlobHash) {
        let mut blobs = self.blobs();
        let kept = blobs.get_mut(&id).expect("it is there");
        let mut content = kept.content.to_vec();
        content[0] ^= 1;
        kept.content = content.into();
    }

    fn blobs(&self) -> MutexGuard<'_, BTreeMap<BlobHash, Kept>> {
        self.blobs.lock().expect("nobody panics while holding the blobs")
    }
}

/// Fails in place of an end.
struct Damaged(BlobHash);

impl Read for Damaged {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        Err(io::Error::new(ErrorKind::InvalidData, DamagedBlob { id: self.0 }))
    }
}

fn receive(body: &mut dyn Read, terms: Terms) -> Result<Vec<u8>, PutError> {
    let mut content = Vec::new();
    let most = terms.at_most.saturating_add(1);
    body.take(most).read_to_end(&mut content).map_err(|source| PutError::Body { source })?;
    if content.len() as u64 > terms.at_most {
        return Err(PutError::TooLarge { at_most: terms.at_most });
    }
    let found = BlobHash::of(&content);
    match terms.claimed {
        Some(claimed) if claimed != found => Err(PutError::OtherContent { claimed, found }),
        _ => Ok(content),
    }
}

impl Blobs for MemoryBlobs {
    fn put(&self, body: &mut dyn Read, terms: Terms) -> Result<Put, PutError> {
        let content = receive(body, terms)?;
        let put = Put { id: BlobHash::of(&content), bytes: content.len() as u64 };
        let mut blobs = self.blobs();
        let there: u64 = blobs.values().map(|kept| kept.content.len() as u64).sum();
        if there + put.bytes > self.space {
            return Err(PutError::DiskFull(Lack::Space));
        }
        blobs.insert(put.id, Kept { at: terms.at, content: content.into() });
        Ok(put)
    }

    fn get(&self, id: BlobHash) -> Result<Option<Blob>, BlobError> {
        let open = |kept: &Kept| {
            let content = Cursor::new(Arc::clone(&kept.content));
            let body: Box<dyn Read + Send> = if BlobHash::of(&kept.content) == id {
                Box::new(content)
            } else {
                Box::new(content.chain(Damaged(id)))
            };
            Blob { bytes: kept.content.len() as u64, body }
        };
        Ok(self.blobs().get(&id).map(open))
    }

    fn size(&self, id: BlobHash) -> Result<Option<u64>, BlobError> {
        Ok(self.blobs().get(&id).map(|kept| kept.content.len() as u64))
    }

    fn renew(&self, id: BlobHash, at: Time) -> Result<Option<u64>, BlobError> {
        let renew = |kept: &mut Kept| {
            kept.at = at;
            kept.content.len() as u64
        };
        Ok(self.blobs().get_mut(&id).map(renew))
    }

    fn put_aside(&self, id: BlobHash) -> Result<bool, BlobError> {
        let mut blobs = self.blobs();
        let is_damaged = blobs.get(&id).is_some_and(|kept| BlobHash::of(&kept.content) != id);
        if is_damaged {
            blobs.remove(&id);
        }
        Ok(is_damaged)
    }

    fn remove_unreferenced(
        &self,
        keep: &dyn Fn(BlobHash) -> bool,
        before: Time,
    ) -> Result<Removed, BlobError> {
        let mut removed = Removed::default();
        self.blobs().retain(|id, kept| {
            let stays = kept.at >= before || keep(*id);
            if !stays {
                removed.blobs += 1;
                removed.bytes += kept.content.len() as u64;
            }
            stays
        });
        Ok(removed)
    }
}
