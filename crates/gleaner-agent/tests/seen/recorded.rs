//! The probes on recorded machines.

mod loads;
mod samples;
mod tree;
