//! Room on the disk for what a run needs: files of the cache go before a task is refused for want of it.

use crate::cache::Cache;
use crate::duties::TransferError;

/// Does what takes room on the disk, once more each time that the cache gave way for it.
pub(super) fn with_room<T>(
    cache: &Cache,
    mut work: impl FnMut() -> Result<T, TransferError>,
) -> Result<T, TransferError> {
    loop {
        match work() {
            Err(TransferError::NoRoom(_)) if cache.give_way().is_ok_and(|gave| gave) => {}
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::prepare;
    use super::*;
    use crate::allowance::{Allowance, PIECE_BYTES, Reserved};
    use gleaner_net::{Client, Fingerprint, Token, TokenKind};
    use gleaner_wire::BlobHash;
    use gleaner_wire::job::{Checkpointing, Confinement, Input};
    use gleaner_wire::session::{Run, Stored};
    use std::fs::{self, File};
    use std::io;
    use std::path::Path;
    use std::sync::Arc;
    use std::time::SystemTime;

    /// Bytes of a disk that holds a folder and nothing else.
    const DISK_BYTES: u64 = 9 * PIECE_BYTES / 2;

    fn used(path: &Path) -> io::Result<u64> {
        let about = fs::symlink_metadata(path)?;
        if !about.is_dir() {
            return Ok(about.len());
        }
        fs::read_dir(path)?.map(|entry| used(&entry?.path())).sum()
    }

    /// A tar archive of one file, of nearly so many bytes.
    fn packed(name: &str, bytes: u64) -> Vec<u8> {
        let content = vec![b'k'; bytes as usize - 4_096];
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        let mut archive = tar::Builder::new(Vec::new());
        archive.append_data(&mut header, name, &content[..]).expect("it is in memory");
        archive.into_inner().expect("it is in memory")
    }

    /// With all that the cache has there is room for a part of the copy only.
    #[test]
    fn the_cache_gives_way_to_what_is_copied_and_to_what_is_unpacked() {
        let token = Token::generate(TokenKind::Session).expect("a token");
        let nowhere = "https://127.0.0.1:1".parse().expect("an address");
        let client = Client::new(nowhere, Fingerprint::of_der(b"authority"), &token);
        let needed = packed("kept", 3 * PIECE_BYTES / 2);
        let blob = BlobHash::of(&needed);
        let run = crate::work::run(1, Confinement::None);
        let copied =
            Run { inputs: vec![Input { path: "in/it".into(), blob, executable: false }], ..run.clone() };
        let unpacked = Run {
            resume_from: Some(Stored { blob, size: needed.len() as u64 }),
            checkpoint: Checkpointing { folder: true, ..Checkpointing::default() },
            ..run
        };
        for (run, file, bytes) in [
            (copied, "in/it", needed.len()),
            (unpacked, ".checkpoint/kept", 3 * PIECE_BYTES as usize / 2 - 4_096),
        ] {
            let disk = tempfile::tempdir().expect("a folder");
            let (cached, folder) = (disk.path().join("cache"), disk.path().join("task"));
            let cache = Cache::open(&cached, u64::MAX).expect("a cache");
            let other = vec![b'o'; 2 * PIECE_BYTES as usize];
            for bytes in [&other, &needed] {
                let fetched = cache
                    .open_file(&BlobHash::of(bytes), |into, _| io::copy(&mut &bytes[..], into).map(drop));
                fetched.expect("it is written");
            }
            let oldest = File::open(cached.join(BlobHash::of(&other).to_string())).expect("it is there");
            oldest.set_modified(SystemTime::UNIX_EPOCH).expect("it is ours");
            let allowance = Allowance::new(Arc::default(), disk.path(), 0, Reserved::default())
                .on(|disk| Ok(DISK_BYTES.saturating_sub(used(disk)?)));
            assert_eq!(prepare(&run, &folder, &cache, Some(&client), &allowance), Ok(()), "{file}");
            assert_eq!(fs::metadata(folder.join(file)).expect("it is whole").len(), bytes as u64);
            assert_eq!(fs::read_dir(&cached).expect("a folder").count(), 1, "what was used last stays");
        }
    }
}
