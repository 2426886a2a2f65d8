//! The simulator: it plays the outside world for the one [`Scheduler`](gleaner_core::Scheduler).
//!
//! - [`Setup`] is all that a run is given; [`Simulation`] runs it, one event at a time.
//! - [`Parties`] is the loop underneath: one scheduler or several, what surrounds them, and the mail between them.
//! - [`peers`] is sites that lend each other workers, each a party.
//! - [`neighbours`] is groups of machines, each with a scheduler of its own, that know of each other.
//! - [`brokering`] has brokers, sites with queues of their own, and an index that is out of date.
//! - [`sites`] is clusters that rigid jobs are sent to, each with an account of its own room.
//! - [`forecast`] tells the next value of a series, as the Network Weather Service does.
//! - [`sharing`] is the model of time-shared machines; [`MachineTraces`] have machines come and go.
//! - [`bound`] says how early the last task could end at best.

pub mod bound;
pub mod brokering;
pub mod forecast;
pub mod neighbours;
pub mod peers;
pub mod sharing;
pub mod sites;

mod agenda;
mod ahead;
mod availability;
mod checkpoint;
mod clock;
mod demand;
mod given;
mod history;
mod ids;
mod liars;
mod machines;
mod mail;
mod mixing;
mod network;
mod parties;
mod refused;
mod register;
mod reputation;
mod saving;
mod setup;
mod shared;
mod simulation;
mod speed_scale;
mod stays;
mod trace;
mod traced;
mod wide;
mod world;

pub use availability::{MachineTraces, Prediction, Pricing};
pub use checkpoint::RestoreError;
pub use history::{History, Period, TaskHistory, TimelineRow, Waste};
pub use ids::Ids;
pub use liars::Liars;
pub use mail::{Letter, Mail, Way};
pub use network::{Division, LinkId, Network, TransferId};
pub use parties::{Observer, Out, Outside, Parties};
pub use refused::{REFUSED_MAX, Refused};
pub use saving::{Lasting, restore, save};
pub use setup::{Answers, LoadChange, Setup, Tasks};
pub use simulation::{Answered, Progress, Simulation};
pub use speed_scale::SpeedScale;
pub use stays::Stay;
pub use trace::{Draft, Interval, Piece, Trace};
