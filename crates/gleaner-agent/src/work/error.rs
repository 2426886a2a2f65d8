//! Why an agent does not work, or no longer.

use crate::home::HomeError;
use crate::keeper::KeeperError;
use crate::owner;
use crate::probes::ProbeError;
use gleaner_net::{ClientError, KeyError};
use std::io;

/// See the module.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// Its folder cannot be used.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// The owner's rules cannot be read, or make no sense.
    #[error(transparent)]
    Rules(#[from] owner::FileError),
    /// It has not joined a grid, and was not told which.
    #[error(
        "this agent has joined no grid yet: take the line that `gleaner token join` prints on the coordinator's machine, or `gleaner up`"
    )]
    NotJoined,
    /// It was told where, and has no token for it.
    #[error(
        "this agent has joined no grid yet, so that an address is not enough: add --token TOKEN, as `gleaner token join` prints it"
    )]
    NoToken,
    /// It could not join.
    #[error("joining the grid: {0}")]
    Joining(Box<ClientError>),
    /// Its key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// Programs could not be held.
    #[error(transparent)]
    Keeper(#[from] KeeperError),
    /// The cgroup that it was told to measure in is none.
    #[error("--measure-cgroup: {0}")]
    MeasureCgroup(ProbeError),
    /// The machine could not be measured.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// The system refused something that nothing works without.
    #[error("{what}: {why}")]
    System {
        /// What it was.
        what: &'static str,
        /// What the system said.
        why: io::Error,
    },
    /// The coordinator does not want it.
    #[error("the coordinator refuses this agent: {0}")]
    Refused(String),
}
