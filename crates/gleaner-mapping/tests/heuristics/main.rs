//! Heuristics, bounds and polishing.

mod bounds;
mod draw;
mod hcsp;
mod polishing;
mod published;
mod references;
