//! Hashes of what runs wrote, in a small file for each run, so that a disk that changes a byte is noticed.
//!
//! The file has for each stream a length and a hash, and ends with a hash of itself.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

const HASH: usize = blake3::OUT_LEN;
/// A stream's length and hash.
const SUM: usize = 8 + HASH;
/// Bytes that are read at a time.
const CHUNK: usize = 256 << 10;

/// So many bytes, and their hash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Sum {
    pub(super) length: u64,
    hash: [u8; HASH],
}

/// Those of standard output and standard error; nothing for one of which nothing is in a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Sums(pub(super) [Option<Sum>; 2]);

/// A hash that is made while pieces come; nothing where they did not come in order.
#[derive(Debug)]
pub(super) struct Running(Option<(Box<blake3::Hasher>, u64)>);

impl Running {
    /// Of a file that has so many bytes already.
    pub(super) fn over(length: u64) -> Self {
        Self((length == 0).then(|| (Box::default(), 0)))
    }

    pub(super) fn add(&mut self, offset: u64, bytes: &[u8]) {
        match &mut self.0 {
            Some((hash, length)) if *length == offset => {
                hash.update(bytes);
                *length += bytes.len() as u64;
            }
            Some(_) if bytes.is_empty() => {}
            broken => *broken = None,
        }
    }

    /// Of so many bytes, if it is of so many.
    pub(super) fn of(&self, wanted: u64) -> Option<Sum> {
        let (hash, length) = self.0.as_ref().filter(|(_, length)| *length == wanted && wanted > 0)?;
        Some(Sum { length: *length, hash: *hash.finalize().as_bytes() })
    }
}

impl Sum {
    /// Of the first bytes of a file; nothing where it has fewer, or none are wanted.
    pub(super) fn read(file: &File, length: u64) -> io::Result<Option<Self>> {
        if length == 0 || file.metadata()?.len() < length {
            return Ok(None);
        }
        let mut hasher = blake3::Hasher::new();
        let (mut bytes, mut offset) = (vec![0; CHUNK], 0);
        while offset < length {
            let piece = &mut bytes[..(length - offset).min(CHUNK as u64) as usize];
            file.read_exact_at(piece, offset)?;
            hasher.update(piece);
            offset += piece.len() as u64;
        }
        Ok(Some(Self { length, hash: *hasher.finalize().as_bytes() }))
    }
}

impl Sums {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(2 * SUM + HASH);
        for sum in self.0 {
            bytes.extend(sum.map_or(0, |sum| sum.length).to_le_bytes());
            bytes.extend(sum.map_or([0; HASH], |sum| sum.hash));
        }
        bytes.extend(blake3::hash(&bytes).as_bytes());
        bytes
    }

    /// Nothing if it was torn or changed.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let (sums, seal) = bytes.split_at_checked(2 * SUM)?;
        if blake3::hash(sums).as_bytes()[..] != *seal {
            return None;
        }
        let sum = |bytes: &[u8]| {
            let length = u64::from_le_bytes(bytes[..8].try_into().ok()?);
            (length > 0).then_some(Sum { length, hash: bytes[8..].try_into().ok()? })
        };
        Some(Self([sum(&sums[..SUM]), sum(&sums[SUM..])]))
    }
}
