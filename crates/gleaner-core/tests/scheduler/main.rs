//! What the scheduler makes of events and of a policy's wishes, a module for each side of it.

mod answers;
mod beliefs;
mod following;
mod lending;
mod life_of_a_task;
mod paying;
mod plain;
mod progress;
mod puppet;
mod reliability;
mod rule;
mod surveys;
mod way_of_the_data;
mod wide_runs;
