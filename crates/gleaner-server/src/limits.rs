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

/// Runs in a row that a machine cannot start for reasons of its own, although other runs of their jobs start elsewhere. After that it
/// is given nothing more.
// Tested by: a_machine_that_cannot_start_what_others_can_is_closed
pub(crate) const NOT_STARTED_CLOSES: u32 = 5;
/// How long a task waits for its machine that came back and says that it has results of the task's run.
// Tested by: what_a_machine_brings_after_its_lease_is_heard_before_its_task_is_given_to_anyone
pub(crate) const BROUGHT_WITHIN: Duration = Duration::from_secs(20);
/// Finished tasks that are kept in memory: the latest ones. The store has the older ones.
// Tested by: so_many_tasks_that_are_over_stay_in_memory
pub(crate) const OVER_KEPT_MAX: u64 = 10_000;
/// Bytes that descriptions of finished jobs take in memory, about. Above that, finished tasks leave memory at once, the earliest first.
// Tested by: large_jobs_that_are_over_leave_memory_at_once
pub(crate) const OVER_DESCRIPTION_BYTES_MAX: u64 = 256 << 20;
/// Tasks that leave memory by one fact.
// Tested by: so_many_tasks_leave_memory_by_one_fact
pub(crate) const RETIRED_AT_ONCE: u64 = 4_096;
/// Tasks that return to memory by one fact.
// Tested by: so_many_tasks_come_back_by_one_fact
pub(crate) const REVIVED_AT_ONCE: usize = 65_536;
/// Tasks that return to memory by one order. The desk's thread waits for the disk meanwhile.
// Tested by: so_many_tasks_come_back_by_one_order
pub(crate) const REVIVED_MAX: u32 = 262_144;
/// How long a finished task is kept in memory.
// Tested by: what_is_over_is_kept_for_so_long
pub(crate) const RETIRE_AFTER: Duration = Duration::from_hours(1);
/// Days for which results of jobs that are over are kept, if nothing else is said.
// Tested by: what_is_over_is_kept_for_so_long
pub(crate) const RESULTS_KEPT_DAYS: u64 = 30;
/// Days for which jobs that are over are known, if nothing else is said.
// Tested by: what_is_over_is_kept_for_so_long
pub(crate) const RECORDS_KEPT_DAYS: u64 = 365;
/// So long before a start without a row does not count for how long results are kept: the coordinator was off, or its clock is wrong.
// Tested by: a_gap_is_so_long_at_least
pub(crate) const GAP_MIN: Duration = Duration::from_hours(72);
/// A file that was put or asked for since then is kept: it may be meant for a fact that is not committed yet.
// Tested by: what_nobody_names_counts_for_a_day
pub(crate) const YOUNG: Duration = Duration::from_hours(24);
/// Jobs whose results are removed by one fact.
// Tested by: results_of_so_many_jobs_go_by_one_fact
pub(crate) const REMOVED_AT_ONCE: usize = 256;
/// How long a coordinator that is stopped waits for its last snapshot. Without it, the next start reads more of the journal.
// Tested by: one_that_takes_too_long_at_the_end_is_given_up
pub(crate) const LAST_SNAPSHOT_MAX: Duration = Duration::from_secs(10);
/// Inputs of the desk that share one commit.
// Tested by: so_many_inputs_share_a_commit
pub(crate) const BATCH_MAX: usize = 1_024;
/// Inputs that wait for the desk's thread. Whoever brings one more waits.
// Tested by: so_much_waits_for_the_desk
pub(crate) const QUEUE_MAX: usize = 8_192;
/// Live events that a slow watcher may be behind. Then it is told how many it missed.
// Tested by: who_watches_slowly_hears_how_much_was_missed
pub(crate) const LIVE_BACKLOG_MAX: usize = 4_096;
/// How long an agent may take to prove who it is.
// Tested by: who_does_not_say_who_it_is_in_time_is_let_go
pub(crate) const GREETING_MAX: Duration = Duration::from_secs(10);
/// Messages that are on their way to one agent: as many as a machine may have runs, and some more.
// Tested by: an_agent_that_does_not_read_loses_its_session
pub(crate) const OUTGOING_MAX: usize = SLOTS_MAX as usize + 1_024;
/// Messages of one agent that are given to the desk together.
// Tested by: so_many_messages_are_taken_together
pub(crate) const TOGETHER_MAX: usize = 16;
/// Of what one agent says so together, how often something waits for the desk's thread. More is read when that has been taken in.
// Tested by: so_much_that_an_agent_said_waits_for_the_desk
pub(crate) const AHEAD_MAX: usize = 4;
/// How long the sending of one message may take.
// Tested by: who_does_not_read_in_time_is_let_go
pub(crate) const SENDING_MAX: Duration = Duration::from_secs(30);
/// Open connections that have shown no token yet, in all and of one address (of IPv6, of one network of 64 bits). For one more, the oldest
/// is closed.
// Tested by: so_many_strangers_of_a_network_and_of_all_have_places
pub(crate) const CONNECTIONS_OF_STRANGERS: Share = Share { all: 4_096, each: 2_048 };
/// Where few files may be open, those are no more than their number divided by this.
// Tested by: few_open_files_are_few_strangers
pub(crate) const STRANGERS_PART: usize = 4;
/// How long a connection may stay that shows no token.
// Tested by: a_stranger_has_so_much_time_to_show_a_token
pub(crate) const STRANGER_MAX: Duration = Duration::from_secs(30);
/// Open connections of users. A further one counts as a stranger's.
// Tested by: who_shows_a_token_keeps_the_connection_and_nobody_has_more_than_their_part
pub(crate) const CONNECTIONS_OF_USERS: Share = Share { all: 2_048, each: 512 };
/// Open connections of agents: of each one for its session, and others for files. A further one counts as a stranger's.
// Tested by: who_shows_a_token_keeps_the_connection_and_nobody_has_more_than_their_part
pub(crate) const CONNECTIONS_OF_AGENTS: Share = Share { all: 12_288, each: 32 };
/// Bytes that are read of a connection ahead of what is made of them.
// Tested by: of_a_long_head_little_is_read
pub(crate) const READ_AHEAD_MAX: usize = 32 << 10;
/// How long a TLS handshake, or the head of a request, may take.
// Tested by: who_does_not_shake_hands_in_time_is_let_go, who_does_not_finish_the_head_of_a_request_is_let_go
pub(crate) const HANDSHAKE_MAX: Duration = Duration::from_secs(10);
/// Bytes of a request's address and headers together.
// Tested by: headers_and_methods_have_bounds
pub(crate) const HEAD_MAX: usize = 16 << 10;
/// Steps of a task's life in one history.
// Tested by: of_a_long_life_the_latest_steps_are_told
pub(crate) const HISTORY_TOLD_MAX: usize = 10_000;
/// Machines in one answer about the last day.
// Tested by: each_limit_of_a_query_is_kept_and_named
pub(crate) const MACHINES_LISTED_MAX: usize = 1_000;
/// Runs in one answer about the last day.
// Tested by: each_limit_of_a_query_is_kept_and_named
pub(crate) const RUNS_LISTED_MAX: usize = 20_000;
/// Finished runs of the last day that are kept in memory, some 100 bytes each.
// Tested by: so_many_runs_are_kept_the_latest
pub(crate) const RUNS_KEPT: usize = 20_000;
/// Samples of the queue that are kept, one a minute: a day.
// Tested by: so_many_samples_of_the_queue_are_kept
pub(crate) const QUEUE_SAMPLES_KEPT: usize = 1_440;
/// Samples that are kept of each machine, one in ten minutes: a day.
// Tested by: so_many_samples_of_a_machine_are_kept
pub(crate) const MACHINE_SAMPLES_KEPT: usize = 144;
/// Jobs whose use of machines is kept: the newest ones.
// Tested by: so_many_jobs_and_users_are_kept
pub(crate) const JOBS_USED_KEPT: usize = 1_000;
/// Users whose use of machines in the last day is kept.
// Tested by: so_many_jobs_and_users_are_kept
pub(crate) const USERS_USED_KEPT: usize = 4_096;
/// Jobs with waiting tasks that are examined to say why tasks wait: the newest ones.
// Tested by: so_many_jobs_are_read_and_so_many_reasons_told
pub(crate) const WAITING_JOBS_READ_MAX: usize = 500;
/// Reasons for waiting in one answer. To explain one, all machines are examined.
// Tested by: so_many_jobs_are_read_and_so_many_reasons_told
pub(crate) const WAITS_TOLD_MAX: usize = 20;
/// Tasks of a job that are examined to say why some failed. A stretch of equal tasks counts as one.
// Tested by: so_many_stretches_are_read_for_failures
pub(crate) const FAILURES_READ_MAX: usize = 100_000;
/// A user's labels without a known class of tasks, of which it is remembered what their tasks do. The label that is longest without
/// tasks is forgotten first.
// Tested by: so_many_labels_of_a_user_are_remembered
pub(crate) const LABELS_REMEMBERED_MAX: usize = 1_000;
/// Users whose waits are separate series at /metrics. Those of later users are added up in one.
// Tested by: so_many_users_and_labels_have_a_series_of_their_own
pub(crate) const USERS_MEASURED: usize = 100;
/// Labels whose waits are separate series at /metrics.
// Tested by: so_many_users_and_labels_have_a_series_of_their_own
pub(crate) const LABELS_MEASURED: usize = 100;
/// Seconds for which a request may wait for an event.
// Tested by: each_limit_of_a_query_is_kept_and_named
pub(crate) const WAIT_MAX_S: u64 = 60;
/// Bytes of output in one answer.
// Tested by: a_long_answer_comes_in_pieces
pub(crate) const OUTPUT_PIECE_MAX: usize = 256 << 10;

