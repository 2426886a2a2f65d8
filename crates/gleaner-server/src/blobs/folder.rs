//! Blobs as files: `blobs/ab/cdef…` in the coordinator's folder.
//!
//! - **A file under its final name is whole**: it is written and synced as `blobs/incoming/N`, then renamed, and the
//!   folder is synced. What a crash leaves in `incoming` is swept at the next start.
//! - **The journal keeps its room**: what a disk has free below a reserve is not taken, and what uploads under way were
//!   promised is not promised again.
//! - **A damaged file keeps its bytes and loses its name**: it is `cdef….damaged` then.
//! - **The time of a file's last change is when it was last put or renewed**, as the caller told it.

mod incoming;

use super::verifying::Verifying;
use super::{Blob, BlobError, BlobHash, Blobs, Put, PutError, Removed, Terms};
use crate::store::{Home, make_folder};
use gleaner_units::Time;
use incoming::Incoming;
use std::fs::{self, DirBuilder, File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

pub(crate) const FOLDER: &str = "blobs";
pub(crate) const INCOMING: &str = "incoming";
/// What a damaged file's name ends with.
const ASIDE: &str = "damaged";
/// How many digits of a name are the folder's name.
const SPLIT: usize = 2;

/// The embedded form of [`Blobs`].
#[derive(Debug)]
pub struct FolderBlobs {
    folder: PathBuf,
    next_incoming: AtomicU64,
    /// Whoever makes a blob appear, younger or disappear holds this, so that nothing that was just put is removed as old.
    changing: Mutex<()>,
    home: Home,
}

impl FolderBlobs {
    /// The blobs in `home`.
    pub fn open(home: &Home) -> Result<Self, BlobError> {
        let folder = home.folder().join(FOLDER);
        let incoming = folder.join(INCOMING);
        sweep(&incoming).map_err(|source| BlobError { path: incoming, source })?;
        make_folders(&folder).map_err(|source| BlobError { path: folder.clone(), source })?;
        Ok(Self { folder, next_incoming: AtomicU64::new(0), changing: Mutex::default(), home: home.clone() })
    }

    fn path(&self, id: BlobHash) -> PathBuf {
        path_in(&self.folder, id)
    }

    fn alone(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().expect("nobody panics while changing a blob")
    }

    fn receive(&self, body: &mut dyn Read, terms: Terms) -> Result<(Incoming, Put), PutError> {
        let number = self.next_incoming.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(INCOMING).join(number.to_string());
        let announced = terms.announced.unwrap_or(0).min(terms.at_most);
        let room = self.home.room();
        let disk = room.of_disk().map_err(|source| incoming::failure(&path, source))?;
        if announced > disk {
            return Err(PutError::LargerThanDisk { bytes: announced, disk });
        }
        let promise = room.promise(announced).map_err(|source| incoming::failure(&path, source))?;
        let mut incoming = Incoming::create(path)?;
        let put = incoming.fill(body, terms.at_most, promise)?;
        match terms.claimed {
            Some(claimed) if claimed != put.id => Err(PutError::OtherContent { claimed, found: put.id }),
            _ => Ok((incoming, put)),
        }
    }

    fn publish(&self, incoming: Incoming, put: Put) -> io::Result<()> {
        let path = self.path(put.id);
        let folder = path.parent().expect("a blob lies in a folder");
        {
            let _alone = self.alone();
            incoming.publish(&path)?;
        }
        File::open(folder)?.sync_all()
    }

    /// Puts a damaged file aside, unless it was put again since it was opened: then its name is another file's. Whether it did.
    fn take_name(&self, path: &Path, (_is_open, damaged): &(File, Metadata)) -> io::Result<bool> {
        let aside = path.with_extension(ASIDE);
        let _alone = self.alone();
        let present = unless_missing(fs::metadata(path))?;
        // While it is open, its number is nobody else's.
        let is_same = |found: &Metadata| (found.dev(), found.ino()) == (damaged.dev(), damaged.ino());
        if !present.as_ref().is_some_and(is_same) {
            return Ok(false);
        }
        fs::rename(path, &aside)?;
        let aside = aside.display();
        tracing::error!(
            "a stored file is not what was stored: the disk changed it. It was put aside as {aside}"
        );
        Ok(true)
    }

    /// Removes a file unless it has become younger since it was looked at.
    fn remove_older(&self, path: &Path, before: SystemTime, removed: &mut Removed) -> io::Result<()> {
        let _alone = self.alone();
        let Some(found) = unless_missing(fs::metadata(path))? else { return Ok(()) };
        if found.modified()? < before {
            fs::remove_file(path)?;
            removed.blobs += 1;
            removed.bytes += found.len();
        }
        Ok(())
    }
}

impl Blobs for FolderBlobs {
    fn put(&self, body: &mut dyn Read, terms: Terms) -> Result<Put, PutError> {
        let (incoming, put) = self.receive(body, terms)?;
        incoming.sync(moment(terms.at))?;
        self.publish(incoming, put).map_err(|source| incoming::failure(&self.path(put.id), source))?;
        Ok(put)
    }

    fn get(&self, id: BlobHash) -> Result<Option<Blob>, BlobError> {
        open_at(&self.path(id), id)
    }

    fn size(&self, id: BlobHash) -> Result<Option<u64>, BlobError> {
        Ok(find(&self.path(id))?.map(|(_, found)| found.len()))
    }

    fn renew(&self, id: BlobHash, at: Time) -> Result<Option<u64>, BlobError> {
        let path = self.path(id);
        let _alone = self.alone();
        let Some((file, found)) = find(&path)? else { return Ok(None) };
        file.set_modified(moment(at)).map_err(|source| BlobError { path, source })?;
        Ok(Some(found.len()))
    }

    fn put_aside(&self, id: BlobHash) -> Result<bool, BlobError> {
        let path = self.path(id);
        let Some(found) = find(&path)? else { return Ok(false) };
        let read = io::copy(&mut Verifying::new(id, &found.0), &mut io::sink());
        if !read.is_err_and(|error| error.kind() == ErrorKind::InvalidData) {
            return Ok(false);
        }
        self.take_name(&path, &found).map_err(|source| BlobError { path, source })
    }

    fn remove_unreferenced(
        &self,
        keep: &dyn Fn(BlobHash) -> bool,
        before: Time,
    ) -> Result<Removed, BlobError> {
        let before = moment(before);
        let mut removed = Removed::default();
        for_each_blob(&self.folder, |id, path, found| {
            if found.modified()? < before && !keep(id) {
                self.remove_older(path, before, &mut removed)?;
            }
            Ok(())
        })?;
        Ok(removed)
    }
}

/// The blob `id` in a coordinator's folder, whether or not a coordinator uses it.
pub fn open_blob(home: &Path, id: BlobHash) -> Result<Option<Blob>, BlobError> {
    open_at(&path_in(&home.join(FOLDER), id), id)
}

/// Where the blob `id` is in a coordinator's folder.
pub fn place(id: BlobHash) -> PathBuf {
    path_in(Path::new(FOLDER), id)
}

fn open_at(path: &Path, id: BlobHash) -> Result<Option<Blob>, BlobError> {
    let found = find(path)?;
    Ok(found.map(|(file, found)| Blob { bytes: found.len(), body: Box::new(Verifying::new(id, file)) }))
}

fn path_in(folder: &Path, id: BlobHash) -> PathBuf {
    let name = id.to_string();
    folder.join(&name[..SPLIT]).join(&name[SPLIT..])
}

/// The system's clock ends long before the last [`Time`], and a file's time after it.
fn moment(at: Time) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_nanos(at.nanos().min(i64::MAX.cast_unsigned()))
}

