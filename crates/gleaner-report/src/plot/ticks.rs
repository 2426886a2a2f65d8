//! Where an axis has ticks and what is written there: round numbers, as many decimals as they need, and no more of
//! them than fit.

use crate::numbers::{decimals, power_of_ten};

/// A place on an axis. Without a label it is only a fine grid line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tick {
    pub(super) at: f64,
    pub(super) label: String,
}

/// The smallest round step (1, 2 or 5 times a power of ten) of which no more than `count` fit into `span`.
pub(super) fn round_step(span: f64, count: f64, whole: bool) -> f64 {
    let least = span / count.max(1.0);
    let power = power(least.log10().floor());
    let step = [1.0, 2.0, 5.0].into_iter().map(|m| m * power).find(|step| *step >= least * (1.0 - 1e-9));
    let step = step.unwrap_or(10.0 * power);
    if whole { step.max(1.0) } else { step }
}

/// Ticks at the multiples of `step` from `low` to `high`, and the power of ten that labels leave out.
pub(super) fn linear(low: f64, high: f64, step: f64) -> (Vec<Tick>, i32) {
    let first = (low / step - 1e-6).ceil();
    let last = (high / step + 1e-6).floor();
    let count = (last - first).clamp(0.0, 100.0) as usize;
    let largest = low.abs().max(high.abs());
    let left_out = left_out(largest);
    let unit = power(f64::from(left_out));
    let places = (-(step / unit * (1.0 + 1e-9)).log10().floor()).clamp(0.0, 12.0) as usize;
    let ticks = (0..=count).map(|i| (first + i as f64) * step);
    (ticks.map(|at| Tick { at, label: decimals(at / unit, places) }).collect(), left_out)
}

/// Ticks of a logarithmic axis: whole powers of ten where there are enough, with fine lines between; else 1, 2 and
/// 5 times powers of ten.
pub(super) fn log(low: f64, high: f64, count: f64) -> Vec<Tick> {
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let decades = high.log10() - low.log10();
    let every = (decades / count.max(1.0)).ceil().max(1.0) as i32;
    let labelled = |exponent: i32, digit: i32| match digit {
        1 => exponent.rem_euclid(every) == 0,
        2 | 5 => decades <= 2.0,
        _ => decades <= 0.7,
    };
    let digits = if decades <= 4.0 { 1..=9 } else { 1..=1 };
    (first..=last)
        .flat_map(|exponent| digits.clone().map(move |digit| (exponent, digit)))
        .map(|(exponent, digit)| {
            let label = if labelled(exponent, digit) { log_label(exponent, digit) } else { String::new() };
            Tick { at: f64::from(digit) * power(f64::from(exponent)), label }
        })
        .filter(|tick| tick.at >= low * (1.0 - 1e-9) && tick.at <= high * (1.0 + 1e-9))
        .collect()
}

fn log_label(exponent: i32, digit: i32) -> String {
    match (exponent, digit) {
        (-3..=4, _) => {
            decimals(f64::from(digit) * power(f64::from(exponent)), usize::try_from(-exponent).unwrap_or(0))
        }
        (_, 1) => power_of_ten(exponent),
        _ => format!("{digit} × {}", power_of_ten(exponent)),
    }
}

/// Thousands of thousands are left out of labels, and so are thousandths of thousandths.
fn left_out(largest: f64) -> i32 {
    if (1e-3..1e6).contains(&largest) || largest == 0.0 {
        return 0;
    }
    (largest.log10() / 3.0).floor() as i32 * 3
}

fn power(exponent: f64) -> f64 {
    // Written and read back: the nearest float to the power, which a product of floats need not be.
    format!("1e{exponent:.0}").parse().unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: &[Tick]) -> Vec<&str> {
        ticks.iter().map(|t| t.label.as_str()).filter(|l| !l.is_empty()).collect()
    }

    #[test]
    fn steps_are_round() {
        let steps = [(10.0, 5.0, 2.0), (1.0, 4.0, 0.5), (6_500.0, 8.0, 1_000.0), (3e-7, 3.0, 1e-7)];
        for (span, count, step) in steps {
            assert_eq!(round_step(span, count, false), step, "{span} / {count}");
        }
        assert_eq!(round_step(2.0, 8.0, true), 1.0);
    }

    #[test]
    fn labels_have_the_decimals_they_need() {
        assert_eq!(labels(&linear(0.0, 1.0, 0.5).0), ["0.0", "0.5", "1.0"]);
        assert_eq!(labels(&linear(1.1, 1.3, 0.1).0), ["1.1", "1.2", "1.3"]);
        assert_eq!(labels(&linear(-500.0, 1_500.0, 500.0).0), ["−500", "0", "500", "1,000", "1,500"]);
        let (ticks, left_out) = linear(0.0, 4e6, 2e6);
        assert_eq!((labels(&ticks), left_out), (vec!["0", "2", "4"], 6));
    }

    #[test]
    fn a_logarithmic_axis_has_decades_or_digits() {
        assert_eq!(labels(&log(0.5, 2_000.0, 8.0)), ["1", "10", "100", "1,000"]);
        assert_eq!(labels(&log(90.0, 600.0, 8.0)), ["100", "200", "500"]);
        assert_eq!(labels(&log(1e-9, 1e9, 6.0)), ["10⁻⁹", "10⁻⁶", "0.001", "1", "1,000", "10⁶", "10⁹"]);
    }
}
