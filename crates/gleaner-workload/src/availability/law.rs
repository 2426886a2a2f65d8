//! The law of the speeds that the paper of Elleuch et al. measured (its figure 3).
//!
//! What the paper gives: a mean of 8.9·10³ operations a second, 90 % of the measures below 12·10³, and the rest rising
//! slightly but steadily up to 99·10³. The two simplest laws that give that:
//!
//! - **below 12·10³ every speed is as likely as any other**: the paper puts its representative speeds there at equal
//!   distances, and says nothing of a peak. The mean below is then 6·10³;
//! - **above it the density falls as a power of the speed**, s^−b. The mean of all fixes b: (8.9 − 0.9·6) / 0.1 = 35,
//!   and the power law from 12 to 99 whose mean is 35 has b = 1.4579. No parameter is left to choose.

/// Nine of ten speeds are below this.
const BODY_END: f64 = 12e3;
/// None is above this.
const TAIL_END: f64 = 99e3;
const BODY_SHARE: f64 = 0.9;
/// b, such that the mean of the tail is 35·10³.
const TAIL_POWER: f64 = 1.457_909_673_150_917;

/// The speeds of volunteers' machines, in operations a second.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpeedLaw;

impl SpeedLaw {
    /// The speed below which the share `below` of all speeds is. Only + − × ÷ and `libm`.
    pub fn quantile(self, below: f64) -> f64 {
        if below <= BODY_SHARE {
            return BODY_END * (below / BODY_SHARE);
        }
        let above = (below - BODY_SHARE) / (1.0 - BODY_SHARE);
        let power = 1.0 - TAIL_POWER;
        let (low, high) = (libm::pow(BODY_END, power), libm::pow(TAIL_END, power));
        libm::pow(low + above * (high - low), 1.0 / power)
    }

    /// The share of the speeds that are below `speed`.
    pub fn share_below(self, speed: f64) -> f64 {
        if speed <= BODY_END {
            return BODY_SHARE * (speed / BODY_END);
        }
        let power = 1.0 - TAIL_POWER;
        let (low, high) = (libm::pow(BODY_END, power), libm::pow(TAIL_END, power));
        let at = libm::pow(speed.min(TAIL_END), power);
        BODY_SHARE + (1.0 - BODY_SHARE) * (at - low) / (high - low)
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
        let quantiles = (0..steps).map(|step| SpeedLaw.quantile((f64::from(step) + 0.5) / f64::from(steps)));
        let mean = quantiles.sum::<f64>() / f64::from(steps);
        assert!((mean - 8.9e3).abs() < 1.0, "mean {mean}");
        assert!((SpeedLaw.quantile(0.9) - 12e3).abs() < 1e-6);
        assert!((SpeedLaw.quantile(1.0) - 99e3).abs() < 1e-6);
        for step in 1..100 {
            let below = f64::from(step) / 100.0;
            assert!((SpeedLaw.share_below(SpeedLaw.quantile(below)) - below).abs() < 1e-12, "{below}");
            assert!((normal_below(normal_quantile(below)) - below).abs() < 1e-12, "{below}");
        }
    }
}
