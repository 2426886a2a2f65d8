//! Numbers from and to text, as the C library reads and writes them.

use std::fmt::Write as _;

/// The real at the start of a text, and how many bytes it takes: what `strtod` does.
pub(crate) fn leading_real(text: &[u8]) -> Option<(f64, usize)> {
    let mut at = text.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == 0x0b).count();
    let start = at;
    let negative = text.get(at) == Some(&b'-');
    if matches!(text.get(at), Some(b'+' | b'-')) {
        at += 1;
    }
    let signed = |magnitude: f64| if negative { -magnitude } else { magnitude };
    let rest = &text[at..];
    let begins =
        |word: &str| rest.len() >= word.len() && rest[..word.len()].eq_ignore_ascii_case(word.as_bytes());
    if begins("infinity") {
        return Some((signed(f64::INFINITY), at + 8));
    }
    if begins("inf") {
        return Some((signed(f64::INFINITY), at + 3));
    }
    if begins("nan") {
        return Some((signed(f64::NAN), at + 3 + nan_payload(&rest[3..])));
    }
    if begins("0x")
        && let Some((magnitude, length)) = hexadecimal(&rest[2..])
    {
        return Some((signed(magnitude), at + 2 + length));
    }
    let digits = |from: usize| text[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let whole = digits(at);
    let mut end = at + whole;
    let mut fraction = 0;
    if text.get(end) == Some(&b'.') {
        fraction = digits(end + 1);
        if whole + fraction > 0 {
            end += 1 + fraction;
        }
    }
    if whole + fraction == 0 {
        return None;
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        if exponent > 0 {
            end += 1 + sign + exponent;
        }
    }
    let real = std::str::from_utf8(&text[start..end]).ok()?.parse().ok()?;
    Some((real, end))
}

/// `nan(…)` takes its parentheses along.
fn nan_payload(rest: &[u8]) -> usize {
    if rest.first() != Some(&b'(') {
        return 0;
    }
    let inside = rest[1..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    if rest.get(1 + inside) == Some(&b')') { inside + 2 } else { 0 }
}

fn hexadecimal(text: &[u8]) -> Option<(f64, usize)> {
    let mut mantissa = 0_u64;
    let mut scale = 0_i32;
    let mut at = 0;
    let mut seen = 0;
    let mut in_fraction = false;
    while let Some(&byte) = text.get(at) {
        if byte == b'.' && !in_fraction {
            in_fraction = true;
        } else if let Some(digit) = (byte as char).to_digit(16) {
            seen += 1;
            if mantissa >> 59 == 0 {
                mantissa = mantissa << 4 | u64::from(digit);
                scale -= if in_fraction { 4 } else { 0 };
            } else {
                // A digit too far to count still keeps the rounding honest.
                mantissa |= u64::from(digit != 0);
                scale += if in_fraction { 0 } else { 4 };
            }
        } else {
            break;
        }
        at += 1;
    }
    if seen == 0 {
        return None;
    }
    if matches!(text.get(at), Some(b'p' | b'P')) {
        let sign = usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        let digits = text[at + 1 + sign..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits > 0 {
            let written = std::str::from_utf8(&text[at + 1..at + 1 + sign + digits]).ok()?;
            scale = scale.saturating_add(written.parse::<i32>().unwrap_or(if written.starts_with('-') {
                -9999
            } else {
                9999
            }));
            at += 1 + sign + digits;
        }
    }
    Some((libm::ldexp(mantissa as f64, scale), at))
}

/// A real cast to a 64-bit integer as the processor HTCondor is built for does it: what does not fit is the least.
pub(crate) fn truncate_i64(real: f64) -> i64 {
    if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&real) {
        real as i64
    } else {
        i64::MIN
    }
}

/// The same for 32 bits.
pub(crate) fn truncate_i32(real: f64) -> i32 {
    if real > -2_147_483_649.0 && real < 2_147_483_648.0 { real as i32 } else { i32::MIN }
}

/// A real as HTCondor's `string()` writes it: sixteen significant digits, always with an exponent.
pub(crate) fn write_scientific(out: &mut String, real: f64) {
    if write_special(out, real) {
        return;
    }
    let written = format!("{real:.15e}");
    let (mantissa, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    let _ = write!(out, "{mantissa}E{sign}{:02}", exponent.abs());
}

/// A real with as many digits as it takes to read back the same bits.
pub(crate) fn write_exact(out: &mut String, real: f64) {
    if !write_special(out, real) {
        let _ = write!(out, "{real:?}");
    }
}

fn write_special(out: &mut String, real: f64) -> bool {
    out.push_str(if real.is_nan() {
        "real(\"NaN\")"
    } else if real == f64::INFINITY {
        "real(\"INF\")"
    } else if real == f64::NEG_INFINITY {
        "real(\"-INF\")"
    } else if real == 0.0 {
        if real.is_sign_negative() { "-0.0" } else { "0.0" }
    } else {
        return false;
    });
    true
}

/// C's `%.{digits}g` for a finite real.
pub(crate) fn format_general(real: f64, digits: usize) -> String {
    let scientific = format!("{real:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if exponent < -4 || exponent >= digits as i32 {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trim(mantissa), exponent.abs())
    } else {
        trim(&format!("{real:.*}", (digits as i32 - 1 - exponent).max(0) as usize))
    }
}
