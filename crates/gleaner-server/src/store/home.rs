//! The one folder in which a coordinator keeps everything.
//!
//! - **One coordinator per folder**: the folder, and the file `lock` in it that says by whom, are locked as long as there is any clone of the
//!   [`Home`], and no longer than the process lives. Who removes the file lets nobody in.
//! - **Other users see nothing of it**: the folder is made with mode 0700. One that is there has to be of the coordinator's user, and nobody
//!   else may write there.
//! - **Not on a network file system** unless the caller accepts one: there a lock may be no lock and a sync no sync.

use super::{HomeError, Lack, Room, reserve};
use gleaner_net::make_private;
use rustix::fs::OFlags;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where the first user's token is: in its folder.
pub const TOKEN_FILE: &str = "token";
/// The authority's key and certificate: a folder in its folder.
pub const AUTHORITY_FOLDER: &str = "authority";
/// The authority's certificate alone, for programs that want a certificate: in its folder.
pub const CERTIFICATE_FILE: &str = "authority.crt";
const LOCK: &str = "lock";
/// More than any process id has digits.
const PID_TEXT_LIMIT: u64 = 32;

/// What to do with a folder on a network file system.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NetworkFolder {
    /// Say so and stop.
    Refuse,
    /// The user knows better.
    Accept,
}

/// A folder that this process alone works in.
#[derive(Clone, Debug)]
pub struct Home {
    folder: PathBuf,
    room: Arc<Room>,
    _locks: Arc<Locks>,
}

/// What is locked, as far as it is there.
#[derive(Debug)]
struct Locks {
    _folder: Option<File>,
    _file: Option<File>,
}

impl Home {
    /// Takes `folder`, which is made if it does not exist.
    pub fn open(folder: &Path, network: NetworkFolder) -> Result<Self, HomeError> {
        make_folder(folder).map_err(|source| failure(folder, folder, source))?;
        if network == NetworkFolder::Refuse {
            refuse_network(folder)?;
        }
        rustix::fs::access(folder, rustix::fs::Access::WRITE_OK)
            .map_err(|source| failure(folder, folder, source.into()))?;
        if make_private(folder, rustix::process::geteuid().as_raw())? {
            tracing::warn!(folder = %folder.display(), "others could write to the coordinator's folder: it is closed to them now");
        }
        let locks = Locks { _folder: lock_folder(folder)?, _file: Some(lock(folder)?) };
        let room = Arc::new(Room::of(folder));
        Ok(Self { folder: folder.to_owned(), room, _locks: Arc::new(locks) })
    }

    /// Takes `folder` to look at what is in it, and leaves nothing there.
    pub fn look(folder: &Path) -> Result<Self, HomeError> {
        let path = folder.join(LOCK);
        let file = match open_to_read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            opened => {
                let file = opened.map_err(|source| failure(folder, &path, source))?;
                hold(&file, folder)?;
                Some(file)
            }
        };
        let locks = Arc::new(Locks { _folder: lock_folder(folder)?, _file: file });
        Ok(Self { folder: folder.to_owned(), room: Arc::new(Room::of(folder)), _locks: locks })
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Keeps room for a start on a full disk, as soon as there is some.
    pub fn keep_reserve(&self) -> io::Result<()> {
        reserve::keep(&self.folder)
    }

    /// What its disk has so little of that nothing is to be recorded but what somebody asks by hand. Where it lacks nothing, there is room
    /// for a start on a full disk from now on.
    pub fn lack(&self) -> Option<Lack> {
        reserve::missing(&self.folder).unwrap_or_default()
    }

    /// What its disk has too little of for what tasks print: nothing but the journal goes on.
    pub fn lack_for_output(&self) -> Option<Lack> {
        self.room.lack(1).unwrap_or_default()
    }

    /// How much its disk may still take.
    pub fn room(&self) -> &Room {
        &self.room
    }
}

/// Makes `folder`, and those above it that are missing, so that they outlast the loss of power.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    make_folder(parent)?;
    DirBuilder::new().mode(0o700).create(folder)?;
    File::open(parent)?.sync_all()
}

fn failure(folder: &Path, path: &Path, source: io::Error) -> HomeError {
    match source.kind() {
        ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied => {
            HomeError::ReadOnly { folder: folder.to_owned() }
        }
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory | ErrorKind::NotFound => {
            HomeError::NoFolder { folder: folder.to_owned() }
        }
        _ => HomeError::Io { path: path.to_owned(), source },
    }
}

fn refuse_network(folder: &Path) -> Result<(), HomeError> {
    let found = rustix::fs::statfs(folder).map_err(|source| failure(folder, folder, source.into()))?;
    // The kernel's magic numbers have 32 bits; the field is wider or narrower, and signed or not, by architecture.
    match network_file_system(found.f_type as u32) {
        Some(kind) => Err(HomeError::Network { folder: folder.to_owned(), kind }),
        None => Ok(()),
    }
}

