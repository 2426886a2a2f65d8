//! What keeps a task in: the sandbox around it, the user it runs as, and the cgroups that limit it.
//!
//! - The sandbox is bubblewrap's namespaces with a small read-only system, then Landlock and seccomp from within
//!   ([`crate::launch`]). [`available`] tries a real one once.
//! - Of `/etc` it has copies of what programs need, which the agent makes and keeps up to date ([`Settings`]).
//! - A task has no network, the machine's, or one of its own that leads to the internet only.
//! - An agent of root's gives each running task a user id of its own; another's gives it a user namespace.
//! - The [`Limiter`] finds which cgroups this agent may make, and says what stays unlimited.

mod apart;
mod bwrap;
pub mod doctor;
mod empty_network;
mod group;
mod hierarchy;
mod limiter;
mod limits;
mod settings;
mod trial;
mod user;

pub(crate) use apart::{ApartNetwork, RESOLVER, can_be_apart};
pub use bwrap::bare_sandbox;
pub(crate) use bwrap::{LAUNCHER, bwrap_command};
pub(crate) use empty_network::EmptyNetwork;
pub use group::GroupError;
pub(crate) use group::{AtStart, Group, Kills, MinderGroup};
pub use hierarchy::{Control, Hierarchy, Version};
pub use limiter::Limiter;
pub(crate) use limits::nearly_all;
pub use limits::{Limits, MEMORY_BYTES_MIN};
pub use settings::Settings;
pub use trial::{SandboxLevel, Why, available};
pub(crate) use user::TransientUser;
