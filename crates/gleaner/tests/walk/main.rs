//! The live grid as separate processes: a coordinator and agents, each agent in a network namespace and a cgroup of its
//! own, joined over TLS; and what happens to them when machines die, links break and disks fill up.
//!
//! Needs root, for the namespaces and cgroups, and says what else where something is missing. Everything made is named
//! after this process and is removed in the end, also where a test fails. A program of its own: the machine is busy with it.
//!
//! ```text
//! GLEANER_KILLS=200 GLEANER_TASKS=5000 cargo test -p gleaner --test walk kills -- --nocapture
//! ```

mod attacks;
mod backup;
mod bad_luck;
mod bags;
mod budget;
mod checker;
mod clock;
mod disk;
mod docs;
mod elsewhere;
mod frail;
mod full_disk;
mod grid;
mod handed_in;
mod journey;
mod keeping;
mod kills;
mod lasting;
mod learnt;
mod liars;
mod machine;
mod moves;
mod network;
mod one_slot;
mod ourgrid;
mod people;
mod processes;
mod put_back;
mod queue;
mod quota;
mod replicas;
mod stalled;
mod told;
mod too_much;
mod trouble;
mod twins;
mod up;
mod wall_clock;
