//! What the agent says to a minder, and what it hears.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::confine::{Limiter, Limits};

/// Where a sandboxed task finds its own folder.
pub const TASK_FOLDER: &str = "/task";

/// What a minder is told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Order {
    /// Start a task; answered by `Started` and `Exited`, or by `Exited` alone.
    Run {
        /// What the reports will call it.
        id: u64,
        /// What to run.
        spec: Box<RunSpec>,
    },
    /// Kill what runs at this moment of the clock that counts sleep, unless another such order comes before: so that a lease
    /// ends in time also where the agent is stopped, or waits for a disk.
    Lease {
        /// Nanoseconds since the machine was started.
        until_ns: u64,
    },
    /// Send a signal to a task; ignored if it has ended.
    Signal {
        /// Which task.
        id: u64,
        /// Which signal.
        signal: Signal,
    },
}

/// What can be done to a running task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Signal {
    /// Ask it to end (`SIGTERM` to all of its processes). A task still being put into its sandbox may miss it.
    Terminate,
    /// End it: all of its processes, whatever they do.
    Kill,
    /// Suspend all of it, by the freezer where its cgroup has one. Where there is none it is stopped by signals, watched,
    /// and ended ([`ProgramEnd::Defied`]) if its processes wake each other.
    Freeze,
    /// Let it go on.
    Thaw,
}

/// What a minder says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Report {
    /// The task's first process exists. Said within 20 ms, or with `Exited`.
    Started {
        /// Which task.
        id: u64,
        /// Its first process (of the sandbox around it, where there is one).
        pid: u32,
        /// Its cgroups, one a hierarchy; they are gone when `Exited` is sent.
        groups: Vec<PathBuf>,
    },
    /// No process of the task is left.
    Exited {
        /// Which task.
        id: u64,
        /// How it ended.
        outcome: ProgramEnd,
        /// What it used.
        usage: Usage,
    },
}

/// How a task ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProgramEnd {
    /// It exited with this code.
    Code(i32),
    /// This signal ended it. In a sandbox also: it exited with 128 + this number, which bubblewrap does not tell apart.
    Signal(i32),
    /// It never ran, for this reason, which lies in the machine.
    CouldNotStart(String),
    /// It never ran, since the machine had no descriptor, process or memory left for it, as it may have later.
    Lacking(String),
    /// It was suspended and did not stand still, so it was ended.
    Defied,
    /// It took more memory than it may, where no cgroup holds it to that, so it was ended.
    OverMemory,
    /// Nobody gave it more time before its lease ended, so it was ended.
    LeaseEnded,
    /// It never ran, since its program or its folder is not there, or is none.
    NoProgram(String),
    /// It never ran, since it may not use what its start takes, for this reason.
    TooLittle(String),
    /// The kernel ended it, or a process of it, for want of memory, though it had not taken what it may: that of all tasks
    /// together was used up, or the machine's.
    MemoryGone,
}

/// What all processes of a task used together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Processor time in the programs, in microseconds.
    pub user_us: u64,
    /// Processor time in the kernel for them, in microseconds.
    pub system_us: u64,
    /// Peak memory: of the cgroup where there is one, else of the largest process (at least the minder's own).
    pub memory_peak_bytes: u64,
    /// Read from disks.
    pub read_bytes: u64,
    /// Written to disks.
    pub written_bytes: u64,
    /// Sent and received over the network, as far as it was seen; `None` where it cannot be told.
    pub network_bytes: Option<u64>,
    /// Processes that the kernel killed because the task had reached its memory limit; not those that it killed for others'.
    pub killed_for_memory: u64,
    /// The Landlock ABI that walled the task in; 0 without a sandbox or without Landlock.
    pub landlock_abi: u8,
}

/// A task as it is to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSpec {
    /// Program and arguments; a program without `/` is looked for in the task's `PATH`.
    pub argv: Vec<String>,
    /// The whole environment. Nothing is inherited; `PATH`, `HOME` and `LANG` are added where absent.
    pub env: Vec<(String, String)>,
    /// The working folder, as the task sees it.
    pub cwd: PathBuf,
    /// What it reads; `None` is `/dev/null`.
    pub stdin: Option<PathBuf>,
    /// Where its output is appended; created with mode 0600; never a symbolic link.
    pub stdout: PathBuf,
    /// Where its errors are appended, likewise.
    pub stderr: PathBuf,
    /// What it may use.
    pub limits: Limits,
    /// By what the limits are held.
    pub limiter: Limiter,
    /// What it may reach.
    pub confinement: Confinement,
}

/// What a task may reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Confinement {
    /// All that the agent's user may: only for that user's own tasks.
    Own,
    /// Its own folder, the system read-only, and what else is named here.
    Sandbox(Sandbox),
}

/// What a sandboxed task may reach besides the system's programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sandbox {
    /// Its own folder, seen and writable at [`TASK_FOLDER`]. An agent of root's gives all in it to the task's user:
    /// no file in it may be a hard link to something outside.
    pub folder: PathBuf,
    /// What it reads.
    pub inputs: Vec<Input>,
    /// What it sees as `/etc`, read-only; where none is named, what programs need of the machine's own.
    pub settings: Option<PathBuf>,
    /// Whom it may talk to.
    pub network: Network,
}

/// A file or folder that a sandboxed task may read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Where it is on the machine. The task's user must be allowed to read the file itself, if not the way to it.
    pub from: PathBuf,
    /// Where the task sees it: an absolute path, not below [`TASK_FOLDER`].
    pub at: PathBuf,
    /// Its device and inode, where it has to be this very one when the task starts.
    pub known_as: Option<(u64, u64)>,
}

/// The network of a sandboxed task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Network {
    /// A loopback of its own, and nothing else.
    None,
    /// The internet, over a network of its own: not the machine's own services, nor the networks that the machine is in.
    Internet {
        /// How many bytes pass each way in a second at most.
        bytes_per_s: Option<u64>,
    },
    /// The machine's.
    Machine,
}

impl RunSpec {
    /// The environment with the documented additions.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        let home = match &self.confinement {
            Confinement::Own => self.cwd.to_string_lossy().into_owned(),
            Confinement::Sandbox(_) => TASK_FOLDER.to_owned(),
        };
        let mut env = self.env.clone();
        for (name, value) in [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("HOME", &home), ("LANG", "C.UTF-8")]
        {
            if !env.iter().any(|(given, _)| given == name) {
                env.push((name.to_owned(), value.to_owned()));
            }
        }
        env
    }
}
