//! How much anyone may hand in. What is larger is refused with the limit's name.

/// Tasks of one job.
pub const TASKS_PER_JOB_MAX: u32 = 10_000_000;
/// Bytes of a job's description as JSON.
pub const JOB_BYTES_MAX: usize = 192 << 20;
/// Bytes of any other request's body.
pub const BODY_BYTES_MAX: usize = 1 << 20;
/// Bytes of one message between coordinator and agent.
pub const FRAME_BYTES_MAX: usize = 8 << 20;
/// Bytes of output in one message.
pub const OUTPUT_CHUNK_MAX: usize = 64 << 10;
/// Bytes of a run's output that are kept in the journal; longer output has files of its own.
pub const OUTPUT_INLINE_MAX: usize = 4 << 10;
/// Bytes kept of what one attempt writes to one of its streams.
pub const OUTPUT_BYTES_MAX: u64 = 64 << 20;
/// Bytes that are taken at a time to measure the network with.
pub const PROBE_BYTES_MAX: usize = 1 << 20;
/// Bytes of a checkpoint, or of one input or output file.
pub const BLOB_BYTES_MAX: u64 = 16 << 30;
/// Bytes of a name: of a job, a label, a machine, a user, a key.
pub const NAME_BYTES_MAX: usize = 128;
/// Bytes of one argument, or of one variable's value.
pub const WORD_BYTES_MAX: usize = 128 << 10;
/// Arguments, variables, inputs or outputs of a job, each.
pub const ITEMS_MAX: usize = 4_096;
/// Bytes of requirements or of a rank.
pub const EXPRESSION_BYTES_MAX: usize = 64 << 10;
/// Agents of one grid.
pub const AGENTS_MAX: usize = 100_000;
/// Machines' slots, tags or attributes, each.
pub const PROFILE_ITEMS_MAX: usize = 1_024;
/// Places on one machine, or that one task takes.
pub const SLOTS_MAX: u32 = 65_536;
/// Operations of one task.
pub const LENGTH_MAX: f64 = 1e24;
/// Credits for a million operations.
pub const PRICE_MAX: f64 = 1e12;
/// Seconds of the shortest period: of a budget, of batches and of moves.
pub const PERIOD_MIN_S: f64 = 1.0;
/// Bytes of what an agent says for people: why it refuses a run, why it is closed, what its sandbox is made of.
pub const REASON_BYTES_MAX: usize = 500;
/// Such texts at the end of one run.
pub const NOTES_MAX: usize = 4;
/// Bytes of all that an agent says of its machine.
pub const PROFILE_BYTES_MAX: usize = 256 << 10;
/// Reports that one agent may have recorded at once without having been asked; as many as it has runs, and some more.
pub const REPORTS_AT_ONCE: u32 = 5_000;
/// Reports that one agent may have recorded each second after that.
pub const REPORTS_PER_S: u32 = 50;
