//! How large a log of jobs may be. What is larger is refused with the limit's name.

/// Bytes of a log of jobs, unpacked: twenty times what the largest public one has.
pub(crate) const LOG_BYTES_MAX: u64 = 2 << 30;
/// Jobs of one log.
pub(crate) const LOG_JOBS_MAX: usize = 20_000_000;
