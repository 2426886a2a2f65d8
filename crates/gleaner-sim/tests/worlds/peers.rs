//! Sites that lend each other workers.

mod absences;
mod all_done;
mod grids;
mod kept;
mod references;
mod stories;
mod troubles;
