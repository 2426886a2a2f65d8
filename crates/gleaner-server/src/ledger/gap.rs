//! Times of which the journal has no row.

use gleaner_units::{Span, Time};
use serde::{Deserialize, Serialize};

/// A stretch of time before a start of the coordinator of which the journal has no row: it was off, or its clock is wrong. Or one through
/// which its machine slept.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Gap {
    /// When it was back.
    pub(super) back: Time,
    /// For how long it was away.
    pub(super) length: Span,
}
