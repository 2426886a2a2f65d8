//! Scenarios and the files they name, read into plain data.
//!
//! [`Scenario::load`] is the way in: it reads the TOML document, lays the `--set` overrides over it, and reads the
//! tables that it names. [`Experiment::of`] turns the data into a setup and a recipe for the simulator.
//!
//! - **What is read is complete and in bounds.** Whoever holds a [`Scenario`] need not check it again, but for the names
//!   that the policies own (presets, budget rules).
//! - **Bad input is an [`InputError`]**: which file, line and field, what was found there, and what is expected. The
//!   first error ends the reading; no input makes it panic.
//! - **Order is the file's.** Machines, tasks and kinds are numbered as they were first seen, since "lowest" means
//!   that in every tie.

mod ads;
pub mod availability;
pub mod batsim;
pub mod brokering;
mod columns;
mod document;
mod error;
mod experiment;
mod groups;
pub mod gwf;
mod ids;
mod kinds;
mod labels;
mod limits;
mod lines;
pub mod logs;
mod machines;
pub mod models;
mod names;
pub mod ourgrid;
mod owner_load;
mod packed;
pub mod peers;
mod policy;
mod runnable;
mod scenario;
mod section;
mod settings;
mod shake;
pub mod sites;
mod splitter;
mod stream;
pub mod submit;
pub mod swf;
mod table;
mod tasks;
mod words;

pub use brokering::BrokeringScenario;
pub use error::InputError;
pub use experiment::{Experiment, LogExperiment, Overrun, Reading, Size, Times};
pub use groups::Groups;
pub use machines::{MachineKind, MachineRow, MachineTable};
pub use peers::PeersScenario;
pub use policy::{PolicySource, read_policy};
pub use scenario::{AvailableMachines, Scenario};
pub use settings::{LookSettings, Migration, Sharing};
pub use shake::Shake;
pub use stream::Stream;
pub use tasks::{TaskKind, TaskTable};
