//! Why a confined task's program could not be run.

use std::io;
use std::path::PathBuf;

use super::program::ProgramError;

/// See the module.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// Started by hand, or by a keeper of another version.
    #[error(
        "the launcher's instructions cannot be read ({0}); if the program was replaced, restart the agent"
    )]
    Instructions(io::Error),
    /// The cgroup is gone or closed to us.
    #[error("the task's cgroup cannot be entered: {0}")]
    Group(io::Error),
    /// A limit above what the agent itself may have.
    #[error("the limit on {0} cannot be set: {1}")]
    Limit(&'static str, io::Error),
    /// Somebody put another one in its place just now.
    #[error("{0}: it is another file or folder than the task may read")]
    Another(PathBuf),
    /// A stream could not be put in its place.
    #[error("the task's standard streams cannot be set: {0}")]
    Streams(io::Error),
    /// The kernel refused.
    #[error("capabilities cannot be given up: {0}")]
    Capabilities(io::Error),
    /// Landlock is there but refused.
    #[error("Landlock: {0}")]
    Landlock(String),
    /// No filter for this processor, or the kernel refused it.
    #[error("the filter of system calls cannot be set: {0}")]
    Seccomp(String),
    /// The folder that it is to run in is not there, or not open to it.
    #[error("{0}: the working folder cannot be used: {1}")]
    Folder(PathBuf, io::Error),
    /// The program does not exist or cannot be run.
    #[error(transparent)]
    Program(#[from] ProgramError),
}
