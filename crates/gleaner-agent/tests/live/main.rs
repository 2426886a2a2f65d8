//! The probes on this machine: the benchmark, and cgroups with a CPU quota where this machine lets us make them.

mod benchmark;
mod quota;
mod quota_cgroup;
