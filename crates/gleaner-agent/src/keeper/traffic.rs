//! What a task's processes send and receive over TCP, as the kernel counts it for each socket.
//!
//! A task that uses its machine's network shares it with all others, and nothing counts its bytes alone. So its sockets
//! are looked at now and then: soon after its start, and then ever less often. What a socket moved between the last
//! look and its closing is missed, and so is all that is not TCP: enough to learn what a task mostly does, and nothing
//! to bill by.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use netlink_packet_core::{NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP};
use netlink_packet_sock_diag::inet::nlas::Nla;
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags};
use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use netlink_sys::{Socket, SocketAddr};

use super::kin::{self, Passing};
use super::next_look::NextLook;

/// A program that is over before this hardly uses the network.
const FIRST_LOOK: Duration = Duration::from_millis(200);
const PAUSE_MAX: Duration = Duration::from_secs(2);
/// Descriptors of a task that are looked at; one that opens more has them counted in part.
const DESCRIPTORS_MAX: usize = 16_384;
/// An answer of the kernel is at most this long.
const ANSWER_BYTES: usize = 64 << 10;
/// Where `struct tcp_info` has the bytes that were sent and acknowledged, and those that were received.
const ACKED: usize = 120;
const RECEIVED: usize = 128;

/// The name that the kernel gives a socket for good.
type Cookie = [u8; 8];

/// The traffic of one task.
#[derive(Debug)]
pub(crate) struct Traffic {
    pub(super) next_look: NextLook,
    pause: Duration,
    /// What was last seen of each socket that is open.
    sockets: BTreeMap<Cookie, u64>,
    closed: u64,
}

impl Traffic {
    /// The traffic of a task that starts now.
    pub(crate) fn new() -> Self {
        Self {
            next_look: NextLook::after(FIRST_LOOK),
            pause: FIRST_LOOK,
            sockets: BTreeMap::new(),
            closed: 0,
        }
    }

    /// Looks, if it is time to. All processes below this one are the task's.
    pub(crate) fn look(&mut self) {
        if !self.next_look.is_due() {
            return;
        }
        let inodes = inodes();
        // What cannot be had this time is there the next.
        let seen = if inodes.is_empty() { Ok(BTreeMap::new()) } else { counts(&inodes) };
        if let Ok(seen) = seen {
            self.closed += self
                .sockets
                .iter()
                .filter(|(cookie, _)| !seen.contains_key(*cookie))
                .map(|(_, bytes)| bytes)
                .sum::<u64>();
            self.sockets = seen;
        }
        self.pause = (self.pause * 2).min(PAUSE_MAX);
        self.next_look = NextLook::after(self.pause);
    }

    /// Both ways, as far as it was seen.
    pub(crate) fn bytes(&self) -> u64 {
        self.closed + self.sockets.values().sum::<u64>()
    }
}

/// The sockets that the task has open.
fn inodes() -> BTreeSet<u32> {
    let descriptors = kin::below(Passing::Nobody).into_iter().flat_map(|pid| {
        fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero())).into_iter().flatten().flatten()
    });
    let inode = |descriptor: fs::DirEntry| {
        let target = fs::read_link(descriptor.path()).ok()?;
        target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    };
    descriptors.take(DESCRIPTORS_MAX).filter_map(inode).collect()
}

/// What the kernel counted for these sockets of ours.
fn counts(inodes: &BTreeSet<u32>) -> io::Result<BTreeMap<Cookie, u64>> {
    let ours = |seen: &Seen| inodes.contains(&seen.inode) && !is_local(seen.peer);
    Ok(all()?.into_iter().filter(ours).map(|seen| (seen.cookie, seen.bytes)).collect())
}

/// A socket as the kernel shows it.
#[derive(Debug)]
struct Seen {
    cookie: Cookie,
    inode: u32,
    peer: IpAddr,
    bytes: u64,
}

