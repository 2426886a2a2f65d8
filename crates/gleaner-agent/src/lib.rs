//! The worker on someone's machine: probes, owner's rules, sandbox, runner.

pub mod archive;
pub mod cache;
pub mod clock;
pub mod duties;
pub mod owner;
pub mod probes;