fn unless_missing<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

fn find(path: &Path) -> Result<Option<(File, Metadata)>, BlobError> {
    let open = || {
        let Some(file) = unless_missing(File::open(path))? else { return Ok(None) };
        let found = file.metadata()?;
        Ok(Some((file, found)))
    };
    open().map_err(|source| BlobError { path: path.to_owned(), source })
}

/// Makes the folders of all names at once, so that a `put` need not see to it that they outlast the loss of power.
fn make_folders(folder: &Path) -> io::Result<()> {
    for byte in 0..=u8::MAX {
        DirBuilder::new().recursive(true).mode(0o700).create(folder.join(format!("{byte:02x}")))?;
    }
    File::open(folder)?.sync_all()
}

fn sweep(incoming: &Path) -> io::Result<()> {
    make_folder(incoming)?;
    fs::read_dir(incoming)?.try_for_each(|entry| fs::remove_file(entry?.path()))
}

/// The blob that lies there; `None` for a file that is none of ours.
fn id_of(path: &Path) -> Option<BlobHash> {
    let folder = path.parent()?.file_name()?.to_str()?;
    let rest = path.file_name()?.to_str()?;
    format!("{folder}{rest}").parse().ok()
}

/// Visits the blobs in no order; one that disappears meanwhile is left out.
fn for_each_blob(
    folder: &Path,
    mut visit: impl FnMut(BlobHash, &Path, &Metadata) -> io::Result<()>,
) -> Result<(), BlobError> {
    let mut walk = || {
        for part in fs::read_dir(folder)? {
            let part = part?;
            if !part.file_type()?.is_dir() {
                continue;
            }
            for entry in fs::read_dir(part.path())? {
                let path = entry?.path();
                let Some(id) = id_of(&path) else { continue };
                if let Some(found) = unless_missing(fs::metadata(&path))? {
                    visit(id, &path, &found)?;
                }
            }
        }
        Ok(())
    };
    walk().map_err(|source| BlobError { path: folder.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::NetworkFolder;

    /// Whoever has a damaged file sends it again while it is looked at.
    #[test]
    fn what_was_put_again_meanwhile_is_not_put_aside() {
        let home = tempfile::tempdir().expect("a folder");
        let blobs = FolderBlobs::open(&Home::open(home.path(), NetworkFolder::Accept).expect("a home"));
        let blobs = blobs.expect("a folder");
        let put = || {
            let terms = Terms { at: Time::ZERO, at_most: 100, claimed: None, announced: None };
            blobs.put(&mut &b"good"[..], terms).expect("a disk").id
        };
        let id = put();
        let path = blobs.path(id);
        fs::write(&path, "damaged").expect("a disk");
        let damaged = find(&path).expect("a disk").expect("it is there");
        put();
        assert!(!blobs.take_name(&path, &damaged).expect("a disk"));
        assert_eq!(fs::read(&path).expect("a disk"), b"good");
        fs::write(&path, "damaged").expect("a disk");
        assert!(blobs.put_aside(id).expect("a disk") && !path.exists());
    }
}
