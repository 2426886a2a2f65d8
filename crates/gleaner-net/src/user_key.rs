//! The key with which a user signs jobs: Ed25519, made in the user's own folder, never leaving it.
//!
//! What is signed begins with its purpose, so that a signature under a job is good for nothing else.

use crate::agent_key::{self, AgentPublicKey, KeyError, SignatureRefused};
use crate::base64url;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

const PURPOSE: &[u8; 21] = b"gleaner signed job v1";
const ALGORITHM: &str = "ed25519:";

/// A user's key pair. `Debug` shows the public half.
pub struct UserKey(SigningKey);

/// The public half of a user's key, as `ed25519:` and 32 bytes in base64url.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct UserPublicKey(AgentPublicKey);

/// A user by name and key, as owners of machines write them down: `alice ed25519:…`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Signer {
    /// The user's name.
    pub user: String,
    /// Their key.
    pub key: UserPublicKey,
}

/// What names no user with a key.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is no user with a key; expected what `gleaner user key` prints, as \"alice {ALGORITHM}…\"")]
pub struct NotASigner(String);

impl UserKey {
    /// The key in the file at `path`, made and written there if there is none.
    pub fn open_or_create(path: &Path) -> Result<Self, KeyError> {
        agent_key::open_or_create(path).map(Self)
    }

    /// What others know it by.
    pub fn public(&self) -> UserPublicKey {
        UserPublicKey(AgentPublicKey::from_bytes(self.0.verifying_key().to_bytes()))
    }

    /// Signs what is said of a job; the signature as text.
    pub fn sign_job(&self, text: &str) -> String {
        base64url::encode(&self.0.sign(&signed(text)).to_bytes())
    }
}

impl UserPublicKey {
    /// Whether `signature` is that of this key under a job's text.
    pub fn verify_job(&self, text: &str, signature: &str) -> Result<(), SignatureRefused> {
        let signature = base64url::decode::<64>(signature).ok_or(SignatureRefused)?;
        let key = VerifyingKey::from_bytes(self.0.as_bytes()).map_err(|_| SignatureRefused)?;
        // Strict: weak keys are refused, and a signature has one form.
        key.verify_strict(&signed(text), &Signature::from_bytes(&signature)).map_err(|_| SignatureRefused)
    }
}

/// The purpose has one length, so no two texts are signed as one.
fn signed(text: &str) -> Vec<u8> {
    [PURPOSE.as_slice(), text.as_bytes()].concat()
}

impl fmt::Debug for UserKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UserKey({})", self.public())
    }
}

impl fmt::Display for UserPublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{ALGORITHM}{}", self.0)
    }
}

impl FromStr for UserPublicKey {
    type Err = SignatureRefused;

    fn from_str(text: &str) -> Result<Self, SignatureRefused> {
        let key = text.strip_prefix(ALGORITHM).and_then(|text| text.parse().ok());
        key.map(Self).ok_or(SignatureRefused)
    }
}

impl fmt::Display for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.user, self.key)
    }
}

impl From<Signer> for String {
    fn from(signer: Signer) -> Self {
        signer.to_string()
    }
}

impl TryFrom<String> for Signer {
    type Error = NotASigner;

    fn try_from(text: String) -> Result<Self, NotASigner> {
        let read = text.split_once(' ').and_then(|(user, key)| {
            let key = key.parse().ok()?;
            (!user.is_empty() && !user.contains('"')).then(|| Self { user: user.to_owned(), key })
        });
        read.ok_or(NotASigner(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_signature_is_good_for_its_text_and_its_key(seed: [u8; 32], other: [u8; 32], text: String, bit in 0_usize..512) {
            let key = UserKey(SigningKey::from_bytes(&seed));
            let signature = key.sign_job(&text);
            prop_assert_eq!(key.public().verify_job(&text, &signature), Ok(()));
            let longer = format!("{text} ");
            prop_assert!(key.public().verify_job(&longer, &signature).is_err());
            let mut bytes: [u8; 64] = base64url::decode(&signature).expect("64 bytes");
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(key.public().verify_job(&text, &base64url::encode(&bytes)).is_err());
            let stranger = UserKey(SigningKey::from_bytes(&other)).public();
            prop_assert!(seed == other || stranger.verify_job(&text, &signature).is_err());
            // What is signed without the purpose is another thing.
            let bare = base64url::encode(&SigningKey::from_bytes(&seed).sign(text.as_bytes()).to_bytes());
            prop_assert!(key.public().verify_job(&text, &bare).is_err());
        }

        #[test]
        fn a_signer_is_written_and_read(seed: [u8; 32], user in "[a-z@._-]{1,20}") {
            let signer = Signer { user, key: UserKey(SigningKey::from_bytes(&seed)).public() };
            prop_assert_eq!(Signer::try_from(signer.to_string()), Ok(signer));
        }
    }

    #[test]
    fn what_is_no_signer_is_named() {
        for text in ["alice", "alice ed25519:", "alice rsa:AAAA", " ed25519:AAAA", ""] {
            let error = Signer::try_from(text.to_owned()).expect_err(text).to_string();
            assert!(error.contains(&format!("{text:?}")) && error.contains("gleaner user key"), "{error}");
        }
    }
}
