//! The gamma distribution: draws, and its distribution function.

use crate::Stream;

/// Where the series of the distribution function is as exact as its numbers.
const EPSILON: f64 = 1e-15;

/// A draw from the gamma distribution of this shape, which is at least 1, and this scale; by Marsaglia and Tsang.
pub(super) fn draw(stream: &mut Stream, shape: f64, scale: f64) -> f64 {
    debug_assert!(shape >= 1.0, "a shape of {shape}");
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = stream.normal(0.0, 1.0);
        let v = 1.0 + c * x;
        if v <= 0.0 {
            continue;
        }
        let v = v * v * v;
        // 1 − u is never 0.
        if libm::log(1.0 - stream.unit()) < 0.5 * x * x + d * (1.0 - v + libm::log(v)) {
            return scale * d * v;
        }
    }
}

/// The probability that a draw is at most `x`, which is more than 0. All terms of the series are positive.
pub(super) fn at_most(x: f64, shape: f64, scale: f64) -> f64 {
    let x = x / scale;
    let (mut term, mut sum, mut a) = (1.0 / shape, 1.0 / shape, shape);
    while term > sum * EPSILON {
        a += 1.0;
        term *= x / a;
        sum += term;
    }
    sum * libm::exp(shape * libm::log(x) - x - libm::lgamma(shape))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distribution_function_is_the_known_one() {
        // Of shape 1 it is 1 − exp(−x), of shape 2 it is 1 − (1 + x)·exp(−x).
        for x in [0.1, 0.5, 1.0, 3.0, 10.0, 30.0_f64] {
            let one = 1.0 - (-x).exp();
            let two = 1.0 - (1.0 + x) * (-x).exp();
            assert!((at_most(2.0 * x, 1.0, 2.0) - one).abs() < 1e-12, "{x}");
            assert!((at_most(x, 2.0, 1.0) - two).abs() < 1e-12, "{x}");
        }
    }

    #[test]
    fn draws_follow_the_distribution_function() {
        for (shape, scale) in [(1.0, 1.0), (6.57, 0.823), (639.1, 0.0156)] {
            let mut stream = Stream::new(7, 7);
            let mut sample: Vec<f64> = (0..20_000).map(|_| draw(&mut stream, shape, scale)).collect();
            sample.sort_by(f64::total_cmp);
            let gap =
                |(at, &value): (usize, &f64)| (at_most(value, shape, scale) - at as f64 / 20_000.0).abs();
            let distance = sample.iter().enumerate().map(gap).fold(0.0, f64::max) * 20_000_f64.sqrt();
            // Above 1.95 once in a thousand samples.
            assert!(distance < 1.95, "{shape}: {distance}");
        }
    }
}
