//! What comes before the work: who this agent is, and what its machine is.

use super::{Join, WorkError, WorkOptions};
use crate::confine;
use crate::home::{Home, Identity};
use crate::keeper::Keeper;
use crate::probes::{Domain, NETWORK_DEFAULT, Root, Speeds, benchmark};
use gleaner_net::{AgentKey, Client};
use gleaner_wire::api::{Enrolled, Enrolment};
use gleaner_wire::session::Profile;
use std::fs;
use std::path::Path;

/// Memory is offered in whole steps of this, so that alike machines are alike.
const MEMORY_STEP: u64 = 256 << 20;

/// What a machine was found to be.
pub(super) struct Machine {
    pub(super) domain: Domain,
    pub(super) profile: Profile,
}

/// Who this agent is: as its folder says, or as the coordinator does, which is then remembered.
pub(super) fn join(
    home: &Home,
    join: Option<&Join>,
    profile: &Profile,
) -> Result<(Identity, AgentKey), WorkError> {
    let key = AgentKey::open_or_create(&home.key())?;
    let known = home.identity()?;
    let identity = match (known, join) {
        (None, None) => return Err(WorkError::NotJoined),
        (Some(known), None) => return Ok((known, key)),
        (Some(known), Some(join)) => Identity { address: join.address.clone(), ..known },
        (None, Some(join)) => enrol(join, &key, profile)?,
    };
    home.enrol(&identity)?;
    Ok((identity, key))
}

fn enrol(join: &Join, key: &AgentKey, profile: &Profile) -> Result<Identity, WorkError> {
    let authority = join.token.authority();
    let (name, key) = (join.name.clone(), key.public().to_string());
    let enrolment = Enrolment { name, key, profile: profile.clone() };
    let enrolled: Enrolled = Client::new(join.address.clone(), authority, join.token.token())
        .and_then(|client| client.post("/api/v1/agents", &enrolment))
        .map_err(|why| WorkError::Joining(Box::new(why)))?;
    Ok(Identity { agent: enrolled.agent, name: enrolled.name, address: join.address.clone(), authority })
}

/// What the machine is: measured once, and then as remembered.
pub(super) fn measure(home: &Home, keeper: &Keeper, options: &WorkOptions) -> Result<Machine, WorkError> {
    let root = Root::new("/");
    let domain = match &options.measure_cgroup {
        Some(path) => Domain::cgroup(&root, path)?,
        None => Domain::detect(&root)?,
    };
    let speeds = match options.speeds.or_else(|| home.speeds()) {
        Some(speeds) => speeds,
        None => measure_speeds(home)?,
    };
    let cores = (domain.cores() as u32).max(1);
    let memory = domain.memory_free()?.unwrap_or(0) / MEMORY_STEP * MEMORY_STEP;
    let profile = Profile {
        speeds: in_order(speeds),
        cores,
        slots: options.slots.unwrap_or(cores),
        memory,
        sandbox: sandbox(home, keeper),
        user: options.user.clone(),
        tags: options.tags.clone(),
        attributes: attributes(options),
    };
    Ok(Machine { domain, profile })
}

/// Takes about three seconds, and remembers what it found.
pub(super) fn measure_speeds(home: &Home) -> Result<Speeds, WorkError> {
    let measured = benchmark(home.path(), NETWORK_DEFAULT)
        .map_err(|why| WorkError::System { what: "the machine's speed could not be measured", why })?;
    let speeds = measured.speeds().rounded();
    home.remember_speeds(&speeds)?;
    Ok(speeds)
}

pub(super) fn in_order(speeds: Speeds) -> [f64; 3] {
    [speeds.cpu, speeds.disk, speeds.net]
}

fn sandbox(home: &Home, keeper: &Keeper) -> Result<String, String> {
    let scratch = home.path().join("tasks/trial");
    let level = fs::create_dir(&scratch).map_err(confine::Why::Folder).and_then(|()| trial(keeper, &scratch));
    let _ = fs::remove_dir_all(&scratch);
    level.map_err(|why| why.to_string())
}

fn trial(keeper: &Keeper, scratch: &Path) -> Result<String, confine::Why> {
    confine::available(keeper, scratch).map(|level| level.to_string())
}

fn attributes(options: &WorkOptions) -> std::collections::BTreeMap<String, String> {
    let quoted = |text: &str| format!("\"{text}\"");
    let mut attributes = options.attributes.clone();
    for (name, value) in [("Arch", std::env::consts::ARCH), ("OpSys", std::env::consts::OS)] {
        attributes.entry(name.to_owned()).or_insert_with(|| quoted(value));
    }
    attributes
}
