//! Jobs that their users signed: what an agent whose owner asks for that compares its orders with.

use super::JobSpec;
use serde::{Deserialize, Serialize};

/// The form of [`SignedText`].
const SIGNED_VERSION: u32 = 1;

/// That a user wants a job to run. Whose key it is, and whether the signature is the key's, is for the reader to find out.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Signed {
    /// A [`SignedText`] as JSON, byte for byte as it was signed.
    pub text: String,
    /// The public half of the user's key, as `ed25519:` and 32 bytes in base64url.
    pub key: String,
    /// The signature under the text: 64 bytes in base64url.
    pub signature: String,
}

/// What a user signs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedText {
    version: u32,
    /// The fingerprint of the grid's coordinator, so that no other grid can use it.
    pub grid: String,
    /// Whose job it is.
    pub user: String,
    /// Drawn for this signature, so that an agent knows a task again that it has run.
    pub nonce: String,
    /// Until when tasks may start, in seconds since 1970.
    pub expires_s: u64,
    /// The job, without a signature.
    pub job: JobSpec,
}

impl SignedText {
    /// Of a job, whatever signature it had before.
    pub fn new(grid: String, user: String, nonce: String, expires_s: u64, job: &JobSpec) -> Self {
        Self { version: SIGNED_VERSION, grid, user, nonce, expires_s, job: job.unsigned() }
    }

    /// As it is signed.
    ///
    /// # Panics
    /// Never: it is plain data.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).expect("plain data")
    }

    /// What a text says; the error says what is wrong with it.
    pub fn read(text: &str) -> Result<Self, String> {
        let read: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if read.version != SIGNED_VERSION {
            return Err(format!("it has version {}; expected {SIGNED_VERSION}", read.version));
        }
        Ok(read)
    }
}

impl JobSpec {
    /// The job without its signature, which is another each time that it is signed.
    #[must_use]
    pub fn unsigned(&self) -> Self {
        Self { signed: None, ..self.clone() }
    }
}
