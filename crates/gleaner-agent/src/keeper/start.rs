//! How a task's first process comes to be: directly where nothing confines it, else through the launcher.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, PipeReader};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use rustix::fs::OFlags;
use rustix::process::Pid;

use super::orders::{Confinement, Network, ProgramEnd, RunSpec, Sandbox};
use super::{kin, precedence};
use crate::confine::{
    ApartNetwork, EmptyNetwork, Group, GroupError, LAUNCHER, Limits, MinderGroup, TransientUser,
    bwrap_command,
};
use crate::lack::is_lack;
use crate::launch::{Instructions, ProgramError, Rlimit, Walls, inotify_part, parts_of_user, send};

/// Why a task's first process could not be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    #[error("there is no command")]
    NoCommand,
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error("{0}: the working folder cannot be used: {1}")]
    Folder(PathBuf, io::Error),
    #[error("{0}: cannot be opened for the task: {1}")]
    File(PathBuf, io::Error),
    #[error(transparent)]
    Group(#[from] GroupError),
    #[error("no user for the task: {0}")]
    User(io::Error),
    #[error("no network for the task: {0}")]
    Network(io::Error),
    #[error("the task's folder could not be given to it: {0}")]
    Give(io::Error),
    #[error("{0} could not be started: {1}")]
    Spawn(String, io::Error),
    #[error("instructions could not be sent to the launcher: {0}")]
    Instruct(io::Error),
}

impl StartError {
    /// What is to be said of the task.
    pub(crate) fn outcome(&self) -> ProgramEnd {
        if self.is_lack() {
            return ProgramEnd::Lacking(self.to_string());
        }
        match self {
            Self::NoCommand | Self::Program(_) | Self::Folder(..) => ProgramEnd::NoProgram(self.to_string()),
            Self::File(..)
            | Self::Group(_)
            | Self::User(_)
            | Self::Network(_)
            | Self::Give(_)
            | Self::Spawn(..)
            | Self::Instruct(_) => ProgramEnd::CouldNotStart(self.to_string()),
        }
    }

    /// Whether the system had nothing left of what a start takes.
    fn is_lack(&self) -> bool {
        match self {
            Self::NoCommand | Self::Program(_) => false,
            Self::Group(why) => is_lack(why.why()),
            Self::Folder(_, why)
            | Self::File(_, why)
            | Self::User(why)
            | Self::Network(why)
            | Self::Give(why)
            | Self::Spawn(_, why)
            | Self::Instruct(why) => is_lack(why),
        }
    }
}

/// What a minder starts tasks with, one after the other.
pub(crate) struct Means {
    pub(crate) launcher: File,
    pub(crate) network: EmptyNetwork,
    /// What holds the memory of tasks that name none; none before the first of them, or where there is no such cgroup.
    pub(crate) minder_group: Option<MinderGroup>,
}

/// A task's first process and what belongs to it.
pub(crate) struct Started {
    pub(crate) child: Child,
    pub(crate) group: Option<Group>,
    pub(crate) user: Option<TransientUser>,
    /// Held until the task has ended.
    pub(crate) network: Option<ApartNetwork>,
    /// Where bubblewrap and the launcher say how far they came; `None` for a direct start.
    pub(crate) launcher: Option<PipeReader>,
}

struct Streams {
    stdin: File,
    stdout: File,
    stderr: File,
}

pub(crate) fn start(id: u64, spec: &RunSpec, means: &mut Means) -> Result<Started, StartError> {
    if spec.argv.is_empty() {
        return Err(StartError::NoCommand);
    }
    let streams = open_streams(spec)?;
    if let Limits { memory_bytes: None, memory_unless_named: Some(most), .. } = spec.limits {
        match &mut means.minder_group {
            None => means.minder_group = spec.limiter.group_of_minder(most)?,
            // The owner may give tasks more or less than when it was made.
            Some(group) => group.hold(most)?,
        }
    }
    match &spec.confinement {
        Confinement::Own if !spec.limits.any() => start_directly(spec, streams),
        Confinement::Own => start_limited(id, spec, &streams, means),
        Confinement::Sandbox(sandbox) => start_boxed(id, spec, sandbox, &streams, means),
    }
}

