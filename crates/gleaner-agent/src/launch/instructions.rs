//! The launcher's instructions and how they travel: with the first byte come the descriptors, then one message.

use std::io::{self, IoSlice, IoSliceMut, Write};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};

use crate::keeper::{Inbox, Network, encode};

/// The three streams and an entrance for each hierarchy of cgroups.
const FDS_MAX: usize = 16;

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
    Processes,
}

/// What Landlock is told.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Walls {
    pub(crate) network: Network,
}

pub(super) struct Descriptors {
    pub(super) streams: [OwnedFd; 3],
    pub(super) entrances: Vec<OwnedFd>,
}

/// Sends the instructions with the three streams and the entrances, in this order.
pub(crate) fn send(to: &UnixStream, instructions: &Instructions, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FDS_MAX))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if fds.len() > FDS_MAX || !ancillary.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::Error::other("too many hierarchies of cgroups"));
    }
    let message = encode(instructions).map_err(io::Error::other)?;
    let (first, rest) = message.split_at(1);
    sendmsg(to, &[IoSlice::new(first)], &mut ancillary, SendFlags::NOSIGNAL)?;
    let mut to = to;
    to.write_all(rest)
}

pub(super) fn receive(from: BorrowedFd<'_>) -> io::Result<(Instructions, Descriptors)> {
    let mut first = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FDS_MAX))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    recvmsg(from, &mut [IoSliceMut::new(&mut first)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    let mut fds: Vec<OwnedFd> = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(some) = message {
            fds.extend(some);
        }
    }
    if fds.len() < 3 {
        return Err(io::Error::other("no standard streams came with them"));
    }
    let entrances = fds.split_off(3);
    let streams = fds.try_into().expect("split after three");
    let mut inbox = Inbox::default();
    inbox.extend(&first);
    let mut from = UnixStream::from(from.try_clone_to_owned()?);
    loop {
        match inbox.pop().map_err(io::Error::other)? {
            Some(instructions) => return Ok((instructions, Descriptors { streams, entrances })),
            None => inbox.fill(&mut from).map_err(io::Error::other)?,
        }
    }
}
