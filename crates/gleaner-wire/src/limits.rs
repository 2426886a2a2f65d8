//! How much anyone may send. What exceeds a limit is refused with the name of the limit.

/// Unfinished tasks of one user, unless an administrator sets another quota.
pub const QUOTA_TASKS: u64 = 20_000_000;
/// Cores on which one user's tasks run at a time, unless an administrator sets another quota.
pub const QUOTA_CORES: u32 = 10_000_000;
/// Bytes of files and output that are kept for one user, unless an administrator sets another quota.
pub const QUOTA_BYTES: u64 = 16 << 40;
/// Requests of one user in a second, on average, unless an administrator sets another quota. Twice as many may come at
/// once.
pub const QUOTA_REQUESTS_PER_S: u32 = 2_000;
/// Tasks of the last day that a what-if runs again under another policy: the latest ones.
pub const WHAT_IF_TASKS_MAX: usize = 20_000;
/// Tasks of one job.
pub const TASKS_PER_JOB_MAX: u32 = 10_000_000;
/// Bytes of a job's description as JSON.
pub const JOB_BYTES_MAX: usize = 192 << 20;
/// Bytes of any other request's body.
pub const BODY_BYTES_MAX: usize = 1 << 20;
/// Bytes of one message between coordinator and agent.
pub const FRAME_BYTES_MAX: usize = 8 << 20;
/// Bytes of one message of an agent that has not yet proven who it is.
pub const GREETING_BYTES_MAX: usize = 2 << 10;
/// Agents behind one address that have not yet proven who they are. A machine has one address, and so may a whole
/// building.
pub const GREETINGS_PER_ADDRESS_MAX: usize = 256;
/// Agents that have not yet proven who they are, at all addresses together.
pub const GREETINGS_MAX: usize = 4_096;
/// Machines that have to give the same answer to a task, at most.
pub const QUORUM_MAX: u32 = 7;
/// Seconds that a job's program may take to compare two answers, where its tasks may take no less.
pub const COMPARE_SECONDS_MAX: f64 = 600.0;
/// Bytes of output in one message.
pub const OUTPUT_CHUNK_MAX: usize = 64 << 10;
/// Bytes of a run's output that are kept in the journal. Longer output is kept in files.
pub const OUTPUT_INLINE_MAX: usize = 4 << 10;
/// Bytes that are kept of one output stream of a run.
pub const OUTPUT_BYTES_MAX: u64 = 64 << 20;
/// Bytes of one transfer that measures the network.
pub const PROBE_BYTES_MAX: usize = 1 << 20;
/// Bytes of a checkpoint, or of one input or output file.
pub const BLOB_BYTES_MAX: u64 = 16 << 30;
/// Bytes that a coordinator keeps free on its disk for its journal. Uploads and jobs that need them are refused.
pub const DISK_RESERVE_BYTES: u64 = 256 << 20;
/// On a small disk, that reserve is the disk's size divided by this.
pub const DISK_RESERVE_PART: u64 = 8;
/// Bytes that a coordinator keeps free so that it can start on a full disk. It then answers requests and accepts no
/// agent.
pub const START_RESERVE_BYTES: u64 = 16 << 20;
/// On a small disk, that reserve is the disk's size divided by this.
pub const START_RESERVE_PART: u64 = 32;
/// Bytes of a name: of a job, a label, a machine, a user, a key.
pub const NAME_BYTES_MAX: usize = 128;
/// Bytes of one argument, or of one variable's value.
pub const WORD_BYTES_MAX: usize = 128 << 10;
/// Bytes of an order to run one task, with its parameters filled in. Linux passes no more than that to a program.
pub const ORDER_BYTES_MAX: u64 = 2 << 20;
/// Changes of the declared length from one task of a job to the next.
pub const LENGTHS_PER_JOB_MAX: usize = 100_000;
/// Parameters of a job's tasks: the axes of a sweep, or the columns of a table.
pub const PARAMETERS_MAX: usize = 256;
/// Arguments of a job; likewise its variables, its inputs and its outputs.
pub const ITEMS_MAX: usize = 4_096;
/// Input files that only one task of a job gets, over all its tasks.
pub const OWN_INPUTS_MAX: usize = 100_000;
/// Bytes of what a user signs of a job: it goes to the machine with each of its tasks.
pub const SIGNED_BYTES_MAX: usize = 256 << 10;
/// Signed tasks that a machine remembers until their signatures expire, if its owner runs nothing else; more do not start.
pub const SIGNED_REMEMBERED_MAX: usize = 1_000_000;
/// How often a signed task begins on one machine, besides the retries that its user asked for.
pub const SIGNED_STARTS_MAX: u32 = 20;
/// Bytes of requirements or of a rank.
pub const EXPRESSION_BYTES_MAX: usize = 64 << 10;
/// Bytes of a text from an agent: why a machine is closed, why a run failed, what its sandbox consists of.
pub const REASON_BYTES_MAX: usize = 500;
/// Seconds for which a user's token that expires can be valid: ten years.
pub const USER_TOKEN_SECONDS_MAX: u32 = 315_360_000;
/// Seconds for which a join token can be valid: thirty days.
pub const JOIN_SECONDS_MAX: u32 = 2_592_000;
/// Machines that may join with one token.
pub const JOIN_TOKEN_USES_MAX: u32 = 10_000;
/// Agents of one grid.
pub const AGENTS_MAX: usize = 100_000;
/// Tags of a machine; likewise its attributes.
pub const PROFILE_ITEMS_MAX: usize = 1_024;
/// Slots of one machine, and slots that one task takes.
pub const SLOTS_MAX: u32 = 65_536;
/// Bytes of all tags and attributes of a machine together.
pub const PROFILE_BYTES_MAX: usize = 256 << 10;
/// Millions of operations a second, of any kind, that a machine may claim: a thousand times the largest machine's.
pub const SPEED_MAX: f64 = 1e9;
/// Bytes of memory that a machine may claim: a pebibyte.
pub const MEMORY_BYTES_MAX: u64 = 1 << 50;
/// How many times the speed that its tasks show a machine may claim.
pub const SPEED_DOUBT: f64 = 16.0;
/// Runs with a declared length that are needed before a machine's claimed speed is doubted.
pub const SPEED_RUNS_MIN: u32 = 8;
/// Operations of one task.
pub const LENGTH_MAX: f64 = 1e24;
/// Credits for a million operations.
pub const PRICE_MAX: f64 = 1e12;
/// Seconds of the shortest period of a budget, of batches or of moves.
pub const PERIOD_MIN_S: f64 = 1.0;
/// Notes for the user at the end of one run.
pub const NOTES_MAX: usize = 4;
/// Reports that nobody asked for, recorded from one agent at once: as many as it may have runs, and some more.
pub const REPORTS_AT_ONCE: u32 = 5_000;
/// Such reports that are recorded from one agent in each second after that.
pub const REPORTS_PER_S: u32 = 50;
/// Jobs in one answer.
pub const JOBS_LISTED_MAX: u32 = 1_000;
/// Tasks in one answer.
pub const TASKS_LISTED_MAX: u32 = 10_000;
