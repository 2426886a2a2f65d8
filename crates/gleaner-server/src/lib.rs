//! The coordinator of the live grid.
//!
//! ```text
//! users, agents ──Input──▶ Desk ──Fact──▶ Ledger ──Event──▶ Scheduler (the simulator's own)
//!                            │                                  │
//!                            ◀───────────Command, Errand────────┘
//!                            └──Batch──▶ commit ──▶ effects: replies, messages to agents
//! ```
//!
//! [`ledger`] is what is known, [`desk`] what is done about it; both are free of I/O.

pub mod blobs;
pub mod desk;
pub mod journal;
pub mod ledger;
pub mod policy;
pub mod store;
