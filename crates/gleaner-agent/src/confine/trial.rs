//! Builds real sandboxes, to know whether tasks of others can be taken and are held to their memory, and says precisely why not.

use std::fmt;
use std::fs;
use std::io;
use std::path::Path;

use super::Limiter;
use super::bwrap::find_bwrap;
use super::limits::Limits;
use crate::keeper::{
    Confinement, FrameError, Keeper, KeeperError, Network, Order, ProgramEnd, Report, RunSpec, Sandbox,
    TASK_FOLDER, Usage,
};
use crate::lack::is_lack;

/// What the sandbox of this machine is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SandboxLevel {
    /// The Landlock ABI behind the mounts; 0 if this kernel has none.
    pub landlock_abi: u8,
    /// Whether each task has a user id of its own; else a user namespace.
    pub own_users: bool,
}

/// Why this machine cannot build a sandbox.
#[derive(Debug, thiserror::Error)]
pub enum Why {
    /// The command is missing.
    #[error(
        "bubblewrap is not installed: install the package `bubblewrap`, or put the command bwrap into PATH"
    )]
    NoBubblewrap,
    /// Only root could build one.
    #[error(
        "{file} is {value}: user namespaces are closed to this user; an administrator can open them ({said})"
    )]
    NoUserNamespaces {
        /// The setting that closes them.
        file: &'static str,
        /// Its value.
        value: String,
        /// What bubblewrap said.
        said: String,
    },
    /// Bubblewrap or the launcher failed.
    #[error("a trial sandbox could not be built: {0}")]
    Failed(String),
    /// The machine has nothing left of what that takes, as descriptors or processes.
    #[error("a trial sandbox could not be built now: {0}")]
    Lacking(String),
    /// There is no keeper to try it with.
    #[error(transparent)]
    Keeper(#[from] KeeperError),
    /// The keeper fell silent.
    #[error("the trial of the sandbox came to no end: {0}")]
    Silent(#[from] FrameError),
    /// The trial's folder could not be used.
    #[error("the trial of the sandbox needs a folder: {0}")]
    Folder(#[from] io::Error),
}

/// What bubblewrap says where the namespaces of its user, or the room on a disk, are used up.
const USED_UP: &str = "No space left on device";

impl Why {
    /// Whether it may be otherwise in a while.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Lacking(_) => true,
            Self::Keeper(why) => why.is_lack(),
            Self::Failed(said) => said.contains(USED_UP),
            Self::Folder(why) => is_lack(why) || why.kind() == io::ErrorKind::StorageFull,
            Self::NoBubblewrap | Self::NoUserNamespaces { .. } | Self::Silent(_) => false,
        }
    }
}

/// Settings that close user namespaces, and the values by which they do.
const CLOSING: [(&str, &str); 3] = [
    ("/proc/sys/user/max_user_namespaces", "0"),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0"),
    ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"),
];

/// Takes more memory than [`FEW_BYTES`]: what has no end of a line is kept until there is one.
const GREEDY: &str = "head -c 100000000 /dev/zero | tail";
const FEW_BYTES: u64 = 32 << 20;

/// What a trial's sandbox is built on.
#[derive(Clone, Copy)]
pub(super) struct Ground<'a> {
    pub(super) keeper: &'a Keeper,
    /// An empty folder of the agent's, for its own.
    pub(super) scratch: &'a Path,
    pub(super) settings: Option<&'a Path>,
}

/// Runs `/bin/true` in a sandbox, just as a task would be, with an empty folder of the agent's for its own, and `settings` as
/// [`Settings::folder`](super::Settings::folder) has them.
pub fn available(keeper: &Keeper, scratch: &Path, settings: Option<&Path>) -> Result<SandboxLevel, Why> {
    find_bwrap().map_err(|_| Why::NoBubblewrap)?;
    let ground = Ground { keeper, scratch, settings };
    match run(ground, &["/bin/true"], (Limits::default(), Limiter::default()))? {
        (ProgramEnd::Code(0), usage) => {
            let own_users = rustix::process::geteuid().is_root();
            Ok(SandboxLevel { landlock_abi: usage.landlock_abi, own_users })
        }
        (ProgramEnd::Lacking(said), _) => Err(match reason(said) {
            Why::Failed(said) => Why::Lacking(said),
            why => why,
        }),
        (ProgramEnd::CouldNotStart(said) | ProgramEnd::NoProgram(said), _) => Err(reason(said)),
        (outcome, _) => Err(Why::Failed(format!("/bin/true ended with {outcome:?}"))),
    }
}

