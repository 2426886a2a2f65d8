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
//! [`driver`] owns them on one thread and commits; [`store`], [`blobs`] and [`outputs`] are the disk. `gleaner-http` is the network.

pub mod answers;
pub mod app;
pub mod backup;
pub mod blobs;
pub mod clock;
pub mod compacting;
pub mod day;
pub mod desk;
pub mod driver;
pub mod journal;
pub mod ledger;
pub mod limits;
mod live;
pub mod moments;
pub mod outputs;
pub mod policy;
pub mod recovery;
pub mod restoring;
mod snapshotter;
pub mod store;
pub mod study;
pub mod tidying;
pub mod told;
pub mod uploads;
pub mod verify;
pub mod view;
