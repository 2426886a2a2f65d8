//! The agent's main program: joins a grid and works for it until it is told to stop.
//!
//! [`Duties`](crate::duties::Duties) decides; what is here carries out: the connection (`dialler`), the places where
//! programs run (`minders`), what can block on threads of its own (`threads`), the look at the machine (`watch`). One thread does
//! all that does not block. The minders keep the lease's end too, so that it holds where this process is stopped.
//! **Nothing that can block is waited for in its loop**, so that a lease is kept and an owner
//! noticed whatever a disk or a coordinator does.

mod dialler;
mod folders;
mod joining;
mod keeping;
mod minders;
mod permits;
mod room;
mod spec;
mod spool;
mod threads;
mod watch;
mod worker;

#[cfg(test)]
pub(crate) use folders::tests::run;

use crate::home::{Home, HomeError};
use crate::keeper::{Keeper, KeeperError, precedence};
use crate::owner;
use crate::probes::{ProbeError, Sampler, Speeds};
use gleaner_net::{Address, ClientError, JoinToken, KeyError};
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::watch as changing;

/// How an agent is to work.
#[derive(Debug)]
pub struct WorkOptions {
    /// Its folder.
    pub home: PathBuf,
    /// A program that does what [`Keeper::start`] asks for: Gleaner's own.
    pub program: PathBuf,
    /// The grid to join, if the folder does not know one yet; otherwise only the address is taken, if there is one.
    pub join: Option<Join>,
    /// The user outside of the sandbox for whom it runs programs, as the coordinator knows them; nobody if empty.
    pub user: String,
    /// What it is to be called, if somebody said so. Once it has joined, it keeps the name that it got.
    pub name: Option<String>,
    /// How many tasks run there at most; as many as cores unless something is said.
    pub slots: Option<u32>,
    /// Words that tasks may ask for.
    pub tags: Vec<String>,
    /// Further attributes, in the `ClassAd` language.
    pub attributes: BTreeMap<String, String>,
    /// Bytes of inputs that are kept for later tasks.
    pub cache_bytes: u64,
    /// The cgroup that the owner's load is measured in, if it is to be chosen by hand.
    pub measure_cgroup: Option<String>,
    /// Bytes of memory of a task that names none, if they are to be chosen; otherwise its slot's share of the machine's.
    pub task_memory: Option<u64>,
    /// How fast the machine is, if it is not to be measured.
    pub speeds: Option<Speeds>,
    /// Is told once who the agent is and which grid it works for, before it is connected.
    pub announce: fn(&Announced),
}

/// Who an agent is, and which grid it works for.
#[derive(Debug)]
pub struct Announced {
    /// What the grid calls it.
    pub machine: String,
    /// Where the coordinator is.
    pub coordinator: String,
    /// How many tasks run there at most, as far as its owner has it.
    pub slots: u32,
    /// Its folder.
    pub home: PathBuf,
}

/// The grid to join.
#[derive(Debug)]
pub struct Join {
    /// Where the coordinator is.
    pub address: Address,
    /// What lets this agent in; an agent that has joined already needs none to find its coordinator at a new address.
    pub token: Option<JoinToken>,
    /// What it would be called.
    pub name: String,
    /// Whether it takes that name from an agent that is gone.
    pub replace: bool,
}

/// Whether the agent is to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Stop {
    /// It works on.
    #[default]
    No,
    /// It lets programs write their checkpoints, reports what came of them, and ends.
    Orderly,
    /// It kills them and ends.
    AtOnce,
}

/// Why an agent does not work, or no longer.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// Its folder cannot be used.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// The owner's rules cannot be read, or make no sense.
    #[error(transparent)]
    Rules(#[from] owner::FileError),
    /// It has not joined a grid, and was not told which.
    #[error(
        "this agent has joined no grid yet: take the line from `gleaner up` on the coordinator's machine"
    )]
    NotJoined,
    /// It was told where, and has no token for it.
    #[error(
        "this agent has joined no grid yet, so that an address is not enough: add --token TOKEN, as `gleaner token join` prints it"
    )]
    NoToken,
    /// It could not join.
    #[error("joining the grid: {0}")]
    Joining(Box<ClientError>),
    /// Its key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// Programs could not be held.
    #[error(transparent)]
    Keeper(#[from] KeeperError),
    /// The machine could not be measured.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// The system refused something that nothing works without.
    #[error("{what}: {why}")]
    System {
        /// What it was.
        what: &'static str,
        /// What the system said.
        why: io::Error,
    },
    /// The coordinator does not want it.
    #[error("the coordinator refuses this agent: {0}")]
    Refused(String),
}

/// Works until `stop` says so, or until there is no use in going on.
pub fn work(options: WorkOptions, stop: changing::Receiver<Stop>) -> Result<(), WorkError> {
    let system = |what| move |why| WorkError::System { what, why };
    let home = Arc::new(Home::open(&options.home)?);
    let leftovers = home.clone();
    std::thread::spawn(move || leftovers.clear_leftovers());
    owner::write_if_none(&home.rules(), owner::Preset::Machine)?;
    // Before anything is measured, so that a mistake is named at once.
    owner::read(&home.rules())?;
    if options.join.is_none() && home.identity()?.is_none() {
        // Said before anything is measured.
        return Err(WorkError::NotJoined);
    }
    let keeper =
        Keeper::start(&options.program, home.held().map_err(system("the lock of runs cannot be shared"))?)?;
    let joining::Machine { domain, profile } = joining::measure(&home, &keeper, &options)?;
    let watch = watch::Watch::new(home.clone(), Sampler::new(domain, home.path()), &profile)?;
    let offered = watch.rules().profile(&profile, home.path());
    if let (Some(wanted), Some(known)) = (&options.name, home.identity()?)
        && *wanted != known.name
    {
        tracing::warn!(
            wanted,
            name = known.name,
            "this machine has joined already, and keeps the name that it got then"
        );
    }
    let joined = joining::join(&home, options.join.as_ref(), &offered, &stop)?;
    (options.announce)(&Announced {
        machine: joined.identity.name.clone(),
        coordinator: joined.given.as_ref().unwrap_or(&joined.identity.address).to_string(),
        slots: offered.slots,
        home: home.path().to_owned(),
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .thread_keep_alive(std::time::Duration::from_secs(2))
        // Which do for guests what takes long.
        .on_thread_start(precedence::give_way)
        .build()
        .map_err(system("no runtime could be made"))?;
    runtime.block_on(async {
        let start = worker::Start { home, watch, joined, keeper, profile, options };
        worker::Worker::new(start)?.run(stop).await
    })
}
