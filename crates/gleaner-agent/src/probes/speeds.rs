//! The speed vector and the grid of values that makes alike machines equal.

use serde::{Deserialize, Serialize};

/// Two machines of one model differ by some percent in every measurement. These are the preferred numbers of IEC
/// 60063 (E24): 24 steps to a decade of about 10 %, each of two digits.
const MANTISSAS: [u32; 24] =
    [10, 11, 12, 13, 15, 16, 18, 20, 22, 24, 27, 30, 33, 36, 39, 43, 47, 51, 56, 62, 68, 75, 82, 91];
/// The decades that have values: from 0.1 to 91,000,000.
const DECADES: [f64; 9] = [1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6];

/// S: how much of each kind a machine does in a second, for one task that has it to itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Speeds {
    /// Millions of reference operations a second on one core. A reference operation is one step of the benchmark's
    /// mix of integer and floating-point arithmetic.
    pub cpu: f64,
    /// Megabytes (10⁶) a second, in a file that is written and then read.
    pub disk: f64,
    /// Megabytes (10⁶) a second, to the coordinator.
    pub net: f64,
}

impl Speeds {
    /// Each speed on the nearest of 24 values a decade (1.0, 1.1, 1.2, 1.3, 1.5, … 9.1), by ratio: at most 7.5 % away,
    /// within 0.1 to 91,000,000.
    #[must_use]
    pub fn rounded(self) -> Self {
        Self { cpu: rounded(self.cpu), disk: rounded(self.disk), net: rounded(self.net) }
    }
}

/// In the order of the wire: CPU, disk, network.
impl From<Speeds> for [f64; 3] {
    fn from(speeds: Speeds) -> Self {
        [speeds.cpu, speeds.disk, speeds.net]
    }
}

fn rounded(speed: f64) -> f64 {
    // What is not a number was not measured, and promises nothing.
    let speed = speed.max(0.0);
    let values =
        DECADES.iter().flat_map(|&decade| MANTISSAS.iter().map(move |&mantissa| value(mantissa, decade)));
    let mut below = value(MANTISSAS[0], DECADES[0]);
    for above in values {
        // Nearest by ratio: the border lies at the geometric mean, here without a root.
        if speed * speed < below * above {
            return below;
        }
        below = above;
    }
    below
}

/// By division for fractions: 12 × 0.1 is not 1.2, 12 ÷ 10 is.
fn value(mantissa: u32, decade: f64) -> f64 {
    if decade < 1.0 { f64::from(mantissa) / (1.0 / decade).round() } else { f64::from(mantissa) * decade }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rounds_to_the_preferred_numbers() {
        let table = [
            (0.0, 0.1),
            (f64::NAN, 0.1),
            (f64::INFINITY, 91e6),
            (0.104, 0.1),
            (1.2, 1.2),
            (95.0, 91.0),
            (96.0, 100.0),
            (139.6, 130.0),
            (139.7, 150.0),
            (501.3, 510.0),
            (1e12, 91e6),
        ];
        for (speed, expected) in table {
            assert_eq!(rounded(speed), expected, "{speed}");
        }
    }

    proptest! {
        #[test]
        fn a_rounded_speed_is_near_and_stays(speed in 0.1f64..9e7) {
            let near = rounded(speed);
            prop_assert!((near / speed).max(speed / near) < 1.075, "{} became {}", speed, near);
            prop_assert_eq!(rounded(near), near);
        }

        #[test]
        fn a_faster_machine_is_never_rounded_below_a_slower_one(a in 0.1f64..1e8, b in 0.1f64..1e8) {
            prop_assert!(rounded(a.min(b)) <= rounded(a.max(b)));
        }
    }
}
