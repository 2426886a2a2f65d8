//! A user id for each running task of an agent of root's.
//!
//! The ids come from the part that systemd's list of user ids leaves unused (from `0x7000_0000` on), not from the range of
//! its `DynamicUser=`, so that no service can be given the same. An id is taken by locking a file, whose lock the minder
//! holds until no process of the task is left; so agents beside each other do not share ids.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, FlockOperation, chownat, fchown, flock, fstat};
use rustix::io::Errno;
use rustix::process::{Gid, Uid, geteuid};

use crate::beneath::{self, Seen};

pub(super) const FIRST: u32 = 0x7000_0000;
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
        let root = beneath::open_root(folder)?;
        let about = fstat(&root)?;
        let (user, group) = (Some(Uid::from_raw(self.id)), Some(Gid::from_raw(self.id)));
        if (about.st_uid, about.st_gid) != (self.id, self.id) {
            fchown(&root, user, group)?;
        }
        let seen = beneath::walk(root, |within, name, about| {
            if FileType::from_raw_mode(about.st_mode) != FileType::Directory && about.st_nlink > 1 {
                // Its other name may be somebody else's.
                return Err(Errno::MLINK);
            }
            if (about.st_uid, about.st_gid) != (self.id, self.id) {
                chownat(within, name, user, group, AtFlags::SYMLINK_NOFOLLOW)?;
            }
            Ok(ControlFlow::Continue(()))
        })?;
        match seen {
            Seen::Whole => Ok(()),
            Seen::Part => Err(io::Error::other("it changes while it is looked through")),
        }
    }

    /// Gives output files to this user, who may then open its own `/dev/stdout` again. Never a device: `/dev/null` is
    /// everyone's.
    pub(crate) fn own_outputs(&self, outputs: [&File; 2]) -> io::Result<()> {
        for output in outputs {
            if output.metadata()?.is_file() {
                fchown(output, Some(Uid::from_raw(self.id)), Some(Gid::from_raw(self.id)))?;
            }
        }
        Ok(())
    }
}
