//! How much the coordinator takes at a time, and how long it waits. What others have to keep to as well stands in
//! `gleaner_wire::limits`; `docs/limits.md` has them all.

use gleaner_wire::limits::SLOTS_MAX;
use std::time::Duration;

/// How many of something go on at a time: in all, and for each caller. Each kind of caller has places of its own. A
/// user has at most a quarter of the users' (of large jobs, half), an agent at most a 16th of the agents': whoever takes all
/// they can get takes nothing from others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Share {
    pub(crate) all: usize,
    pub(crate) each: usize,
}

/// Runs in a row that a machine cannot start, of jobs that run elsewhere, before nothing more is given to it.
pub(crate) const NOT_STARTED_CLOSES: u32 = 5;
/// Answers of a machine that are outvoted, without as many agreed on in a row in between as are forgiven, before nothing more is
/// given to it.
pub(crate) const OUTVOTED_CLOSES: u32 = 3;
/// How long a task is given to nobody else when a machine comes back that says to have something of its run.
pub(crate) const BROUGHT_WITHIN: Duration = Duration::from_secs(20);
/// Tasks that are over and in memory, the latest; those before them are in the store.
pub(crate) const OVER_KEPT_MAX: u64 = 10_000;
/// Tasks that leave memory with one fact.
pub(crate) const RETIRED_AT_ONCE: u64 = 4_096;
/// Tasks that come back into memory with one fact.
pub(crate) const RECALLED_AT_ONCE: usize = 65_536;
/// Tasks that come back into memory with one order: the thread waits for the disk meanwhile.
pub(crate) const RECALLED_MAX: u32 = 262_144;
/// How long tasks that are over stay in memory at most.
pub(crate) const RETIRE_AFTER: Duration = Duration::from_hours(1);
/// Days for which results of jobs that are over are kept, if nothing else is said.
pub(crate) const RESULTS_KEPT_DAYS: u64 = 30;
/// Days for which jobs that are over are known, if nothing else is said.
pub(crate) const RECORDS_KEPT_DAYS: u64 = 365;
/// Jobs whose results are removed with one fact.
pub(crate) const REMOVED_AT_ONCE: usize = 256;
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
/// Bytes of address and headers together.
pub(crate) const HEAD_MAX: usize = 16 << 10;
/// Steps of a task's life that are told at most.
pub(crate) const HISTORY_TOLD_MAX: usize = 10_000;
/// Machines in one answer about the last day.
pub(crate) const MACHINES_LISTED_MAX: usize = 1_000;
/// Runs in one answer about the last day.
pub(crate) const RUNS_LISTED_MAX: usize = 20_000;
/// Runs that are over and remembered for the last day: some 100 bytes each.
pub(crate) const RUNS_KEPT: usize = 20_000;
/// Samples of the queue that are remembered, one a minute: a day.
pub(crate) const QUEUE_SAMPLES_KEPT: usize = 1_440;
/// Samples of each machine that are remembered, one for ten minutes: a day.
pub(crate) const MACHINE_SAMPLES_KEPT: usize = 144;
/// Jobs of which it is remembered what their runs used: the newest.
pub(crate) const JOBS_USED_KEPT: usize = 1_000;
/// Users of whom it is remembered what their runs used in the last day.
pub(crate) const USERS_USED_KEPT: usize = 4_096;
/// Jobs with waiting tasks that are looked at to say why things wait: the newest.
pub(crate) const WAITING_JOBS_READ_MAX: usize = 500;
/// Reasons for waiting that are told, each with an explanation that costs a look at all machines.
pub(crate) const WAITS_TOLD_MAX: usize = 20;
/// Tasks of a job that are looked at to say why some failed; those that are alike count as one.
pub(crate) const FAILURES_READ_MAX: usize = 100_000;
/// Users whose waits are numbers of their own at /metrics; those who come later are counted together.
pub(crate) const USERS_MEASURED: usize = 100;
/// Likewise labels.
pub(crate) const LABELS_MEASURED: usize = 100;
/// Seconds that a request waits for something to happen.
pub(crate) const WAIT_MAX_S: u64 = 60;
/// Bytes of output in one answer.
pub(crate) const OUTPUT_PIECE_MAX: usize = 256 << 10;

