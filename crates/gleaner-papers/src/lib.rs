//! Each paper's experiments as data and code.
//!
//! Invariants:
//!
//! - **A seed means the same everywhere.** Every random number comes from a [`Stream`], one for each purpose.
//! - **What a paper leaves open is written down**: a [`Reading`] for each place where its text can be taken in more
//!   than one way.

pub mod bertasi;
mod reading;
mod stream;

pub use reading::Reading;
pub use stream::Stream;
