//! A user id for each running task of an agent of root's.
//!
//! The ids come from the part that systemd's list of user ids leaves unused (from `0x7000_0000` on), not from the range of
//! its `DynamicUser=`, so that no service can be given the same. An id is taken by locking a file, whose lock the minder
//! holds until no process of the task is left; so agents beside each other do not share ids.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, fchown, lchown};
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use rustix::process::geteuid;

const FIRST: u32 = 0x7000_0000;
const COUNT: u32 = 4096;
const LOCKS: &str = "/run/gleaner/users";

/// A user id that no other running task has.
#[derive(Debug)]
pub(crate) struct TransientUser {
    id: u32,
    _lock: File,
}

impl TransientUser {
    /// An unused id for a task in this folder if the agent is root; without root there are user namespaces instead.
    ///
    /// If the folder is one such user's already, that id is tried first: then nothing has to be given to anyone.
    pub(crate) fn for_folder(folder: &Path) -> io::Result<Option<Self>> {
        if !geteuid().is_root() {
            return Ok(None);
        }
        fs::DirBuilder::new().recursive(true).mode(0o700).create(LOCKS)?;
        let owner = Some(fs::symlink_metadata(folder)?.uid()).filter(|owner| Self::is_one(*owner));
        for id in owner.into_iter().chain(FIRST..FIRST + COUNT) {
            let file = Path::new(LOCKS).join(id.to_string());
            let lock = OpenOptions::new().create(true).append(true).mode(0o600).open(file)?;
            if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
                return Ok(Some(Self { id, _lock: lock }));
            }
        }
        Err(io::Error::other(format!("all {COUNT} are in use")))
    }

    /// Whether an id is one of those that tasks get.
    pub(crate) fn is_one(id: u32) -> bool {
        (FIRST..FIRST + COUNT).contains(&id)
    }

    pub(crate) fn id(&self) -> u32 {
        self.id
    }

    /// Gives a folder and all in it to this user. Nothing of the task runs yet, so nothing changes meanwhile.
    pub(crate) fn own(&self, folder: &Path) -> io::Result<()> {
        let mut open = vec![folder.to_owned()];
        while let Some(path) = open.pop() {
            let data = fs::symlink_metadata(&path)?;
            if data.uid() != self.id || data.gid() != self.id {
                lchown(&path, Some(self.id), Some(self.id))?;
            }
            if data.is_dir() {
                for entry in fs::read_dir(&path)? {
                    open.push(entry?.path());
                }
            }
        }
        Ok(())
    }

    /// Gives output files to this user, who may then open its own `/dev/stdout` again. Never a device: `/dev/null` is
    /// everyone's.
    pub(crate) fn own_outputs(&self, outputs: [&File; 2]) -> io::Result<()> {
        for output in outputs {
            if output.metadata()?.is_file() {
                fchown(output, Some(self.id), Some(self.id))?;
            }
        }
        Ok(())
    }
}