/// Machines on which a task's latest runs failed and where it does not run again while others can take it.
// Tested by: a_task_keeps_away_from_the_last_machines_where_it_failed
pub(crate) const TRIED_ON_MAX: usize = 3;
/// Machines on which runs of a job could not be started and which its tasks keep away from. Above that, each task is tried on three
/// further ones.
// Tested by: so_many_machines_are_tried_for_a_job
pub(crate) const NOT_THERE_MAX: usize = 32;
/// Stretches of a job's waiting tasks that are kept away from one more machine at a time. The others follow when one of them could not
/// be started there.
// Tested by: so_many_stretches_of_tasks_are_kept_away_at_a_time
pub(crate) const KEPT_AWAY_AT_ONCE: usize = 1_024;
/// Machines that the scheduler tells apart because runs failed there, until the jobs of these are over. Each is a class of its own. Of one
/// user's runs there are at most so many.
// Tested by: so_many_machines_are_told_apart
pub(crate) const TRIED_MACHINES_MAX: Share = Share { all: 256, each: 64 };
/// Classes of tasks that are made to keep tasks off machines, until the jobs of these are over. Above that, the next run of a task may go
/// to any machine.
// Tested by: so_many_classes_are_made_to_keep_tasks_away
pub(crate) const ELSEWHERE_CLASSES_MAX: Share = Share { all: 1_024, each: 256 };
/// What a class of tasks takes of its user's quota of requirements, beside the bytes of requirements, rank and label.
// Tested by: requirements_of_unfinished_jobs_count_in_a_quota
pub(crate) const CLASS_BYTES: u64 = 256;
/// What classes that no job in memory has may take before the ones unused for longest are forgotten.
// Tested by: classes_that_nobody_has_any_more_are_forgotten
pub(crate) const UNUSED_CLASS_BYTES_MAX: u64 = 64 << 10;
/// Open requests of users. Further ones are told to try again.
// Tested by: users_have_so_many_places_each_and_together
pub(crate) const REQUESTS_OF_USERS: Share = Share { all: 512, each: 128 };
/// Open requests of agents, all of which are about files.
// Tested by: agents_have_so_many_places_each_and_together
pub(crate) const REQUESTS_OF_AGENTS: Share = Share { all: 512, each: 16 };
/// Open requests without a valid token. They are answered before their bodies are read.
// Tested by: strangers_have_so_many_places_together
pub(crate) const REQUESTS_OF_STRANGERS: Share = Share { all: 64, each: 64 };
/// Requests of users that wait for an event. There are fewer than requests in all, so that other requests always get
/// through.
// Tested by: users_have_so_many_places_each_and_together
pub(crate) const WAITS: Share = Share { all: 384, each: 96 };
/// Open streams of events.
// Tested by: users_have_so_many_places_each_and_together
pub(crate) const STREAMS: Share = Share { all: 256, each: 64 };
/// Files that users send or receive at a time.
// Tested by: users_have_so_many_places_each_and_together
pub(crate) const FILES_OF_USERS: Share = Share { all: 64, each: 16 };
/// Files that agents send or receive at a time.
// Tested by: agents_have_so_many_places_each_and_together
pub(crate) const FILES_OF_AGENTS: Share = Share { all: 128, each: 8 };
/// Jobs on their way that are too large to be read in one go. Each is held in memory.
// Tested by: users_have_so_many_places_each_and_together
pub(crate) const LARGE_JOBS: Share = Share { all: 4, each: 2 };
/// Of those jobs, the ones that are parsed at the same time. Each takes several times its bytes in memory.
// Tested by: what_takes_long_takes_turns
pub(crate) const LARGE_JOBS_READ_MAX: usize = 2;
/// Requests at a time that read the whole journal, or copy the ledger for a preview.
// Tested by: looks_into_the_past_take_turns
pub(crate) const STUDIES_MAX: usize = 2;
/// Requests at a time about the last day, which make the desk wait, and about why tasks wait, which copy the ledger.
// Tested by: what_takes_long_takes_turns
pub(crate) const DAYS_MAX: usize = 2;
/// Requests at a time that read what left memory, or what runs that are over wrote.
// Tested by: what_left_memory_is_read_by_so_many_at_a_time
pub(crate) const PAST_READS_MAX: usize = 8;

