//! Input files that tasks before have used, by their hashes.
//!
//! - **What is in the cache under a hash has that hash**: it is computed while a file comes in, and a file gets its name
//!   only when it is whole. What a crash leaves has no such name, and is removed at the next start.
//! - **No task gets at a file of the cache**: it gets a copy, which file systems that can do so share until one of
//!   the two is written.
//! - The files together stay below the bound; those not used for longest go first. The order is that of their times
//!   of modification, so that it outlasts a restart. **They are listed only when they are too much**: there may be very many.
//! - **A file that is larger than the bound is fetched all the same**, and its name is gone before it is used.
//! - **Where the disk is short the cache gives way**: nothing is withheld from a task for the sake of what another may use again.

use gleaner_wire::BlobHash;
use gleaner_wire::limits::BLOB_BYTES_MAX;
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// What an unfinished file is called.
const UNFINISHED: &str = "part-";

/// Why a file could not be had.
#[derive(Debug, thiserror::Error)]
pub enum CacheError<E: std::error::Error> {
    /// It could not be fetched.
    #[error("{0}")]
    Fetch(E),
    /// What came is something else.
    #[error("what came for {wanted} has the hash {got}")]
    Mismatch {
        /// What was asked for.
        wanted: BlobHash,
        /// What came.
        got: BlobHash,
    },
    /// The system refused.
    #[error("{path}: {why}", path = path.display())]
    File {
        /// What it was about.
        path: PathBuf,
        /// What the system said.
        why: io::Error,
    },
}

/// A folder of files named by their hashes.
#[derive(Debug)]
pub struct Cache {
    folder: PathBuf,
    bytes_max: u64,
    unfinished: AtomicU64,
    /// Bytes of all files, or more: held while they are listed and removed, so that two who do so do not remove twice as much.
    total: Mutex<u64>,
}

/// Writes and hashes.
struct Hashing<'a> {
    file: &'a mut File,
    hasher: blake3::Hasher,
}

