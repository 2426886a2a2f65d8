//! From a few runs to what can be said about all: means with 95 % confidence intervals.

use gleaner_report::numbers;
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::ops::Neg;

/// A mean, and where the true one lies with 95 % confidence if runs are independent (Student's t).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// Of the sample.
    pub mean: f64,
    /// The interval's lower end.
    pub low: f64,
    /// The interval's upper end.
    pub high: f64,
}

impl Estimate {
    /// Of one value a run. A single value says nothing about the spread: its interval is everything.
    pub fn of(values: &[f64]) -> Self {
        let mean = mean(values.iter().copied());
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let count = values.len() as f64;
        Self::around(mean, squares / (count - 1.0) / count, count - 1.0, 1)
    }

    /// Of something that is reckoned from all runs together, by the jackknife: `without` has what it would be
    /// without each of them. **It must change little with each run**, as a ratio of sums does; a share of cases that are won,
    /// or a maximum, does not: see [`share_above_0`](Self::share_above_0) and [`largest`](Self::largest).
    pub fn of_all(value: f64, without: &[f64]) -> Self {
        Self::of_all_among(value, without, 1)
    }

    /// The same of one of so many, where the intervals of all are to hold at a time (Bonferroni).
    pub fn of_all_among(value: f64, without: &[f64], among: usize) -> Self {
        let mean = mean(without.iter().copied());
        let squares: f64 = without.iter().map(|value| (value - mean).powi(2)).sum();
        let count = without.len() as f64;
        Self::around(value, squares * (count - 1.0) / count, count - 1.0, among)
    }

    fn around(mean: f64, variance: f64, freedom: f64, among: usize) -> Self {
        let everything = Self { mean, low: f64::NEG_INFINITY, high: f64::INFINITY };
        if freedom < 1.0 {
            return everything;
        }
        let law = StudentsT::new(0.0, 1.0, freedom).expect("a positive number of degrees of freedom");
        let reach = law.inverse_cdf(1.0 - 0.025 / among as f64) * variance.sqrt();
        let (low, high) = (mean - reach, mean + reach);
        // Of what is no number with some run, as a share of nothing, nothing is known.
        if low.is_nan() || high.is_nan() { everything } else { Self { mean, low, high } }
    }

    /// The share of those that are above 0: from the share of those that surely are, by the whole interval, to that of those that
    /// may be. Not a number where there are none.
    pub fn share_above_0(all: impl IntoIterator<Item = Estimate>) -> Self {
        let all: Vec<Estimate> = all.into_iter().collect();
        let share_of = |end: fn(&Estimate) -> f64| share(all.iter().map(|one| end(one) > 0.0));
        Self { mean: share_of(|one| one.mean), low: share_of(|one| one.low), high: share_of(|one| one.high) }
    }

    /// The largest of several: from the largest lower end to the largest upper end. **The lower ends should hold
    /// [at a time](Self::of_all_among)**, since one that is above the truth is enough; upper ends need not. Means that are no
    /// numbers are left out.
    pub fn largest(all: impl IntoIterator<Item = Estimate>) -> Self {
        let none = Self { mean: f64::NEG_INFINITY, low: f64::NEG_INFINITY, high: f64::NEG_INFINITY };
        all.into_iter().fold(none, |most, one| Self {
            mean: most.mean.max(one.mean),
            low: most.low.max(one.low),
            high: most.high.max(one.high),
        })
    }

    /// The least of several, likewise: here the upper ends should hold at a time.
    pub fn least(all: impl IntoIterator<Item = Estimate>) -> Self {
        -Self::largest(all.into_iter().map(Neg::neg))
    }

    /// Of what is known: nothing is left to chance.
    pub fn known(value: f64) -> Self {
        Self { mean: value, low: value, high: value }
    }

    /// Half the interval's width: what stands after ±.
    pub fn reach(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// The same, where what was measured may be too little.
    #[must_use]
    pub fn or_more(self, may_be: bool) -> Self {
        Self { high: if may_be { f64::INFINITY } else { self.high }, ..self }
    }

    /// The same, where what was measured may be too much.
    #[must_use]
    pub fn or_less(self, may_be: bool) -> Self {
        Self { low: if may_be { f64::NEG_INFINITY } else { self.low }, ..self }
    }

    /// The same for what cannot be below or above these, such as a share.
    #[must_use]
    pub fn within(self, lowest: f64, highest: f64) -> Self {
        Self { low: self.low.max(lowest), high: self.high.min(highest), ..self }
    }

    /// Of something whose whole is one, in per cent of it.
    #[must_use]
    pub fn percent(self) -> Self {
        Self { mean: 100.0 * self.mean, low: 100.0 * self.low, high: 100.0 * self.high }
    }

    /// `1.013 ± 0.004`.
    pub fn with_reach(&self, places: usize) -> String {
        let [mean, reach] = [self.mean, self.reach()].map(|value| numbers::decimals(value, places));
        format!("{mean} ± {reach}")
    }
}

/// The same with the other sign.
impl Neg for Estimate {
    type Output = Self;

