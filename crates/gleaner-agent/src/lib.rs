//! The worker on someone's machine: probes, owner's rules, sandbox, runner.

pub mod confine;
pub mod keeper;
pub mod launch;
