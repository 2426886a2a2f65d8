//! How an agent is to work, and for how long.

use crate::probes::Speeds;
use gleaner_net::{Address, JoinToken};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// How an agent is to work.
#[derive(Debug)]
pub struct WorkOptions {
    /// Its folder.
    pub home: PathBuf,
    /// A program that does what [`Keeper::start`](crate::keeper::Keeper::start) asks for: Gleaner's own.
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
