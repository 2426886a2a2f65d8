//! Forecasts as the Network Weather Service makes them (Wolski, Spring and Hayes, 1999): several simple methods side
//! by side on the same series, each judged by its own errors so far; the next value is what the method with the least
//! error says.
//!
//! The methods, in the order in which ties are decided: the last value; the mean of all; the means of the last 5, 10,
//! 20 and 40; the medians of the last 5, 11, 21 and 41; exponential smoothing with the gains 0.05, 0.1, 0.2, 0.3, 0.5,
//! 0.75 and 0.9. An error is the mean absolute one over all values but the first.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// How many values sliding means look back.
pub const MEANS: [usize; 4] = [5, 10, 20, 40];
/// How many values sliding medians look back.
pub const MEDIANS: [usize; 4] = [5, 11, 21, 41];
/// The weights of the newest value in exponential smoothing.
pub const GAINS: [f64; 7] = [0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 0.9];

const METHODS: usize = 2 + MEANS.len() + MEDIANS.len() + GAINS.len();
/// As far back as any method looks.
const KEPT: usize = 41;

/// The forecasts of one series.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Forecaster {
    /// How many values there were.
    count: u64,
    sum: f64,
    /// The newest last.
    latest: VecDeque<f64>,
    smoothed: [f64; GAINS.len()],
    /// What each method says of the next value.
    says: [f64; METHODS],
    /// The sum of each method's absolute errors so far.
    errors: [f64; METHODS],
}

impl Forecaster {
    /// No value yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in the next value. Costs O(values that sliding medians look back).
    pub fn measured(&mut self, value: f64) {
        if self.count > 0 {
            for (error, said) in self.errors.iter_mut().zip(self.says) {
                *error += (value - said).abs();
            }
        }
        self.count += 1;
        self.sum += value;
        if self.latest.len() == KEPT {
            self.latest.pop_front();
        }
        self.latest.push_back(value);
        for (smoothed, gain) in self.smoothed.iter_mut().zip(GAINS) {
            *smoothed = if self.count == 1 { value } else { *smoothed + gain * (value - *smoothed) };
        }
        self.say(value);
    }

    /// The next value, as the method with the least error says; 0 before the first value.
    pub fn forecast(&self) -> f64 {
        let mut best = 0;
        for method in 1..METHODS {
            if self.errors[method] < self.errors[best] {
                best = method;
            }
        }
        self.says[best]
    }

    fn say(&mut self, last: f64) {
        let latest = self.latest.make_contiguous();
        let newest = |count: usize| &latest[latest.len().saturating_sub(count)..];
        let means = MEANS.map(|count| mean(newest(count)));
        let medians = MEDIANS.map(|count| median(newest(count)));
        let all = [last, self.sum / self.count as f64].into_iter().chain(means).chain(medians);
        for (said, says) in self.says.iter_mut().zip(all.chain(self.smoothed)) {
            *said = says;
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The middle one; of an even number the mean of the two in the middle.
fn median(values: &[f64]) -> f64 {
    let mut sorted = [0.0; KEPT];
    let sorted = &mut sorted[..values.len()];
    sorted.copy_from_slice(values);
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 { sorted[middle] } else { f64::midpoint(sorted[middle - 1], sorted[middle]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every method from all values, straight from its definition.
    fn said_after(values: &[f64]) -> Vec<f64> {
        let newest = |count: usize| values[values.len().saturating_sub(count)..].to_vec();
        let average = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        let middle = |mut values: Vec<f64>| {
            values.sort_by(|a, b| a.partial_cmp(b).expect("numbers"));
            let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
            f64::midpoint(low, high)
        };
        let mut said = vec![values[values.len() - 1], average(values.to_vec())];
        said.extend([5, 10, 20, 40].map(|count| average(newest(count))));
        said.extend([5, 11, 21, 41].map(|count| middle(newest(count))));
        said.extend([0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 0.9].map(|gain| {
            values[1..].iter().fold(values[0], |smoothed, value| smoothed + gain * (value - smoothed))
        }));
        said
    }

    fn naive(values: &[f64]) -> f64 {
        let mut errors = [0.0; METHODS];
        for next in 1..values.len() {
            for (error, said) in errors.iter_mut().zip(said_after(&values[..next])) {
                *error += (values[next] - said).abs();
            }
        }
        let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
        let best = errors.iter().position(|error| *error == least).expect("there are methods");
        said_after(values)[best]
    }

    proptest! {
        #[test]
        fn forecasts_are_those_of_the_definition(values in prop::collection::vec(0_u32..1000, 1..120)) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let mut forecaster = Forecaster::new();
            for (at, value) in values.iter().enumerate() {
                forecaster.measured(*value);
                let expected = naive(&values[..=at]);
                let close = (forecaster.forecast() - expected).abs() <= 1e-9 * expected.abs();
                prop_assert!(close, "after {at}: {} for {expected}", forecaster.forecast());
            }
        }
    }

    /// After many values, the method made for such a series is the one that speaks.
    #[test]
    fn the_method_that_fits_the_series_wins() {
        let forecast = |of: &dyn Fn(u32) -> f64| {
            let mut forecaster = Forecaster::new();
            (0..200).for_each(|at| forecaster.measured(of(at)));
            forecaster.forecast()
        };
        // A staircase: what was last. Alternation: the middle. Rare spikes: never the spike.
        assert_eq!(forecast(&|at| f64::from(at / 50)), 3.0);
        assert!((forecast(&|at| f64::from(at % 2)) - 0.5).abs() < 0.05);
        assert!(forecast(&|at| if at % 20 == 19 { 100.0 } else { 7.0 }) < 8.0);
    }
}