impl Cache {
    /// The cache in `folder`, which is made if it is not there, with at most so many bytes. It must be nobody else's.
    pub fn open(folder: &Path, bytes_max: u64) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(UNFINISHED) {
                fs::remove_file(entry.path())?;
            }
        }
        let cache =
            Self { folder: folder.into(), bytes_max, unfinished: AtomicU64::new(0), total: Mutex::new(0) };
        cache.sweep(&mut cache.total())?;
        Ok(cache)
    }

    /// The file with that hash, open for reading; `fetch` writes it if it is not here. It can be read to its end even
    /// if it is removed meanwhile.
    pub fn open_file<E: std::error::Error>(
        &self,
        blob: &BlobHash,
        fetch: impl FnOnce(&mut dyn Write, u64) -> Result<(), E>,
    ) -> Result<File, CacheError<E>> {
        let path = self.folder.join(blob.to_string());
        let failed = |why| CacheError::File { path: path.clone(), why };
        match File::open(&path) {
            Ok(file) => {
                // Used just now: the last to go. The order is all that would suffer if this failed.
                let _ = file.set_modified(SystemTime::now());
                return Ok(file);
            }
            Err(why) if why.kind() == io::ErrorKind::NotFound => {}
            Err(why) => return Err(failed(why)),
        }
        let number = self.unfinished.fetch_add(1, Ordering::Relaxed);
        let part = self.folder.join(format!("{UNFINISHED}{number}"));
        let fetched = Self::fetch_into(blob, &part, &path, fetch);
        if fetched.is_err() {
            let _ = fs::remove_file(&part);
        }
        let file = fetched?;
        self.count(&file, &path).map_err(failed)?;
        Ok(file)
    }

    /// Makes room for a file that came in.
    fn count(&self, file: &File, path: &Path) -> io::Result<()> {
        let bytes = file.metadata()?.len();
        let mut total = self.total();
        if bytes > self.bytes_max {
            return match fs::remove_file(path) {
                // Somebody else fetched the same.
                Err(why) if why.kind() != io::ErrorKind::NotFound => Err(why),
                Ok(()) | Err(_) => Ok(()),
            };
        }
        // One that two fetch at a time counts twice until they are listed.
        *total += bytes;
        if *total > self.bytes_max { self.sweep(&mut total) } else { Ok(()) }
    }

    fn total(&self) -> MutexGuard<'_, u64> {
        self.total.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fetch_into<E: std::error::Error>(
        blob: &BlobHash,
        part: &Path,
        path: &Path,
        fetch: impl FnOnce(&mut dyn Write, u64) -> Result<(), E>,
    ) -> Result<File, CacheError<E>> {
        let failed = |why| CacheError::File { path: part.into(), why };
        let mut file = File::options().read(true).write(true).create_new(true).open(part).map_err(failed)?;
        let mut hashing = Hashing { file: &mut file, hasher: blake3::Hasher::new() };
        fetch(&mut hashing, BLOB_BYTES_MAX).map_err(CacheError::Fetch)?;
        let got = hash_of(&hashing.hasher);
        if got != *blob {
            return Err(CacheError::Mismatch { wanted: *blob, got });
        }
        // Before the name: after a power failure a file with its name must be whole.
        file.sync_data().map_err(failed)?;
        fs::rename(part, path).map_err(failed)?;
        // Not opened again by its name: whoever fetches something else may have removed it for want of room.
        file.rewind().map_err(failed)?;
        Ok(file)
    }

    /// Makes room on a disk that is short: removes the files not used for longest, half of all bytes. Whether there were any.
    pub(crate) fn give_way(&self) -> io::Result<bool> {
        Ok(self.remove_oldest(&mut self.total(), |total| total / 2)? > 0)
    }

    /// Removes the files not used for longest until the rest is within the bound, and a tenth less: so the next files do not have all
    /// listed again.
    fn sweep(&self, total: &mut u64) -> io::Result<()> {
        let most =
            |total: u64| if total > self.bytes_max { self.bytes_max - self.bytes_max / 10 } else { total };
        self.remove_oldest(total, most).map(drop)
    }

    /// Removes the files not used for longest, until no more than `most` of all bytes is left. How many files went.
    fn remove_oldest(&self, total: &mut u64, most: impl FnOnce(u64) -> u64) -> io::Result<usize> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            match entry.metadata() {
                Ok(about) if !entry.file_name().to_string_lossy().starts_with(UNFINISHED) => {
                    files.push((about.modified()?, entry.path(), about.len()));
                }
                Ok(_) => {}
                // Unfinished ones come and go.
                Err(why) if why.kind() == io::ErrorKind::NotFound => {}
                Err(why) => return Err(why),
            }
        }
        files.sort();
        *total = files.iter().map(|(_, _, len)| len).sum();
        let (most, mut removed) = (most(*total), 0);
        for (_, path, len) in files {
            if *total <= most {
                break;
            }
            fs::remove_file(path)?;
            *total -= len;
            removed += 1;
        }
        Ok(removed)
    }
}

