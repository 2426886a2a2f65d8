//! Sites that lend each other workers.

mod grids;
mod references;
mod stories;
mod troubles;
