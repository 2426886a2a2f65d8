//! Counts of values in bins of equal width.

/// The centre and the count of each of `bins` bins of equal width over the finite values: points for
/// [`Style::Bars`](crate::Style::Bars). Equal values make one bin; no values make none.
pub fn histogram(values: &[f64], bins: usize) -> Vec<(f64, f64)> {
    let finite = || values.iter().copied().filter(|v| v.is_finite());
    let low = finite().fold(f64::INFINITY, f64::min);
    let high = finite().fold(f64::NEG_INFINITY, f64::max);
    if low > high {
        return Vec::new();
    }
    let width = (high - low) / bins.max(1) as f64;
    if !(width > 0.0 && width.is_finite()) {
        return vec![(low, finite().count() as f64)];
    }
    let mut counts = vec![0.0; bins.max(1)];
    let last = counts.len() - 1;
    for value in finite() {
        // The highest value belongs to the last bin, which is closed above.
        let bin = ((value - low) / width) as usize;
        counts[bin.min(last)] += 1.0;
    }
    counts.into_iter().enumerate().map(|(bin, count)| (low + (bin as f64 + 0.5) * width, count)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finite_value_is_counted_once() {
        assert_eq!(histogram(&[0.0, 1.0, 2.0, 4.0, f64::NAN], 2), [(1.0, 2.0), (3.0, 2.0)]);
        assert_eq!(histogram(&[3.0, 3.0], 10), [(3.0, 2.0)]);
        assert_eq!(histogram(&[], 10), []);
        assert_eq!(histogram(&[1.0, 2.0], 0), [(1.5, 2.0)]);
    }
}
