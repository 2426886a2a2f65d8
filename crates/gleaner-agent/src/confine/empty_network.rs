//! The network of a task that is to have none: a loopback of its own, and nothing else.
//!
//! Bubblewrap can make such a namespace, and the kernel takes it down after the task; both together are a tenth of what a
//! short task in a sandbox costs. A minder of root's spares that and keeps one from task to task. **A task gets it only as
//! new**: no process of an earlier task is left, so no socket is; and all that the kernel counts in it is as it was in the
//! beginning, so nothing was ever sent in it, no closed connection still holds an address, and there is nothing to learn.

use std::fs::File;
use std::io::{self, Read};

use netlink_sys::protocols::NETLINK_ROUTE;
use netlink_sys::{Socket, SocketAddr};
use nix::sched::{CloneFlags, setns, unshare};

pub(super) const OURS: &str = "/proc/thread-self/ns/net";

/// What the kernel counts in a namespace. A file that it does not have is as good as one that never changes.
const COUNTS: [&str; 4] = ["dev", "netstat", "snmp", "snmp6"];
/// More than they have, so that each is read at once.
const COUNTS_BYTES: usize = 16 << 10;

/// The namespace that a minder keeps, once there is one.
#[derive(Debug, Default)]
pub(crate) struct EmptyNetwork {
    kept: Option<Kept>,
    /// Whether something ran in it since it was last looked at.
    was_used: bool,
}

#[derive(Debug)]
struct Kept {
    namespace: File,
    when_new: Vec<u8>,
}

impl EmptyNetwork {
    /// Does something in the namespace, which is made if there is none. What it starts stays there; what is open already
    /// stays where it is.
    ///
    /// # Panics
    /// If there is no way back: nothing that this thread did after that would be as it should.
    pub(crate) fn within<T>(&mut self, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        self.look_after();
        self.was_used = true;
        and_back(|| {
            match &self.kept {
                Some(kept) => setns(&kept.namespace, CloneFlags::CLONE_NEWNET)?,
                None => self.kept = Some(Kept::make()?),
            }
            act()
        })
    }

    /// Keeps the namespace only if it is as new: to be called when no process is left in it, and better before anyone waits
    /// for the next.
    ///
    /// # Panics
    /// If there is no way back.
    pub(crate) fn look_after(&mut self) {
        if !std::mem::take(&mut self.was_used) {
            return;
        }
        let is_as_new = self.kept.as_ref().is_some_and(|kept| {
            let counted =
                and_back(|| Ok(setns(&kept.namespace, CloneFlags::CLONE_NEWNET).map(|()| counts())?));
            counted.is_ok_and(|counted| counted == kept.when_new)
        });
        self.kept.take_if(|_| !is_as_new);
    }
}

impl Kept {
    /// Makes a namespace, in which this thread then is.
    fn make() -> io::Result<Self> {
        unshare(CloneFlags::CLONE_NEWNET)?;
        raise_loopback()?;
        Ok(Self { namespace: File::open(OURS)?, when_new: counts() })
    }
}

/// Comes back to this thread's namespace from wherever it goes.
pub(super) fn and_back<T>(go: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    let ours = File::open(OURS)?;
    let done = go();
    setns(&ours, CloneFlags::CLONE_NEWNET).expect("a namespace that this thread came from");
    done
}

fn counts() -> Vec<u8> {
    let mut counts = Vec::with_capacity(COUNTS_BYTES);
    for name in COUNTS {
        let file = File::open(format!("/proc/thread-self/net/{name}"));
        let _ = file.and_then(|mut file| file.read_to_end(&mut counts));
    }
    counts
}

/// The kernel gives the loopback its addresses when it is set up.
pub(super) fn raise_loopback() -> io::Result<()> {
    // As the kernel has them: `struct nlmsghdr`, `struct ifinfomsg`, and in an answer the error behind the first.
    const HEADER_BYTES: usize = 16;
    const BYTES: usize = HEADER_BYTES + 16;
    const FIRST_INTERFACE: i32 = 1;
    let flags = (libc::NLM_F_REQUEST | libc::NLM_F_ACK) as u16;
    let up = libc::IFF_UP as u32;
    let mut message = Vec::with_capacity(BYTES);
    message.extend((BYTES as u32).to_ne_bytes());
    message.extend(libc::RTM_NEWLINK.to_ne_bytes());
    message.extend(flags.to_ne_bytes());
    message.extend([0; 8]);
    message.extend([0; 4]);
    message.extend(FIRST_INTERFACE.to_ne_bytes());
    message.extend(up.to_ne_bytes());
    message.extend(up.to_ne_bytes());
    let socket = Socket::new(NETLINK_ROUTE)?;
    socket.connect(&SocketAddr::new(0, 0))?;
    socket.send(&message, 0)?;
    let mut answer = [0; 256];
    let length = socket.recv(&mut &mut answer[..], 0)?;
    match answer[..length].get(HEADER_BYTES..HEADER_BYTES + 4) {
        Some(&[0, 0, 0, 0]) => Ok(()),
        Some(&[a, b, c, d]) => Err(io::Error::from_raw_os_error(-i32::from_ne_bytes([a, b, c, d]))),
        _ => Err(io::Error::other("the kernel's answer about the loopback is cut short")),
    }
}
