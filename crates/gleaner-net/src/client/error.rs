//! What can go wrong with a call, and what the server says when it refuses.

use crate::address::Address;
use crate::pinning::TlsFailure;
use http::StatusCode;
use serde::Deserialize;
use std::io;

/// A problem is a few sentences; what is longer is not read.
pub(super) const PROBLEM_MAX_BYTES: u64 = 64 * 1024;

/// So much of a path is shown that is none: it may be as long as what somebody gave on a command line.
const PATH_CHARS_SHOWN: usize = 200;

/// Why a call came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// No connection, or one that broke or fell silent.
    #[error("{address} cannot be reached: {why}")]
    Unreachable {
        /// The address.
        address: Address,
        /// What the system said.
        #[source]
        why: io::Error,
    },
    /// There is a server, but not one to talk to.
    #[error("{address} cannot be trusted: {why}")]
    Tls {
        /// The address.
        address: Address,
        /// Why not.
        #[source]
        why: TlsFailure,
    },
    /// The server understood, and said no.
    #[error("{message}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The server's name for the reason; empty if it gave none.
        code: String,
        /// The reason for people.
        message: String,
    },
    /// The answer is not what this version understands.
    #[error("the server's answer is not understood ({what}): are client and server of the same version?")]
    Malformed {
        /// What is wrong with it.
        what: String,
    },
    /// The answer is larger than allowed.
    #[error("the server's answer is larger than the {limit_bytes} bytes allowed")]
    TooLarge {
        /// The limit.
        limit_bytes: u64,
    },
    /// The file to send could not be read, or the file to fill not written.
    #[error("on this side: {0}")]
    Local(#[source] io::Error),
    /// What was to be sent has no JSON form.
    #[error("what was to be sent has no JSON form: {0}")]
    NotJson(#[source] serde_json::Error),
    /// No request can be made for this path.
    #[error("{} is not the path of a request", beginning(.0))]
    Path(String),
    /// A key that no request can carry.
    #[error("{0:?} is no key: it may have letters, digits and punctuation")]
    Key(String),
}

/// In quotes.
fn beginning(path: &str) -> String {
    let shown: String = path.chars().take(PATH_CHARS_SHOWN).collect();
    if shown.len() == path.len() {
        format!("{shown:?}")
    } else {
        format!("what begins with {shown:?} and has {} bytes", path.len())
    }
}

/// The body of a refusal.
#[derive(Deserialize)]
struct Problem {
    error: ProblemError,
}

#[derive(Deserialize)]
struct ProblemError {
    code: String,
    message: String,
}

impl ClientError {
    pub(crate) fn malformed(what: impl Into<String>) -> Self {
        Self::Malformed { what: what.into() }
    }

    pub(crate) fn refused(status: StatusCode, body: &[u8]) -> Self {
        let problem = serde_json::from_slice::<Problem>(body).map(|problem| problem.error);
        // A proxy on the way may have put in a body of its own, and what is only asked about (HEAD) has none.
        let error = problem.unwrap_or_else(|_| ProblemError {
            code: String::new(),
            message: match status {
                StatusCode::UNAUTHORIZED => "nobody has this token, or not any more".to_owned(),
                status => format!("the server answered {status}"),
            },
        });
        Self::Refused { status: status.as_u16(), code: error.code, message: error.message }
    }

    /// What went wrong on the way, as ureq tells it.
    pub(crate) fn broken(address: &Address, why: ureq::Error) -> Self {
        match why {
            ureq::Error::Protocol(why) => Self::malformed(why.to_string()),
            ureq::Error::LargeResponseHeader(_, limit) => Self::TooLarge { limit_bytes: limit as u64 },
            other => Self::broken_io(address, other.into_io()),
        }
    }

    /// What went wrong on the way, as a connection tells it: rustls and ureq wrap their errors in those of I/O.
    pub(crate) fn broken_io(address: &Address, why: io::Error) -> Self {
        let address = address.clone();
        if why.kind() == io::ErrorKind::UnexpectedEof {
            // What TLS says of it is for programmers.
            let why = io::Error::new(
                io::ErrorKind::UnexpectedEof,
                "it closed the connection before it had answered",
            );
            return Self::Unreachable { address, why };
        }
        match why.downcast::<rustls::Error>() {
            Ok(why) => Self::Tls { address, why: why.into() },
            Err(why) => match why.downcast::<ureq::Error>() {
                Ok(ureq::Error::Protocol(why)) => Self::malformed(why.to_string()),
                Ok(other) => Self::Unreachable { address, why: other.into_io() },
                Err(why) => Self::Unreachable { address, why },
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_path_that_is_none_the_beginning_is_shown() {
        let said = |path: &str| ClientError::Path(path.to_owned()).to_string();
        assert_eq!(said("/a b"), "\"/a b\" is not the path of a request");
        let long = said(&"x".repeat(100_000));
        assert!(
            long.len() < 300 && long.ends_with("and has 100000 bytes is not the path of a request"),
            "{long}"
        );
    }
}
