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
const FRAME_HEAD_BYTES: usize = 24;
/// Any other size is no size of a page.
const PAGE_BYTES: RangeInclusive<usize> = 512..=65_536;
/// The last bit says which order of bytes the checksums go by.
const MAGIC: u32 = 0x377f_0682;

/// A log whose head is intact.
pub(super) struct Log {
    bytes: Vec<u8>,
    page_bytes: usize,
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
    /// `None` where there is none, or none that can be told from an empty one.
    pub(super) fn read(path: &Path) -> io::Result<Option<Self>> {
        let bytes = match std::fs::read(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read?,
        };
        Ok(Self::of(bytes))
    }

    fn of(bytes: Vec<u8>) -> Option<Self> {
        let head = bytes.get(..HEAD_BYTES)?;
        let (magic, page_bytes) = (word(head, 0), word(head, 8) as usize);
        let log = Self { bytes, page_bytes };
        let is_log = magic & !1 == MAGIC && PAGE_BYTES.contains(&page_bytes) && page_bytes.is_multiple_of(8);
        let sum = is_log.then(|| log.sum([0, 0], &log.bytes[..24]))?;
        (sum == log.words(24)).then_some(log)
    }

    /// Those of its present round, in order; what is left of earlier ones is passed over.
    pub(super) fn frames(&self) -> impl Iterator<Item = Frame<'_>> {
        let frame = FRAME_HEAD_BYTES + self.page_bytes;
        let places = (HEAD_BYTES..).step_by(frame).take_while(move |at| at + frame <= self.bytes.len());
        let mut before = self.words(24);
        let frames = places.map(move |at| {
            let page = &self.bytes[at + FRAME_HEAD_BYTES..at + frame];
            let sum = self.sum(self.sum(before, &self.bytes[at..at + 8]), page);
            let is_present = self.words(at + 8) == self.words(16);
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
        let is_big = self.bytes[3] & 1 == 1;
        let read = |word: &[u8]| {
            let word = [word[0], word[1], word[2], word[3]];
            if is_big { u32::from_be_bytes(word) } else { u32::from_le_bytes(word) }
        };
        bytes.chunks_exact(8).fold(from, |[first, second], pair| {
            let first = first.wrapping_add(read(&pair[..4])).wrapping_add(second);
            [first, second.wrapping_add(read(&pair[4..])).wrapping_add(first)]
        })
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