/// All TCP sockets of this machine. Costs O(them).
fn all() -> io::Result<Vec<Seen>> {
    let mut socket = Socket::new(NETLINK_SOCK_DIAG)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    let mut seen = Vec::new();
    for family in [AF_INET, AF_INET6] {
        ask(&socket, family)?;
        hear(&socket, |InetResponse { header, nlas }| {
            let (cookie, peer) = (header.socket_id.cookie, header.socket_id.destination_address);
            seen.push(Seen { cookie, inode: header.inode, peer, bytes: bytes(&nlas) });
        })?;
    }
    Ok(seen)
}

fn ask(socket: &Socket, family: u8) -> io::Result<()> {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    let request = InetRequest {
        family,
        protocol: IPPROTO_TCP,
        extensions: ExtensionFlags::INFO,
        states: StateFlags::all(),
        socket_id: if family == AF_INET { SocketId::new_v4() } else { SocketId::new_v6() },
    };
    let mut message = NetlinkMessage::new(header, SockDiagMessage::InetRequest(request).into());
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    socket.send(&bytes, 0).map(drop)
}

fn hear(socket: &Socket, mut each: impl FnMut(InetResponse)) -> io::Result<()> {
    let mut answer = vec![0; ANSWER_BYTES];
    loop {
        let length = socket.recv(&mut &mut answer[..], 0)?;
        let mut rest = &answer[..length];
        while !rest.is_empty() {
            let message = NetlinkMessage::<SockDiagMessage>::deserialize(rest).map_err(io::Error::other)?;
            match message.payload {
                NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(response)) => each(*response),
                NetlinkPayload::Done(_) => return Ok(()),
                NetlinkPayload::Error(error) => return Err(error.to_io()),
                _ => {}
            }
            let taken = (message.header.length as usize).next_multiple_of(4);
            rest = rest.get(taken.max(1)..).unwrap_or_default();
        }
    }
}

/// What never leaves the machine uses no network.
fn is_local(address: IpAddr) -> bool {
    let address = address.to_canonical();
    address.is_loopback() || address.is_unspecified()
}

/// Both ways; 0 from a kernel whose counters are older than these.
fn bytes(nlas: &[Nla]) -> u64 {
    let number = |info: &[u8], at: usize| {
        let bytes = info.get(at..at + 8)?;
        Some(u64::from_ne_bytes(bytes.try_into().ok()?))
    };
    let of = |nla: &Nla| match nla {
        Nla::TcpInfo(info) => Some(number(info, ACKED)?.saturating_add(number(info, RECEIVED)?)),
        _ => None,
    };
    nlas.iter().find_map(of).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsRawFd;

    const SENT: usize = 100_000;

    fn inode(stream: &TcpStream) -> u32 {
        let link = fs::read_link(format!("/proc/self/fd/{}", stream.as_raw_fd())).unwrap();
        link.to_str().unwrap().trim_matches(|letter: char| !letter.is_ascii_digit()).parse().unwrap()
    }

    #[test]
    fn the_kernel_counts_each_sockets_bytes() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(address).unwrap();
            let mut near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (mut far, _) = listener.accept().unwrap();
            near.write_all(&vec![7; SENT]).unwrap();
            far.read_exact(&mut vec![0; SENT]).unwrap();
            far.write_all(b"done").unwrap();
            near.read_exact(&mut [0; 4]).unwrap();
            let seen = all().unwrap();
            let of = |stream| seen.iter().find(|seen| seen.inode == inode(stream)).expect("an open socket");
            // What the near end sent was read, so it is acknowledged; the kernel counts the connection itself too.
            assert!((SENT + 4..SENT + 8).contains(&(of(&near).bytes as usize)), "{:?}", of(&near));
            assert!(of(&far).bytes >= SENT as u64, "{:?}", of(&far));
            assert!(is_local(of(&near).peer));
            assert_eq!(counts(&BTreeSet::from([inode(&near)])).unwrap().len(), 0, "it is local");
        }
    }
}
