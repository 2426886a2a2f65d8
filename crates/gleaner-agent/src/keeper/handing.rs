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

/// Hands files over.
pub(super) fn hand<const N: usize>(socket: impl AsFd, files: [BorrowedFd<'_>; N]) -> io::Result<()> {
    let mut space = vec![MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(N))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let fits = ancillary.push(SendAncillaryMessage::ScmRights(&files));
    assert!(fits, "the space is for {N} descriptors");
    sendmsg(socket, &[IoSlice::new(BYTE)], &mut ancillary, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// The next files that were handed over together, or `None` when the other end is gone.
pub(super) fn take<const N: usize>(socket: impl AsFd) -> io::Result<Option<[OwnedFd; N]>> {
    let mut byte = [0];
    let mut space = vec![MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(N))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let message =
        recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    if message.bytes == 0 {
        return Ok(None);
    }
    let files = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(files) => Some(files),
        _ => None,
    });
    let files: Vec<OwnedFd> = files.flatten().collect();
    let count = files.len();
    let files = <[OwnedFd; N]>::try_from(files)
        .map_err(|_| io::Error::other(format!("{count} files were handed over, not {N}")))?;
    Ok(Some(files))
}
