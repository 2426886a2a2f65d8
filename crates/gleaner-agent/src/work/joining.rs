//! What comes before the work: who this agent is, and what its machine is.

use super::{Join, Stop, WorkError, WorkOptions};
use crate::confine;
use crate::home::{Home, Identity};
use crate::keeper::Keeper;
use crate::probes::{Domain, NETWORK_DEFAULT, Root, Speeds, benchmark};
use gleaner_net::{AgentKey, Client, ClientError};
use gleaner_wire::api::{Enrolled, Enrolment};
use gleaner_wire::session::Profile;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;
use tokio::sync::watch as changing;

/// Memory is offered in whole steps of this, so that alike machines are alike.
const MEMORY_STEP: u64 = 256 << 20;

/// How long to wait before joining is tried again.
const RETRY: Duration = Duration::from_secs(2);

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
    stop: &changing::Receiver<Stop>,
) -> Result<(Identity, AgentKey), WorkError> {
    let key = AgentKey::open_or_create(&home.key())?;
    let known = home.identity()?;
    let identity = match (known, join) {
        (None, None) => return Err(WorkError::NotJoined),
        (Some(known), None) => return Ok((known, key)),
        (Some(known), Some(join)) => Identity { address: join.address.clone(), ..known },
        (None, Some(join)) => enrol(join, &key, profile, stop)?,
    };
    home.enrol(&identity)?;
    Ok((identity, key))
}

/// A coordinator that cannot be reached may be starting; one whose answer was lost gives it again.
fn enrol(
    join: &Join,
    key: &AgentKey,
    profile: &Profile,
    stop: &changing::Receiver<Stop>,
) -> Result<Identity, WorkError> {
    let authority = join.token.authority();
    let (name, key) = (join.name.clone(), key.public().to_string());
    let enrolment = Enrolment { name, key, profile: profile.clone() };
    let failed = |why| WorkError::Joining(Box::new(why));
    let client = Client::new(join.address.clone(), authority, join.token.token()).map_err(failed)?;
    loop {
        match client.post::<_, Enrolled>("/api/v1/agents", &enrolment) {
            Ok(Enrolled { agent, name, .. }) => {
                return Ok(Identity { agent, name, address: join.address.clone(), authority });
            }
            Err(why @ ClientError::Unreachable { .. }) if *stop.borrow() == Stop::No => {
                tracing::warn!(%why, "not joined yet; trying again");
                thread::sleep(RETRY);
            }
            Err(why) => return Err(failed(why)),
        }
    }
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
