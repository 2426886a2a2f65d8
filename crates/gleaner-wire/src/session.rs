//! What a coordinator and an agent say to each other over a WebSocket, one message a frame.
//!
//! The agent dials. It says who it is ([`FromAgent::Knock`]) and proves it with its key; until then it may send two short messages and
//! nothing else. It goes on when it hears that it is [`Proven`](ToAgent::Proven), tells how it is ([`Hello`]), and then
//! both talk at will. After a
//! reconnection the coordinator lists the runs that are the agent's ([`ToAgent::Yours`]): the agent ends all others
//! and starts what it does not know, so that a lost message does no harm.
//!
//! **Every message about a run carries the run's number, and every connection tells which past both sides have**
//! ([`Met`]): a coordinator whose journal was put back to an older state turns away who knows better, unless that was
//! ordered, and an agent forgets the runs of a past that is no more before it says anything else.

mod end;

pub use end::{CHECKPOINT_NOT_KEPT, End, Obstacle, Outcome, Stored, Tail, Usage};

use crate::BlobHash;
use crate::job::{Checkpointing, Confinement, Input, Needs, Signed};
use crate::limits::FRAME_BYTES_MAX;
use crate::{ChainHash, Had, Lineage, Met};
use end::is_nothing;
use gleaner_units::RunId;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thiserror::Error;

/// From an agent.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum FromAgent {
    /// The first message; answered by [`ToAgent::Challenge`].
    Knock {
        /// [`SESSION_VERSION`](crate::SESSION_VERSION).
        version: u32,
        /// The agent's number, given when it was enrolled.
        agent: u32,
    },
    /// The signature over the challenge; answered by [`ToAgent::Proven`].
    Proof {
        /// 64 bytes.
        #[serde(with = "crate::bytes")]
        signature: Vec<u8>,
    },
    /// The first message of an agent that is known; answered by [`ToAgent::Welcome`].
    Hello(Hello),
    /// The agent lives; answered by [`ToAgent::Beat`] with the same number.
    Heartbeat {
        /// Counts up.
        number: u64,
        /// How things are; kept in memory only.
        sample: Sample,
        /// The runs whose files are on their way; likewise.
        staging: Vec<(RunId, Staging)>,
    },
    /// What the machine is has changed or was measured again.
    Profile(Profile),
    /// The owner's share of the machine crossed a threshold.
    OwnerLoad {
        /// λ, from 0 to 1; 1 while everything is suspended.
        load: f64,
        /// In words, for people.
        why: String,
    },
    /// Whether new tasks may start there, by the owner's rules or by hand.
    Open {
        /// Whether they may.
        open: bool,
        /// In words, for people.
        why: String,
    },
    /// The program runs.
    Started(RunId),
    /// A piece of what the program wrote.
    Output {
        /// Which run.
        run: RunId,
        /// Where it was written.
        stream: Stream,
        /// How much came before, of this run and stream.
        offset: u64,
        /// At most [`OUTPUT_CHUNK_MAX`](crate::limits::OUTPUT_CHUNK_MAX).
        #[serde(with = "crate::bytes")]
        bytes: Vec<u8>,
    },
    /// The run is over. Sent again until [`ToAgent::Settled`] answers.
    Ended {
        /// Which run.
        run: RunId,
        /// How it ended.
        end: End,
    },
}

