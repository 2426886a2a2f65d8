//! The law of the speeds that the paper of Elleuch et al. measured (its figure 3).
//!
//! What the paper gives: a mean of 8.9·10³ operations a second, 90 % of the measures below 12·10³, and the rest rising
//! slightly but steadily up to 99·10³. The two simplest laws that give that:
//!
//! - **below 12·10³ every speed is as likely as any other**: the paper puts its representative speeds there at equal
//!   distances, and says nothing of a peak. The mean below is then 6·10³;
//! - **above it the density falls as a power of the speed**, s^−b. The mean of all fixes b: (8.9 − 0.9·6) / 0.1 = 35,
//!   and the power law from 12 to 99 whose mean is 35 has b = 1.4579. No parameter is left to choose.
//!
//! A month has its own share of fast machines; all speeds may be in another unit ([`generate`](super::generate) says why).

/// No slow machine is faster than this, in units of the law.
const BODY_END: f64 = 12e3;
/// No machine is.
const TAIL_END: f64 = 99e3;
/// b, such that the mean of the tail is 35·10³.
const TAIL_POWER: f64 = 1.457_909_673_150_917;
/// The mean of the tail.
const TAIL_MEAN: f64 = 35e3;

/// The speeds of volunteers' machines, in operations a second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SpeedLaw {
    /// The share of the machines that are faster than all others, above 0 and below 1.
    pub fast_share: f64,
    /// What the paper's numbers are multiplied by.
    pub unit: f64,
}

impl SpeedLaw {
    /// As figure 3 has it.
    pub const PAPER: Self = Self { fast_share: 0.1, unit: 1.0 };

    /// The mean of all speeds.
    pub fn mean(self) -> f64 {
        self.unit * ((1.0 - self.fast_share) * BODY_END / 2.0 + self.fast_share * TAIL_MEAN)
    }

    /// The speed below which the share `below` of all speeds is. Only + − × ÷ and `libm`.
    pub fn quantile(self, below: f64) -> f64 {
        let body_share = 1.0 - self.fast_share;
        if below <= body_share {
            return self.unit * (BODY_END * (below / body_share));
        }
        let above = (below - body_share) / (1.0 - body_share);
        let power = 1.0 - TAIL_POWER;
        let (low, high) = (libm::pow(BODY_END, power), libm::pow(TAIL_END, power));
        self.unit * libm::pow(low + above * (high - low), 1.0 / power)
    }
}

/// Φ: the share of a normal law's values that are below `value`.
pub(super) fn normal_below(value: f64) -> f64 {
    0.5 * libm::erfc(-value / std::f64::consts::SQRT_2)
}

/// Φ⁻¹ by bisection: slow, and exact to the last bits.
pub(super) fn normal_quantile(below: f64) -> f64 {
    let (mut low, mut high) = (-40.0, 40.0);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if normal_below(middle) < below { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_law_is_the_papers() {
        let steps = 1_000_000;
        let law = SpeedLaw::PAPER;
        let quantiles = (0..steps).map(|step| law.quantile((f64::from(step) + 0.5) / f64::from(steps)));
        let mean = quantiles.sum::<f64>() / f64::from(steps);
        assert!((mean - 8.9e3).abs() < 1.0, "mean {mean}");
        assert!((law.mean() - 8.9e3).abs() < 1e-6);
        assert!((law.quantile(0.9) - 12e3).abs() < 1e-6);
        assert!((law.quantile(1.0) - 99e3).abs() < 1e-6);
    }

    #[test]
    fn shares_and_values_are_each_others_inverse() {
        for step in 1..100 {
            let below = f64::from(step) / 100.0;
            assert!((normal_below(normal_quantile(below)) - below).abs() < 1e-12, "{below}");
        }
    }
}
