//! What an agent remembers from one start to the next, each in a small file of its folder: who it is, whom it was with, how often
//! it was started, how fast the machine is, and what the owner said by hand.

use super::{Home, HomeError};
use crate::allowance::is_full;
use crate::owner::Said;
use crate::probes::Benchmark;
use gleaner_net::{Address, Fingerprint, read_file, read_text};
use gleaner_wire::Met;
use serde::{Deserialize, Serialize};
use std::io;
use std::str::FromStr;

/// What the owner said by hand.
const BY_HAND: &str = "by_hand.json";

/// Who an agent is, and with whom it is enrolled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Identity {
    /// Its number there.
    pub agent: u32,
    /// Its name there.
    pub name: String,
    /// Where the coordinator is.
    pub address: Address,
    /// The coordinator's authority.
    pub authority: Fingerprint,
}

#[derive(Serialize, Deserialize)]
struct StoredIdentity {
    version: u32,
    agent: u32,
    name: String,
    address: String,
    authority: String,
}

impl Home {
    /// Who this agent is; none before it has enrolled.
    pub fn identity(&self) -> Result<Option<Identity>, HomeError> {
        let path = self.folder.join("identity.json");
        let Some(text) = self.text("identity.json")? else { return Ok(None) };
        let read = || -> Result<Identity, String> {
            let stored: StoredIdentity = serde_json::from_str(&text).map_err(|why| why.to_string())?;
            Ok(Identity {
                agent: stored.agent,
                name: stored.name,
                address: stored.address.parse::<Address>().map_err(|why| why.to_string())?,
                authority: stored.authority.parse::<Fingerprint>().map_err(|why| why.to_string())?,
            })
        };
        read().map(Some).map_err(|why| HomeError::Damaged { path, why })
    }

    /// Remembers who this agent is.
    pub fn enrol(&self, identity: &Identity) -> Result<(), HomeError> {
        let stored = StoredIdentity {
            version: 2,
            agent: identity.agent,
            name: identity.name.clone(),
            address: identity.address.to_string(),
            authority: identity.authority.to_string(),
        };
        let text = serde_json::to_string_pretty(&stored).expect("it is plain data");
        self.replace("identity.json", &text)
    }

    /// Which coordinator it was with last; none if it was with none.
    pub fn met(&self) -> Result<Option<Met>, HomeError> {
        let Some(text) = self.text("met.json")? else { return Ok(None) };
        let damaged = |why: serde_json::Error| HomeError::Damaged {
            path: self.folder.join("met.json"),
            why: why.to_string(),
        };
        serde_json::from_str(&text).map(Some).map_err(damaged)
    }

    /// Remembers which coordinator it was with last.
    pub fn remember(&self, met: &Met) -> Result<(), HomeError> {
        self.replace("met.json", &serde_json::to_string(met).expect("it is plain data"))
    }

    /// The number of this start of the agent, higher than that of any before.
    pub fn count_start(&self) -> Result<u64, HomeError> {
        let start = self.number::<u64>("starts")? + 1;
        let write = || self.replace("starts", &format!("{start}\n"));
        match write() {
            // What fills the disk may be what was put aside, and is being removed.
            Err(HomeError::File { why, .. }) if is_full(&why) => {
                self.clear_leftovers();
                write()?;
            }
            written => written?,
        }
        Ok(start)
    }

    /// How fast the machine was measured to be; none if it was not, or not in a way that can be read.
    pub fn measured(&self) -> Option<Benchmark> {
        serde_json::from_slice(&read_file(&self.folder.join("speeds.json")).ok()?).ok()
    }

    /// Remembers how fast the machine is.
    pub fn remember_measured(&self, measured: &Benchmark) -> Result<(), HomeError> {
        self.replace("speeds.json", &serde_json::to_string(measured).expect("it is plain data"))
    }

    /// What the owner said by hand before.
    pub(crate) fn said(&self) -> Result<Said, HomeError> {
        let Some(text) = self.text(BY_HAND)? else { return Ok(Said::default()) };
        let path = self.folder.join(BY_HAND);
        serde_json::from_str(&text).map_err(|why| HomeError::File { path, why: why.into() })
    }

    /// Remembers what the owner said by hand.
    pub(crate) fn remember_said(&self, said: Said) -> Result<(), HomeError> {
        self.replace(BY_HAND, &serde_json::to_string(&said).expect("it is plain data"))
    }

    /// The number in a file; 0 if there is no file.
    fn number<N: FromStr + Default>(&self, name: &str) -> Result<N, HomeError> {
        let Some(text) = self.text(name)? else { return Ok(N::default()) };
        let path = self.folder.join(name);
        text.trim().parse().map_err(|_| HomeError::Damaged { path, why: "expected a number".into() })
    }

    /// What a file says; none if there is no file.
    fn text(&self, name: &str) -> Result<Option<String>, HomeError> {
        let path = self.folder.join(name);
        match read_text(&path) {
            Err(why) if why.kind() == io::ErrorKind::NotFound => Ok(None),
            read => read.map(Some).map_err(|why| HomeError::File { path, why }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// A start would wait until somebody writes to it.
    #[test]
    fn a_pipe_in_place_of_a_file_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(folder.path()).unwrap();
        let pipe = |name: &str| {
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            rustix::fs::mknodat(
                rustix::fs::CWD,
                folder.path().join(name),
                rustix::fs::FileType::Fifo,
                mode,
                0,
            )
            .unwrap();
        };
        for name in
            ["identity.json", "met.json", "by_hand.json", "starts", "speeds.json", "rules.toml", "agent.key"]
        {
            pipe(name);
        }
        assert!(home.measured().is_none(), "it is measured again");
        let key = gleaner_net::AgentKey::open_or_create(&home.key());
        for (name, why) in [
            ("identity.json", home.identity().unwrap_err().to_string()),
            ("met.json", home.met().unwrap_err().to_string()),
            ("by_hand.json", home.said().unwrap_err().to_string()),
            ("starts", home.count_start().unwrap_err().to_string()),
            ("rules.toml", crate::owner::read(&home.rules()).unwrap_err().to_string()),
            ("agent.key", key.unwrap_err().to_string()),
        ] {
            let expected = format!("{name}: it is a pipe, and no file: move it away, and start again");
            assert!(why.contains(&expected), "{why}");
        }
    }

    #[test]
    fn a_damaged_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(folder.path()).unwrap();
        for name in ["identity.json", "met.json"] {
            fs::write(folder.path().join(name), "{").unwrap();
        }
        for error in [home.identity().map(drop).unwrap_err(), home.met().map(drop).unwrap_err()] {
            assert!(matches!(error, HomeError::Damaged { .. }), "{error}");
        }
    }
}
