//! The key that makes an agent this agent: Ed25519, made on its machine, never leaving it.
//!
//! To open a session the agent signs a [`Challenge`]. What is signed names the purpose, the coordinator's authority,
//! the agent and the coordinator's nonce, each in a field of known length, so that a signature is good for one
//! session of one agent with one coordinator: a coordinator cannot use it to pass for the agent with another.

use crate::fingerprint::Fingerprint;
use crate::private_file::{self, PrivateFileError};
use crate::{NoRandomness, base64url, random_bytes};
use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{self, DecodePrivateKey, EncodePrivateKey};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

const PURPOSE: &[u8; 24] = b"gleaner agent session v1";

/// An agent's key pair. `Debug` shows the public half.
pub struct AgentKey(SigningKey);

/// Why a key could not be read or made.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// Its file could not be read or written.
    #[error(transparent)]
    File(#[from] PrivateFileError),
    /// No key could be made.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    /// The file holds something else.
    #[error("{path} holds no Ed25519 key in PEM (PKCS#8): {why}; delete it to have a new one made, which whoever knew the old \
             one has to be told: an agent joins again", path = path.display())]
    NotAKey {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: pkcs8::Error,
    },
}

/// What an agent signs to open a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Challenge {
    /// The coordinator's authority.
    pub authority: Fingerprint,
    /// The agent's number.
    pub agent: u32,
    /// What the coordinator made up for this session.
    pub nonce: SessionNonce,
}

/// A signature that does not fit: another key, another text, or a changed bit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the signature is not that of this key under this text")]
pub struct SignatureRefused;