/// To an agent.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum ToAgent {
    /// Sign this together with the coordinator's fingerprint.
    Challenge {
        /// 32 random bytes.
        #[serde(with = "crate::bytes")]
        nonce: Vec<u8>,
    },
    /// The agent is who it says it is, and may send messages of any size.
    Proven,
    /// The agent may work.
    Welcome {
        /// Counts the starts of the coordinator.
        epoch: u32,
        /// Which start this is.
        lineage: Lineage,
        /// When the journal was put back by order last, if ever.
        restored: Option<Lineage>,
        /// Runs that the agent has and the coordinator did not order, for all it knows: they end, and nothing is said of
        /// them.
        forget: Vec<RunId>,
        /// How long the agent may go on without a [`Beat`](ToAgent::Beat), from the moment it sent the heartbeat.
        lease_s: f64,
        /// How often to send a heartbeat.
        heartbeat_s: f64,
        /// For files, over HTTP.
        token: String,
        /// By whose order what runs stands still, if it does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        paused: Option<String>,
        /// As in [`Beat`](ToAgent::Beat); filled in where the message leaves.
        #[serde(default, skip_serializing_if = "is_nothing")]
        is_full: bool,
    },
    /// The session is refused.
    Refused {
        /// For the agent's owner.
        why: String,
        /// Whether there is no use in trying again; else somebody may mend it at the coordinator.
        for_good: bool,
    },
    /// A heartbeat arrived: the lease is renewed as of when it was sent.
    Beat {
        /// The heartbeat's.
        number: u64,
        /// The last row of the journal.
        row: u64,
        /// What the rows up to it add up to; filled in where the message leaves.
        hash: Option<ChainHash>,
        /// Whether the coordinator's disk has no room for output: it waits at the agent until a beat says otherwise.
        #[serde(default, skip_serializing_if = "is_nothing")]
        is_full: bool,
    },
    /// The runs that are the agent's: those it runs or should run. Sent after [`Welcome`](ToAgent::Welcome).
    Yours {
        /// All others must end.
        runs: Vec<RunId>,
    },
    /// Run this.
    Run(Box<Run>),
    /// End this, with a checkpoint if there is a folder for it.
    Stop {
        /// Which run.
        run: RunId,
        /// What for.
        cause: StopCause,
    },
    /// What an [`Ended`](FromAgent::Ended) led to: the agent may forget it.
    Settled {
        /// Which run.
        run: RunId,
        /// Whether it counts; if not, the task had been given to another meanwhile.
        accepted: bool,
    },
    /// Store again what an [`Ended`](FromAgent::Ended) says that the run left, and report its end then: the coordinator does
    /// not know that this agent has sent it, as after a start of its own.
    StoreAgain {
        /// Which run.
        run: RunId,
    },
    /// Measure the machine again.
    Measure,
    /// Let new tasks start, or do not: an order by hand.
    SetOpen {
        /// Whether they may.
        open: bool,
    },
    /// Let what runs stand still, or go on: an order by hand.
    SetPaused {
        /// Whether it is to stand still.
        paused: bool,
        /// By whose order.
        #[serde(default)]
        by: String,
    },
}

/// How the agent is that dials.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Hello {
    /// The agent's number, given when it was enrolled.
    pub agent: u32,
    /// Rises each time the agent's program starts: what it ran before has ended.
    pub incarnation: u64,
    /// Which coordinator it was with last, if with any.
    pub met: Option<Met>,
    /// What the machine is.
    pub profile: Profile,
    /// The runs that it has, also those that are over and not settled.
    pub running: Vec<Had>,
}

/// What a machine is and offers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Profile {
    /// Operations a second for CPU, disk and network, as measured and rounded.
    pub speeds: [f64; 3],
    /// Operations of the CPU in each second that a task is on a core, where a quota keeps it off for a part of the time.
    #[serde(default)]
    pub cpu_on_core: Option<f64>,
    /// How many tasks run at full speed side by side.
    pub cores: u32,
    /// How many tasks run there at most; as many as cores where the grid is exclusive.
    pub slots: u32,
    /// Bytes of memory for tasks.
    pub memory: u64,
    /// Bytes of disk for tasks, rounded down so that like machines say the same; nothing where it does not say.
    #[serde(default)]
    pub disk: Option<u64>,
    /// Whether it can build the sandbox, and if not, why not.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub sandbox: Result<String, String>,
    /// Whether sandboxed tasks may use its network.
    #[serde(default)]
    pub network: bool,
    /// The user as whom it runs programs outside the sandbox, where the coordinator knows the user.
    pub user: String,
    /// Words that tasks may ask for.
    pub tags: Vec<String>,
    /// Further attributes, in the `ClassAd` language, such as `Arch = "x86_64"`.
    pub attributes: BTreeMap<String, String>,
}

impl Profile {
    /// A machine with so many cores, a sandbox and a network, of which nothing else is said.
    pub fn new(speeds: [f64; 3], cores: u32) -> Self {
        Self {
            speeds,
            cpu_on_core: None,
            cores,
            slots: cores,
            memory: 1 << 30,
            disk: None,
            sandbox: Ok("bwrap".to_owned()),
            network: true,
            user: String::new(),
            tags: Vec::new(),
            attributes: BTreeMap::new(),
        }
    }
}

/// How a machine is at a moment.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Sample {
    /// The share of the machine that its owner uses, unfiltered.
    pub load: f64,
    /// Bytes.
    pub free_memory: Option<u64>,
    /// Bytes, where tasks have their folders.
    pub free_disk: Option<u64>,
    /// The share of the last 10 s in which something waited for the CPU.
    pub cpu_pressure: Option<f64>,
    /// Likewise for memory.
    pub memory_pressure: Option<f64>,
    /// Likewise for disks.
    pub io_pressure: Option<f64>,
    /// The hottest sensor, in °C.
    pub temperature: Option<f64>,
}

/// Which way a run's files are on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Staging {
    /// What it reads is brought to its machine.
    In,
    /// What it left is being stored at the coordinator.
    Out,
}

