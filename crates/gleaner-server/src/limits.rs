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

/// Runs in a row that a machine cannot start although other runs of their jobs start elsewhere. After that it is given
/// nothing more.
pub(crate) const NOT_STARTED_CLOSES: u32 = 5;
/// Outvoted answers after which a machine is given nothing more. Enough accepted answers in a row make up for one.
pub(crate) const OUTVOTED_CLOSES: u32 = 3;
/// How long a task waits for its machine that came back and says that it has results of the task's run.
pub(crate) const BROUGHT_WITHIN: Duration = Duration::from_secs(20);
/// Finished tasks that are kept in memory: the latest ones. The store has the older ones.
pub(crate) const OVER_KEPT_MAX: u64 = 10_000;
/// Tasks that leave memory by one fact.
pub(crate) const RETIRED_AT_ONCE: u64 = 4_096;
/// Tasks that return to memory by one fact.
pub(crate) const RECALLED_AT_ONCE: usize = 65_536;
/// Tasks that return to memory by one order. The desk's thread waits for the disk meanwhile.
pub(crate) const RECALLED_MAX: u32 = 262_144;
/// How long a finished task is kept in memory.
pub(crate) const RETIRE_AFTER: Duration = Duration::from_hours(1);
/// Days for which results of jobs that are over are kept, if nothing else is said.
pub(crate) const RESULTS_KEPT_DAYS: u64 = 30;
/// Days for which jobs that are over are known, if nothing else is said.
pub(crate) const RECORDS_KEPT_DAYS: u64 = 365;
/// So long before a start without a row does not count for how long results are kept: the coordinator was off, or its clock is wrong.
pub(crate) const GAP_MIN: Duration = Duration::from_hours(72);
/// Jobs whose results are removed by one fact.
pub(crate) const REMOVED_AT_ONCE: usize = 256;
/// Inputs of the desk that share one commit.
pub(crate) const BATCH_MAX: usize = 1_024;
/// Inputs that wait for the desk's thread. Whoever brings one more waits.
pub(crate) const QUEUE_MAX: usize = 8_192;
/// Live events that a slow watcher may be behind. Then it is told how many it missed.
pub(crate) const LIVE_BACKLOG_MAX: usize = 4_096;
/// How long an agent may take to prove who it is.
pub(crate) const GREETING_MAX: Duration = Duration::from_secs(10);
/// Messages that are on their way to one agent: as many as a machine may have runs, and some more.
pub(crate) const OUTGOING_MAX: usize = SLOTS_MAX as usize + 1_024;
/// Messages of one agent that are given to the desk together.
pub(crate) const TOGETHER_MAX: usize = 16;
/// How long the sending of one message may take.
pub(crate) const SENDING_MAX: Duration = Duration::from_secs(30);
/// Open connections. Every agent has one.
pub(crate) const CONNECTIONS_MAX: usize = 16_384;
/// How long a TLS handshake, or the head of a request, may take.
pub(crate) const HANDSHAKE_MAX: Duration = Duration::from_secs(10);
/// Bytes of a request's address and headers together.
pub(crate) const HEAD_MAX: usize = 16 << 10;
/// Steps of a task's life in one history.
pub(crate) const HISTORY_TOLD_MAX: usize = 10_000;
/// Machines in one answer about the last day.
pub(crate) const MACHINES_LISTED_MAX: usize = 1_000;
/// Runs in one answer about the last day.
pub(crate) const RUNS_LISTED_MAX: usize = 20_000;
/// Finished runs of the last day that are kept in memory, some 100 bytes each.
pub(crate) const RUNS_KEPT: usize = 20_000;
/// Samples of the queue that are kept, one a minute: a day.
pub(crate) const QUEUE_SAMPLES_KEPT: usize = 1_440;
/// Samples that are kept of each machine, one in ten minutes: a day.
pub(crate) const MACHINE_SAMPLES_KEPT: usize = 144;
/// Jobs whose use of machines is kept: the newest ones.
pub(crate) const JOBS_USED_KEPT: usize = 1_000;
/// Users whose use of machines in the last day is kept.
pub(crate) const USERS_USED_KEPT: usize = 4_096;
/// Jobs with waiting tasks that are examined to say why tasks wait: the newest ones.
pub(crate) const WAITING_JOBS_READ_MAX: usize = 500;
/// Reasons for waiting in one answer. To explain one, all machines are examined.
pub(crate) const WAITS_TOLD_MAX: usize = 20;
/// Tasks of a job that are examined to say why some failed. A stretch of equal tasks counts as one.
pub(crate) const FAILURES_READ_MAX: usize = 100_000;
/// Users whose waits are separate series at /metrics. Those of later users are added up in one.
pub(crate) const USERS_MEASURED: usize = 100;
/// Labels whose waits are separate series at /metrics.
pub(crate) const LABELS_MEASURED: usize = 100;
/// Seconds for which a request may wait for an event.
pub(crate) const WAIT_MAX_S: u64 = 60;
/// Bytes of output in one answer.
pub(crate) const OUTPUT_PIECE_MAX: usize = 256 << 10;

