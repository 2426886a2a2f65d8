//! Random numbers that agree on every machine and in every release.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// One of the many independent sequences of a seed: `ChaCha8` with the seed as its key and the purpose as its nonce.
///
/// Only + − × ÷ √ and `libm` turn its words into numbers, so that they are the same to the bit on every machine.
#[derive(Clone, Debug)]
pub struct Stream {
    words: ChaCha8Rng,
}

impl Stream {
    /// The sequence number `purpose` of `seed`. Drawing more or less for one purpose changes no other.
    pub fn new(seed: u64, purpose: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        let mut words = ChaCha8Rng::from_seed(key);
        words.set_stream(purpose);
        Self { words }
    }

    /// Evenly from 0 up to but without 1, in steps of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        const STEP: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.words.next_u64() >> 11) as f64 * STEP
    }

    /// U(low, high).
    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Exponential, with that mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        // 1 − u is never 0, so the logarithm is finite.
        -mean * libm::log(1.0 - self.unit())
    }

    /// N(mean, deviation), by Box and Muller's cosine; always two words.
    pub fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        // 1 − u is never 0, so the logarithm is finite.
        let radius = (-2.0 * libm::log(1.0 - self.unit())).sqrt();
        let angle = std::f64::consts::TAU * self.unit();
        mean + deviation * radius * libm::cos(angle)
    }

    /// Any of the numbers below `count`, which is at least 1 and small beside 2⁵³.
    pub fn below(&mut self, count: usize) -> usize {
        (self.unit() * count as f64) as usize
    }

    /// Every order is as likely as any other.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest distance between the sample's and the law's distribution function, times √n: above 1.95 once in
    /// a thousand samples.
    fn kolmogorov(mut sample: Vec<f64>, law: impl Fn(f64) -> f64) -> f64 {
        sample.sort_by(f64::total_cmp);
        let n = sample.len() as f64;
        let gap = |(at, &value): (usize, &f64)| {
            let (below, law) = (at as f64 / n, law(value));
            (law - below).abs().max((law - below - 1.0 / n).abs())
        };
        sample.iter().enumerate().map(gap).fold(0.0, f64::max) * n.sqrt()
    }

    #[test]
    fn the_first_numbers_never_change() {
        let mut stream = Stream::new(1, 0);
        let drawn: Vec<u64> = (0..3).map(|_| stream.unit().to_bits()).collect();
        // As an independent ChaCha8 has them.
        assert_eq!(drawn, [4_600_543_922_235_128_406, 4_598_984_558_295_872_832, 4_605_365_254_607_385_758]);
        assert_eq!(stream.normal(0.0, 1.0).to_bits(), 4_608_866_569_410_492_093);
    }

    #[test]
    fn uniform_and_normal_follow_their_laws() {
        let mut stream = Stream::new(5, 9);
        let uniform = (0..20_000).map(|_| stream.uniform(2.0, 4.0)).collect();
        let normal = (0..20_000).map(|_| stream.normal(3.0, 0.5)).collect();
        let distance = kolmogorov(uniform, |x| (x - 2.0) / 2.0);
        assert!(distance < 1.95, "{distance}");
        let distance = kolmogorov(normal, |x| 0.5 * libm::erfc((3.0 - x) / (0.5 * std::f64::consts::SQRT_2)));
        assert!(distance < 1.95, "{distance}");
    }

    #[test]
    fn purposes_and_seeds_are_independent() {
        let first = |seed, purpose| Stream::new(seed, purpose).unit();
        assert_ne!(first(1, 0), first(1, 1));
        assert_ne!(first(1, 0), first(2, 0));
        let (mut one, mut other) = (Stream::new(1, 0), Stream::new(1, 1));
        let both: f64 = (0..10_000).map(|_| (one.unit() - 0.5) * (other.unit() - 0.5)).sum();
        assert!((both / 10_000.0 * 12.0).abs() < 0.04, "correlated: {both}");
    }

    #[test]
    fn a_shuffle_puts_each_item_everywhere_equally_often() {
        let mut stream = Stream::new(3, 3);
        let mut seen = [[0_u32; 4]; 4];
        for _ in 0..40_000 {
            let mut items = [0, 1, 2, 3];
            stream.shuffle(&mut items);
            items.iter().enumerate().for_each(|(at, &item)| seen[at][item] += 1);
        }
        assert!(seen.iter().flatten().all(|count| count.abs_diff(10_000) < 400), "{seen:?}");
    }
}