/// The fast way. Nothing here may keep the standard library from using `posix_spawn`: no user, no closure, and no search
/// of the task's `PATH` (so we search it ourselves).
fn start_directly(spec: &RunSpec, streams: Streams) -> Result<Started, StartError> {
    let env = spec.environment();
    let program = find_program(&spec.argv[0], &env, &spec.cwd)?;
    let mut command = Command::new(&program);
    command
        .arg0(&spec.argv[0])
        .args(&spec.argv[1..])
        .env_clear()
        .envs(env)
        .current_dir(&spec.cwd)
        .process_group(0);
    command.stdin(streams.stdin).stdout(streams.stdout).stderr(streams.stderr);
    let child = command.spawn().map_err(|error| match fs::read_dir(&spec.cwd) {
        _ if is_lack(&error) => StartError::Spawn(program.to_string_lossy().into_owned(), error),
        Err(folder) => StartError::Folder(spec.cwd.clone(), folder),
        Ok(_) => ProgramError::of(&program.to_string_lossy(), &spec.cwd, "", error).into(),
    })?;
    precedence::have_give_way(Pid::from_child(&child));
    Ok(Started { child, group: None, user: None, network: None, launcher: None })
}

fn start_limited(id: u64, spec: &RunSpec, streams: &Streams, means: &Means) -> Result<Started, StartError> {
    let group = spec.limiter.group(id, &spec.limits)?;
    let mut command = Command::new(LAUNCHER);
    command.arg0("gleaner").arg("launch").process_group(0);
    let instructions = Instructions {
        argv: spec.argv.clone(),
        env: spec.environment(),
        cwd: spec.cwd.clone(),
        rlimits: rlimits(&spec.limits, group.as_ref()),
        user: None,
        walls: None,
    };
    let (child, launcher) =
        launch(command, &means.launcher, &instructions, streams, group.as_ref(), Command::spawn)?;
    Ok(Started { child, group, user: None, network: None, launcher: Some(launcher) })
}

fn start_boxed(
    id: u64,
    spec: &RunSpec,
    sandbox: &Sandbox,
    streams: &Streams,
    Means { launcher, network, minder_group }: &mut Means,
) -> Result<Started, StartError> {
    let user = TransientUser::for_folder(&sandbox.folder).map_err(StartError::User)?;
    if let Some(user) = &user {
        user.own(&sandbox.folder).map_err(StartError::Give)?;
        user.own_outputs([&streams.stdout, &streams.stderr]).map_err(StartError::Give)?;
    }
    let bubblewrap = bwrap_command(sandbox, &spec.limits, user.as_ref())
        .map_err(|error| StartError::Spawn("bwrap".to_owned(), error))?;
    let group = spec.limiter.group(id, &spec.limits.by_group_of_a_sandbox())?;
    let mut rlimits = rlimits(&spec.limits, group.as_ref());
    if let Limits { memory_bytes: None, memory_unless_named: Some(most), .. } = spec.limits
        && minder_group.is_none()
    {
        rlimits.push((Rlimit::AddressBytes, most));
    }
    if let Some(most) = spec.limits.processes {
        // In a sandbox the count is the task's alone: its user, or its user namespace, where bubblewrap's own is one more.
        rlimits.push((Rlimit::Processes, u64::from(most) + 1));
    }
    let is_memory_counted = group.as_ref().is_some_and(Group::limits_memory) || minder_group.is_some();
    let parts = spec.limits.user_parts.filter(|_| user.is_none());
    rlimits.extend(parts.into_iter().flat_map(parts_of_user));
    let inotify = parts.map(inotify_part);
    let instructions = Instructions {
        argv: spec.argv.clone(),
        env: spec.environment(),
        cwd: spec.cwd.clone(),
        rlimits,
        user: user.as_ref().map(TransientUser::id),
        walls: Some(Walls { network: sandbox.network, is_memory_counted, inotify, known: known(sandbox) }),
    };
    let has_user = user.is_some();
    let apart = match sandbox.network {
        Network::Internet { bytes_per_s } => {
            Some(ApartNetwork::make(bytes_per_s).map_err(StartError::Network)?)
        }
        Network::None | Network::Machine => None,
    };
    let spawn = |command: &mut Command| match (sandbox.network, &apart) {
        (Network::None, _) if has_user => network.within(|| command.spawn()),
        (_, Some(apart)) => apart.within(|| command.spawn()),
        (Network::None | Network::Internet { .. } | Network::Machine, None) => command.spawn(),
    };
    let command = bubblewrap.command;
    let (child, launcher) = launch(command, launcher, &instructions, streams, group.as_ref(), spawn)?;
    Ok(Started { child, group, user, network: apart, launcher: Some(launcher) })
}

/// What of a sandbox has to be a certain file or folder.
fn known(sandbox: &Sandbox) -> Vec<(PathBuf, (u64, u64))> {
    sandbox.inputs.iter().filter_map(|input| Some((input.at.clone(), input.known_as?))).collect()
}

