//! Availability traces: when machines are there, and how fast.
//!
//! A [`Trace`](gleaner_sim::Trace) is [read](load) from a table, [written](write()) to one, [imported](import) from the Failure Trace Archive,
//! or drawn by a [generator](generate).
//!
//! The table is `machine,interval,from_s,until_s,speed`: a row a piece, in operations a second. The intervals of a
//! machine are counted from 1; the pieces of one follow on each other without a gap; its next interval begins no
//! earlier than it ends. Rows of several machines may be mixed.

pub mod generate;
pub mod import;
mod law;
mod read;
mod statistics;
mod write;

pub use generate::{Profile, Stays};
pub use law::SpeedLaw;
pub use read::load;
pub use statistics::Statistics;
pub use write::{write, write_machines};

pub(crate) use read::named_by;