/// The file systems whose other end is another machine, or a program that may be (FUSE).
fn network_file_system(magic: u32) -> Option<&'static str> {
    match magic {
        0x0000_6969 => Some("NFS"),
        0x0000_517b | 0xfe53_4d42 => Some("SMB"),
        0xff53_4d42 => Some("CIFS"),
        0x6573_5546 => Some("FUSE"),
        0x0102_1997 => Some("9P"),
        0x00c3_6400 => Some("Ceph"),
        0x5346_414f | 0x6b41_4653 => Some("AFS"),
        0x7375_7245 => Some("Coda"),
        0x0bd0_0bd0 => Some("Lustre"),
        0x4750_4653 => Some("GPFS"),
        0x786f_4256 => Some("a virtual machine's shared folder"),
        _ => None,
    }
}

fn lock(folder: &Path) -> Result<File, HomeError> {
    let path = folder.join(LOCK);
    let io = |source| failure(folder, &path, source);
    let mut open = OpenOptions::new();
    // Emptied only once it is ours: until then it names the holder.
    open.read(true).write(true).create(true).truncate(false).mode(0o600);
    let mut file = open.open(&path).map_err(io)?;
    hold(&file, folder)?;
    // Its disk may be full, and what follows writes.
    if let Err(why) = reserve::use_if_needed(folder) {
        tracing::warn!(%why, "the reserve for a start on a full disk");
    }
    file.set_len(0).map_err(io)?;
    file.rewind().map_err(io)?;
    writeln!(file, "{}", std::process::id()).map_err(io)?;
    Ok(file)
}

/// The folder itself, locked; none where there is no folder, or where its file system locks none.
fn lock_folder(folder: &Path) -> Result<Option<File>, HomeError> {
    let Ok(opened) = File::open(folder) else { return Ok(None) };
    match opened.try_lock() {
        Ok(()) => Ok(Some(opened)),
        Err(TryLockError::WouldBlock) => {
            let pid = open_to_read(&folder.join(LOCK)).ok().and_then(|lock| read_pid(&lock));
            Err(HomeError::Locked { folder: folder.to_owned(), pid })
        }
        Err(TryLockError::Error(_)) => Ok(None),
    }
}

/// Whatever the file is, opening it waits for nobody.
fn open_to_read(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed()).open(path)
}

/// Locks the file, unless another process has.
fn hold(lock: &File, folder: &Path) -> Result<(), HomeError> {
    match lock.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => {
            Err(HomeError::Locked { folder: folder.to_owned(), pid: read_pid(lock) })
        }
        Err(TryLockError::Error(source)) => Err(failure(folder, &folder.join(LOCK), source)),
    }
}

fn read_pid(file: &File) -> Option<u32> {
    let mut text = String::new();
    file.take(PID_TEXT_LIMIT).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_else_may_write_to_it_or_own_it() {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown, symlink};

        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("home");
        let open = || Home::open(&folder, NetworkFolder::Refuse);
        drop(open().unwrap());
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
        drop(open().unwrap());
        assert_eq!(std::fs::metadata(&folder).unwrap().mode() & 0o777, 0o755);
        // Another user's link would have it write to any file of the coordinator's user.
        let victim = scratch.path().join("victim");
        std::fs::write(&victim, "important").unwrap();
        std::fs::remove_file(folder.join(LOCK)).unwrap();
        symlink(&victim, folder.join(LOCK)).unwrap();
        if chown(&folder, Some(65_534), None).is_err() {
            return eprintln!("SKIPPED in part: only root gives a folder to another user");
        }
        assert!(matches!(open(), Err(HomeError::NotOurs(_))));
        assert_eq!(std::fs::read_to_string(&victim).unwrap(), "important");
    }

    #[test]
    fn a_folder_that_is_looked_at_stays_as_it_is_and_is_nobody_elses_meanwhile() {
        let folder = tempfile::tempdir().unwrap();
        let looked_at = Home::look(folder.path()).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        drop(looked_at);
        let home = Home::open(folder.path(), NetworkFolder::Accept).unwrap();
        assert!(matches!(Home::look(folder.path()), Err(HomeError::Locked { pid: Some(_), .. })));
        std::fs::remove_file(folder.path().join(LOCK)).unwrap();
        assert!(matches!(Home::look(folder.path()), Err(HomeError::Locked { pid: None, .. })));
        let second = Home::open(folder.path(), NetworkFolder::Accept);
        assert!(matches!(second, Err(HomeError::Locked { pid: None, .. })), "its lock was removed");
        drop(home);
        drop(Home::open(folder.path(), NetworkFolder::Accept).unwrap());
        let looked_at = Home::look(folder.path()).unwrap();
        assert!(Home::open(folder.path(), NetworkFolder::Accept).is_err());
        drop(looked_at);
        Home::open(folder.path(), NetworkFolder::Accept).unwrap();
    }

    #[test]
    fn network_file_systems_are_told_from_local_ones() {
        let table = [
            (0x6969, Some("NFS")),
            (0xff53_4d42, Some("CIFS")),
            (0x6573_5546, Some("FUSE")),
            (0xef53, None),      // ext4
            (0x5846_5342, None), // XFS
            (0x9123_683e, None), // btrfs
            (0x794c_7630, None), // overlayfs
            (0x0102_1994, None), // tmpfs
        ];
        for (magic, expected) in table {
            assert_eq!(network_file_system(magic), expected, "{magic:#x}");
        }
    }
}
