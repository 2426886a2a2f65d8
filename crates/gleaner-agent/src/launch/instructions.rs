//! The launcher's instructions and how they travel: the descriptors are handed over, then comes one message.

use std::io::{self, Write};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::keeper::{Inbox, Network, encode, handing};

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Instructions {
    pub(crate) argv: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) cwd: PathBuf,
    pub(crate) rlimits: Vec<(Rlimit, u64)>,
    /// The user (and group of the same number) to become; only root can.
    pub(crate) user: Option<u32>,
    pub(crate) walls: Option<Walls>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Rlimit {
    AddressBytes,
    CoreBytes,
    FileBytes,
    MessageQueueBytes,
    OpenFiles,
    PendingSignals,
    Processes,
}

/// What the walls are to be.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Walls {
    pub(crate) network: Network,
    /// Whether a cgroup counts all memory of the task. Where none does, a large part of what is nobody's is refused.
    pub(crate) is_memory_counted: bool,
    /// How many instances and watches of inotify the task may have, where it is in a user namespace.
    pub(crate) inotify: Option<[u64; 2]>,
    /// What has to be where the task sees it, by device and inode.
    pub(crate) known: Vec<(PathBuf, (u64, u64))>,
}

pub(super) struct Descriptors {
    pub(super) streams: [OwnedFd; 3],
    pub(super) entrances: Vec<OwnedFd>,
}

/// Sends the instructions with the three streams and the entrances, in this order.
pub(crate) fn send(to: &UnixStream, instructions: &Instructions, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    handing::hand(to, fds)?;
    let mut to = to;
    to.write_all(&encode(instructions).map_err(io::Error::other)?)
}

pub(super) fn receive(from: BorrowedFd<'_>) -> io::Result<(Instructions, Descriptors)> {
    let mut fds = handing::take(from)?.unwrap_or_default();
    if fds.len() < 3 {
        return Err(io::Error::other("no standard streams came with them"));
    }
    let entrances = fds.split_off(3);
    let streams = fds.try_into().expect("split after three");
    let mut inbox = Inbox::default();
    let mut from = UnixStream::from(from.try_clone_to_owned()?);
    loop {
        match inbox.pop().map_err(io::Error::other)? {
            Some(instructions) => return Ok((instructions, Descriptors { streams, entrances })),
            None => inbox.fill(&mut from).map_err(io::Error::other)?,
        }
    }
}
