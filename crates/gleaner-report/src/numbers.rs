//! Numbers as people read them: digits in groups of three, as many decimals as mean something, durations in the
//! units one would say aloud.
//!
//! A value that is not finite is written `–` (not a number), `∞` or `−∞`. A minus is U+2212.

const MINUTE_TENTHS: u64 = 600;
const HOUR_S: u64 = 3_600;
const DAY_MIN: u64 = 1_440;

/// A whole number with its digits in groups of three: `1,234,567`.
pub fn grouped(count: u64) -> String {
    group(&count.to_string())
}

/// So many of what the word names: "1 machine", "5 machines".
pub fn counted(count: u64, one: &str) -> String {
    format!("{} {one}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// `value` with exactly `places` decimals: `1,234.50`.
pub fn decimals(value: f64, places: usize) -> String {
    if !value.is_finite() {
        return not_finite(value);
    }
    let digits = format!("{:.*}", places, value.abs());
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let sign =
        if value < 0.0 && digits.bytes().any(|b| b.is_ascii_digit() && b != b'0') { "−" } else { "" };
    let point = if fraction.is_empty() { "" } else { "." };
    format!("{sign}{}{point}{fraction}", group(whole))
}

/// `value` with `digits` significant digits: `0.0123`, `12.3`, `1,230`, `1.23 × 10⁻⁷`.
pub fn significant(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return not_finite(value);
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let after_point = digits.max(1) - 1;
    let rounded = format!("{value:.after_point$e}");
    let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-5..15).contains(&exponent) {
        let mantissa: f64 = mantissa.parse().unwrap_or(value);
        return format!("{} × {}", decimals(mantissa, after_point), power_of_ten(exponent));
    }
    let places = i32::try_from(after_point).unwrap_or(0) - exponent;
    decimals(rounded.parse().unwrap_or(value), usize::try_from(places).unwrap_or(0))
}

/// A duration: `12 µs`, `34.5 ms`, `12.3 s`, `20 min 34.5 s`, `1 h 23 min 20 s`, `1 d 3 h 47 min`.
pub fn seconds(duration_s: f64) -> String {
    if !duration_s.is_finite() {
        return not_finite(duration_s);
    }
    let sign = if duration_s < 0.0 { "−" } else { "" };
    let s = duration_s.abs();
    let text = match s {
        0.0 => "0 s".to_owned(),
        ..0.000_999_5 => format!("{} µs", significant(s * 1e6, 3)),
        ..0.999_5 => format!("{} ms", significant(s * 1e3, 3)),
        ..59.95 => format!("{} s", significant(s, 3)),
        ..3_599.95 => minutes(s),
        ..86_399.5 => hours(s),
        _ => days(s),
    };
    format!("{sign}{text}")
}

/// Ten to the power of `exponent`, with the exponent raised: `10⁻⁷`.
pub(crate) fn power_of_ten(exponent: i32) -> String {
    let digits = exponent.to_string();
    let raised = digits.chars().map(|c| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        c => char::from_u32(0x2070 + c.to_digit(10).unwrap_or(0)).unwrap_or(c),
    });
    format!("10{}", raised.collect::<String>())
}

fn minutes(s: f64) -> String {
    let tenths = (s * 10.0).round() as u64;
    let (minutes, rest) = (tenths / MINUTE_TENTHS, tenths % MINUTE_TENTHS);
    let rest = match (rest / 10, rest % 10) {
        (0, 0) => String::new(),
        (s, 0) => format!("{s} s"),
        (s, tenth) => format!("{s}.{tenth} s"),
    };
    join(&[part(minutes, "min"), rest])
}

fn hours(s: f64) -> String {
    let s = s.round() as u64;
    join(&[part(s / HOUR_S, "h"), part(s % HOUR_S / 60, "min"), part(s % 60, "s")])
}

fn days(s: f64) -> String {
    let minutes = (s / 60.0).round() as u64;
    join(&[part(minutes / DAY_MIN, "d"), part(minutes % DAY_MIN / 60, "h"), part(minutes % 60, "min")])
}

fn part(count: u64, unit: &str) -> String {
    if count == 0 { String::new() } else { format!("{} {unit}", grouped(count)) }
}

fn join(parts: &[String]) -> String {
    parts.iter().filter(|p| !p.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" ")
}

fn group(digits: &str) -> String {
    let mut grouped = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

fn not_finite(value: f64) -> String {
    let text = if value.is_nan() {
        "–"
    } else if value > 0.0 {
        "∞"
    } else {
        "−∞"
    };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_said_in_fitting_units() {
        let said = [
            (0.0, "0 s"),
            (0.000_012, "12.0 µs"),
            (0.034_5, "34.5 ms"),
            (0.999_7, "1.00 s"),
            (12.345, "12.3 s"),
            (59.96, "1 min"),
            (1_234.5, "20 min 34.5 s"),
            (-90.0, "−1 min 30 s"),
            (3_599.99, "1 h"),
            (5_000.0, "1 h 23 min 20 s"),
            (86_399.9, "1 d"),
            (100_000.0, "1 d 3 h 47 min"),
            (f64::NAN, "–"),
            (f64::INFINITY, "∞"),
        ];
        for (s, text) in said {
            assert_eq!(seconds(s), text, "{s} s");
        }
    }

    #[test]
    fn significant_digits_survive_rounding_up() {
        let said = [
            (9.996, 3, "10.0"),
            (0.012_345, 3, "0.0123"),
            (1_234.5, 3, "1,230"),
            (1_234.5, 6, "1,234.50"),
            (-1.5, 2, "−1.5"),
            (1.234e-7, 3, "1.23 × 10⁻⁷"),
            (5e20, 1, "5 × 10²⁰"),
            (f64::NEG_INFINITY, 3, "−∞"),
        ];
        for (value, digits, text) in said {
            assert_eq!(significant(value, digits), text, "{value}");
        }
    }

    #[test]
    fn digits_are_grouped_and_zero_has_no_sign() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(decimals(-0.001, 2), "0.00");
        assert_eq!(decimals(-1_234.5, 2), "−1,234.50");
    }
}
