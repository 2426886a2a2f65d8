//! The network of a task that may reach the internet, and neither the machine's own services nor the networks that the machine
//! is in: a namespace of its own, in which the kernel's packet filter (`nft`) refuses all others, and a program
//! (`slirp4netns`) that carries what is left to the machine's network as an ordinary program would.
//!
//! The filter is set before anything runs there, and looks at each packet that leaves: whatever a task does with its sockets
//! (an interface or a source named by hand, options of IP), where it sends to decides. No task has the rights to change it.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, setns, unshare};
use rustix::process::Pid;

use super::empty_network::{OURS, and_back, raise_loopback};

/// What carries packets, and what refuses them.
const FORWARDER: &str = "slirp4netns";
const FILTER: &str = "nft";
/// What starts the forwarder with mounts of its own.
const OWN_MOUNTS: &str = "unshare";
const INTERFACE: &str = "tap0";
/// How long the forwarder may take until it carries something, on a machine that is busy.
const PATIENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(3);
/// Bytes of what the filter says of a mistake.
const WORDS_MAX: u64 = 300;

/// Where the forwarder answers questions about names; it asks whom the machine asks.
pub(crate) const RESOLVER: Ipv4Addr = Ipv4Addr::new(10, 0, 2, 3);

/// What is no part of the internet: this machine, private networks and those between providers and customers, links, groups.
const LOCAL: [&str; 9] = [
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.168.0.0/16",
    "224.0.0.0/3",
];

/// The network of one task. What carries its packets ends with this, or with the process that has it.
#[derive(Debug)]
pub(crate) struct ApartNetwork {
    namespace: File,
    forwarder: Child,
    /// The forwarder ends when nobody holds this any more.
    _held: Option<ChildStdin>,
}

impl ApartNetwork {
    /// Makes one in which so many bytes a second pass each way, if it is said.
    pub(crate) fn make(bytes_per_s: Option<u64>) -> io::Result<Self> {
        let rules = rules(&machines_own()?, bytes_per_s);
        let namespace = and_back(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            raise_loopback()?;
            set_filter(&rules)?;
            File::open(OURS)
        })?;
        let path = format!("/proc/{}/fd/{}", std::process::id(), namespace.as_raw_fd());
        // Its sandbox takes the mounts apart that it sees: they have to be its own first, or shared ones go everywhere.
        let mut forwarder = Command::new(found(OWN_MOUNTS)?)
            .args(["--mount", "--propagation", "private"])
            .arg(found(FORWARDER)?)
            .args([
                "--configure",
                "--mtu=1500",
                "--disable-host-loopback",
                "--enable-sandbox",
                "--enable-seccomp",
            ])
            .args(["--exit-fd=0", "--netns-type=path", &path, INTERFACE])
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let held = forwarder.stdin.take();
        let mut network = Self { namespace, forwarder, _held: held };
        network.wait_until_it_carries()?;
        Ok(network)
    }

    /// Does something there. What it starts stays there.
    pub(crate) fn within<T>(&self, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        and_back(|| {
            setns(&self.namespace, CloneFlags::CLONE_NEWNET)?;
            act()
        })
    }

    /// The process that carries its packets.
    pub(crate) fn forwarder(&self) -> Pid {
        Pid::from_child(&self.forwarder)
    }

    fn wait_until_it_carries(&mut self) -> io::Result<()> {
        let until = Instant::now() + PATIENCE;
        loop {
            let routes = self.within(|| fs::read_to_string("/proc/thread-self/net/route"))?;
            let is_default = |line: &str| {
                let mut words = line.split_whitespace();
                words.next() == Some(INTERFACE) && words.next() == Some("00000000")
            };
            if routes.lines().any(is_default) {
                return Ok(());
            }
            if let Some(status) = self.forwarder.try_wait()? {
                return Err(io::Error::other(format!("{FORWARDER} ended at once, with {status}")));
            }
            if Instant::now() > until {
                let _ = self.forwarder.kill();
                return Err(io::Error::other(format!(
                    "{FORWARDER} carries nothing after {} s",
                    PATIENCE.as_secs()
                )));
            }
            thread::sleep(PAUSE);
        }
    }
}

/// Whether a task could have such a network here; if not, why not.
pub(crate) fn can_be_apart() -> Result<(), String> {
    if !rustix::process::geteuid().is_root() {
        return Err("only an agent of root's can give a task a network of its own".to_owned());
    }
    for program in [FORWARDER, FILTER, OWN_MOUNTS] {
        found(program).map_err(|why| why.to_string())?;
    }
    if !fs::exists("/dev/net/tun").unwrap_or(false) {
        return Err("the machine has no /dev/net/tun".to_owned());
    }
    Ok(())
}

/// A program of the system's, also where the agent's `PATH` has no folders for administrators.
fn found(name: &str) -> io::Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin", "/usr/bin"].map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|file| file.is_file()).ok_or_else(|| {
        let package = match name {
            FILTER => "nftables",
            OWN_MOUNTS => "util-linux",
            other => other,
        };
        io::Error::new(
            io::ErrorKind::NotFound,
            format!("{name} is not installed: install the package `{package}`"),
        )
    })
}

