//! The sandbox as a bubblewrap command line.

use std::collections::BTreeSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{MemfdFlags, memfd_create};

use super::limits::Limits;
use super::settings::{ETC, NETWORK_SETTINGS, RESOLVERS, SETTINGS};
use super::{RESOLVER, TransientUser};
use crate::keeper::{Network, Sandbox, TASK_FOLDER};

/// The system's programs and libraries.
const SYSTEM: [&str; 7] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];

/// The folders in which the settings are put.
const FOLDERS: [&str; 3] = ["/etc", "/etc/ssl", "/run"];

/// What the kernel tells everybody of the machine and its owner, and no task needs.
const HIDDEN: [&str; 4] = ["/proc/cmdline", "/proc/key-users", "/proc/keys", "/proc/modules"];

/// The launcher comes as standard output. A path would lead elsewhere, or nowhere, once it was replaced by a newer one.
pub(crate) const LAUNCHER: &str = "/proc/self/fd/1";

/// The most that a task keeps in each of `/tmp` and `/dev/shm`, which are memory and count as such.
const TEMPORARY_BYTES_MAX: u64 = 1 << 30;

/// Who makes the namespace of a task without a network.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EmptyNetworkBy {
    Bubblewrap,
    Minder,
}

/// A bubblewrap that can be started.
#[derive(Debug)]
pub(crate) struct Bubblewrap {
    /// The command.
    pub(crate) command: Command,
    /// What it reads its options from, and what the task reads. Open until it has started.
    _files: Vec<File>,
}

/// A command that builds the sandbox and runs the launcher in it, which must be its standard output. With a user of its
/// own and no network, it is to be started within an [`EmptyNetwork`](super::EmptyNetwork).
pub(crate) fn bwrap_command(
    sandbox: &Sandbox,
    limits: &Limits,
    user: Option<&TransientUser>,
) -> io::Result<Bubblewrap> {
    let by = if user.is_some() { EmptyNetworkBy::Minder } else { EmptyNetworkBy::Bubblewrap };
    let resolvers = match sandbox.network {
        Network::Internet { .. } => {
            Some(shared_file("resolvers", format!("nameserver {RESOLVER}\n").as_bytes())?)
        }
        Network::None | Network::Machine => None,
    };
    let options = options(sandbox, limits, user, by, resolvers.as_ref());
    bubblewrap(&options, resolvers, &[LAUNCHER, "launch"])
}

/// A command that runs a program with the namespaces and mounts of a task's sandbox, but none of its other walls: what
/// the sandbox is measured beside. With `settings` as [`Settings::folder`](super::Settings::folder) has them.
pub fn bare_sandbox(folder: &Path, settings: Option<&Path>, program: &str) -> io::Result<Command> {
    let sandbox = Sandbox {
        folder: folder.to_owned(),
        inputs: Vec::new(),
        settings: settings.map(Path::to_owned),
        network: Network::None,
    };
    let user = TransientUser::for_folder(folder)?;
    let mut command = Command::new(find_bwrap()?);
    command
        .args(options(&sandbox, &Limits::default(), user.as_ref(), EmptyNetworkBy::Bubblewrap, None).0)
        .arg("--")
        .arg(program);
    Ok(command)
}

/// Bubblewrap with options, and what runs inside. The options are not arguments: it is the first process in the sandbox,
/// and there anybody could read in its arguments where on the machine everything lies.
fn bubblewrap(options: &Options, beside: Option<File>, inside: &[&str]) -> io::Result<Bubblewrap> {
    let ended = options.0.iter().flat_map(|option| [option.as_bytes(), &[0]]);
    let file = shared_file("options", &ended.collect::<Vec<_>>().concat())?;
    let mut command = Command::new(find_bwrap()?);
    command.arg("--args").arg(file.as_raw_fd().to_string()).arg("--").args(inside);
    Ok(Bubblewrap { command, _files: std::iter::once(file).chain(beside).collect() })
}

