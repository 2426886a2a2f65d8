//! Each paper's experiments as data and code.
//!
//! Invariants:
//!
//! - **A seed means the same everywhere.** Every random number comes from a [`Stream`], one for each purpose.
//! - **What a paper leaves open is written down**: a [`Reading`] for each place where its text can be taken in more
//!   than one way.

pub mod bertasi;
pub mod cavalieri;
mod claim;
mod claim_tables;
pub mod dasilva;
mod document;
mod drawn;
pub mod elleuch;
mod kept;
pub mod khoo;
mod reading;
pub mod statistics;
mod trials;

pub use claim::{Claim, Condition, Criterion};
pub use document::Document;
pub use gleaner_workload::Stream;
pub use kept::{Interrupted, Kept, KeptError, Progress};
pub use reading::Reading;
pub use trials::{Run, Stopped, Trial, Trials, Watch};
