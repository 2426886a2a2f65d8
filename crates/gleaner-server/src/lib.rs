//! The coordinator of the live grid.
//!
//! ```text
//! users, agents ──Input──▶ Desk ──Fact──▶ Ledger ──Event──▶ Scheduler (the simulator's own)
//!                            │                                  │
//!                            ◀───────────Command────────────────┘
//!                            └──Batch──▶ commit ──▶ effects: replies, messages to agents
//! ```
//!
//! [`ledger`] is what is known, [`desk`] what is done about it; both are free of I/O.
//! [`driver`] owns them on one thread and commits; [`store`], [`blobs`] and [`outputs`] are the disk.

mod answers;
pub mod app;
pub mod backup;
pub mod blobs;
pub mod clock;
pub mod compacting;
pub mod day;
pub mod desk;
pub mod driver;
pub mod http;
pub mod journal;
pub mod ledger;
mod limits;
mod listener;
mod live;
mod moments;
pub mod outputs;
mod places;
pub mod policy;
pub mod recovery;
pub mod restoring;
pub mod serve;
pub mod sessions;
mod snapshotter;
pub mod store;
pub mod study;
pub mod tidying;
pub mod told;
mod uploads;
pub mod verify;
pub mod view;