/// Loads rules into the namespace in which this thread is.
fn set_filter(rules: &str) -> io::Result<()> {
    let mut filter = Command::new(found(FILTER)?)
        .args(["-f", "-"])
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut to) = filter.stdin.take() {
        to.write_all(rules.as_bytes())?;
    }
    let mut said = String::new();
    if let Some(from) = filter.stderr.take() {
        let _ = from.take(WORDS_MAX).read_to_string(&mut said);
    }
    let status = filter.wait()?;
    if status.success() {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "{FILTER} refuses the task's rules ({status}): {}",
        said.trim().replace('\n', "; ")
    )))
}

/// The filter's rules, given what besides is local.
fn rules(own: &[String], bytes_per_s: Option<u64>) -> String {
    let local = LOCAL.into_iter().chain(own.iter().map(String::as_str)).collect::<Vec<_>>().join(", ");
    let most = bytes_per_s.map_or_else(String::new, |bytes| {
        let rate = (bytes / 1_024).max(1);
        format!("limit rate over {rate} kbytes/second burst {} kbytes drop\n", (rate / 5).max(64))
    });
    format!(
        "table inet gleaner {{
set local {{
type ipv4_addr
flags interval
auto-merge
elements = {{ {local} }}
}}
chain out {{
type filter hook output priority 0; policy drop;
oifname \"lo\" accept
{most}ip daddr {RESOLVER} udp dport 53 accept
ip daddr {RESOLVER} tcp dport 53 accept
ip daddr @local reject with icmp type admin-prohibited
meta nfproto ipv4 accept
reject
}}
chain in {{
type filter hook input priority 0; policy accept;
iifname \"lo\" accept
{most}}}
}}
"
    )
}

/// The machine's own addresses and the networks that it is in, whatever their addresses.
fn machines_own() -> io::Result<Vec<String>> {
    let routes = fs::read_to_string("/proc/net/route")?;
    let addresses = fs::read_to_string("/proc/net/fib_trie")?;
    Ok(networks(&routes).into_iter().chain(own_addresses(&addresses)).collect())
}

/// No link has so many machines that fewer bits name it.
const LINK_BITS_MIN: u32 = 8;

/// What is reached without a gateway, as `/proc/net/route` has it.
fn networks(routes: &str) -> Vec<String> {
    let network = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |at: usize| u32::from_str_radix(words.get(at)?, 16).ok().map(u32::from_be);
        let (to, gateway, mask) = (number(1)?, number(2)?, number(7)?);
        // A default route over a link without a gateway would be all there is, and so would one in two halves.
        (gateway == 0 && mask.leading_ones() >= LINK_BITS_MIN)
            .then(|| format!("{}/{}", Ipv4Addr::from(to), mask.leading_ones()))
    };
    routes.lines().skip(1).filter_map(network).collect()
}

/// The machine's addresses, as `/proc/net/fib_trie` has them: each before a line that says so.
fn own_addresses(trie: &str) -> Vec<String> {
    let mut address = None;
    let mut found = Vec::new();
    for line in trie.lines().map(str::trim) {
        if let Some(leaf) = line.strip_prefix("|-- ") {
            address = leaf.parse::<Ipv4Addr>().ok();
        } else if line == "/32 host LOCAL" {
            found.extend(address.map(|address| address.to_string()));
        }
    }
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUTES: &str = "\
Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0
eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
ppp0\t00000000\t00000000\t0001\t0\t0\t0\t00000000\t0\t0\t0
wg0\t00000000\t00000000\t0001\t0\t0\t0\t00000080\t0\t0\t0
wg0\t00000080\t00000000\t0001\t0\t0\t0\t00000080\t0\t0\t0
";
    const TRIE: &str = "\
Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 192.0.2.0/24 2 0 2
        |-- 192.0.2.2
           /32 host LOCAL
        |-- 192.0.2.255
           /32 link BROADCAST
Local:
        |-- 192.0.2.2
           /32 host LOCAL
        |-- 203.0.113.9
           /32 host LOCAL
";

    #[test]
    fn what_the_machine_is_and_is_in_is_found() {
        assert_eq!(networks(ROUTES), ["192.0.2.0/24"]);
        assert_eq!(own_addresses(TRIE), ["192.0.2.2", "203.0.113.9"]);
    }

    #[test]
    fn all_that_is_local_is_refused_before_anything_is_let_out() {
        let rules = rules(&["203.0.113.9".to_owned()], Some(1_250_000));
        let at = |what: &str| rules.find(what).unwrap_or_else(|| panic!("no {what} in {rules}"));
        for network in LOCAL.into_iter().chain(["203.0.113.9"]) {
            assert!(at(network) < at("chain out"), "{network}");
        }
        assert!(
            at("policy drop") < at("@local reject") && at("@local reject") < at("meta nfproto ipv4 accept")
        );
        assert_eq!(rules.matches("limit rate over 1220 kbytes/second burst 244 kbytes drop").count(), 2);
        assert!(!super::rules(&[], None).contains("limit"));
    }
}
