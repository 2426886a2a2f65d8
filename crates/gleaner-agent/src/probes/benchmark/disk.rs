//! Writing and reading one file, past the cache.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{Advice, OFlags};
use serde::{Deserialize, Serialize};

use super::measured::Measured;

/// The most that the file ever holds.
const FILE_MAX: usize = 64 << 20;
/// The first step. Each further one is twice as long, until one takes [`STEP_ENOUGH`] or [`STEP_MAX`] is reached: on a
/// fast disk a short step would measure the synchronisation and not the writing.
const STEP_FIRST: usize = BLOCK;
const STEP_MAX: usize = 16 << 20;
const STEP_ENOUGH: Duration = Duration::from_millis(30);
/// What is read at once, and the longest stretch of it whose speed is measured.
const BLOCK: usize = 1 << 20;
const READ_STEP_MAX: usize = 8 << 20;
/// When to stop writing, and when to stop reading.
const TIME_MAX: Duration = Duration::from_millis(400);
/// What direct reads must be aligned to, on every disk there is.
const ALIGNMENT: usize = 4096;

/// How reading got past the copies in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadPath {
    /// `O_DIRECT`: from the device.
    Direct,
    /// The file system has no direct reads; the kernel was asked to drop its copies, and may not have (a file system
    /// in memory has nothing else).
    CacheDropped,
}

pub(super) struct Disk {
    pub(super) write: Measured,
    pub(super) read: Measured,
    pub(super) read_path: ReadPath,
}

pub(super) fn measure(folder: &Path) -> io::Result<Disk> {
    let most = room(folder)?;
    let (mut file, mut reader, read_path) = open(folder)?;
    let steps = write_steps(&mut file, most)?;
    if read_path == ReadPath::CacheDropped {
        rustix::fs::fadvise(&file, 0, None, Advice::DontNeed)?;
    }
    let longest = steps.iter().map(|step| step.bytes).max().unwrap_or(STEP_FIRST);
    let length: usize = steps.iter().map(|step| step.bytes).sum();
    let reads = read_steps(&mut reader, length)?;
    let full: Vec<_> = steps.iter().filter(|step| step.bytes == longest).map(Step::speed).collect();
    let read: Vec<_> = reads.iter().map(Step::speed).collect();
    Ok(Disk { write: Measured::best_of(&full), read: Measured::best_of(&read), read_path })
}

/// How much may be written: half of what is free, since tasks and others use the same disk.
fn room(folder: &Path) -> io::Result<usize> {
    let free = gleaner_net::Disk::of(folder)?.free;
    let most = FILE_MAX.min(usize::try_from(free / 2).unwrap_or(FILE_MAX));
    if most < STEP_FIRST {
        let needed = 2 * STEP_FIRST;
        let folder = folder.display();
        let why = format!(
            "{free} bytes are free on the disk of {folder}, and {needed} are needed: free some space"
        );
        return Err(io::Error::new(io::ErrorKind::StorageFull, why));
    }
    Ok(most)
}

struct Step {
    bytes: usize,
    took: Duration,
}

impl Step {
    /// In megabytes a second.
    fn speed(&self) -> f64 {
        self.bytes as f64 / 1e6 / self.took.as_secs_f64().max(1e-6)
    }
}

/// A file to write and another view of it to read, under a name that is gone before anything is in it: whatever ends
/// the agent leaves no file behind.
fn open(folder: &Path) -> io::Result<(File, File, ReadPath)> {
    let path = folder.join(format!(".gleaner-benchmark-{}", std::process::id()));
    // An agent that was killed between the next two lines left one, and in a container has the same number again.
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
    let mut direct = OpenOptions::new();
    direct.read(true).custom_flags(OFlags::DIRECT.bits().cast_signed());
    let reader = direct
        .open(&path)
        .map(|reader| (reader, ReadPath::Direct))
        .or_else(|_| Ok((File::open(&path)?, ReadPath::CacheDropped)));
    std::fs::remove_file(&path)?;
    reader.map(|(reader, read_path)| (file, reader, read_path))
}

fn write_steps(file: &mut File, most: usize) -> io::Result<Vec<Step>> {
    let block = incompressible(STEP_MAX);
    let mut steps: Vec<Step> = Vec::new();
    let (mut bytes, mut written) = (STEP_FIRST, 0);
    let start = Instant::now();
    while written + bytes <= most && start.elapsed() < TIME_MAX {
        let begun = Instant::now();
        file.write_all(&block[..bytes])?;
        file.sync_data()?;
        let took = begun.elapsed();
        steps.push(Step { bytes, took });
        written += bytes;
        if took < STEP_ENOUGH {
            bytes = (bytes * 2).min(STEP_MAX);
        }
    }
    Ok(steps)
}

fn read_steps(reader: &mut File, length: usize) -> io::Result<Vec<Step>> {
    let mut buffer = vec![0u8; BLOCK + ALIGNMENT];
    let offset = buffer.as_ptr().align_offset(ALIGNMENT);
    let block = &mut buffer[offset..offset + BLOCK];
    let blocks_in_step = (length / BLOCK).clamp(1, READ_STEP_MAX / BLOCK);
    let mut steps = Vec::new();
    let start = Instant::now();
    for _ in 0..length / BLOCK / blocks_in_step {
        let begun = Instant::now();
        for _ in 0..blocks_in_step {
            reader.read_exact(block)?;
        }
        steps.push(Step { bytes: blocks_in_step * BLOCK, took: begun.elapsed() });
        if start.elapsed() >= TIME_MAX {
            break;
        }
    }
    Ok(steps)
}

/// Bytes that no file system or disk can make shorter.
fn incompressible(length: usize) -> Vec<u8> {
    let mut word = 0x9e37_79b9_7f4a_7c15u64;
    let words = std::iter::repeat_with(|| {
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        word.to_le_bytes()
    });
    words.take(length / 8).flatten().collect()
}
