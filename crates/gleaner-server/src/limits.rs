//! How much the coordinator takes at a time, and how long it waits. What others have to keep to as well stands in
//! `gleaner_wire::limits`; `docs/limits.md` has them all.

use gleaner_wire::limits::SLOTS_MAX;
use std::time::Duration;

/// Inputs that share a commit at most.
pub(crate) const BATCH_MAX: usize = 1_024;
/// Inputs that wait for the thread at most; who wants to hand in more waits.
pub(crate) const QUEUE_MAX: usize = 8_192;
/// Live events that a slow watcher may be behind.
pub(crate) const LIVE_BACKLOG_MAX: usize = 4_096;
/// How long an agent may take to say who it is.
pub(crate) const GREETING_MAX: Duration = Duration::from_secs(10);
/// Messages on their way to an agent: as many runs as a machine may have, and some more.
pub(crate) const OUTGOING_MAX: usize = SLOTS_MAX as usize + 1_024;
/// Messages of one agent that are handed in together.
pub(crate) const TOGETHER_MAX: usize = 16;
/// How long a message may take to leave.
pub(crate) const SENDING_MAX: Duration = Duration::from_secs(30);
/// Connections at once: every agent has one, users come and go.
pub(crate) const CONNECTIONS_MAX: usize = 16_384;
/// How long a handshake, or the head of a request, may take.
pub(crate) const HANDSHAKE_MAX: Duration = Duration::from_secs(10);
/// Requests answered at once; one more is told to come back.
pub(crate) const REQUESTS_MAX: usize = 512;
/// Of the requests, the ones that wait for something to happen, so that others always get through.
pub(crate) const WAITS_MAX: usize = 384;
/// Streams of events.
pub(crate) const STREAMS_MAX: usize = 256;
/// Files on their way in or out.
pub(crate) const TRANSFERS_MAX: usize = 64;
/// Jobs too large to be read in one go that are read at the same time: each takes a multiple of its bytes in memory.
pub(crate) const LARGE_JOBS_MAX: usize = 2;
/// Looks into the past, which read the whole journal, and previews, which copy the ledger.
pub(crate) const STUDIES_MAX: usize = 2;
/// Bytes of address and headers together.
pub(crate) const HEAD_MAX: usize = 16 << 10;
/// A sender who is silent for so long is taken to be gone.
pub(crate) const SILENCE_MAX: Duration = Duration::from_secs(30);
/// Jobs in one answer.
pub(crate) const JOBS_LISTED_MAX: usize = 1_000;
/// Tasks in one answer.
pub(crate) const TASKS_LISTED_MAX: usize = 10_000;
/// Steps of a task's life that are told at most.
pub(crate) const HISTORY_TOLD_MAX: usize = 10_000;
/// Seconds for which a join token is good: thirty days.
pub(crate) const JOIN_TOKEN_MAX_S: u32 = 2_592_000;
/// Seconds that a request waits for something to happen.
pub(crate) const WAIT_MAX_S: u64 = 60;
/// Bytes of output in one answer.
pub(crate) const OUTPUT_PIECE_MAX: usize = 256 << 10;
