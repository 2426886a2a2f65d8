//! Grids, sites and peers in the simulator, a module for each side of them.

mod backlog;
mod basics;
mod bound;
mod brokering;
mod brokers;
mod budgets;
mod choices;
mod journal;
mod liars;
mod neighbours;
mod parties;
mod peers;
mod progress;
mod queue;
mod recovery;
mod references;
mod remaining;
mod runs;
mod sharing;
mod sites;
mod sites_references;
mod stays;
mod traces;
mod wide;