/// One of the two streams of a program's output.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Stream {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Stdout, Self::Stderr];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// Everything an agent needs to run a task once.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Run {
    /// Which run.
    pub id: RunId,
    /// Under which start of the coordinator it was ordered.
    pub lineage: Lineage,
    /// It begins when this other run of the agent's is over, if it has that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<RunId>,
    /// The job and the task's number in it, as users write them: `7/42`.
    pub name: String,
    /// Who submitted it.
    pub user: String,
    /// What its job is said to be like.
    #[serde(default)]
    pub label: Option<String>,
    /// The program and its arguments, parameters filled in.
    pub command: Vec<String>,
    /// The variables, parameters among them.
    pub env: BTreeMap<String, String>,
    /// Where it runs, unless in its own folder.
    pub cwd: Option<String>,
    /// What it reads.
    pub stdin: Option<BlobHash>,
    /// Files in its folder.
    pub inputs: Vec<Input>,
    /// Which files to keep.
    pub outputs: Vec<String>,
    /// Its limits.
    pub needs: Needs,
    /// How it is stopped.
    pub checkpoint: Checkpointing,
    /// Whether its task is not tried again if it reaches a limit of time, or from its beginning: what it keeps then is of no use to anybody.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub fails_at_limit: bool,
    /// What it goes on from.
    pub resume_from: Option<Stored>,
    /// The output files of two answers that it compares, each in a folder of its own in [`ANSWERS`](crate::task_folder::ANSWERS).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Box<[Option<Stored>; 2]>>,
    /// Where it may reach.
    pub confinement: Confinement,
    /// That its user wants its job to run.
    #[serde(default)]
    pub signed: Option<Box<Signed>>,
}

/// Why a run is stopped before its end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum StopCause {
    /// It goes on elsewhere.
    Move,
    /// Its user wants it gone.
    Cancel,
    /// Its user wants it to wait.
    Hold,
    /// It goes on elsewhere, unless it has begun: then it stays, and nothing is said.
    TakeBack,
}

/// A message that is none.
#[derive(Debug, Error)]
pub enum FrameError {
    /// More than anyone may send.
    #[error("a message of {0} bytes; at most {FRAME_BYTES_MAX} are taken")]
    TooLong(usize),
    /// Not a message of this version.
    #[error("a message that cannot be read: {0}")]
    Malformed(#[from] rmp_serde::decode::Error),
}

/// The bytes of a message.
///
/// # Panics
/// Never: all messages can be written.
pub fn encode(message: &impl Serialize) -> Vec<u8> {
    rmp_serde::to_vec_named(message).expect("messages are plain data")
}

/// The message in some bytes.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FrameError> {
    if bytes.len() > FRAME_BYTES_MAX {
        return Err(FrameError::TooLong(bytes.len()));
    }
    Ok(rmp_serde::from_slice(bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::GREETING_BYTES_MAX;

    fn output(bytes: &[u8]) -> FromAgent {
        let run = RunId::new(gleaner_units::TaskId::new(7), 2);
        FromAgent::Output { run, stream: Stream::Stderr, offset: 5, bytes: bytes.to_vec() }
    }

    #[test]
    fn messages_read_back() {
        for bytes in [&b"text"[..], b"", b"\xff\x00"] {
            let message = output(bytes);
            assert_eq!(decode::<FromAgent>(&encode(&message)).expect("it was just written"), message);
            let json = serde_json::to_string(&message).expect("plain data");
            assert_eq!(serde_json::from_str::<FromAgent>(&json).expect("it was just written"), message);
        }
    }

    #[test]
    fn bytes_cost_no_more_than_themselves() {
        let size = encode(&output(&vec![200; 60_000])).len();
        assert!(size < 60_200, "{size}");
    }

    #[test]
    fn what_is_no_message_is_refused() {
        let zeros = |bytes: usize| decode::<FromAgent>(&vec![0; bytes]);
        assert!(matches!(zeros(FRAME_BYTES_MAX + 1), Err(FrameError::TooLong(_))));
        assert!(matches!(zeros(FRAME_BYTES_MAX), Err(FrameError::Malformed(_))), "it is read");
        assert!(matches!(decode::<FromAgent>(b"\x81"), Err(FrameError::Malformed(_))));
    }

    #[test]
    fn what_a_stranger_says_is_short() {
        let greetings = [
            FromAgent::Knock { version: u32::MAX, agent: u32::MAX },
            FromAgent::Proof { signature: vec![255; 64] },
        ];
        for greeting in greetings {
            assert!(encode(&greeting).len() < GREETING_BYTES_MAX / 4, "{greeting:?}");
        }
    }
}
