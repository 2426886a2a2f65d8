//! What the HTTP side shares: the way to the desk, and the disk that may be read beside it.

use crate::blobs::Blobs;
use crate::driver::Handle;
use crate::store::{Home, ReadError, Reader};
use crate::study::Study;
use gleaner_net::{Fingerprint, Token, TokenHash};
use gleaner_units::MachineId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// See the module.
pub struct App {
    /// The way to the desk.
    pub desk: Handle,
    /// Inputs, outputs and checkpoints.
    pub blobs: Arc<dyn Blobs>,
    /// The journal's readers that nobody uses at the moment.
    pub readers: Readers,
    /// The coordinator's folder, for outputs.
    pub home: Home,
    /// The tokens of agents that are connected.
    pub agents: AgentTokens,
    /// The authority that agents and users pin.
    pub authority: Fingerprint,
    /// How others reach this coordinator.
    pub address: String,
    /// Host names and addresses under which it may be asked: those of its certificates, which may be others in an hour.
    pub names: Arc<dyn Fn() -> Vec<String> + Send + Sync>,
    /// What says what would have been under another policy, if there is one.
    pub study: Option<Study>,
}

/// Readers of the journal, opened when needed and used again.
pub struct Readers {
    open: Box<dyn Fn() -> Result<Box<dyn Reader>, ReadError> + Send + Sync>,
    idle: Mutex<Vec<Box<dyn Reader>>>,
}

/// The line with which another machine joins.
pub fn join_line(address: &str, token: &str) -> String {
    format!("gleaner work --join {address} --token {token}")
}

/// A token's hash, as facts and the ledger have it.
pub fn stored_hash(token: &Token) -> String {
    token.hash().to_string()
}

impl Readers {
    /// Readers that come from `open`.
    pub fn new(open: impl Fn() -> Result<Box<dyn Reader>, ReadError> + Send + Sync + 'static) -> Self {
        Self { open: Box::new(open), idle: Mutex::new(Vec::new()) }
    }

    /// Reads with one of them. Blocks: not for the threads that serve connections.
    pub fn read<T>(&self, read: impl FnOnce(&dyn Reader) -> Result<T, ReadError>) -> Result<T, ReadError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let reader = match idle {
            Some(reader) => reader,
            None => (self.open)()?,
        };
        let result = read(&*reader)?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(reader);
        Ok(result)
    }
}

/// Which connected agent has which token for files. In memory only: a new session gets a new token.
#[derive(Debug, Default)]
pub struct AgentTokens {
    by_hash: Mutex<BTreeMap<TokenHash, MachineId>>,
}

impl AgentTokens {
    /// From now on `token` is this agent's.
    pub fn add(&self, token: &Token, agent: MachineId) {
        self.by_hash.lock().unwrap_or_else(PoisonError::into_inner).insert(token.hash(), agent);
    }

    /// The session is over.
    pub fn remove(&self, token: &Token) {
        self.by_hash.lock().unwrap_or_else(PoisonError::into_inner).remove(&token.hash());
    }

    /// Whose token it is.
    pub fn agent(&self, token: &Token) -> Option<MachineId> {
        self.by_hash.lock().unwrap_or_else(PoisonError::into_inner).get(&token.hash()).copied()
    }
}
