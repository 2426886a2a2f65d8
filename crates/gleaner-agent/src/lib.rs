//! The worker on someone's machine: probes, owner's rules, sandbox, runner.

pub mod owner;
pub mod probes;