/// What is not closed when the program starts, so that bubblewrap has it; it closes it itself.
fn shared_file(name: &str, bytes: &[u8]) -> io::Result<File> {
    let mut file = File::from(memfd_create(name, MemfdFlags::empty())?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

/// Options of bubblewrap.
#[derive(Default)]
struct Options(Vec<OsString>);

impl Options {
    fn arg(&mut self, option: impl AsRef<OsStr>) -> &mut Self {
        self.0.push(option.as_ref().to_owned());
        self
    }

    fn args<O: AsRef<OsStr>>(&mut self, options: impl IntoIterator<Item = O>) -> &mut Self {
        self.0.extend(options.into_iter().map(|option| option.as_ref().to_owned()));
        self
    }
}

/// `resolvers` is what the task reads of whom to ask about names, if that is not the machine's own file.
fn options(
    sandbox: &Sandbox,
    limits: &Limits,
    user: Option<&TransientUser>,
    by: EmptyNetworkBy,
    resolvers: Option<&File>,
) -> Options {
    let mut command = Options::default();
    command.args([
        "--unshare-ipc",
        "--unshare-pid",
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--die-with-parent",
        "--new-session",
        "--hostname",
        "gleaner",
        "--cap-drop",
        "ALL",
        // With which the launcher gives up all others for good, and this one too.
        "--cap-add",
        "CAP_SETPCAP",
        "--clearenv",
    ]);
    match user {
        // Root builds without a user namespace: it reaches folders closed to others, and the launcher takes the user's id
        // and drops what is left. A namespace fewer is also a way into the kernel fewer.
        Some(_) => command.args(["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]),
        // The launcher limits what of its user's the namespace may take, before it gives up that right too.
        None => command.args(["--unshare-user", "--disable-userns", "--cap-add", "CAP_SYS_RESOURCE"]),
    };
    let of_network: &[&str] = match sandbox.network {
        Network::None if by == EmptyNetworkBy::Minder => &[],
        Network::None => {
            command.arg("--unshare-net");
            &[]
        }
        Network::Internet { .. } | Network::Machine => &NETWORK_SETTINGS,
    };
    let places = sandbox.inputs.iter().flat_map(|input| input.at.ancestors().skip(1));
    let folders: BTreeSet<&Path> = FOLDERS.map(Path::new).into_iter().chain(places).collect();
    for folder in folders.into_iter().filter(|folder| folder.parent().is_some()) {
        // Left to itself, bubblewrap makes folders that the task's user cannot enter.
        command.args(["--perms", "0755", "--dir"]).arg(folder);
    }
    for path in SYSTEM {
        show(&mut command, Path::new(path));
    }
    match &sandbox.settings {
        Some(copies) => bind(&mut command, "--ro-bind", copies, ETC),
        None => SETTINGS.iter().for_each(|path| show(&mut command, Path::new(path))),
    }
    // Among the copies there are empty files for these.
    for path in of_network {
        show(&mut command, Path::new(path));
    }
    match resolvers {
        Some(file) => {
            let number = file.as_raw_fd().to_string();
            command.args(["--perms", "0644", "--ro-bind-data", &number, RESOLVERS]);
        }
        None if of_network.is_empty() => {}
        None => show(&mut command, Path::new(RESOLVERS)),
    }
    command.args(["--proc", "/proc", "--dev", "/dev"]);
    let most = temporary_bytes(limits).to_string();
    for at in ["/dev/shm", "/tmp"] {
        command.args(["--perms", "1777", "--size", &most, "--tmpfs", at]);
    }
    for path in HIDDEN.into_iter().filter(|path| Path::new(path).exists()) {
        command.args(["--ro-bind", "/dev/null", path]);
    }
    bind(&mut command, "--bind", &sandbox.folder, TASK_FOLDER);
    for input in &sandbox.inputs {
        bind(&mut command, "--ro-bind", &input.from, &input.at);
    }
    // What bubblewrap made to mount upon is memory too, and without a bound.
    command.args(["--remount-ro", "/dev", "--remount-ro", "/"]);
    command
}

/// What a task may keep in each of its two folders in memory. Where no cgroup counts it, that is the only bound; so both
/// together are not more than its memory.
fn temporary_bytes(limits: &Limits) -> u64 {
    limits.memory().map_or(TEMPORARY_BYTES_MAX, |memory| (memory / 2).clamp(1, TEMPORARY_BYTES_MAX))
}

fn bind(command: &mut Options, how: &str, from: &Path, at: impl AsRef<OsStr>) {
    command.arg(how).arg(from).arg(at);
}

/// Shows a path of the system as it is, be it a link; what this machine has not, tasks have not.
fn show(command: &mut Options, path: &Path) {
    let is_at_the_root = path.parent() == Some(Path::new("/"));
    match is_at_the_root.then(|| fs::read_link(path)) {
        Some(Ok(target)) => command.arg("--symlink").arg(target).arg(path),
        Some(Err(_)) | None => command.arg("--ro-bind-try").arg(path).arg(path),
    };
}

/// Finds bubblewrap in the agent's `PATH`.
pub(super) fn find_bwrap() -> io::Result<PathBuf> {
    env::split_paths(&env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into()))
        .map(|folder| folder.join("bwrap"))
        .find(|file| file.is_file())
        .ok_or_else(|| {
            io::Error::new(io::ErrorKind::NotFound, "bubblewrap (the command bwrap) is not installed")
        })
}
