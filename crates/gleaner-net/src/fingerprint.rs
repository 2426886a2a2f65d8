//! The fingerprint of an authority: the SHA-256 of its certificate, which is all a client must know to trust it.

use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;

/// The SHA-256 of an authority's certificate in DER, printed as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 32]);

/// A text that is not a fingerprint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a fingerprint is 64 hexadecimal digits, and this is not: take it from the line that the server prints"
)]
pub struct BadFingerprint;

impl Fingerprint {
    /// The fingerprint of a certificate in DER.
    pub fn of_der(certificate: &[u8]) -> Self {
        Self(Sha256::digest(certificate).into())
    }

    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

impl FromStr for Fingerprint {
    type Err = BadFingerprint;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits: &[u8; 64] = text.as_bytes().try_into().map_err(|_| BadFingerprint)?;
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = hex_digit(pair[0])? << 4 | hex_digit(pair[1])?;
        }
        Ok(Self(bytes))
    }
}

fn hex_digit(digit: u8) -> Result<u8, BadFingerprint> {
    let value = char::from(digit).to_digit(16).ok_or(BadFingerprint)?;
    Ok(value as u8)
}

#[cfg(test)]
mod tests {
    use super::{BadFingerprint, Fingerprint};

    #[test]
    fn it_is_the_hash_of_the_certificate() {
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Fingerprint::of_der(b"abc").to_string(), abc);
        assert_eq!(abc.to_uppercase().parse(), Ok(Fingerprint::of_der(b"abc")));
    }

    #[test]
    fn anything_else_is_refused() {
        let wide = "é".repeat(32);
        for bad in ["", "ba78", &"g".repeat(64), &"a".repeat(65), &"a".repeat(63), &wide, &" ".repeat(64)] {
            assert_eq!(bad.parse::<Fingerprint>(), Err(BadFingerprint), "{bad:?}");
        }
    }
}
