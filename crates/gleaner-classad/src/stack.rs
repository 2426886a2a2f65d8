//! Room for recursion.
//!
//! Invariant: every function of the crate that calls itself on a part of an expression does so through [`deeper`],
//! so that the depth of an expression never meets the end of the caller's stack.

const RED_ZONE_BYTES: usize = 96 << 10;
const SEGMENT_BYTES: usize = 2 << 20;

/// Runs the closure with enough stack for one more level, on a new segment where the current one runs out.
#[inline]
pub(crate) fn deeper<R>(level: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(RED_ZONE_BYTES, SEGMENT_BYTES, level)
}