/// Bytes of one length, which travel as they are or as base64url text.
macro_rules! text_of_bytes {
    ($(#[$doc:meta])* $name:ident, $size:literal, $what:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        pub struct $name([u8; $size]);

        impl $name {
            #[doc = concat!("The ", $what, " with these bytes.")]
            pub fn from_bytes(bytes: [u8; $size]) -> Self {
                Self(bytes)
            }

            /// Its bytes.
            pub fn as_bytes(&self) -> &[u8; $size] {
                &self.0
            }
        }

        impl TryFrom<&[u8]> for $name {
            type Error = NotBytes;

            fn try_from(bytes: &[u8]) -> Result<Self, Self::Error> {
                bytes.try_into().map(Self).map_err(|_| NotBytes { what: $what, bytes: $size })
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&base64url::encode(&self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl FromStr for $name {
            type Err = NotBytes;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                base64url::decode(text).map(Self).ok_or(NotBytes { what: $what, bytes: $size })
            }
        }
    };
}

/// Too few or too many bytes, or a text that does not stand for them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a {what} is {bytes} bytes (as text: in base64url without padding), and this is not")]
pub struct NotBytes {
    what: &'static str,
    bytes: usize,
}

text_of_bytes! {
    /// The public half of an agent's key, by which the coordinator knows it again.
    AgentPublicKey, 32, "public key"
}
text_of_bytes! {
    /// An agent's signature under a [`Challenge`].
    SessionSignature, 64, "signature"
}
text_of_bytes! {
    /// What the coordinator makes up for one session, so that no signature is good twice.
    SessionNonce, 32, "nonce"
}

impl SessionNonce {
    /// A new one.
    pub fn generate() -> Result<Self, NoRandomness> {
        random_bytes().map(Self)
    }
}

impl AgentKey {
    /// The key in the file at `path`, made and written there if there is none.
    pub fn open_or_create(path: &Path) -> Result<Self, KeyError> {
        open_or_create(path).map(Self)
    }

    /// What the coordinator knows it by.
    pub fn public(&self) -> AgentPublicKey {
        AgentPublicKey(self.0.verifying_key().to_bytes())
    }

    /// Signs a challenge.
    pub fn sign_session(&self, challenge: &Challenge) -> SessionSignature {
        SessionSignature(self.0.sign(&challenge.signed_text()).to_bytes())
    }
}

/// The key in the file at `path`, made and written there if there is none.
pub(crate) fn open_or_create(path: &Path) -> Result<SigningKey, KeyError> {
    let not_a_key = |why| KeyError::NotAKey { path: path.into(), why };
    let pem = private_file::read_or_create(path, || {
        let key = SigningKey::from_bytes(&random_bytes()?);
        let pem = key.to_pkcs8_pem(LineEnding::LF).map_err(not_a_key)?;
        Ok::<_, KeyError>(pem.as_bytes().to_vec())
    })?;
    SigningKey::from_pkcs8_pem(&String::from_utf8_lossy(&pem)).map_err(not_a_key)
}

impl fmt::Debug for AgentKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AgentKey({})", self.public())
    }
}

/// Whether `signature` is that of the key `public` under `challenge`.
pub fn verify_session(
    public: &AgentPublicKey,
    challenge: &Challenge,
    signature: &SessionSignature,
) -> Result<(), SignatureRefused> {
    let key = VerifyingKey::from_bytes(&public.0).map_err(|_| SignatureRefused)?;
    // Strict: weak keys are refused, and a signature has one form.
    key.verify_strict(&challenge.signed_text(), &Signature::from_bytes(&signature.0))
        .map_err(|_| SignatureRefused)
}

impl Challenge {
    /// Each field has one length, so no two challenges have one text.
    fn signed_text(&self) -> Vec<u8> {
        [PURPOSE.as_slice(), self.authority.as_bytes(), &self.nonce.0, &self.agent.to_be_bytes()].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(seed: [u8; 32]) -> AgentKey {
        AgentKey(SigningKey::from_bytes(&seed))
    }

    fn flipped<const N: usize>(mut bytes: [u8; N], bit: usize) -> [u8; N] {
        bytes[bit / 8 % N] ^= 1 << (bit % 8);
        bytes
    }

    #[test]
    fn a_key_stays_the_same_in_its_file() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("agent/agent.key");
        let [first, second] = [(), ()].map(|()| AgentKey::open_or_create(&path).unwrap().public());
        assert_eq!(first, second);
        assert!(std::fs::read_to_string(&path).unwrap().starts_with("-----BEGIN PRIVATE KEY-----\n"));
        assert_ne!(AgentKey::open_or_create(&home.path().join("other.key")).unwrap().public(), first);
    }

    #[test]
    fn a_file_with_something_else_is_refused() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("agent.key");
        private_file::read_or_create::<PrivateFileError>(&path, || Ok(b"hello".into())).unwrap();
        let refusal = AgentKey::open_or_create(&path).unwrap_err();
        assert!(matches!(refusal, KeyError::NotAKey { .. }), "{refusal}");
    }

    #[test]
    fn debug_shows_the_public_half_only() {
        let key = key([7; 32]);
        assert_eq!(format!("{key:?}"), format!("AgentKey({})", key.public()));
    }

    #[test]
    fn a_weak_key_vouches_for_nothing() {
        let challenge =
            Challenge { authority: Fingerprint::of_der(b"ours"), agent: 1, nonce: SessionNonce([1; 32]) };
        // The neutral element: under plain verification it accepts a signature anybody can make.
        let mut neutral = [0; 32];
        neutral[0] = 1;
        let mut signature = [0; 64];
        signature[0] = 1;
        let verified = verify_session(&AgentPublicKey(neutral), &challenge, &SessionSignature(signature));
        assert_eq!(verified, Err(SignatureRefused));
    }

    proptest! {
        #[test]
        fn a_signature_is_good_for_its_challenge_and_no_changed_bit(
            seed: [u8; 32],
            authority: [u8; 32],
            nonce: [u8; 32],
            agent: u32,
            bit in 0_usize..512,
        ) {
            let key = key(seed);
            let fingerprint = Fingerprint::of_der(&authority);
            let challenge = Challenge { authority: fingerprint, agent, nonce: SessionNonce(nonce) };
            let signature = key.sign_session(&challenge);
            prop_assert_eq!(verify_session(&key.public(), &challenge, &signature), Ok(()));

            let public = AgentPublicKey(flipped(key.public().0, bit));
            prop_assert!(verify_session(&public, &challenge, &signature).is_err());
            let changed = SessionSignature(flipped(signature.0, bit));
            prop_assert!(verify_session(&key.public(), &challenge, &changed).is_err());
            for other in [
                Challenge { nonce: SessionNonce(flipped(nonce, bit)), ..challenge },
                Challenge { authority: Fingerprint::of_der(&flipped(authority, bit)), ..challenge },
                Challenge { agent: agent ^ 1 << (bit % 32), ..challenge },
            ] {
                prop_assert!(verify_session(&key.public(), &other, &signature).is_err());
            }
        }

        #[test]
        fn keys_and_signatures_travel_as_text_and_bytes(seed: [u8; 32], nonce: [u8; 32]) {
            let key = key(seed);
            let nonce = SessionNonce(nonce);
            let signature = key.sign_session(&Challenge { authority: Fingerprint::of_der(b"ours"), agent: 1, nonce });
            prop_assert_eq!(key.public().to_string().parse(), Ok(key.public()));
            prop_assert_eq!(signature.to_string().parse(), Ok(signature));
            prop_assert_eq!(nonce.to_string().parse(), Ok(nonce));
            prop_assert_eq!(signature.as_bytes()[..].try_into(), Ok(signature));
            prop_assert!(SessionSignature::try_from(&signature.as_bytes()[1..]).is_err());
        }
    }
}