/// Whether a task that takes more memory than it may is ended, be it named by the task or not.
pub(super) fn holds_memory(ground: Ground<'_>, limiter: &Limiter) -> Result<(), String> {
    let few = Some(FEW_BYTES);
    let named = Limits { memory_bytes: few, ..Limits::default() };
    let unnamed = Limits { memory_unless_named: few, ..Limits::default() };
    for (limits, whose) in [(named, "named"), (unnamed, "named none")] {
        let greedy = ["/bin/sh", "-c", GREEDY];
        let ended = run(ground, &greedy, (limits, limiter.clone()));
        let went_on = format!("a task that {whose} took three times the 32 MiB of its limit");
        match ended.map_err(|why| why.to_string())? {
            (ProgramEnd::Signal(9), _) => {}
            (ProgramEnd::Code(0), _) => return Err(format!("{went_on}, and went on")),
            (outcome, _) => return Err(format!("not known: {went_on}, and ended with {outcome:?}")),
        }
    }
    Ok(())
}

/// Whether a task in a user namespace can be kept from taking all of what its user may watch with inotify.
pub(super) fn holds_inotify(ground: Ground<'_>) -> Result<(), String> {
    let least = Limits { user_parts: Some(u32::MAX), ..Limits::default() };
    let look = ["/bin/sh", "-c", "[ \"$(cat /proc/sys/user/max_inotify_instances)\" -eq 1 ]"];
    match run(ground, &look, (least, Limiter::default())).map_err(|why| why.to_string())? {
        (ProgramEnd::Code(0), _) => Ok(()),
        (outcome, _) => Err(format!("a task has other limits than it was given: {outcome:?}")),
    }
}

/// Runs a program in a sandbox to its end.
fn run(
    Ground { keeper, scratch, settings }: Ground<'_>,
    argv: &[&str],
    (limits, limiter): (Limits, Limiter),
) -> Result<(ProgramEnd, Usage), Why> {
    fs::create_dir_all(scratch)?;
    let mut minder = keeper.minder()?;
    let spec = Box::new(RunSpec {
        argv: argv.iter().map(|&argument| argument.to_owned()).collect(),
        env: Vec::new(),
        cwd: TASK_FOLDER.into(),
        stdin: None,
        stdout: "/dev/null".into(),
        stderr: "/dev/null".into(),
        limits,
        limiter,
        confinement: Confinement::Sandbox(Sandbox {
            folder: scratch.to_owned(),
            inputs: Vec::new(),
            settings: settings.map(Path::to_owned),
            network: Network::None,
        }),
    });
    minder.order(&Order::Run { id: 0, spec })?;
    loop {
        match minder.report()? {
            Report::Started { .. } => {}
            Report::Exited { outcome, usage, .. } => return Ok((outcome, usage)),
        }
    }
}

fn reason(said: String) -> Why {
    for (file, closing) in CLOSING {
        let value = fs::read_to_string(file).unwrap_or_default().trim().to_owned();
        if value == closing && !rustix::process::geteuid().is_root() {
            return Why::NoUserNamespaces { file, value, said };
        }
    }
    Why::Failed(said)
}

impl fmt::Display for SandboxLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let users = if self.own_users { "a user id for each task" } else { "user namespaces" };
        match self.landlock_abi {
            0 => write!(f, "bubblewrap, {users}, seccomp, no Landlock (the kernel has none)"),
            abi => write!(f, "bubblewrap, {users}, seccomp, Landlock ABI {abi}"),
        }
    }
}
