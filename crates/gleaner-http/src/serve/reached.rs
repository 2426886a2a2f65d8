//! By what names and addresses a coordinator is reached.

use gleaner_net::Fingerprint;
use serde::{Deserialize, Serialize};
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _, UdpSocket};

/// How a coordinator is reached, as its folder says.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Reached {
    /// The URL for others.
    pub address: String,
    /// The URL from its own machine, which needs no name and no route.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<String>,
    /// Its authority's fingerprint.
    pub fingerprint: String,
    /// Its process.
    pub pid: u32,
}

impl Reached {
    /// By the first of its names, if it has any, or the address that it listens on.
    pub(super) fn new(names: &[String], bound: SocketAddr, authority: Fingerprint) -> Self {
        let host = match (names.first(), reached_ip(bound)) {
            (Some(name), _) => name.clone(),
            (None, IpAddr::V6(ip)) => format!("[{ip}]"),
            (None, IpAddr::V4(ip)) => ip.to_string(),
        };
        let here = match bound.ip() {
            ip if !ip.is_unspecified() => ip,
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        };
        Self {
            address: format!("https://{host}:{}", bound.port()),
            local: Some(format!("https://{}", SocketAddr::new(here, bound.port()))),
            fingerprint: authority.to_string(),
            pid: std::process::id(),
        }
    }

    /// The URL for whoever has this from the coordinator's folder.
    pub fn from_here(&self) -> &str {
        self.local.as_ref().unwrap_or(&self.address)
    }
}

/// What the coordinator's certificate is for, with more names that it was given.
pub(super) fn names(more: &[String], bound: SocketAddr) -> Vec<String> {
    let mut names: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
    names.extend([host_name(), Some(reached_ip(bound).to_string())].into_iter().flatten());
    names.extend(more.iter().cloned());
    names.sort();
    names.dedup();
    names
}

/// A name that is unknown here may be known to others, and is most likely mistyped. To ask takes its time.
pub(super) fn warn_of_unknown(names: Vec<String>, port: u16) {
    std::thread::spawn(move || {
        for name in names {
            if let Err(why) = (name.as_str(), port).to_socket_addrs() {
                tracing::warn!(
                    "{name} leads nowhere from this machine ({why}): who joins by it has to know it, from DNS or /etc/hosts"
                );
            }
        }
    });
}

/// The address itself; where it stands for all, the one that packets to elsewhere would leave from.
fn reached_ip(bound: SocketAddr) -> IpAddr {
    if !bound.ip().is_unspecified() {
        return bound.ip();
    }
    // Nothing is sent: to connect only chooses a route. The address is one for documentation.
    let route = || {
        let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
        socket.connect((Ipv4Addr::new(192, 0, 2, 1), 9))?;
        socket.local_addr()
    };
    route().map_or(Ipv4Addr::LOCALHOST.into(), |address| address.ip())
}

fn host_name() -> Option<String> {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    let name = name.trim();
    (!name.is_empty()).then(|| name.to_owned())
}
