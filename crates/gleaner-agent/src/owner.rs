//! The rules of a machine's owner: when tasks may run, and when they must stop.
//!
//! [`Attendance`] keeps what is known of the owner: what they said, and when they last showed. [`Rules`] is what they
//! configured, and [`decide`] makes a [`Verdict`] of the two and a [`Sample`](crate::probes::Sample).
//!
//! - **The owner always wins.** Nothing that the grid wants is an input here.
//! - **No clock and no files**: time is an argument, and so is what was measured. What is not known does not forbid,
//!   but for the load: before it was measured, nothing new starts.
//! - **Of several reasons one is given**: what suspends before what does not, then in the order of [`Reason`].

mod attendance;
mod bounds;
mod disk;
mod file;
mod hours;
mod rules;
mod shown;
mod signed;
mod verdict;

pub use attendance::{Attendance, Hand, Owner, Said, Sign, Word};
pub use bounds::Bounds;
pub(crate) use bounds::LEAVING;
pub use file::{FileError, Preset, read, read_if_there, set, set_over, write_if_none};
pub(crate) use file::{read_again, read_beside};
pub use hours::{DayMinute, Hours, HoursError, WeekMinute};
pub use rules::{DISK_FREE_MIN, Network, Programs, Rules, RulesError, Sessions};
pub(crate) use signed::{Permit, check as check_signed};
pub use verdict::{COOLING, Reason, Shortfall, Verdict, decide};
