//! How much anyone may send. What exceeds a limit is refused with the name of the limit.

/// Unfinished tasks of one user, unless an administrator sets another quota.
// Tested by: users_without_a_quota_of_their_own_have_these
pub const QUOTA_TASKS: u64 = 20_000_000;
/// Tasks that one user submits in all, unless an administrator sets another quota: a sixteenth of the 4,294,967,295 that a grid can
/// number.
// Tested by: tasks_that_a_user_ever_submitted_count_in_a_quota
pub const QUOTA_TASKS_EVER: u64 = 1 << 28;
/// Cores on which one user's tasks run at a time, unless an administrator sets another quota.
// Tested by: users_without_a_quota_of_their_own_have_these
pub const QUOTA_CORES: u32 = 10_000_000;
/// Bytes of files and output that are kept for one user, unless an administrator sets another quota.
// Tested by: users_without_a_quota_of_their_own_have_these
pub const QUOTA_BYTES: u64 = 16 << 40;
/// Bytes of requirements, ranks and labels of one user's unfinished jobs, equal ones once, and some more for each, unless an
/// administrator sets another quota.
// Tested by: requirements_of_unfinished_jobs_count_in_a_quota
pub const QUOTA_REQUIREMENT_BYTES: u64 = 4 << 20;
/// Bytes of the coordinator's memory that descriptions of one user's unfinished jobs take, about, unless an administrator sets another
/// quota: commands, variables, tables of parameters, lists of files. A short text takes 56 bytes, and a job without any 1 KiB.
// Tested by: descriptions_of_unfinished_jobs_count_in_a_quota
pub const QUOTA_DESCRIPTION_BYTES: u64 = 1 << 30;
/// Requests of one user in a second, on average, unless an administrator sets another quota. Twice as many may come at
/// once.
// Tested by: a_user_without_a_quota_of_their_own_asks_as_often_as_the_limit_says
pub const QUOTA_REQUESTS_PER_S: u32 = 2_000;
/// Tasks of the last day that a what-if runs again under another policy: the latest ones.
// Tested by: of_the_last_hours_the_tasks_that_came_then_are_compared
pub const WHAT_IF_TASKS_MAX: usize = 20_000;
/// Tasks of one job.
// Tested by: each_limit_of_a_job_is_kept_and_named
pub const TASKS_PER_JOB_MAX: u32 = 10_000_000;
/// Bytes of a job's description as JSON.
// Tested by: bodies_have_bounds
pub const JOB_BYTES_MAX: usize = 192 << 20;
/// Bytes of any other request's body.
// Tested by: bodies_have_bounds
pub const BODY_BYTES_MAX: usize = 1 << 20;
/// Bytes of one message between coordinator and agent.
// Tested by: what_is_no_message_is_refused
pub const FRAME_BYTES_MAX: usize = 8 << 20;
/// Bytes of one message of an agent that has not yet proven who it is.
// Tested by: strangers_at_the_door_cost_little
pub const GREETING_BYTES_MAX: usize = 2 << 10;
/// Machines that have to give the same answer to a task, at most.
// Tested by: each_limit_of_a_job_is_kept_and_named
pub const QUORUM_MAX: u32 = 7;
/// Seconds that a job's program may take to compare two answers, where its tasks may take no less.
// Tested by: a_run_that_compares_gets_the_jobs_program_and_both_answers
pub const COMPARE_SECONDS_MAX: f64 = 600.0;
/// Bytes of output in one message.
// Tested by: output_is_kept_as_far_as_it_may_be_long
pub const OUTPUT_CHUNK_MAX: usize = 64 << 10;
/// Bytes of a run's output that are kept in the journal. Longer output is kept in files.
// Tested by: output_is_kept_as_far_as_it_may_be_long
pub const OUTPUT_INLINE_MAX: usize = 4 << 10;
/// Bytes that are kept of one output stream of a run.
// Tested by: each_limit_of_a_query_is_kept_and_named, what_is_beyond_the_limit_is_dropped
pub const OUTPUT_BYTES_MAX: u64 = 64 << 20;
/// Bytes of one transfer that measures the network.
// Tested by: bytes_to_measure_with_are_counted_and_bounded
pub const PROBE_BYTES_MAX: usize = 1 << 20;
/// Bytes of a checkpoint, or of one input or output file.
// Tested by: what_cannot_be_kept_is_refused
pub const BLOB_BYTES_MAX: u64 = 16 << 30;
/// Bytes that a coordinator keeps free on its disk for its journal. Uploads and jobs that need them are refused.
// Tested by: so_much_stays_free_on_a_large_disk_and_a_part_of_a_small_one
pub const DISK_RESERVE_BYTES: u64 = 256 << 20;
/// Files (inodes) that a coordinator's disk stays able to hold, whatever room it has.
// Tested by: a_disk_stays_able_to_hold_so_many_files_whatever_room_it_has, a_disk_without_inodes_takes_no_files_and_goes_on
pub const DISK_RESERVE_FILES: u64 = 65_536;
/// On a small disk, these reserves are what it holds, divided by this.
// Tested by: so_much_stays_free_on_a_large_disk_and_a_part_of_a_small_one, a_disk_stays_able_to_hold_so_many_files_whatever_room_it_has
pub const DISK_RESERVE_PART: u64 = 8;
/// Bytes that a coordinator keeps free so that it can start on a full disk. It then answers requests and accepts no
/// agent.
// Tested by: it_is_as_large_as_it_may_be_or_a_part_of_a_small_disk
pub const START_RESERVE_BYTES: u64 = 16 << 20;
/// Files (inodes) that it keeps for such a start, empty.
// Tested by: it_has_as_many_files_as_it_may_or_a_part_of_those_of_a_small_disk
pub const START_RESERVE_FILES: u64 = 64;
/// On a small disk, these reserves are what it holds, divided by this.
// Tested by: it_is_as_large_as_it_may_be_or_a_part_of_a_small_disk, it_has_as_many_files_as_it_may_or_a_part_of_those_of_a_small_disk
pub const START_RESERVE_PART: u64 = 32;
/// Bytes of a name: of a job, a label, a machine, a user, a key.
// Tested by: each_limit_of_a_job_is_kept_and_named, each_limit_of_a_machine_is_kept_and_named
pub const NAME_BYTES_MAX: usize = 128;
/// Bytes of one argument, or of one variable as `NAME=VALUE`: Linux takes 128 KiB, the NUL at the end included.
// Tested by: each_limit_of_a_job_is_kept_and_named
pub const WORD_BYTES_MAX: usize = 131_071;
/// Bytes of the name of an input between two slashes, as file systems have them.
// Tested by: a_name_is_as_long_as_a_files_name_may_be
pub const FILE_NAME_BYTES_MAX: usize = 255;
/// Bytes of an order to run one task, with its parameters filled in. Linux passes no more than that to a program.
// Tested by: each_limit_of_a_job_is_kept_and_named
pub const ORDER_BYTES_MAX: u64 = 2 << 20;
/// Changes of the declared length from one task of a job to the next.
// Tested by: each_limit_of_a_job_is_kept_and_named, lengths_of_tasks_change_so_often_at_most
pub const LENGTHS_PER_JOB_MAX: usize = 100_000;
/// Parameters of a job's tasks: the axes of a sweep, or the columns of a table.
// Tested by: each_limit_of_a_job_is_kept_and_named
pub const PARAMETERS_MAX: usize = 256;
/// Arguments of a job; likewise its variables, its inputs and its outputs.
// Tested by: each_limit_of_a_job_is_kept_and_named
pub const ITEMS_MAX: usize = 4_096;
/// Bytes by which a job names its program: Linux takes no longer path.
// Tested by: each_limit_of_a_job_is_kept_and_named
pub const PROGRAM_BYTES_MAX: usize = 4_095;
/// Input files that only one task of a job gets, over all its tasks.
// Tested by: each_limit_of_a_job_is_kept_and_named
pub const OWN_INPUTS_MAX: usize = 100_000;
/// Bytes of what a user signs of a job: it goes to the machine with each of its tasks.
// Tested by: each_limit_of_a_job_is_kept_and_named
pub const SIGNED_BYTES_MAX: usize = 256 << 10;
/// Signed tasks that a machine remembers until their signatures expire, if its owner runs nothing else; more do not start.
// Tested by: a_machine_remembers_so_many_signed_tasks
pub const SIGNED_REMEMBERED_MAX: usize = 1_000_000;
/// How often a signed task begins on one machine, besides the retries that its user asked for.
// Tested by: a_task_runs_once_whatever_is_started_between
pub const SIGNED_STARTS_MAX: u32 = 20;
/// Bytes of requirements, of a rank, or of an attribute of a machine.
// Tested by: each_limit_of_a_job_is_kept_and_named
pub const EXPRESSION_BYTES_MAX: usize = 16 << 10;
/// Bytes of a text from an agent: why a machine is closed, why a run failed, what its sandbox consists of.
// Tested by: each_limit_of_a_machine_is_kept_and_named, an_end_is_cut_to_what_may_be_recorded
pub const REASON_BYTES_MAX: usize = 500;
/// Seconds for which a user's token that expires can be valid: ten years.
// Tested by: each_limit_of_a_query_is_kept_and_named
pub const USER_TOKEN_SECONDS_MAX: u32 = 315_360_000;
/// Seconds for which a join token can be valid: thirty days.
// Tested by: each_limit_of_a_query_is_kept_and_named
pub const JOIN_SECONDS_MAX: u32 = 2_592_000;
/// Machines that may join with one token.
// Tested by: each_limit_of_a_query_is_kept_and_named
pub const JOIN_TOKEN_USES_MAX: u32 = 10_000;
/// Agents that ever joined one grid.
// Tested by: so_many_agents_join_and_no_more
pub const AGENTS_MAX: usize = 100_000;
/// Tags of a machine; likewise its attributes.
// Tested by: each_limit_of_a_machine_is_kept_and_named
pub const PROFILE_ITEMS_MAX: usize = 256;
/// Slots of one machine, and slots that one task takes.
// Tested by: each_limit_of_a_job_is_kept_and_named, each_limit_of_a_machine_is_kept_and_named
pub const SLOTS_MAX: u32 = 65_536;
/// Bytes of all tags and attributes of a machine together.
// Tested by: each_limit_of_a_machine_is_kept_and_named
pub const PROFILE_BYTES_MAX: usize = 32 << 10;
/// Changes of what one agent says of its machine that are recorded at once.
// Tested by: a_machine_that_becomes_another_all_the_time_does_so_once_a_minute
pub const PROFILES_AT_ONCE: u32 = 5;
/// In how many seconds one more such change is recorded after that. Of those that come before, the latest waits.
// Tested by: a_machine_that_becomes_another_all_the_time_does_so_once_a_minute
pub const PROFILE_SECONDS: u32 = 60;
/// Millions of operations a second, of any kind, that a machine may claim: a thousand times the largest machine's.
// Tested by: each_limit_of_a_machine_is_kept_and_named
pub const SPEED_MAX: f64 = 1e9;
/// Millions of operations a second, of any kind, that a machine has to claim at least, or none at all: a single operation.
// Tested by: each_limit_of_a_machine_is_kept_and_named
pub const SPEED_MIN: f64 = 1e-6;
/// Bytes of memory or disk that a machine may claim, or that a task may need: a pebibyte.
// Tested by: each_limit_of_a_job_is_kept_and_named, each_limit_of_a_machine_is_kept_and_named
pub const MEMORY_BYTES_MAX: u64 = 1 << 50;
/// How many times the speed that its tasks show a machine may claim.
// Tested by: who_shows_a_sixteenth_of_what_it_says_is_believed_and_no_less
pub const SPEED_DOUBT: f64 = 16.0;
/// Runs with a declared length that are needed before a machine's claimed speed is doubted.
// Tested by: who_shows_a_sixteenth_of_what_it_says_is_believed_and_no_less
pub const SPEED_RUNS_MIN: u32 = 8;
/// Operations of one task.
// Tested by: each_limit_of_a_job_is_kept_and_named
pub const LENGTH_MAX: f64 = 1e24;
/// Credits for a million operations.
// Tested by: prices_and_periods_have_bounds
pub const PRICE_MAX: f64 = 1e12;
/// Seconds of the shortest period of a budget, of batches or of moves.
// Tested by: prices_and_periods_have_bounds
pub const PERIOD_MIN_S: f64 = 1.0;
/// Notes for the user at the end of one run.
// Tested by: an_end_is_cut_to_what_may_be_recorded
pub const NOTES_MAX: usize = 4;
/// Reports that nobody asked for, recorded from one agent at once: as many as it may have runs, and some more.
// Tested by: so_many_at_once_and_then_so_many_a_second
pub const REPORTS_AT_ONCE: u32 = 5_000;
/// Such reports that are recorded from one agent in each second after that.
// Tested by: so_many_at_once_and_then_so_many_a_second
pub const REPORTS_PER_S: u32 = 50;
/// Jobs in one answer.
// Tested by: each_limit_of_a_query_is_kept_and_named
pub const JOBS_LISTED_MAX: u32 = 1_000;
/// Tasks in one answer.
// Tested by: each_limit_of_a_query_is_kept_and_named
pub const TASKS_LISTED_MAX: u32 = 10_000;
