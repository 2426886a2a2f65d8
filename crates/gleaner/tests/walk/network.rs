//! Network namespaces: one for the coordinator, with a bridge in it, and one for each machine, wired to the bridge.
//!
//! Nothing of it touches the machine's own network. Each namespace is removed when it is dropped, and its wires with it.

use std::process::{Command, Stdio};

const NEEDED: &str = "the walk runs each agent in a network namespace of its own: run it as root, on a kernel that has \
                      network namespaces, bridges and veth, with the commands `ip` (iproute2) and `nsenter` (util-linux)";

/// The coordinator's namespace.
#[derive(Debug)]
pub(crate) struct Hub {
    namespace: Namespace,
    name: String,
    machines: u8,
}

/// A machine's namespace, with one wire to the hub.
#[derive(Debug)]
pub(crate) struct Wire {
    namespace: Namespace,
}

#[derive(Debug)]
struct Namespace(String);

/// Where the coordinator listens: each hub is a network of its own.
pub(crate) const ADDRESS: &str = "10.77.0.1:7717";

impl Hub {
    /// `name` must be this test's alone.
    pub(crate) fn new(name: &str) -> Self {
        let namespace = Namespace::make(format!("{name}-hub"));
        namespace.ip("link add grid type bridge");
        namespace.ip("addr add 10.77.0.1/24 dev grid");
        namespace.ip("link set grid up");
        Self { namespace, name: name.to_owned(), machines: 0 }
    }

    /// Wires another machine up.
    pub(crate) fn wire(&mut self) -> Wire {
        self.machines += 1;
        let number = self.machines;
        let namespace = Namespace::make(format!("{}-m{number}", self.name));
        let (hub, machine) = (&self.namespace.0, &namespace.0);
        ip(&format!("link add wire{number} netns {hub} type veth peer name wire netns {machine}"));
        self.namespace.ip(&format!("link set wire{number} master grid"));
        self.namespace.ip(&format!("link set wire{number} up"));
        namespace.ip(&format!("addr add 10.77.0.{}/24 dev wire", number + 1));
        namespace.ip("link set wire up");
        Wire { namespace }
    }

    /// What to write before a command so that it runs here.
    pub(crate) fn prefix(&self) -> [String; 2] {
        self.namespace.prefix()
    }
}

impl Wire {
    /// Nothing passes from now on.
    pub(crate) fn cut(&self) {
        self.namespace.ip("link set wire down");
    }

    /// It is whole again.
    pub(crate) fn heal(&self) {
        self.namespace.ip("link set wire up");
    }

    /// What to write before a command so that it runs on this machine.
    pub(crate) fn prefix(&self) -> [String; 2] {
        self.namespace.prefix()
    }
}

impl Namespace {
    fn make(name: String) -> Self {
        ip(&format!("netns add {name}"));
        let made = Self(name);
        made.ip("link set lo up");
        made
    }

    fn ip(&self, arguments: &str) {
        ip(&format!("-n {} {arguments}", self.0));
    }

    /// Not `ip netns exec`, which hides the cgroups.
    fn prefix(&self) -> [String; 2] {
        ["nsenter".to_owned(), format!("--net=/run/netns/{}", self.0)]
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let deleted = Command::new("ip").args(["netns", "del", &self.0]).stderr(Stdio::null()).status();
        if !deleted.is_ok_and(|status| status.success()) {
            eprintln!("the namespace {} is left behind", self.0);
        }
    }
}

fn ip(arguments: &str) {
    let output = Command::new("ip").args(arguments.split(' ')).output();
    let output = output.unwrap_or_else(|error| panic!("ip: {error}; {NEEDED}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "ip {arguments}: {said}; {NEEDED}");
}
