//! The launcher: the last thing before a confined task's program, in the same process.
//!
//! It reads its instructions from standard input (a socket, over which the task's standard streams and the entrances of
//! its cgroups come as well), enters the cgroups, sets limits, takes the task's user, builds the walls, and becomes the
//! program. In a sandbox bubblewrap has run before it: Landlock forbids mounts, so it can only come after them; and the
//! seccomp filter is set here too, not by `bwrap --seccomp`, so that one place builds all walls and says how it failed.
//!
//! Until the program runs, standard error is a pipe to the minder, which reads there why a task could not start.

mod capabilities;
mod error;
mod inotify;
mod instructions;
mod limits;
mod program;
mod syscalls;
mod walls;
mod words;

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use rustix::fs::stat;

use crate::keeper::precedence;
pub use error::LaunchError;
pub(crate) use inotify::part as inotify_part;
pub(crate) use instructions::{Instructions, Rlimit, Walls, send};
pub(crate) use limits::parts_of_user;
pub use program::ProgramError;
pub(crate) use words::{Words, read_words};

/// Becomes the program that standard input describes. Returns only if it cannot, and has said why then, to its minder alone: by
/// then standard error may be the task's.
pub fn launch() {
    match prepare_and_exec() {
        Ok(never) => match never {},
        // Nobody is left to tell if the minder is gone.
        Err((error, mut words)) => drop(words.write_all(words::failure(&error).as_bytes())),
    }
}

type Failure = (LaunchError, Box<dyn Write>);

fn prepare_and_exec() -> Result<std::convert::Infallible, Failure> {
    // Closed when the program starts, while standard error itself becomes the task's.
    let words = io::stderr()
        .as_fd()
        .try_clone_to_owned()
        .map(File::from)
        .map_err(|error| (LaunchError::Streams(error), Box::new(io::stderr()) as Box<dyn Write>))?;
    match exec(&words) {
        Ok(never) => Ok(never),
        Err(error) => Err((error, Box::new(words))),
    }
}

fn exec(mut words: &File) -> Result<std::convert::Infallible, LaunchError> {
    let (instructions, fds) =
        instructions::receive(io::stdin().as_fd()).map_err(LaunchError::Instructions)?;
    for entrance in fds.entrances {
        // The kernel checks who opened it: the minder. 0 is whoever writes.
        File::from(entrance).write_all(b"0").map_err(LaunchError::Group)?;
    }
    set_streams(&fds.streams)?;
    precedence::give_way();
    limits::go_first();
    let (for_the_program, others): (Vec<_>, Vec<_>) =
        instructions.rlimits.into_iter().partition(|(rlimit, _)| *rlimit == Rlimit::AddressBytes);
    limits::set(&others)?;
    let mut landlock_abi = 0;
    let program = instructions.argv.first().map(String::as_str).unwrap_or_default();
    let path = instructions.env.iter().rfind(|(name, _)| name == "PATH").map(|(_, path)| path.clone());
    let mut command = Command::new(program);
    // The folder is entered as the task's user: it need not be open to anyone else.
    command.args(instructions.argv.iter().skip(1)).env_clear().envs(instructions.env);
    command.current_dir(&instructions.cwd);
    if let Some(user) = instructions.user {
        command.uid(user).gid(user);
    }
    if let Some(walls) = instructions.walls {
        // What leads there may have become another way while the sandbox was built.
        let is_known = |at: &Path, is| stat(at).is_ok_and(|about| (about.st_dev, about.st_ino) == is);
        if let Some((at, _)) = walls.known.iter().find(|(at, is)| !is_known(at, *is)) {
            return Err(LaunchError::Another(at.clone()));
        }
        walls.inotify.into_iter().for_each(inotify::limit);
        capabilities::give_up()?;
        landlock_abi = walls::build(&walls)?;
        syscalls::filter(&walls)?;
    }
    // This program may be larger than the other is allowed to be.
    limits::set(&for_the_program)?;
    words.write_all(&words::ready(landlock_abi)).map_err(LaunchError::Streams)?;
    let error = command.exec();
    let is_there = std::env::current_dir().is_ok_and(|folder| folder == instructions.cwd);
    if !is_there {
        return Err(LaunchError::Folder(instructions.cwd, error));
    }
    Err(ProgramError::of(program, &instructions.cwd, &path.unwrap_or_default(), error).into())
}

fn set_streams([stdin, stdout, stderr]: &[OwnedFd; 3]) -> Result<(), LaunchError> {
    rustix::stdio::dup2_stdin(stdin)
        .and_then(|()| rustix::stdio::dup2_stdout(stdout))
        .and_then(|()| rustix::stdio::dup2_stderr(stderr))
        .map_err(|error| LaunchError::Streams(error.into()))
}
