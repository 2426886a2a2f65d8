//! Snapshots as files beside the journal, in `snapshots/`, the newest two of them.
//!
//! Files and not a table: a snapshot may be a hundred megabytes, and writing it must not hold up a commit.
//!
//! - **A file under its final name is whole**: it is written and synced under another name first. What is altered later
//!   fails its hash and is passed over, as what cannot be read.
//! - **It names the row it stands on by number and checksum**: a journal that was restored from a backup and went on
//!   differently does not take it for its own.

use super::reader::SqliteReader;
use super::row::Columns;
use crate::store::{
    Home, Promise, ReadError, Reader as _, Seq, Snapshot, SnapshotError, Snapshots, StoredRow, make_folder,
};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

const FOLDER: &str = "snapshots";
const SUFFIX: &str = ".snapshot";
const UNFINISHED: &str = "unfinished";
const KEPT: usize = 2;
/// How much is written at once.
const PIECE: usize = 1 << 20;
const MAGIC: [u8; 8] = *b"glnrsnp1";
/// Magic, hash of all that follows, checksum of the row, number of the row, format.
const HEADER: usize = 8 + blake3::OUT_LEN + 8 + 8 + 4;

pub(super) struct SnapshotFiles {
    folder: PathBuf,
    journal: SqliteReader,
    // The folder stays locked while snapshots may be written to it.
    home: Home,
}

impl SnapshotFiles {
    pub(super) fn new(home: Home, journal: SqliteReader) -> Self {
        Self { folder: home.folder().join(FOLDER), journal, home }
    }

    /// The checksum of a committed row.
    fn anchor(&self, at: Seq) -> Result<Option<i64>, ReadError> {
        let rows = if at == Seq::NONE { Vec::new() } else { self.journal.read(at, 1)? };
        let row = rows.first().filter(|stored| stored.seq == at);
        Ok(row.map(|StoredRow { seq, row }| Columns::of(*seq, row).checksum))
    }

    fn failure(&self, source: io::Error) -> SnapshotError {
        match source.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => SnapshotError::DiskFull,
            _ => SnapshotError::Io { path: self.folder.clone(), source },
        }
    }

    /// Not where it would take the room that is kept for the journal, which has all that is in it.
    fn write(&self, name: &str, header: &[u8], body: &[u8]) -> io::Result<()> {
        make_folder(&self.folder)?;
        let unfinished = self.folder.join(UNFINISHED);
        // What is left of one that broke off.
        if unfinished.exists() {
            fs::remove_file(&unfinished)?;
        }
        let room = self.home.room().promise((header.len() + body.len()) as u64)?;
        let written = write_synced(&unfinished, room, [header, body]);
        if written.is_err() {
            // A full disk needs the space back. A failure here changes nothing: the next one removes it.
            let _ = fs::remove_file(&unfinished);
        }
        written?;
        fs::rename(&unfinished, self.folder.join(name))?;
        File::open(&self.folder)?.sync_all()
    }

    /// The names of the snapshots, the newest first: their numbers have one length.
    fn names(&self) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(&self.folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                names.extend(entry.file_name().into_string().ok().filter(|name| name.ends_with(SUFFIX)));
            }
        }
        names.sort_unstable_by(|a, b| b.cmp(a));
        Ok(names)
    }

    fn remove_older(&self) -> io::Result<()> {
        self.names()?.iter().skip(KEPT).try_for_each(|name| fs::remove_file(self.folder.join(name)))
    }

    fn read(&self, name: &str, format: u32) -> Result<Result<Snapshot, Unfit>, SnapshotError> {
        let file = match fs::read(self.folder.join(name)) {
            Ok(file) => file,
            Err(why) => return Ok(Err(format!("cannot be read ({why})"))),
        };
        let Some(Decoded { anchor, snapshot }) = decode(file) else {
            return Ok(Err("is damaged".to_owned()));
        };
        Ok(if snapshot.format != format {
            Err("has another format".to_owned())
        } else if self.anchor(snapshot.at)? != Some(anchor) {
            Err("does not belong to this journal".to_owned())
        } else {
            Ok(snapshot)
        })
    }
}

/// Why a snapshot is passed over.
type Unfit = String;

impl Snapshots for SnapshotFiles {
    fn save(&mut self, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        let at = snapshot.at;
        let anchor = self.anchor(at)?.ok_or(SnapshotError::NotCommitted { at })?;
        let name = format!("{:020}{SUFFIX}", at.number());
        self.write(&name, &header(anchor, snapshot), &snapshot.body)
            .map_err(|source| self.failure(source))?;
        self.remove_older().map_err(|source| self.failure(source))
    }

    fn latest(&self, format: u32) -> Result<Option<Snapshot>, SnapshotError> {
        for name in self.names().map_err(|source| self.failure(source))? {
            match self.read(&name, format)? {
                Ok(snapshot) => return Ok(Some(snapshot)),
                Err(why) => tracing::warn!(
                    snapshot = name,
                    "a snapshot {why} and is passed over: the journal has all that is in it, so the start takes longer \
                     and nothing is lost; there is nothing to do"
                ),
            }
        }
        Ok(None)
    }
}

fn write_synced(path: &Path, mut room: Promise<'_>, parts: [&[u8]; 2]) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    for piece in parts.into_iter().flat_map(|part| part.chunks(PIECE)) {
        room.use_up(piece.len() as u64)?;
        file.write_all(piece)?;
    }
    file.sync_all()
}

fn header(anchor: i64, snapshot: &Snapshot) -> Vec<u8> {
    let mut fields = anchor.to_le_bytes().to_vec();
    fields.extend(snapshot.at.number().to_le_bytes());
    fields.extend(snapshot.format.to_le_bytes());
    let hash = blake3::Hasher::new().update(&fields).update(&snapshot.body).finalize();
    [&MAGIC, hash.as_bytes().as_slice(), &fields].concat()
}

struct Decoded {
    anchor: i64,
    snapshot: Snapshot,
}

fn decode(mut file: Vec<u8>) -> Option<Decoded> {
    let body = if file.len() < HEADER { return None } else { file.split_off(HEADER) };
    let mut fields = file.as_slice();
    let (magic, hash) = (take::<8>(&mut fields)?, take::<{ blake3::OUT_LEN }>(&mut fields)?);
    let found = blake3::Hasher::new().update(fields).update(&body).finalize();
    if magic != MAGIC || found != hash {
        return None;
    }
    let anchor = i64::from_le_bytes(take(&mut fields)?);
    let at = Seq::new(u64::from_le_bytes(take(&mut fields)?));
    let format = u32::from_le_bytes(take(&mut fields)?);
    Some(Decoded { anchor, snapshot: Snapshot { at, format, body } })
}

fn take<const N: usize>(from: &mut &[u8]) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes).ok()?;
    Some(bytes)
}
