//! How much the coordinator takes at a time and keeps, and how long it waits. What holds for requests and connections stands in
//! `gleaner-http/src/limits.rs`, and what others have to keep to as well in `gleaner_wire::limits`; `docs/limits.md` has them all.

use std::time::Duration;

/// How many of something go on at a time: in all, and for each caller. Each kind of caller has places of its own. A
/// user has at most a quarter of the users' (of large jobs, half), an agent at most a 16th of the agents': whoever takes all
/// they can get takes nothing from others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    /// All callers together.
    pub all: usize,
    /// One of them.
    pub each: usize,
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
/// Bytes of a job's description in memory that count in no quota of stored bytes. What is above them is on the disk as long as anything is
/// known of the job, and counts as long.
// Tested by: long_descriptions_count_as_stored_until_nothing_is_known_of_their_jobs
pub(crate) const DESCRIPTION_BYTES_FREE: u64 = 1 << 10;
/// Tasks that leave memory by one fact.
// Tested by: so_many_tasks_leave_memory_by_one_fact
pub(crate) const RETIRED_AT_ONCE: u64 = 4_096;
/// Tasks that return to memory by one fact.
// Tested by: so_many_tasks_come_back_by_one_fact
pub(crate) const REVIVED_AT_ONCE: usize = 65_536;
/// Tasks that return to memory by one order. The desk's thread waits for the disk meanwhile.
// Tested by: so_many_tasks_come_back_by_one_order
pub(crate) const REVIVED_MAX: u32 = 262_144;
/// Stretches of equal neighbouring tasks into which orders by number may divide a job's unfinished tasks. Further such orders are
/// refused. Also the most that one row names.
// Tested by: orders_about_single_tasks_leave_so_many_pieces_at_most
pub(crate) const PIECES_MAX: usize = 16_384;
/// How long a finished task is kept in memory.
// Tested by: what_is_over_is_kept_for_so_long
pub(crate) const RETIRE_AFTER: Duration = Duration::from_hours(1);
/// Days for which results of jobs that are over are kept, if nothing else is said.
// Tested by: what_is_over_is_kept_for_so_long
pub(crate) const RESULTS_KEPT_DAYS: u64 = 30;
/// Days for which jobs that are over are known, if nothing else is said.
// Tested by: what_is_over_is_kept_for_so_long
pub(crate) const RECORDS_KEPT_DAYS: u64 = 365;
/// A time without rows before a start, from this length on, does not count towards how long results are kept: the coordinator was off,
/// or its clock was wrong. Nor does as long a sleep of its machine.
// Tested by: a_gap_is_so_long_at_least
pub(crate) const GAP_MIN: Duration = Duration::from_hours(72);
/// A file that was put or asked for since then is kept: it may be meant for a fact that is not committed yet.
// Tested by: what_nobody_names_counts_for_a_day
pub(crate) const YOUNG: Duration = Duration::from_hours(24);
/// Jobs whose results are removed by one fact.
// Tested by: results_of_so_many_jobs_go_by_one_fact
pub(crate) const REMOVED_AT_ONCE: usize = 256;
/// Lines about tasks and files of removed results and forgotten jobs that leave the database by one commit. The others follow, as many
/// each second.
// Tested by: so_many_lines_leave_the_tables_by_one_commit
pub(crate) const SWEPT_AT_ONCE: usize = 2_048;
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
/// Classes of tasks of which a list of jobs says why no machine takes them. To explain one, all machines are examined; of the others it
/// names the command that does.
// Tested by: a_list_tells_so_many_reasons_each_once
pub(crate) const REASONS_TOLD_MAX: usize = 32;
/// Bytes of a job's command in a list of jobs, and of a task's with its parameters filled in; of a longer one the beginning is told. The job's own view has all of it.
// Tested by: of_a_long_command_its_beginning_is_listed, a_list_has_the_beginning_of_a_long_command
pub(crate) const COMMAND_LISTED_MAX: usize = 1 << 10;
/// Stretches of equal tasks that are examined for one answer with tasks of a job; the next answer goes on behind them.
// Tested by: so_many_stretches_are_looked_through_for_tasks_in_a_phase
pub(crate) const STRETCHES_LISTED_MAX: usize = 100_000;
/// Tasks of a job that are examined to say why some failed. A stretch of equal tasks counts as one.
// Tested by: so_many_stretches_are_read_for_failures
pub(crate) const FAILURES_READ_MAX: usize = 100_000;
/// Reasons in one answer about why tasks of a job failed: the most frequent ones. Reasons may name what tasks differ in.
// Tested by: so_many_reasons_for_failures_are_told
pub(crate) const FAILURES_TOLD_MAX: usize = 50;
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
/// Uploaded files of one agent that are remembered, so that the end of a run may name them. Above that, the oldest has to be sent again, those first that an end names already.
// Tested by: so_many_uploads_of_an_agent_are_remembered
pub(crate) const UPLOADS_OF_AGENT_MAX: usize = 256;
