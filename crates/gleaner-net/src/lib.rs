//! Keys, certificates and tokens, and the client side of a connection.
//!
//! Trust starts from one number, the [`Fingerprint`] of the coordinator's own [`Authority`]. It travels in the join
//! line; whoever has it can tell the coordinator from anybody else, without files or certificate stores.
//!
//! - The coordinator holds an [`Authority`] and shows a [`ServerIdentity`] issued by it.
//! - A client pins the authority: [`client_config`] accepts no server that the fingerprint does not lead to.
//! - Users and joining agents show a [`Token`], of which the coordinator stores a [`TokenHash`] only.
//! - A joined agent signs a [`Challenge`] with its [`AgentKey`]; a user signs jobs with a [`UserKey`].
//! - [`Client`] speaks HTTP and blocks; `connect_session` (feature `tokio`) opens an agent's WebSocket.
//!
//! **Invariants.** No byte that anybody could use leaves before the other side has shown the pinned authority, on loopback
//! neither. No `Debug` or error shows a secret.
//! A private key is in a file only its owner may read, and that file appears whole or not at all. Whatever the other
//! side sends is bounded before it is stored.

mod address;
mod agent_key;
mod authority;
mod base64url;
mod client;
mod disk;
mod fingerprint;
mod own_certificate;
mod pinning;
mod private_file;
mod private_folder;
mod server_identity;
#[cfg(feature = "tokio")]
mod session;
mod token;
mod user_key;
mod whole_file;

pub use address::{Address, AddressError};
pub use agent_key::{
    AgentKey, AgentPublicKey, Challenge, KeyError, NotBytes, SessionNonce, SessionSignature,
    SignatureRefused, verify_session,
};
pub use authority::{Authority, AuthorityError, Damage};
pub use client::{Client, ClientError, Events, Limits, ServerEvent};
pub use disk::{Disk, Files};
pub use fingerprint::{BadFingerprint, Fingerprint};
pub use own_certificate::{CertificateError, CertificateFiles};
pub use pinning::{AuthorityRefused, OtherTime, TlsFailure, client_config};
pub use private_file::{PrivateFileError, read_private};
pub use private_folder::{FolderError, make_private};
pub use server_identity::{Renewal, ServerIdentity};
#[cfg(feature = "tokio")]
pub use session::{SessionLimits, SessionStream, connect_session};
pub use token::{JoinToken, Token, TokenError, TokenHash, TokenKind};
pub use user_key::{NotASigner, Signer, UserKey, UserPublicKey};
pub use whole_file::{open_file, read_file, read_text, replace_file};

/// The system gave no random bytes. Nothing secret, and no seed, can be made without them.
#[derive(Debug, thiserror::Error)]
#[error("the system has no random bytes to give: {0}")]
pub struct NoRandomness(#[from] getrandom::Error);

/// A seed for what is left to chance, another each time.
pub fn random_seed() -> Result<u64, NoRandomness> {
    random_bytes().map(u64::from_le_bytes)
}

/// Bytes that nobody can foretell.
pub fn random_bytes<const N: usize>() -> Result<[u8; N], NoRandomness> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}
