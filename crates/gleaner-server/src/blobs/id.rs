//! The name of a blob: the BLAKE3 hash of its content.

use gleaner_wire::BlobHash;
use std::fmt::{self, Write as _};
use std::str::FromStr;
use thiserror::Error;

/// The name of a blob. Written as 64 lower-case hexadecimal digits, and read as nothing else.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId([u8; blake3::OUT_LEN]);

impl BlobId {
    /// The name of this content.
    pub fn of(content: &[u8]) -> Self {
        blake3::hash(content).into()
    }
}

impl From<blake3::Hash> for BlobId {
    fn from(hash: blake3::Hash) -> Self {
        Self(hash.into())
    }
}

impl From<&BlobHash> for BlobId {
    fn from(hash: &BlobHash) -> Self {
        hash.as_str().parse().expect("a hash names a blob")
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BlobId(")?;
        fmt::Display::fmt(self, f)?;
        f.write_char(')')
    }
}

/// A text that names no blob.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("the name of a blob has 64 digits from 0 to 9 and from a to f")]
pub struct BlobIdError;

impl FromStr for BlobId {
    type Err = BlobIdError;

    fn from_str(text: &str) -> Result<Self, BlobIdError> {
        // One content has one name: no capitals.
        if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Err(BlobIdError);
        }
        blake3::Hash::from_hex(text).map(Self::from).map_err(|_| BlobIdError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_reads_back_and_nothing_else_is_a_name() {
        let id = BlobId::of(b"content");
        let text = id.to_string();
        assert_eq!(text.parse(), Ok(id));
        let others = [
            text.to_uppercase(),
            text[1..].to_owned(),
            format!("{text}0"),
            format!("../{}", &text[3..]),
            String::new(),
        ];
        for other in others {
            assert_eq!(other.parse::<BlobId>(), Err(BlobIdError), "{other:?}");
        }
    }
}
