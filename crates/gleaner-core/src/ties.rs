//! When two scores count as equal. Stated once, used by every policy and every reference.

const TIE_RELATIVE: f64 = 1e-12;

/// The least score that ties with `best`: within 1e-12 of it, relative to it. An infinite best ties only with
/// itself. Among ties the lowest machine wins, then the lowest task.
#[inline]
pub fn tie_threshold(best: f64) -> f64 {
    if best.is_finite() { best - TIE_RELATIVE * best.abs() } else { best }
}
