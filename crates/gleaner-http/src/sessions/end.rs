//! Why a session ends.

use gleaner_net::NoRandomness;
use gleaner_server::desk::Rejection;
use gleaner_server::driver::Stopped;
use gleaner_wire::session::FrameError;
use std::io::ErrorKind;
use thiserror::Error;
use tokio_tungstenite::tungstenite;

/// Why a session ends before it begins, or later.
#[derive(Debug, Error)]
pub(super) enum SessionEnd {
    #[error("{0}")]
    Refused(String),
    #[error("{0}")]
    NotNow(String),
    #[error("it did not say who it is in time")]
    Late,
    #[error("it did not say who it is before others came")]
    Crowded,
    #[error("the connection broke: {0}")]
    Broken(tungstenite::Error),
    #[error("the agent is gone without a word: it was killed, or its machine or the network failed")]
    Gone,
    #[error("the agent ended it: it was stopped, or begins another")]
    Left,
    #[error("it is closed")]
    Closed,
    #[error(transparent)]
    Frame(#[from] FrameError),
    #[error(transparent)]
    Stopped(#[from] Stopped),
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
}

impl From<Rejection> for SessionEnd {
    fn from(rejection: Rejection) -> Self {
        Self::Refused(rejection.message)
    }
}

impl From<tungstenite::Error> for SessionEnd {
    /// What TLS says of an end without a word is for programmers.
    fn from(error: tungstenite::Error) -> Self {
        match error {
            tungstenite::Error::Io(why) if why.kind() == ErrorKind::UnexpectedEof => Self::Gone,
            other => Self::Broken(other),
        }
    }
}