/// Machines on which a task's latest tries failed and where it is not tried again while others could take it.
pub(crate) const TRIED_ON_MAX: usize = 3;
/// Machines that are told apart because a try failed there: each is a class of its own for the scheduler.
pub(crate) const TRIED_MACHINES_MAX: usize = 256;
/// Classes of tasks that are made to keep tasks from machines; with more, tries go anywhere.
pub(crate) const ELSEWHERE_CLASSES_MAX: u32 = 1_024;
/// Requests of users; one more is told to come back.
pub(crate) const REQUESTS_OF_USERS: Share = Share { all: 512, each: 128 };
/// Requests of agents, which are files.
pub(crate) const REQUESTS_OF_AGENTS: Share = Share { all: 512, each: 16 };
/// Requests of those who have no token that is good: they are answered before their bodies are read.
pub(crate) const REQUESTS_OF_STRANGERS: Share = Share { all: 64, each: 64 };
/// Of the requests of users, the ones that wait for something to happen, so that others always get through.
pub(crate) const WAITS: Share = Share { all: 384, each: 96 };
/// Streams of events.
pub(crate) const STREAMS: Share = Share { all: 256, each: 64 };
/// Files of users on their way in or out.
pub(crate) const FILES_OF_USERS: Share = Share { all: 64, each: 16 };
/// Files of agents: an agent has a few on their way at a time.
pub(crate) const FILES_OF_AGENTS: Share = Share { all: 128, each: 8 };
/// Jobs that are too large to be read in one go and are on their way: each is held in memory.
pub(crate) const LARGE_JOBS: Share = Share { all: 4, each: 2 };
/// Of those, the ones that are read at the same time: each takes a multiple of its bytes in memory.
pub(crate) const LARGE_JOBS_READ_MAX: usize = 2;
/// Looks into the past, which read the whole journal, and previews, which copy the ledger.
pub(crate) const STUDIES_MAX: usize = 2;
/// Looks at the last day, for which the desk waits when it has news for it, and at why things wait, which copy the ledger.
pub(crate) const DAYS_MAX: usize = 2;

/// How long the other side may let us wait, in all, for each of the bytes below.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes of a body that come, or are taken, within [`PATIENCE`]: 16 KiB a second. A body of 16 GiB may so take 12 days,
/// one of a megabyte a minute.
pub(crate) const BODY_BYTES_MIN: u64 = 480 << 10;
/// Likewise of a large job, which waits in memory: 256 KiB a second.
pub(crate) const LARGE_JOB_BYTES_MIN: u64 = 7_680 << 10;
/// Uploads of one user that count as theirs until a job names them; of more, the oldest has to be sent again.
pub(crate) const UPLOADS_OF_USER_MAX: usize = 16_384;
/// Uploads of one agent that count as its own: an end that names another has to be preceded by its upload. A few are on
/// their way at a time.
pub(crate) const UPLOADS_OF_AGENT_MAX: usize = 256;

/// As SECURITY.md says.
const _: () = {
    let of_users = [REQUESTS_OF_USERS, WAITS, STREAMS, FILES_OF_USERS];
    let mut at = 0;
    while at < of_users.len() {
        assert!(of_users[at].each * 4 == of_users[at].all);
        at += 1;
    }
    assert!(LARGE_JOBS.each * 2 == LARGE_JOBS.all);
    assert!(REQUESTS_OF_AGENTS.each * 32 == REQUESTS_OF_AGENTS.all);
    assert!(FILES_OF_AGENTS.each * 16 == FILES_OF_AGENTS.all);
    // Who waits can still ask for something else.
    assert!(WAITS.each < REQUESTS_OF_USERS.each);
};