/// Machines on which a task's latest runs failed and where it does not run again while others can take it.
pub(crate) const TRIED_ON_MAX: usize = 3;
/// Machines that the scheduler tells apart because runs failed there. Each is a class of its own.
pub(crate) const TRIED_MACHINES_MAX: usize = 256;
/// Classes of tasks that are made to keep tasks off machines. Above that, the next run of a task may go to any machine.
pub(crate) const ELSEWHERE_CLASSES_MAX: u32 = 1_024;
/// Open requests of users. Further ones are told to try again.
pub(crate) const REQUESTS_OF_USERS: Share = Share { all: 512, each: 128 };
/// Open requests of agents, all of which are about files.
pub(crate) const REQUESTS_OF_AGENTS: Share = Share { all: 512, each: 16 };
/// Open requests without a valid token. They are answered before their bodies are read.
pub(crate) const REQUESTS_OF_STRANGERS: Share = Share { all: 64, each: 64 };
/// Requests of users that wait for an event. There are fewer than requests in all, so that other requests always get
/// through.
pub(crate) const WAITS: Share = Share { all: 384, each: 96 };
/// Open streams of events.
pub(crate) const STREAMS: Share = Share { all: 256, each: 64 };
/// Files that users send or receive at a time.
pub(crate) const FILES_OF_USERS: Share = Share { all: 64, each: 16 };
/// Files that agents send or receive at a time.
pub(crate) const FILES_OF_AGENTS: Share = Share { all: 128, each: 8 };
/// Jobs on their way that are too large to be read in one go. Each is held in memory.
pub(crate) const LARGE_JOBS: Share = Share { all: 4, each: 2 };
/// Of those jobs, the ones that are parsed at the same time. Each takes several times its bytes in memory.
pub(crate) const LARGE_JOBS_READ_MAX: usize = 2;
/// Requests at a time that read the whole journal, or copy the ledger for a preview.
pub(crate) const STUDIES_MAX: usize = 2;
/// Requests at a time about the last day, which make the desk wait, and about why tasks wait, which copy the ledger.
pub(crate) const DAYS_MAX: usize = 2;

/// In how long the other side has to send or receive the bytes of the next two rows.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes of a body within [`PATIENCE`]: 16 KiB a second. So 16 GiB may take 12 days, and a megabyte a minute.
pub(crate) const BODY_BYTES_MIN: u64 = 480 << 10;
/// Bytes of a large job, which is held in memory, within [`PATIENCE`]: 256 KiB a second.
pub(crate) const LARGE_JOB_BYTES_MIN: u64 = 7_680 << 10;
/// Uploaded files of one user that no job names yet. Above that, the oldest has to be sent again.
pub(crate) const UPLOADS_OF_USER_MAX: usize = 16_384;
/// Uploaded files of one agent that no end of a run names yet. Above that, the oldest has to be sent again.
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
