//! What OurGrid and its simulator read: descriptions of jobs ([`jdf`]) and of sites ([`sdf`]), and traces of bags of tasks
//! ([`trace`]).
//!
//! In descriptions, words before a colon begin a clause, whatever their case; `#` where a word could stand begins a comment;
//! a text in quotes may hold blanks, and `\"` and `\\` in it. An error names line and column. `{1-3}` in the name of a
//! file or of a worker stands for each of the numbers, as wide as they are written: that is ours.

mod condition;
pub mod jdf;
mod ranges;
pub mod sdf;
mod text;
pub mod trace;

pub use condition::{Comparison, Condition};
