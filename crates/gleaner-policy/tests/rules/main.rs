//! How rules are written down, and what they decide in small grids.

mod caps;
mod copies;
mod lab;
mod late;
mod measured;
mod paying;
mod refused;
mod second_runs;
mod slots;
mod switched;
mod words;
mod written;
