//! Representative speeds: however finely speeds are measured, machines that differ little are one class.

/// Some speeds that stand for all.
#[derive(Clone, PartialEq, Debug)]
pub struct SpeedScale {
    /// Rising.
    values: Vec<f64>,
}

impl SpeedScale {
    /// The 201 of Elleuch et al.: 0, 100, … 12,000 and 20,000, 21,000, … 99,000.
    pub fn elleuch() -> Self {
        let hundreds = (0..=120).map(|number| f64::from(number) * 100.0);
        Self { values: hundreds.chain((20..=99).map(|number| f64::from(number) * 1000.0)).collect() }
    }

    /// The same with speeds in another unit.
    #[must_use]
    pub fn times(self, unit: f64) -> Self {
        Self { values: self.values.into_iter().map(|value| value * unit).collect() }
    }

    /// 0, and two digits of each speed from one above 0 to another.
    ///
    /// # Panics
    /// If they are not finite, not above 0, or the wrong way round.
    pub fn two_digits(slowest: f64, fastest: f64) -> Self {
        assert!(0.0 < slowest && slowest <= fastest && fastest.is_finite(), "from {slowest} to {fastest}");
        let mut unit = 1.0;
        while unit * 10.0 > slowest {
            unit /= 10.0;
        }
        while unit * 100.0 <= slowest {
            unit *= 10.0;
        }
        let mut values = vec![0.0];
        'all: loop {
            for number in 10..100 {
                let value = f64::from(number) * unit;
                values.push(value);
                if value >= fastest {
                    break 'all;
                }
            }
            unit *= 10.0;
        }
        Self { values }
    }

    /// These stand for themselves too.
    #[must_use]
    pub fn with(mut self, speeds: impl IntoIterator<Item = f64>) -> Self {
        self.values.extend(speeds);
        self.values.sort_by(f64::total_cmp);
        self.values.dedup();
        self
    }

    /// All of them, rising.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The place of the nearest one. Of two that are as near, the even one: that which is an even number of times as
    /// large as they are apart, or else the larger.
    pub fn nearest(&self, speed: f64) -> usize {
        let above = self.values.partition_point(|value| *value < speed);
        if above == 0 || above == self.values.len() {
            return above.min(self.values.len() - 1);
        }
        let (low, high) = (self.values[above - 1], self.values[above]);
        let (below, over) = (speed - low, high - speed);
        let is_even = |value: f64| (value / (high - low)) % 2.0 == 0.0;
        if below < over || (below == over && is_even(low)) { above - 1 } else { above }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_go_to_the_nearest_and_halves_to_even() {
        let scale = SpeedScale::elleuch();
        assert_eq!(scale.values().len(), 201);
        let cases = [
            (0.0, 0.0),
            (49.9, 0.0),
            (50.0, 0.0),
            (50.1, 100.0),
            (150.0, 200.0),
            (250.0, 200.0),
            (11_950.0, 12_000.0),
            (15_999.0, 12_000.0),
            (16_000.0, 20_000.0),
            (20_500.0, 20_000.0),
            (21_500.0, 22_000.0),
            (98_500.0, 98_000.0),
            (1e9, 99_000.0),
        ];
        for (speed, expected) in cases {
            assert_eq!(scale.values()[scale.nearest(speed)], expected, "{speed}");
        }
    }

    #[test]
    fn two_digits_reach_from_the_slowest_to_the_fastest() {
        let scale = SpeedScale::two_digits(0.034, 1.26);
        let nearest = |speed| scale.values()[scale.nearest(speed)];
        for (speed, expected) in [(0.034, 0.034), (0.996, 1.0), (1.26, 1.3), (0.001, 0.0)] {
            assert!((nearest(speed) - expected).abs() < 1e-12, "{speed}: {}", nearest(speed));
        }
        assert!(scale.values().windows(2).all(|pair| pair[0] < pair[1]), "{scale:?}");
    }

    #[test]
    fn those_that_stand_for_themselves_are_not_rounded() {
        let scale = SpeedScale::two_digits(145.0, 154.0).with([145.0, 154.0, 149.0]);
        let nearest = |speed| scale.values()[scale.nearest(speed)];
        assert_eq!([145.0, 149.0, 150.2, 154.0].map(nearest), [145.0, 149.0, 150.0, 154.0]);
        assert!(scale.values().windows(2).all(|pair| pair[0] < pair[1]), "{scale:?}");
    }
}
