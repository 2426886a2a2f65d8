//! The name of some bytes, wherever they are stored.

use crate::hex::{self, BYTES};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// The blake3 hash of some bytes. Written as 64 hexadecimal digits in lower case, and read as nothing else: one content has one
/// name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(value_type = String))]
pub struct BlobHash([u8; BYTES]);

impl BlobHash {
    /// The hash of these bytes.
    pub fn of(content: &[u8]) -> Self {
        blake3::hash(content).into()
    }

    /// The hash itself.
    pub const fn as_bytes(&self) -> &[u8; BYTES] {
        &self.0
    }
}

impl From<[u8; BYTES]> for BlobHash {
    fn from(hash: [u8; BYTES]) -> Self {
        Self(hash)
    }
}

impl From<blake3::Hash> for BlobHash {
    fn from(hash: blake3::Hash) -> Self {
        Self(hash.into())
    }
}

impl fmt::Display for BlobHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex::write(&self.0, f)
    }
}

impl fmt::Debug for BlobHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BlobHash({self})")
    }
}

/// What is not 64 hexadecimal digits in lower case.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("\"{0}\" is no hash: expected 64 hexadecimal digits in lower case")]
pub struct InvalidHash(String);

impl FromStr for BlobHash {
    type Err = InvalidHash;

    fn from_str(text: &str) -> Result<Self, InvalidHash> {
        let bytes = hex::read(text).filter(|_| !text.bytes().any(|digit| digit.is_ascii_uppercase()));
        bytes.map(Self).ok_or_else(|| InvalidHash(text.chars().take(80).collect()))
    }
}

impl TryFrom<String> for BlobHash {
    type Error = InvalidHash;

    fn try_from(text: String) -> Result<Self, InvalidHash> {
        text.parse()
    }
}

impl From<BlobHash> for String {
    fn from(hash: BlobHash) -> Self {
        hash.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_reads_back_and_nothing_else_is_one() {
        let hash = BlobHash::of(b"content");
        let text = hash.to_string();
        assert_eq!(text.parse(), Ok(hash));
        let others = [
            text.to_uppercase(),
            text[1..].to_owned(),
            format!("{text}0"),
            format!("../{}", &text[3..]),
            "\u{e4}".repeat(32),
            String::new(),
        ];
        for other in others {
            assert!(other.parse::<BlobHash>().is_err(), "{other:?}");
        }
    }
}
