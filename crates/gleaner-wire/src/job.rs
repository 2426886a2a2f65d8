//! What a user submits, and how one job becomes many tasks.
//!
//! A job is one program with parameters. In each of its texts (arguments, variables, file names), `{NAME}` stands for
//! the task's value of that parameter; braces around anything else are left as they are, and so is `${NAME}`, which a
//! shell reads. Each parameter is also a
//! variable in the task's environment, under its own name, and [`INDEX`] is always among them.

mod filling;
mod held;
mod lengths;
mod numbers;
mod own;
mod placing;
mod signed;
mod tasks;

pub use filling::{Filled, fill_in};
pub use lengths::{InvalidLengths, is_length};
pub use numbers::ranges;
pub use own::{OwnInputs, ReadBy, Whose};
pub use placing::stays_inside;
pub use signed::{Signed, SignedText};
pub use tasks::TaskList;

use crate::BlobHash;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The parameter that each task has: its number within its job.
pub const INDEX: &str = "GLEANER_INDEX";
/// The parameter by which the tasks of a job say how long each of them is, where they differ: see [`JobSpec::length`].
pub const LENGTH: &str = "GLEANER_LENGTH";

/// A program and how often, with what and where it runs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JobSpec {
    /// For people.
    #[serde(default)]
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// One task, or many.
    #[serde(default)]
    pub tasks: TaskList,
    /// Variables besides those that Gleaner sets.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Where it runs; its own empty folder if nothing is said. Only a task outside the sandbox may ask for another.
    #[serde(default)]
    pub cwd: Option<String>,
    /// What it reads from standard input.
    #[serde(default)]
    pub stdin: Option<BlobHash>,
    /// Files that lie in the task's folder before it starts.
    #[serde(default)]
    pub inputs: Vec<Input>,
    /// Files of which each task finds its own there.
    #[serde(default)]
    pub own_inputs: Vec<OwnInputs>,
    /// Files in the task's folder, or patterns of them, that are kept when it ends.
    #[serde(default)]
    pub outputs: Vec<String>,
    /// Tasks of one label are taken to be alike in how they use a machine: what is learnt from one holds for all.
    #[serde(default)]
    pub label: Option<String>,
    /// How its operations divide over CPU, disk and network, if the user knows; else it is learnt from the label.
    #[serde(default)]
    pub composition: Option<[f64; 3]>,
    /// How many operations each of its tasks takes, if the user knows: what policies plan by that think of costs and of
    /// when machines will be ready. A machine's speeds are in millions of them a second.
    #[serde(default)]
    pub length: Option<f64>,
    /// What it needs of a machine.
    #[serde(default)]
    pub needs: Needs,
    /// Requirements on machines, in the `ClassAd` language.
    #[serde(default)]
    pub requirements: Option<String>,
    /// Which machines it likes best, in the `ClassAd` language.
    #[serde(default)]
    pub rank: Option<String>,
    /// Higher goes first; 0 unless something is said.
    #[serde(default)]
    pub priority: i32,
    /// How often it is tried again when it fails.
    #[serde(default)]
    pub retries: u32,
    /// How many machines have to give the same answer (exit code, standard output and output files) before a task is done.
    #[serde(default = "one")]
    pub quorum: u32,
    /// A program and its arguments that says whether two answers of a task that ended well are the same, by exit code 0, or not, by 1;
    /// it gets the folders with the output files of each as its last two arguments. Equal bytes are the same if nothing is said.
    #[serde(default)]
    pub compare: Vec<String>,
    /// How it can be stopped and go on elsewhere.
    #[serde(default)]
    pub checkpoint: Checkpointing,
    /// Whether it waits to be released before it may start.
    #[serde(default)]
    pub hold: bool,
    /// Where it may reach.
    #[serde(default)]
    pub confinement: Confinement,
    /// That its user wants it to run, for machines whose owners ask for that.
    #[serde(default)]
    pub signed: Option<Box<Signed>>,
}

fn one() -> u32 {
    1
}

/// A file that a task finds in its folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Input {
    /// Its name there, relative, without `..`.
    pub path: String,
    /// Its bytes, uploaded before.
    pub blob: BlobHash,
    /// Whether it may be run.
    #[serde(default)]
    pub executable: bool,
}

/// What a task needs of a machine while it runs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Needs {
    /// How many places it takes on a machine.
    pub cores: u32,
    /// Bytes of memory that are kept free for it, and that it may not exceed; 0 for no claim and no limit.
    pub memory: u64,
    /// Bytes that its folder may grow to; 0 for no limit.
    pub disk: u64,
    /// Seconds after which a run is stopped as failed; 0 for no limit.
    pub time_limit_s: f64,
}

impl Default for Needs {
    fn default() -> Self {
        Self { cores: 1, memory: 0, disk: 0, time_limit_s: 0.0 }
    }
}

/// How a task can be stopped without losing what it has done.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Checkpointing {
    /// Whether it keeps in the folder `GLEANER_CHECKPOINT` what it needs to go on from there.
    pub folder: bool,
    /// An exit code by which it says: "I have checkpointed, run me again".
    pub exit_code: Option<i32>,
    /// Seconds from the request to stop (SIGTERM) until it is killed.
    pub grace_s: f64,
}

impl Default for Checkpointing {
    fn default() -> Self {
        Self { folder: false, exit_code: None, grace_s: 10.0 }
    }
}

/// What of its machine a task can reach.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Confinement {
    /// Its own folder, and the system read-only.
    #[default]
    Sandbox,
    /// Likewise, and the network.
    SandboxWithNetwork,
    /// All that its user can: only on agents that run as the very user who submitted it.
    None,
}

impl JobSpec {
    /// The files that its tasks read.
    pub fn files(&self) -> impl Iterator<Item = &BlobHash> {
        let own = self.own_inputs.iter().flat_map(|own| own.files.values().flatten());
        self.inputs.iter().chain(own).map(|input| &input.blob).chain(&self.stdin)
    }

    /// One task of a program, in the sandbox, with nothing else said.
    pub fn new<'a>(command: impl IntoIterator<Item = &'a str>) -> Self {
        Self {
            name: String::new(),
            command: command.into_iter().map(str::to_owned).collect(),
            tasks: TaskList::One,
            env: BTreeMap::new(),
            cwd: None,
            stdin: None,
            inputs: Vec::new(),
            own_inputs: Vec::new(),
            outputs: Vec::new(),
            label: None,
            composition: None,
            length: None,
            needs: Needs::default(),
            requirements: None,
            rank: None,
            priority: 0,
            retries: 0,
            quorum: 1,
            compare: Vec::new(),
            checkpoint: Checkpointing::default(),
            hold: false,
            confinement: Confinement::Sandbox,
            signed: None,
        }
    }
}
