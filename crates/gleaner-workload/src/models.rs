//! Logs of rigid jobs that nobody ran: models of workloads.

mod cycle;
mod gamma;
mod groups;
mod lublin;

pub use groups::{GROUPS, Group, JobClass, UserGroups};
pub use lublin::{Lublin, Parameters};
