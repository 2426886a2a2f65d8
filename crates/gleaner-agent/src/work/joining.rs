//! What comes before the work: who this agent is, and what its machine is.

use super::{Join, Stop, WorkError, WorkOptions};
use crate::confine::{self, Settings};
use crate::home::{Home, HomeError, Identity};
use crate::keeper::Keeper;
use crate::probes::{Benchmark, Domain, Measured, Root, benchmark, free_disk, measure_network};
use gleaner_net::{Address, AgentKey, Client, ClientError};
use gleaner_wire::api::{Enrolled, Enrolment, Swallowed};
use gleaner_wire::limits::REASON_BYTES_MAX;
use gleaner_wire::session::Profile;
use gleaner_wire::text::tamed;
use std::fs;
use std::io;
use std::thread;
use std::time::Duration;
use tokio::sync::watch as changing;

/// Memory is offered in whole steps of this, so that alike machines are alike.
const MEMORY_STEP: u64 = 256 << 20;

/// What makes an agent that has joined another, under a name that a machine has already.
const AFRESH: &str = "to take over another entry's name, stop this agent, remove its folder, and join again with --replace and a new \
     token; then `gleaner machine forget` removes the entry that this one leaves";

/// How long to wait before joining is tried again.
const RETRY: Duration = Duration::from_secs(2);

/// How often a sandbox is tried where the machine lacks something just now: what is not there at a start is missed until the next.
const TRIALS_MAX: u32 = 5;

/// What a machine was found to be.
pub(super) struct Machine {
    pub(super) domain: Domain,
    pub(super) profile: Profile,
}

/// An agent that the coordinator knows.
pub(super) struct Joined {
    pub(super) identity: Identity,
    pub(super) key: AgentKey,
    /// Where the coordinator is, by who started the agent.
    pub(super) given: Option<Address>,
}

/// Who this agent is: as its folder says, or as the coordinator does, which is then remembered. With it, where else the coordinator may be.
///
/// **An address that was given is not remembered before the coordinator was met there**: a service is started with the address with which
/// it joined, for years, and may have been told of a newer one since.
pub(super) fn join(
    home: &Home,
    join: Option<&Join>,
    profile: &Profile,
    stop: &changing::Receiver<Stop>,
) -> Result<Joined, WorkError> {
    let known = home.identity()?;
    if known.is_some() && !home.key().exists() {
        // The grid knows this agent by that key alone.
        let why = "the agent joined a grid with this key, and it is not there any more".to_owned();
        return Err(HomeError::Damaged { path: home.key(), why }.into());
    }
    let key = AgentKey::open_or_create(&home.key())?;
    let (identity, given) = match (known, join) {
        (None, None) => return Err(WorkError::NotJoined),
        (Some(known), given) => {
            if given.is_some_and(|given| given.replace) {
                tracing::warn!(
                    name = known.name,
                    "--replace is for a folder that has not joined, and does nothing here: {AFRESH}"
                );
            }
            (known, given.map(|given| given.address.clone()))
        }
        (None, Some(join)) => {
            let identity = enrol(join, &key, profile, stop)?;
            home.enrol(&identity)?;
            (identity, None)
        }
    };
    Ok(Joined { identity, key, given })
}

