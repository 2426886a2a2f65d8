//! Scenarios and the files they name, read into plain data.
//!
//! [`Scenario::load`] is the way in: it reads the TOML document, lays the `--set` overrides over it, and reads the
//! tables that it names. Nothing here decides anything: a later stage turns the data into a grid and a policy.
//!
//! - **What is read is complete and in bounds.** Whoever holds a [`Scenario`] need not check it again; only the names
//!   that other crates own (presets, budget rules) are left to them, and [`InputError::at_key`] reports those as well
//!   as this crate would have.
//! - **Bad input is an [`InputError`]**: which file, line and field, what was found there, and what is expected. The
//!   first error ends the reading; no input makes it panic.
//! - **Order is the file's.** Machines, tasks and kinds are numbered as they were first seen, since "lowest" means
//!   that in every tie.

mod ads;
pub mod availability;
mod document;
mod error;
mod ids;
mod kinds;
mod labels;
mod lines;
mod machines;
mod names;
mod owner_load;
mod policy;
mod runnable;
mod scenario;
mod section;
mod settings;
mod splitter;
mod stream;
pub mod submit;
mod table;
mod tasks;
mod words;

pub use error::InputError;
pub use ids::Ids;
pub use machines::{MachineKind, MachineRow, MachineTable};
pub use owner_load::LoadRow;
pub use policy::{PolicySource, read_policy};
pub use scenario::{AvailableMachines, Scenario};
pub use settings::{LookSettings, Migration, PredictionSettings, PriceSettings, Sharing};
pub use stream::Stream;
pub use tasks::{TaskKind, TaskTable};
