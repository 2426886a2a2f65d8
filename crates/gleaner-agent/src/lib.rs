//! The worker on someone's machine: probes, owner's rules, sandbox, runner.

mod allowance;
pub mod archive;
pub mod beneath;
pub mod cache;
pub mod clock;
pub mod confine;
mod descriptors;
pub mod duties;
mod family;
mod folder;
pub mod home;
pub mod keeper;
mod kernel_text;
mod lack;
pub mod launch;
pub mod owner;
pub mod owner_socket;
pub mod probes;
pub mod work;
