//! Jobs that go to machines whose owners ask for their users' signatures.

use crate::api::Api;
use crate::cli::SubmitArguments;
use crate::failure::Failure;
use crate::home;
use gleaner_net::{Signer, UserKey, random_bytes};
use gleaner_wire::job::{JobSpec, Signed, SignedText};
use gleaner_wire::limits::SIGNED_BYTES_MAX;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// The name of the key's file in the user's folder.
const KEY_FILE: &str = "signing.key";

/// A user who signs.
pub(crate) struct Signing {
    user: String,
    key: UserKey,
    grid: String,
}

impl Signing {
    /// As whoever is signed in, with the key in their folder, made there if there is none.
    pub(crate) fn open(home: Option<&Path>, grid: &Api) -> Result<Self, Failure> {
        home::keep_private();
        let path = home::folder(home)?.join(KEY_FILE);
        let is_new = !path.exists();
        let key = UserKey::open_or_create(&path).map_err(|error| Failure::Usage(error.to_string()))?;
        let signing = Self { user: grid.overview()?.user, key, grid: grid.fingerprint().to_string() };
        if is_new {
            anstream::eprintln!(
                "made the key that your jobs are signed with, {}: keep it to yourself",
                path.display()
            );
        }
        Ok(signing)
    }

    /// The user and the key's public half, as owners write them down.
    pub(crate) fn signer(&self) -> Signer {
        Signer { user: self.user.clone(), key: self.key.public() }
    }

    fn sign(&self, spec: &JobSpec, seconds: u32) -> Result<JobSpec, Failure> {
        if spec.checkpoint.folder || spec.checkpoint.exit_code.is_some() {
            let why = "a job that is signed keeps no checkpoint, since nobody signs what a task would go on from: leave out \
                       --checkpoint, or the signature";
            return Err(Failure::Usage(why.to_owned()));
        }
        let random = random_bytes().map_err(|error| Failure::Usage(error.to_string()))?;
        let nonce = format!("{:032x}", u128::from_be_bytes(random));
        let now_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let expires_s = now_s + u64::from(seconds);
        let text = SignedText::new(self.grid.clone(), self.user.clone(), nonce, expires_s, spec).to_text();
        if text.len() > SIGNED_BYTES_MAX {
            return Err(Failure::Usage(format!(
                "the job's description has {} bytes; at most {SIGNED_BYTES_MAX} can be signed, since they go to the machine with \
                 each task: put what is long into an input file, or submit several jobs",
                text.len()
            )));
        }
        let signature = self.key.sign_job(&text);
        let signed = Signed { text, key: self.key.public().to_string(), signature };
        Ok(JobSpec { signed: Some(Box::new(signed)), ..spec.clone() })
    }
}

/// The jobs as they are handed in: signed, if their user wants that.
pub(super) fn signed(
    arguments: &SubmitArguments,
    grid: &Api,
    specs: Vec<JobSpec>,
) -> Result<Vec<JobSpec>, Failure> {
    if !arguments.sign {
        return Ok(specs);
    }
    let signing = Signing::open(arguments.grid.home.as_deref(), grid)?;
    specs.iter().map(|spec| signing.sign(spec, arguments.sign_for)).collect()
}
