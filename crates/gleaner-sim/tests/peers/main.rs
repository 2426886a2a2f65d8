//! Sites that lend each other workers.

mod grids;
mod kept;
mod references;
mod stories;
mod troubles;
