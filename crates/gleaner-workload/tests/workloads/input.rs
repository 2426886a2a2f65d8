//! Whole scenarios, right and wrong, as they lie in a folder.

mod bad_scenarios;
mod bad_tables;
mod folder;
mod good_input;
mod mutations;
