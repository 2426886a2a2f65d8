//! The simulator. For now: how good a schedule can be at best.

pub mod bound;
