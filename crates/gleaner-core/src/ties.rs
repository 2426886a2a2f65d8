//! When two scores count as equal, and when one exceeds a threshold. Stated once for every policy.

const TIE_RELATIVE: f64 = 1e-12;

/// The least score that ties with `best`: within 1e-12 of it, relative to it. An infinite best ties only with
/// itself. Among ties the lowest machine wins, then the lowest task.
#[inline]
pub fn tie_threshold(best: f64) -> f64 {
    if best.is_finite() { best - TIE_RELATIVE * best.abs() } else { best }
}

/// Whether a gain, which is relative already, exceeds a threshold: what is equal but for rounding does not.
#[inline]
pub fn exceeds(gain: f64, threshold: f64) -> bool {
    gain > just_above(threshold)
}

/// The least gain that [exceeds](exceeds) a finite threshold.
#[inline]
pub fn least_above(threshold: f64) -> f64 {
    just_above(threshold).next_up()
}

#[inline]
fn just_above(threshold: f64) -> f64 {
    threshold + TIE_RELATIVE * threshold.max(1.0)
}
