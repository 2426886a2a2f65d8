//! What an onlooker sees of the simulated world: what ran where, what was told to whom, what was stored, what is in the
//! journal. The checker judges by this alone.

use gleaner_server::store::StoredRow;
use gleaner_units::{RunId, TaskId, Time};
use gleaner_wire::api::TaskPhase;
use gleaner_wire::session::Outcome;
use gleaner_wire::{BlobHash, JobId};

/// One thing that was seen.
#[derive(Clone, Debug)]
pub(crate) enum Seen {
    /// A user was told so.
    Submitted { user: String, key: Option<String>, job: JobId, tasks: u32 },
    /// A user was told that an order applied to tasks of a job.
    Ordered { what: &'static str, job: JobId },
    /// An administrator was told that it is done.
    Administered { what: &'static str },
    /// An agent took on a run, which takes so much of its machine until the agent lets go of it.
    Took { run: RunId, on: u32, cores: u32, memory: u64 },
    /// Nothing of a run is left on a machine.
    LetGo { run: RunId, on: u32 },
    /// A program began to run.
    Began { run: RunId, on: u32, from: Option<BlobHash> },
    /// A program is gone.
    Over { run: RunId, on: u32, outcome: Outcome },
    /// A machine stands still, with all that is on it.
    Slept { on: u32 },
    /// It goes on.
    Woke { on: u32 },
    /// A checkpoint is safe at the coordinator.
    Stored { blob: BlobHash, task: TaskId },
    /// An agent was told what its result led to.
    Settled { run: RunId, on: u32, accepted: bool },
    /// Output is safe at the coordinator.
    Kept { run: RunId, offset: u64, bytes: u64 },
    /// Rows up to this number, counted from 1, are on the disk.
    Committed { rows: u64 },
}

/// A history and where it led.
#[derive(Debug, Default)]
pub(crate) struct History {
    pub(crate) seen: Vec<(Time, Seen)>,
    pub(crate) rows: Vec<StoredRow>,
    /// What users would be told of each task in the end.
    pub(crate) phases: Vec<TaskPhase>,
    /// What happened in all, heartbeats and the like aside.
    pub(crate) events: u64,
    pub(crate) faults: u64,
}