    fn neg(self) -> Self {
        Self { mean: -self.mean, low: -self.high, high: -self.low }
    }
}

/// The arithmetic mean; not a number where there are no values.
pub fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (count, sum) = values.into_iter().fold((0_u32, 0.0), |(count, sum), value| (count + 1, sum + value));
    sum / f64::from(count)
}

/// The smallest and the largest; infinite the wrong way round where there are no values.
pub fn range(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let none = (f64::INFINITY, f64::NEG_INFINITY);
    values.into_iter().fold(none, |(low, high), value| (low.min(value), high.max(value)))
}

/// The share of those for which something is so; not a number where there are none.
pub fn share(cases: impl IntoIterator<Item = bool>) -> f64 {
    mean(cases.into_iter().map(|is_so| f64::from(u8::from(is_so))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_students_tables() {
        // t(0.975) is 12.706 with one degree of freedom, 2.776 with four, 1.984 with 99.
        let estimate = Estimate::of(&[1.0, 3.0]);
        assert!((estimate.mean - 2.0).abs() < 1e-12);
        assert!((estimate.reach() - 12.7062).abs() < 1e-3, "{estimate:?}");
        let estimate = Estimate::of(&[1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!((estimate.reach() - 2.776_445 * (2.5_f64 / 5.0).sqrt()).abs() < 1e-5, "{estimate:?}");
        let hundred: Vec<f64> = (0..100).map(f64::from).collect();
        let error = (833.25_f64 / 99.0 * 100.0 / 100.0).sqrt();
        assert!((Estimate::of(&hundred).reach() - 1.984_217 * error).abs() < 1e-4);
    }

    #[test]
    fn the_jackknife_of_a_mean_is_its_own_interval() {
        let values = [1.0, 2.0, 4.0, 8.0];
        let without: Vec<f64> = values.iter().map(|value| (15.0 - value) / 3.0).collect();
        let (plain, jackknife) = (Estimate::of(&values), Estimate::of_all(3.75, &without));
        assert!((plain.low - jackknife.low).abs() < 1e-9 && (plain.high - jackknife.high).abs() < 1e-9);
    }

    #[test]
    fn what_must_hold_at_a_time_reaches_further() {
        let one = Estimate::of_all(3.0, &[2.0, 3.0, 4.0]);
        let among = Estimate::of_all_among(3.0, &[2.0, 3.0, 4.0], 5);
        // t with two degrees of freedom: 4.303 at 0.975, 9.925 at 0.995.
        assert!((among.reach() / one.reach() - 9.9248 / 4.3027).abs() < 1e-3, "{one:?} {among:?}");
    }

    #[test]
    fn a_share_is_between_what_is_sure_and_what_may_be() {
        let estimate = |low: f64, mean: f64, high: f64| Estimate { mean, low, high };
        let all = [
            estimate(1.0, 2.0, 3.0),
            estimate(-1.0, 1.0, 3.0),
            estimate(-3.0, -1.0, 1.0),
            estimate(-3.0, -2.0, -1.0),
        ];
        assert_eq!(Estimate::share_above_0(all), estimate(0.25, 0.5, 0.75));
        assert_eq!(Estimate::share_above_0(all.map(Neg::neg)), estimate(0.25, 0.5, 0.75));
        assert_eq!(Estimate::largest(all), estimate(1.0, 2.0, 3.0));
        assert_eq!(Estimate::least(all), estimate(-3.0, -2.0, -1.0));
        assert_eq!(Estimate::share_above_0([Estimate::known(0.0)]), Estimate::known(0.0));
    }

    #[test]
    fn of_what_is_no_number_nothing_is_known() {
        let unknown = Estimate::of_all(1.0, &[1.0, f64::NAN]);
        let everything = Estimate { mean: 1.0, low: f64::NEG_INFINITY, high: f64::INFINITY };
        assert_eq!(unknown, everything);
        assert_eq!(Estimate::share_above_0([unknown]), Estimate { mean: 1.0, low: 0.0, high: 1.0 });
        assert_eq!(Estimate::least([Estimate::known(2.0), unknown]), Estimate { high: 2.0, ..everything });
        for values in [[f64::NAN, 1.0], [f64::INFINITY, 1.0]] {
            let Estimate { low, high, .. } = Estimate::of(&values);
            assert_eq!((low, high), (f64::NEG_INFINITY, f64::INFINITY), "{values:?}");
        }
    }

    #[test]
    fn equal_values_leave_no_doubt_and_one_value_leaves_all() {
        assert_eq!(Estimate::of(&[4.0; 3]), Estimate { mean: 4.0, low: 4.0, high: 4.0 });
        assert_eq!(Estimate::of(&[4.0]).within(0.0, 9.0), Estimate { mean: 4.0, low: 0.0, high: 9.0 });
    }
}
