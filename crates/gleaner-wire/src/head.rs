//! What the rows of a coordinator's journal add up to, up to one of them: whoever wrote that down outside of it notices when
//! rows are taken away or changed, whoever did it and however well.

use crate::hex::{self, BYTES};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// A hash over a row and all rows before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ChainHash([u8; BYTES]);

impl ChainHash {
    /// Before the first row.
    pub const NONE: Self = Self([0; BYTES]);

    /// These bytes.
    pub const fn of(bytes: [u8; BYTES]) -> Self {
        Self(bytes)
    }

    /// The bytes.
    pub const fn as_bytes(&self) -> &[u8; BYTES] {
        &self.0
    }
}

impl fmt::Display for ChainHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex::write(&self.0, f)
    }
}

/// A text that is no head, or no hash of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("expected ROW:HASH with a hash of 64 hexadecimal digits, as `gleaner audit --head` prints it")]
pub struct InvalidHead;

impl FromStr for ChainHash {
    type Err = InvalidHead;

    fn from_str(text: &str) -> Result<Self, InvalidHead> {
        hex::read(text).map(Self).ok_or(InvalidHead)
    }
}

impl From<ChainHash> for String {
    fn from(hash: ChainHash) -> Self {
        hash.to_string()
    }
}

impl TryFrom<String> for ChainHash {
    type Error = InvalidHead;

    fn try_from(text: String) -> Result<Self, InvalidHead> {
        text.parse()
    }
}

/// The last row of a journal at some time, and what all rows up to it add up to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Head {
    /// The row's number.
    pub row: u64,
    /// Its hash.
    pub hash: ChainHash,
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.row, self.hash)
    }
}

impl FromStr for Head {
    type Err = InvalidHead;

    fn from_str(text: &str) -> Result<Self, InvalidHead> {
        let (row, hash) = text.trim().split_once(':').ok_or(InvalidHead)?;
        Ok(Self { row: row.parse().map_err(|_| InvalidHead)?, hash: hash.parse()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_reads_back_and_nothing_else_does() {
        let head = Head { row: 7, hash: ChainHash::of([0xa5; BYTES]) };
        assert_eq!(head.to_string().parse(), Ok(head));
        let json = serde_json::to_string(&head.hash).expect("plain data");
        assert_eq!(serde_json::from_str::<ChainHash>(&json).expect("it was just written"), head.hash);
        for text in
            ["", "7", "7:", "7:a5", "x:00", &format!("7:{}", "ä".repeat(32)), &format!("7:{}0", head.hash)]
        {
            assert_eq!(text.parse::<Head>(), Err(InvalidHead), "{text}");
        }
    }
}