/// Starts a command that ends in the launcher, and instructs the launcher over its standard input. Its standard output
/// is that program, as the sandbox wants it. Returns where bubblewrap and the launcher say how far they came.
fn launch(
    mut command: Command,
    launcher: &File,
    instructions: &Instructions,
    streams: &Streams,
    group: Option<&Group>,
    spawn: impl FnOnce(&mut Command) -> io::Result<Child>,
) -> Result<(Child, PipeReader), StartError> {
    let (ours, theirs) = UnixStream::pair().map_err(StartError::Instruct)?;
    let (words, their_words) = io::pipe().map_err(StartError::Instruct)?;
    rustix::io::ioctl_fionbio(&words, true).map_err(|error| StartError::Instruct(error.into()))?;
    let entrances = group.map_or_else(|| Ok(Vec::new()), Group::entrances)?;
    let fds: Vec<BorrowedFd<'_>> = [&streams.stdin, &streams.stdout, &streams.stderr]
        .into_iter()
        .chain(&entrances)
        .map(AsFd::as_fd)
        .collect();
    let launcher = launcher.try_clone().map_err(StartError::Instruct)?;
    command.env_clear().stdin(std::os::fd::OwnedFd::from(theirs)).stdout(launcher).stderr(their_words);
    let program = command.get_program().to_owned();
    let child = spawn(&mut command)
        .map_err(|error| StartError::Spawn(program.to_string_lossy().into_owned(), error))?;
    // Our copies of the launcher's ends, without which its death would not show.
    drop(command);
    if let Err(error) = send(&ours, instructions, &fds) {
        // One that is gone has said why on its standard error, which is read when it has been waited for.
        if error.kind() != io::ErrorKind::BrokenPipe {
            kin::end();
            return Err(StartError::Instruct(error));
        }
    }
    if let Some(group) = group {
        // The launcher enters by itself. But the first to enter waits until all processors have passed a quiet point,
        // often 10 ms; so that passes here while bubblewrap builds, and the launcher need not wait again.
        group.admit(child.id());
    }
    Ok((child, words))
}

fn rlimits(limits: &Limits, group: Option<&Group>) -> Vec<(Rlimit, u64)> {
    let mut rlimits = vec![(Rlimit::CoreBytes, 0)];
    if let Some(bytes) = limits.file_bytes {
        rlimits.push((Rlimit::FileBytes, bytes));
    }
    if let Some(most) = limits.open_files {
        rlimits.push((Rlimit::OpenFiles, most.into()));
    }
    if let Some(bytes) = limits.memory_bytes
        && !group.is_some_and(Group::limits_memory)
    {
        rlimits.push((Rlimit::AddressBytes, bytes));
    }
    rlimits
}

fn open_streams(spec: &RunSpec) -> Result<Streams, StartError> {
    let stdin = spec.stdin.as_deref().unwrap_or(Path::new("/dev/null"));
    let stdin = open_at_once(OpenOptions::new().read(true), stdin, OFlags::NOFOLLOW)?;
    let stdout = open_output(&spec.stdout)?;
    let stderr = if spec.stderr == spec.stdout {
        // Two descriptors of one open file, so that lines come in the order written.
        stdout.try_clone().map_err(|error| StartError::File(spec.stderr.clone(), error))?
    } else {
        open_output(&spec.stderr)?
    };
    Ok(Streams { stdin, stdout, stderr })
}

fn open_output(path: &Path) -> Result<File, StartError> {
    // An earlier run may have put a link in its place, and we may be root.
    open_at_once(OpenOptions::new().append(true).create(true).mode(0o600), path, OFlags::NOFOLLOW)
}

/// Opens without waiting for anyone: a pipe has no reader any more if the agent was killed just now, and a minder that
/// waited for one would stay for ever. What is opened blocks as a program expects.
fn open_at_once(options: &mut OpenOptions, path: &Path, flags: OFlags) -> Result<File, StartError> {
    let flags = (flags | OFlags::NONBLOCK).bits().cast_signed();
    let failed = |error| StartError::File(path.to_owned(), error);
    let file = options.custom_flags(flags).open(path).map_err(failed)?;
    rustix::io::ioctl_fionbio(&file, false).map_err(|error| failed(error.into()))?;
    Ok(file)
}

fn find_program(name: &str, env: &[(String, String)], cwd: &Path) -> Result<PathBuf, StartError> {
    if name.contains('/') {
        return Ok(PathBuf::from(name));
    }
    let path = env.iter().rfind(|(name, _)| name == "PATH").map_or("", |(_, value)| value);
    std::env::split_paths(&OsString::from(path))
        .map(|folder| cwd.join(folder).join(name))
        .find(|file| {
            fs::metadata(file).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
        })
        .ok_or_else(|| ProgramError::NotInPath(name.to_owned(), path.to_owned()).into())
}
