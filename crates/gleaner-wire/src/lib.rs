//! The versioned types that cross a boundary: what users submit ([`job`]), what the coordinator and its agents tell
//! each other ([`session`]).
//!
//! **A field may be added if it has a default; nothing is renamed, and no meaning changes, without a new version.**
//! Messages between coordinator and agents are MessagePack with named fields, since they carry bytes; all else is JSON.

pub mod api;
mod blob_hash;
mod bytes;
pub mod day;
mod head;
mod hex;
pub mod job;
pub mod limits;
mod lineage;
pub mod meant;
pub mod outputs;
pub mod refusal;
mod room;
pub mod session;
pub mod task_folder;
pub mod text;
mod words;

pub use blob_hash::{BlobHash, InvalidHash};
pub use head::{ChainHash, Head, InvalidHead};
pub use lineage::{Had, Lineage, Met};
pub use words::Words;

use serde::{Deserialize, Serialize};
use std::fmt;

/// The version of every JSON document and of the API.
pub const VERSION: u32 = 1;
/// The version of the agents' sessions: both sides must have the same.
pub const SESSION_VERSION: u32 = 10;

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
