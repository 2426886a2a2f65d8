//! Units in types: what a number means is part of its type, and nothing else lives here.
//!
//! - [`Time`] and [`Span`] are integer nanoseconds. Floats never order events.
//! - [`Ops`] is an amount of work; how long it takes depends on the machine. Sums of it ([`OpsTotal`]) are exact.
//! - [`Credits`] are whole numbers.
//! - [`RunId`] names one try at a task.
//! - [`TaskId`] and [`MachineId`] are dense indices: the lowest is the first that was seen, which is what every
//!   tie-break means by "lowest".

mod credits;
mod ids;
mod time;
mod work;

pub use credits::Credits;
pub use ids::{FileId, MachineClassId, MachineId, PartyId, RunId, SiteId, TaskClassId, TaskId, UserId};
pub use time::{Span, Time};
pub use work::{Ops, OpsTotal};
