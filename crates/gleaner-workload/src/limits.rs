//! How large a log of jobs may be. What is larger is refused with the limit's name.

/// Bytes of an unpacked log of jobs: twenty times the largest public one.
// Tested by: a_file_that_grows_without_end_is_refused_at_the_limit
pub(crate) const LOG_BYTES_MAX: u64 = 2 << 30;
/// Jobs of one log.
// Tested by: a_log_ends_at_its_limit
pub(crate) const LOG_JOBS_MAX: usize = 20_000_000;
/// Jobs that the tasks of one submit file or job description become, where they differ in more than texts.
// Tested by: jobs_of_a_submit_file
pub(crate) const JOBS_PER_FILE_MAX: usize = 10_000;
/// Levels of a nested condition in a job description.
// Tested by: descriptions_of_other_grids
pub(crate) const CONDITION_DEPTH_MAX: usize = 100;
/// Comparisons in one condition of a job description.
// Tested by: descriptions_of_other_grids
pub(crate) const CONDITION_TERMS_MAX: usize = 10_000;
/// File names that the ranges in one name of a job description produce.
// Tested by: descriptions_of_other_grids
pub(crate) const RANGE_MAX: usize = 100_000;
/// Bytes of all file names in one job description, with their ranges written out.
// Tested by: descriptions_of_other_grids
pub(crate) const TRANSFER_BYTES_MAX: usize = 64 << 20;
/// Workers of one site description.
// Tested by: descriptions_of_other_grids
pub(crate) const WORKERS_MAX: usize = 100_000;
/// Bytes of the attributes of all workers in one site description, with defaults written out.
// Tested by: descriptions_of_other_grids
pub(crate) const SITE_BYTES_MAX: usize = 256 << 20;
/// Tasks of one trace of bags of tasks.
// Tested by: a_bad_line_is_named_with_its_column
pub(crate) const TRACE_TASKS_MAX: usize = 50_000_000;
/// Brokers of one scenario.
// Tested by: sites_and_brokers_of_a_scenario
pub(crate) const BROKERS_MAX: usize = 10_000;
/// Sites of one scenario: each has a link with every other.
// Tested by: sites_and_brokers_of_a_scenario
pub(crate) const SITES_MAX: usize = 1_000;
/// Jobs of one scenario over sites.
// Tested by: sites_and_brokers_of_a_scenario
pub(crate) const SITE_JOBS_MAX: usize = 1_000_000;
/// Peers of one scenario.
// Tested by: peers_of_a_scenario_their_workers_and_tasks
pub(crate) const PEERS_MAX: usize = 10_000;
/// Workers of all peers of one scenario.
// Tested by: peers_of_a_scenario_their_workers_and_tasks
pub(crate) const PEER_WORKERS_MAX: usize = 1_000_000;
/// Tasks of all jobs of one scenario of peers.
// Tested by: peers_of_a_scenario_their_workers_and_tasks
pub(crate) const PEER_TASKS_MAX: usize = 50_000_000;

#[cfg(test)]
mod tests;
