//! The versioned types that cross a boundary: what users submit ([`job`]), what the coordinator and its agents tell
//! each other ([`session`]).
//!
//! **A field may be added if it has a default; nothing is renamed, and no meaning changes, without a new version.**
//! Messages between coordinator and agents are MessagePack with named fields, since they carry bytes; all else is JSON.

pub mod api;
mod bytes;
pub mod day;
mod head;
pub mod job;
pub mod limits;
mod lineage;
pub mod meant;
pub mod outputs;
mod room;
pub mod session;
pub mod task_folder;
pub mod text;
mod words;

pub use head::{ChainHash, Head, InvalidHead};
pub use lineage::{Had, Lineage, Met};
pub use words::Words;

use serde::{Deserialize, Serialize};
use std::fmt;

/// The version of every JSON document and of the API.
pub const VERSION: u32 = 1;
/// The version of the agents' sessions: both sides must have the same.
pub const SESSION_VERSION: u32 = 9;

/// A job's number, counted from 1 in the order of submission.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JobId(pub u32);

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The blake3 hash of some bytes, in hexadecimal: their name wherever they are stored.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(value_type = String))]
pub struct BlobHash(String);

/// What is not 64 hexadecimal digits in lower case.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("\"{0}\" is no hash: expected 64 hexadecimal digits in lower case")]
pub struct InvalidHash(String);

impl BlobHash {
    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for BlobHash {
    type Error = InvalidHash;

    fn try_from(text: String) -> Result<Self, InvalidHash> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        if text.len() == 64 && text.bytes().all(is_digit) {
            Ok(Self(text))
        } else {
            Err(InvalidHash(text.chars().take(80).collect()))
        }
    }
}

impl From<BlobHash> for String {
    fn from(hash: BlobHash) -> Self {
        hash.0
    }
}

impl fmt::Display for BlobHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
