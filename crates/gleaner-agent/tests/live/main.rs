//! The probes on this machine: the benchmark, and cgroups with a CPU quota where this machine lets us make them.
//!
//! A program of its own: it measures how fast this machine is.

mod benchmark;
mod quota;
mod quota_cgroup;
