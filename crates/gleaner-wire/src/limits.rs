//! How much anyone may hand in. What is larger is refused with the limit's name.

/// Tasks of one user that are not over, unless an administrator says otherwise.
pub const QUOTA_TASKS: u64 = 20_000_000;
/// Cores that the runs of one user take at a time, unless an administrator says otherwise.
pub const QUOTA_CORES: u32 = 10_000_000;
/// Bytes of files and output that are kept for one user, unless an administrator says otherwise.
pub const QUOTA_BYTES: u64 = 16 << 40;
/// Requests of one user in a second, on average, unless an administrator says otherwise; twice as many at once.
pub const QUOTA_REQUESTS_PER_S: u32 = 2_000;
/// Tasks that are compared when it is asked what the last day would have been: the latest.
pub const WHAT_IF_TASKS_MAX: usize = 20_000;
/// Tasks of one job.
pub const TASKS_PER_JOB_MAX: u32 = 10_000_000;
/// Bytes of a job's description as JSON.
pub const JOB_BYTES_MAX: usize = 192 << 20;
/// Bytes of any other request's body.
pub const BODY_BYTES_MAX: usize = 1 << 20;
/// Bytes of one message between coordinator and agent.
pub const FRAME_BYTES_MAX: usize = 8 << 20;
/// Bytes of one message of an agent that has not proven yet who it is.
pub const GREETING_BYTES_MAX: usize = 2 << 10;
/// Agents of one address that are about to prove who they are. Many share one: a machine's, or that of a whole building.
pub const GREETINGS_PER_ADDRESS_MAX: usize = 256;
/// Agents that are about to prove who they are, whatever their addresses.
pub const GREETINGS_MAX: usize = 4_096;
/// Machines that a job may ask to agree on the answer to a task.
pub const QUORUM_MAX: u32 = 7;
/// Bytes of output in one message.
pub const OUTPUT_CHUNK_MAX: usize = 64 << 10;
/// Bytes of a run's output that are kept in the journal; longer output has files of its own.
pub const OUTPUT_INLINE_MAX: usize = 4 << 10;
/// Bytes kept of what one run writes to one of its streams.
pub const OUTPUT_BYTES_MAX: u64 = 64 << 20;
/// Bytes that are taken at a time to measure the network with.
pub const PROBE_BYTES_MAX: usize = 1 << 20;
/// Bytes of a checkpoint, or of one input or output file.
pub const BLOB_BYTES_MAX: u64 = 16 << 30;
/// Bytes that a coordinator keeps free on its disk for its journal: uploads and jobs that would take them are refused.
pub const DISK_RESERVE_BYTES: u64 = 256 << 20;
/// On a small disk it keeps one in so many bytes.
pub const DISK_RESERVE_PART: u64 = 8;
/// Bytes that are kept for a start on a full disk, at which a coordinator answers and lets no agent in.
pub const START_RESERVE_BYTES: u64 = 16 << 20;
/// On a small disk it is one in so many bytes.
pub const START_RESERVE_PART: u64 = 32;
/// Bytes of a name: of a job, a label, a machine, a user, a key.
pub const NAME_BYTES_MAX: usize = 128;
/// Bytes of one argument, or of one variable's value.
pub const WORD_BYTES_MAX: usize = 128 << 10;
/// Bytes of an order to run one task, parameters filled in. Linux passes no more than that to a program.
pub const ORDER_BYTES_MAX: u64 = 2 << 20;
/// How often the lengths of a job's tasks may change from one task to the next.
pub const LENGTHS_PER_JOB_MAX: usize = 100_000;
/// Parameters of a job's tasks: axes of a sweep, columns of a table.
pub const PARAMETERS_MAX: usize = 256;
/// Arguments, variables, inputs or outputs of a job, each.
pub const ITEMS_MAX: usize = 4_096;
/// Input files of a job of which each task gets its own, all tasks' together.
pub const OWN_INPUTS_MAX: usize = 100_000;
/// Bytes of what a user signs of a job: it goes to the machine with each of its tasks.
pub const SIGNED_BYTES_MAX: usize = 256 << 10;
/// Signed tasks that a machine remembers until their signatures expire, if its owner runs nothing else; more do not start.
pub const SIGNED_REMEMBERED_MAX: usize = 1_000_000;
/// How often a signed task begins on one machine, besides the retries that its user asked for.
pub const SIGNED_STARTS_MAX: u32 = 20;
/// Bytes of requirements or of a rank.
pub const EXPRESSION_BYTES_MAX: usize = 64 << 10;
/// Bytes of what an agent says for people: why a machine is closed, or a run failed, what its sandbox is made of.
pub const REASON_BYTES_MAX: usize = 500;
/// Seconds that a user's token with an end is good for, at most: ten years.
pub const USER_TOKEN_SECONDS_MAX: u32 = 315_360_000;
/// Seconds that a join token is good for, at most: thirty days.
pub const JOIN_SECONDS_MAX: u32 = 2_592_000;
/// Machines that may join with one token.
pub const JOIN_TOKEN_USES_MAX: u32 = 10_000;
/// Agents of one grid.
pub const AGENTS_MAX: usize = 100_000;
/// Machines' slots, tags or attributes, each.
pub const PROFILE_ITEMS_MAX: usize = 1_024;
/// Places on one machine, or that one task takes.
pub const SLOTS_MAX: u32 = 65_536;
/// Bytes of all tags and attributes of a machine together.
pub const PROFILE_BYTES_MAX: usize = 256 << 10;
/// Millions of operations a second, of any kind: a thousand times what the largest machine does.
pub const SPEED_MAX: f64 = 1e9;
/// Bytes of a machine's memory: a pebibyte.
pub const MEMORY_BYTES_MAX: u64 = 1 << 50;
/// How many times faster than its tasks show a machine may say that it is.
pub const SPEED_DOUBT: f64 = 16.0;
/// Runs of declared length that it takes to doubt a machine's speed.
pub const SPEED_RUNS_MIN: u32 = 8;
/// Operations of one task.
pub const LENGTH_MAX: f64 = 1e24;
/// Credits for a million operations.
pub const PRICE_MAX: f64 = 1e12;
/// Seconds of the shortest period: of a budget, of batches and of moves.
pub const PERIOD_MIN_S: f64 = 1.0;
/// Notes for its user at the end of one run.
pub const NOTES_MAX: usize = 4;
/// Reports that one agent may have recorded at once without having been asked; as many as it has runs, and some more.
pub const REPORTS_AT_ONCE: u32 = 5_000;
/// Reports that one agent may have recorded each second after that.
pub const REPORTS_PER_S: u32 = 50;
/// Jobs in one answer.
pub const JOBS_LISTED_MAX: u32 = 1_000;
/// Tasks in one answer.
pub const TASKS_LISTED_MAX: u32 = 10_000;