impl Write for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// What a hasher makes of what it was given.
pub(crate) fn hash_of(hasher: &blake3::Hasher) -> BlobHash {
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn hash(bytes: &[u8]) -> BlobHash {
        hash_of(blake3::Hasher::new().update(bytes))
    }

    fn read(cache: &Cache, bytes: &[u8], fetches: &Cell<u32>) -> Vec<u8> {
        let file = cache.open_file(&hash(bytes), |into, _| {
            fetches.set(fetches.get() + 1);
            into.write_all(bytes)
        });
        io::read_to_string(file.expect("it was fetched")).expect("it is text").into_bytes()
    }

    #[test]
    fn a_file_is_fetched_once_and_the_oldest_goes_first() {
        let folder = tempfile::tempdir().unwrap();
        let fetches = Cell::new(0);
        let cache = Cache::open(folder.path(), 24).unwrap();
        let age = |bytes: &[u8], seconds| {
            let file = File::open(folder.path().join(hash(bytes).to_string())).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds)).unwrap();
        };
        for (bytes, fetched) in [(b"aaaaaaaaaa", 1), (b"bbbbbbbbbb", 2), (b"aaaaaaaaaa", 2)] {
            assert_eq!(read(&cache, bytes, &fetches), bytes);
            assert_eq!(fetches.get(), fetched);
        }
        age(b"bbbbbbbbbb", 1);
        assert_eq!(read(&cache, b"cccccccccc", &fetches), b"cccccccccc");
        let cache = Cache::open(folder.path(), 24).unwrap();
        for (bytes, fetched) in [(b"aaaaaaaaaa", 3), (b"cccccccccc", 3), (b"bbbbbbbbbb", 4)] {
            read(&cache, bytes, &fetches);
            assert_eq!(fetches.get(), fetched, "{bytes:?}");
        }
    }

    /// There may be hundreds of thousands.
    #[test]
    fn files_are_listed_only_when_they_are_too_much() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, fetches) = (Cache::open(folder.path(), 24).unwrap(), Cell::new(0));
        let unknown = folder.path().join("counted when all are");
        fs::write(&unknown, [0; 30]).unwrap();
        let file = File::open(&unknown).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        for (bytes, is_left) in [(b"aaaaaaaaaa", true), (b"bbbbbbbbbb", true), (b"cccccccccc", false)] {
            read(&cache, bytes, &fetches);
            assert_eq!(unknown.exists(), is_left, "{bytes:?}");
        }
        // Room for another one was made then, and a tenth more.
        assert_eq!(*cache.total(), 20);
    }

    #[test]
    fn a_file_that_is_larger_than_the_cache_is_used_and_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        for bytes_max in [0, 4] {
            let (cache, fetches) = (Cache::open(folder.path(), bytes_max).unwrap(), Cell::new(0));
            let small = &b"aaaa"[..bytes_max as usize];
            read(&cache, small, &fetches);
            let file = cache.open_file(&hash(b"larger than it"), |into, most| {
                assert_eq!(most, BLOB_BYTES_MAX, "no machine ends a task for its own cache");
                into.write_all(b"larger than it")
            });
            assert_eq!(io::read_to_string(file.unwrap()).unwrap(), "larger than it");
            let left: Vec<_> =
                fs::read_dir(folder.path()).unwrap().map(|one| one.unwrap().file_name()).collect();
            assert!(left.contains(&hash(small).to_string().into()), "what is small stays: {left:?}");
            assert!(!left.contains(&hash(b"larger than it").to_string().into()), "{left:?}");
        }
    }

    #[test]
    fn the_oldest_files_give_way_until_there_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let (cache, fetches) = (Cache::open(folder.path(), 1 << 20).unwrap(), Cell::new(0));
        for (age, bytes) in [b"aaaa", b"bbbb", b"cccc"].into_iter().enumerate() {
            read(&cache, bytes, &fetches);
            let file = File::open(folder.path().join(hash(bytes).to_string())).unwrap();
            let age = std::time::Duration::from_secs(age as u64);
            file.set_modified(SystemTime::UNIX_EPOCH + age).unwrap();
        }
        let left = || fs::read_dir(folder.path()).unwrap().count();
        assert!(cache.give_way().unwrap());
        assert!(left() == 1 && folder.path().join(hash(b"cccc").to_string()).exists());
        assert!(cache.give_way().unwrap() && left() == 0);
        assert!(!cache.give_way().unwrap());
    }

    #[test]
    fn what_came_wrong_or_half_stays_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::open(folder.path(), 1 << 20).unwrap();
        let wrong = cache.open_file(&hash(b"right"), |into, _| into.write_all(b"wrong"));
        assert!(matches!(wrong, Err(CacheError::Mismatch { .. })));
        let half = cache.open_file(&hash(b"right"), |into, _| {
            into.write_all(b"rig")?;
            Err(io::Error::other("the line broke"))
        });
        assert!(matches!(half, Err(CacheError::Fetch(_))));
        fs::write(folder.path().join("part-7"), "left by a crash").unwrap();
        Cache::open(folder.path(), 1 << 20).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