/// A coordinator that cannot be reached may be starting; one whose answer was lost gives it again.
fn enrol(
    join: &Join,
    key: &AgentKey,
    profile: &Profile,
    stop: &changing::Receiver<Stop>,
) -> Result<Identity, WorkError> {
    let token = join.token.as_ref().ok_or(WorkError::NoToken)?;
    let authority = token.authority();
    let (name, key) = (join.name.clone(), key.public().to_string());
    let enrolment = Enrolment { name, key, profile: profile.clone(), replace: join.replace };
    let failed = |why| WorkError::Joining(Box::new(why));
    let client = Client::new(join.address.clone(), authority, token.token());
    loop {
        match client.post::<_, Enrolled>("/api/v1/agents", &enrolment) {
            Ok(Enrolled { agent, name, .. }) => {
                tracing::info!(name, coordinator = %join.address, "joined");
                if name != join.name {
                    tracing::warn!(
                        wanted = join.name,
                        name,
                        "another machine has the name; if this is that machine, set up anew: {AFRESH}"
                    );
                }
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
pub(super) fn measure(
    home: &Home,
    settings: &Settings,
    keeper: &Keeper,
    options: &WorkOptions,
) -> Result<Machine, WorkError> {
    let root = Root::new("/");
    let domain = match &options.measure_cgroup {
        Some(path) => Domain::cgroup(&root, path).map_err(WorkError::MeasureCgroup)?,
        None => Domain::detect(&root)?,
    };
    let (speeds, cpu_on_core) = match options.speeds {
        Some(speeds) => (speeds.into(), None),
        None => in_order(&home.measured().map_or_else(|| measure_anew(home, None), Ok)?),
    };
    let cores = (domain.cores() as u32).max(1);
    let memory = domain.memory_free()?.unwrap_or(0) / MEMORY_STEP * MEMORY_STEP;
    let profile = Profile {
        speeds,
        cpu_on_core,
        cores,
        slots: options.slots.unwrap_or(cores),
        memory,
        disk: free_disk(home.path())?,
        sandbox: sandbox(home, settings, keeper),
        // As its owner says.
        network: false,
        user: options.user.clone(),
        tags: options.tags.clone(),
        attributes: attributes(options),
    };
    Ok(Machine { domain, profile })
}

/// Measures everything, and remembers the best that was found: a machine that is busy while it is measured is not slower
/// for it. Takes about three seconds.
pub(super) fn measure_anew(home: &Home, client: Option<&Client>) -> Result<Benchmark, WorkError> {
    let known = || home.measured().and_then(|known| known.net);
    let net = client.and_then(network).or_else(known);
    let measured = benchmark(home.path(), net)
        .map_err(|why| WorkError::System { what: "the machine's speed could not be measured", why })?;
    let best = home.measured().map_or(measured, |known| known.best(&measured));
    if best != measured {
        tracing::info!("what was measured before was faster, and is kept: the machine was busy just now");
    }
    home.remember_measured(&best)?;
    Ok(best)
}

/// Whether the way to the coordinator can be measured and was not.
pub(super) fn lacks_network(home: &Home, client: &Client) -> bool {
    !client.address().is_loopback() && home.measured().is_some_and(|known| known.net.is_none())
}

/// Adds the network to what is known of the machine, and remembers it.
pub(super) fn measure_network_too(home: &Home, client: &Client) -> Result<Option<Benchmark>, WorkError> {
    let Some((known, net)) = home.measured().zip(network(client)) else { return Ok(None) };
    let measured = Benchmark { net: Some(net), ..known };
    home.remember_measured(&measured)?;
    Ok(Some(measured))
}

/// How fast bytes reach the coordinator; `None` where that says nothing, or where they do not.
fn network(client: &Client) -> Option<Measured> {
    if client.address().is_loopback() {
        return None;
    }
    let send = |block: &[u8]| {
        let sent = client.upload::<Swallowed>("/api/v1/probe", &mut &*block, block.len() as u64);
        sent.map(drop).map_err(io::Error::other)
    };
    let measured = measure_network(send);
    measured.inspect_err(|why| tracing::warn!(%why, "the network's speed could not be measured")).ok()
}

/// The speeds as the scheduler is told them, and the CPU's on a core.
pub(super) fn in_order(measured: &Benchmark) -> ([f64; 3], Option<f64>) {
    (measured.speeds().rounded().into(), Some(measured.cpu_on_core))
}

fn sandbox(home: &Home, settings: &Settings, keeper: &Keeper) -> Result<String, String> {
    let scratch = home.path().join("tasks/trial");
    let level = until_nothing_lacks(RETRY, || {
        let made = fs::create_dir(&scratch).map_err(confine::Why::Folder);
        let level = made.and_then(|()| confine::available(keeper, &scratch, settings.folder()));
        home.clear(&scratch);
        level
    });
    let level = level.map(|level| level.to_string());
    level.map_err(|why| tamed(&why.to_string(), REASON_BYTES_MAX))
}

/// Tries something a few times while the machine lacks what it takes.
fn until_nothing_lacks<T>(
    pause: Duration,
    mut attempt: impl FnMut() -> Result<T, confine::Why>,
) -> Result<T, confine::Why> {
    for _ in 1..TRIALS_MAX {
        match attempt() {
            Err(why) if why.may_pass() => tracing::warn!(%why, "it is tried again"),
            tried => return tried,
        }
        thread::sleep(pause);
    }
    attempt()
}

fn attributes(options: &WorkOptions) -> std::collections::BTreeMap<String, String> {
    let quoted = |text: &str| format!("\"{text}\"");
    let mut attributes = options.attributes.clone();
    for (name, value) in [("Arch", std::env::consts::ARCH), ("OpSys", std::env::consts::OS)] {
        attributes.entry(name.to_owned()).or_insert_with(|| quoted(value));
    }
    attributes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::Stop;
    use gleaner_net::Fingerprint;

    #[test]
    fn a_sandbox_is_tried_again_while_something_lacks() {
        type Fails = fn() -> confine::Why;
        let lacking: Fails = || confine::Why::Lacking("too many open files".to_owned());
        let full: Fails = || confine::Why::Failed("bwrap: no namespace: No space left on device".to_owned());
        let failing: Fails = || confine::Why::Failed("no such file".to_owned());
        for (fails, times, expected) in
            [(lacking, 2, 3), (full, 1, 2), (lacking, u32::MAX, TRIALS_MAX), (failing, u32::MAX, 1)]
        {
            let mut tried = 0;
            let found = until_nothing_lacks(Duration::ZERO, || {
                tried += 1;
                if tried > times { Ok(()) } else { Err(fails()) }
            });
            assert_eq!((tried, found.is_ok()), (expected, times < expected), "{found:?}");
        }
    }

    #[test]
    fn an_agent_whose_key_is_gone_makes_no_other_one() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::open(folder.path()).unwrap();
        let address = "https://127.0.0.1:1".parse().unwrap();
        let authority = Fingerprint::of_der(b"authority");
        home.enrol(&Identity { agent: 3, name: "lab".into(), address, authority }).unwrap();
        let (_stop, stop) = changing::channel(Stop::No);
        let profile = Profile::new([1.0; 3], 1);
        let refused = join(&home, None, &profile, &stop).err().expect("it is refused").to_string();
        assert!(refused.contains("agent.key") && refused.contains("move the folder away and join again"));
        assert!(!home.key().exists());
        AgentKey::open_or_create(&home.key()).unwrap();
        assert_eq!(join(&home, None, &profile, &stop).expect("it has joined").identity.name, "lab");
    }
}
