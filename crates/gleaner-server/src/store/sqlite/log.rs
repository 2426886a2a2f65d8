//! The database's log, read without the database: which of its frames are what was written.
//!
//! Each frame's checksum goes on from that of the frame before it, and names the page that it holds. `SQLite` takes frames
//! up to the last commit before the first that does not fit, and drops the others without a word. After a loss of power
//! these are a part of one commit, which nobody was told of. **Whole commits behind a frame that does not fit mean that
//! the log was altered**: a commit is begun only when the one before it is on the disk.

use std::io;
use std::ops::RangeInclusive;
use std::path::Path;

const HEAD_BYTES: usize = 32;
const HEAD_SALTS_AT: usize = 16;
const FRAME_HEAD_BYTES: usize = 24;
/// Any other size is no size of a page.
const PAGE_BYTES: RangeInclusive<usize> = 512..=65_536;
/// The last bit says which order of bytes the checksums go by.
const MAGIC: u32 = 0x377f_0682;

/// A log that can be read.
pub(super) struct Log {
    bytes: Vec<u8>,
    page_bytes: usize,
    /// The order of bytes by which the checksums go.
    is_big: bool,
    /// What frames of its present round bear.
    salts: [u32; 2],
    /// What the first frame's checksum goes on from.
    seed: [u32; 2],
}

/// One page as some commit wrote it.
pub(super) struct Frame<'a> {
    /// Which page, from 1.
    pub(super) number: u32,
    /// What is in it.
    pub(super) page: &'a [u8],
    /// Whether it ends a commit.
    pub(super) is_last: bool,
    /// Whether it is what was written behind the frame before it.
    pub(super) is_intact: bool,
}

impl Log {
    /// `None` where there is none, or none that can be told from an empty one: its head has to be what was written.
    pub(super) fn read(path: &Path) -> io::Result<Option<Self>> {
        Ok(bytes(path)?.and_then(|bytes| Self::of(bytes).ok()))
    }

    /// Likewise, and where the head is not what was written, what it said is taken from the frames.
    pub(super) fn salvage(path: &Path) -> io::Result<Option<Self>> {
        let read = bytes(path)?.map(Self::of);
        Ok(read.and_then(|read| read.map_or_else(Self::by_its_frames, Some)))
    }

    /// Gives the bytes back where the head is not what was written.
    fn of(bytes: Vec<u8>) -> Result<Self, Vec<u8>> {
        if bytes.len() < HEAD_BYTES {
            return Err(bytes);
        }
        let (magic, page_bytes) = (word(&bytes, 0), word(&bytes, 8) as usize);
        let log = Self::new(bytes, page_bytes, magic & 1 == 1, HEAD_SALTS_AT);
        let is_log = magic & !1 == MAGIC && PAGE_BYTES.contains(&page_bytes) && page_bytes.is_multiple_of(8);
        if is_log && log.head_sum() == log.seed { Ok(log) } else { Err(log.bytes) }
    }

    /// A log of the one size of pages and order of bytes by which one of its frames goes on from the frame before it. Its first
    /// frame is always of the present round.
    fn by_its_frames(mut bytes: Vec<u8>) -> Option<Self> {
        let sizes = (9..=16).map(|shift| 1_usize << shift);
        for (page_bytes, is_big) in sizes.flat_map(|size| [(size, false), (size, true)]) {
            if bytes.len() < HEAD_BYTES + FRAME_HEAD_BYTES + page_bytes {
                return None;
            }
            let mut log = Self::new(bytes, page_bytes, is_big, HEAD_BYTES + 8);
            let is_first_intact = |log: &Self| log.frames().next().is_some_and(|frame| frame.is_intact);
            if !is_first_intact(&log) {
                // It may be the sum itself that is not what was written.
                let written = log.seed;
                log.seed = log.head_sum();
                if !is_first_intact(&log) {
                    log.seed = written;
                }
            }
            if log.frames().any(|frame| frame.is_intact) {
                return Some(log);
            }
            bytes = log.bytes;
        }
        None
    }

    fn new(bytes: Vec<u8>, page_bytes: usize, is_big: bool, salts_at: usize) -> Self {
        let mut log = Self { bytes, page_bytes, is_big, salts: [0; 2], seed: [0; 2] };
        (log.salts, log.seed) = (log.words(salts_at), log.words(24));
        log
    }

    fn head_sum(&self) -> [u32; 2] {
        self.sum([0, 0], &self.bytes[..24])
    }

    /// Those of its present round, in order; what is left of earlier ones is passed over.
    pub(super) fn frames(&self) -> impl Iterator<Item = Frame<'_>> {
        let frame = FRAME_HEAD_BYTES + self.page_bytes;
        let places = (HEAD_BYTES..).step_by(frame).take_while(move |at| at + frame <= self.bytes.len());
        let mut before = self.seed;
        let frames = places.map(move |at| {
            let page = &self.bytes[at + FRAME_HEAD_BYTES..at + frame];
            let sum = self.sum(self.sum(before, &self.bytes[at..at + 8]), page);
            let is_present = self.words(at + 8) == self.salts;
            before = self.words(at + 16);
            let [number, pages] = self.words(at);
            (is_present, Frame { number, page, is_last: pages > 0, is_intact: is_present && sum == before })
        });
        frames.filter_map(|(is_present, frame)| is_present.then_some(frame))
    }

    /// How many whole commits there are behind the first frame that is not what was written; 0 and 1 may be what a loss of
    /// power left.
    pub(super) fn commits_behind_damage(&self) -> usize {
        let behind = self.frames().skip_while(|frame| frame.is_intact);
        behind.filter(|frame| frame.is_last && frame.is_intact).count()
    }

    pub(super) fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    fn words(&self, at: usize) -> [u32; 2] {
        [word(&self.bytes, at), word(&self.bytes, at + 4)]
    }

    /// As the database computes it, going on from another sum.
    fn sum(&self, from: [u32; 2], bytes: &[u8]) -> [u32; 2] {
        let read = |word: &[u8]| {
            let word = [word[0], word[1], word[2], word[3]];
            if self.is_big { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
        };
        bytes.chunks_exact(8).fold(from, |[first, second], pair| {
            let first = first.wrapping_add(read(&pair[..4])).wrapping_add(second);
            [first, second.wrapping_add(read(&pair[4..])).wrapping_add(first)]
        })
    }
}

/// All of a file; `None` where there is none.
fn bytes(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match std::fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