/// Bytes of what a refusal says; a longer one loses its middle.
// Tested by: a_message_is_no_longer_than_that
pub(crate) const MESSAGE_BYTES_MAX: usize = 4 << 10;

/// In how long the other side has to send or receive the bytes of the next two rows.
// Tested by: who_is_too_slow_is_given_up_and_who_is_not_may_take_as_long_as_it_takes
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
/// Bytes of a body within [`PATIENCE`]: 16 KiB a second. So 16 GiB may take 12 days, and a megabyte a minute.
// Tested by: who_sends_less_than_the_limit_is_given_up
pub(crate) const BODY_BYTES_MIN: u64 = 480 << 10;
/// Bytes of a large job, which is held in memory, within [`PATIENCE`]: 256 KiB a second.
// Tested by: who_sends_less_than_the_limit_is_given_up
pub(crate) const LARGE_JOB_BYTES_MIN: u64 = 7_680 << 10;
/// Uploaded files of one user that no job names yet. Above that, the oldest has to be sent again.
// Tested by: so_many_uploads_of_a_user_are_remembered
pub(crate) const UPLOADS_OF_USER_MAX: usize = 16_384;
/// Uploaded files of one agent that no end of a run names yet. Above that, the oldest has to be sent again.
// Tested by: so_many_uploads_of_an_agent_are_remembered
pub(crate) const UPLOADS_OF_AGENT_MAX: usize = 256;

/// As SECURITY.md says.
const _: () = {
    let of_users = [CONNECTIONS_OF_USERS, REQUESTS_OF_USERS, WAITS, STREAMS, FILES_OF_USERS];
    let mut at = 0;
    while at < of_users.len() {
        assert!(of_users[at].each * 4 == of_users[at].all);
        at += 1;
    }
    assert!(LARGE_JOBS.each * 2 == LARGE_JOBS.all);
    assert!(REQUESTS_OF_AGENTS.each * 32 == REQUESTS_OF_AGENTS.all);
    assert!(FILES_OF_AGENTS.each * 16 == FILES_OF_AGENTS.all);
    // Each connection may have a request.
    assert!(
        CONNECTIONS_OF_AGENTS.each > REQUESTS_OF_AGENTS.each
            && CONNECTIONS_OF_USERS.each > REQUESTS_OF_USERS.each
    );
    // Who waits can still ask for something else.
    assert!(WAITS.each < REQUESTS_OF_USERS.each);
};
