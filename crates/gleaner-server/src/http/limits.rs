//! How much of the coordinator anyone may have at a time, and how slow they may be.
//!
//! Each kind of caller has places of its own, and no caller more than a part of them: whoever takes all they can get
//! takes nothing from others.

use std::time::Duration;

/// How many of something go on at a time: in all, and for each caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Share {
    pub(super) all: usize,
    pub(super) each: usize,
}

/// Requests of users; one more is told to come back.
pub(super) const REQUESTS_OF_USERS: Share = Share { all: 512, each: 128 };
/// Requests of agents, which are files.
pub(super) const REQUESTS_OF_AGENTS: Share = Share { all: 512, each: 16 };
/// Requests of those who have no token that is good: they are answered before their bodies are read.
pub(super) const REQUESTS_OF_STRANGERS: Share = Share { all: 64, each: 64 };
/// Of the requests of users, the ones that wait for something to happen, so that others always get through.
pub(super) const WAITS: Share = Share { all: 384, each: 96 };
/// Streams of events.
pub(super) const STREAMS: Share = Share { all: 256, each: 64 };
/// Files of users on their way in or out.
pub(super) const FILES_OF_USERS: Share = Share { all: 64, each: 16 };
/// Files of agents: an agent has a few on their way at a time.
pub(super) const FILES_OF_AGENTS: Share = Share { all: 128, each: 8 };
/// Jobs that are too large to be read in one go and are on their way: each is held in memory.
pub(super) const LARGE_JOBS: Share = Share { all: 4, each: 2 };
/// Of those, the ones that are read at the same time: each takes a multiple of its bytes in memory.
pub(super) const LARGE_JOBS_READ_MAX: usize = 2;
/// Looks into the past, which read the whole journal, and previews, which copy the ledger.
pub(super) const STUDIES_MAX: usize = 2;

/// How long the other side may let us wait, in all, for each of the bytes below.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes of a body that come, or are taken, within [`PATIENCE`]: 16 KiB a second. A body of 16 GiB may so take 12 days,
/// one of a megabyte a minute.
pub(super) const BODY_BYTES_MIN: u64 = 480 << 10;
/// Likewise of a large job, which waits in memory: 256 KiB a second.
pub(super) const LARGE_JOB_BYTES_MIN: u64 = 7_680 << 10;
/// Uploads of one user that count as theirs until a job names them; of more, the oldest has to be sent again.
pub(super) const UPLOADS_EACH_MAX: usize = 16_384;

/// No one caller has all places of a kind, but for strangers, of whom nobody knows who they are.
const _: () = {
    let shares =
        [REQUESTS_OF_USERS, REQUESTS_OF_AGENTS, WAITS, STREAMS, FILES_OF_USERS, FILES_OF_AGENTS, LARGE_JOBS];
    let mut at = 0;
    while at < shares.len() {
        assert!(shares[at].each * 2 <= shares[at].all);
        at += 1;
    }
    // Who waits can still ask for something else.
    assert!(WAITS.each < REQUESTS_OF_USERS.each);
};
