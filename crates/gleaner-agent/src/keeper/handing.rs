//! Open files that one process hands to another over a socket.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

/// Files never travel without a byte.
const BYTE: &[u8] = b"f";
/// The most that are handed over together.
const FILES_MAX: usize = 16;

/// Hands files over.
pub(crate) fn hand(socket: impl AsFd, files: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES_MAX))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if files.len() > FILES_MAX || !ancillary.push(SendAncillaryMessage::ScmRights(files)) {
        return Err(io::Error::other(format!("{} files are too many to hand over", files.len())));
    }
    sendmsg(socket, &[IoSlice::new(BYTE)], &mut ancillary, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// The next files that were handed over together, or `None` when the other end is gone.
pub(crate) fn take(socket: impl AsFd) -> io::Result<Option<Vec<OwnedFd>>> {
    let mut byte = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FILES_MAX))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let message =
        recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    let files = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => Some(files),
        _ => None,
    });
    let files = files.flatten().collect();
    Ok((message.bytes > 0).then_some(files))
}

/// The same where it is known how many there must be.
pub(crate) fn take_all<const N: usize>(socket: impl AsFd) -> io::Result<Option<[OwnedFd; N]>> {
    let Some(files) = take(socket)? else { return Ok(None) };
    let count = files.len();
    let files = <[OwnedFd; N]>::try_from(files);
    files.map(Some).map_err(|_| io::Error::other(format!("{count} files were handed over, not {N}")))
}
