//! Amounts with units, as people write them: `4GB`, `512M`, `90s`, `1h30m`, `01:30:00`, `12e6`.

use crate::error::quoted;
use gleaner_wire::job::is_length;
use thiserror::Error;

const SIZES: [(&str, u64); 6] =
    [("", 1), ("k", 1 << 10), ("m", 1 << 20), ("g", 1 << 30), ("t", 1 << 40), ("p", 1 << 50)];
const SPANS: [(&str, f64); 11] = [
    ("", 1.0),
    ("ms", 1e-3),
    ("s", 1.0),
    ("sec", 1.0),
    ("m", 60.0),
    ("min", 60.0),
    ("h", 3600.0),
    ("hours", 3600.0),
    ("d", 86_400.0),
    ("days", 86_400.0),
    ("w", 604_800.0),
];
const POWERS: [(&str, f64); 6] = [("k", 1e3), ("m", 1e6), ("g", 1e9), ("t", 1e12), ("p", 1e15), ("e", 1e18)];
/// A thousand years: what is longer is a mistake.
const SPAN_MAX_S: f64 = 1000.0 * 366.0 * 86_400.0;

/// A text that is no amount of what it should be.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{found} is no {expected}")]
pub struct InvalidQuantity {
    /// What there was, in quotes.
    pub found: String,
    /// What could have been there.
    pub expected: &'static str,
}

/// Bytes: `1048576`, `512K`, `4GB`, `1.5GiB`. A unit stands for a power of 1024, with or without `B` or `iB`.
pub fn size_bytes(text: &str) -> Result<u64, InvalidQuantity> {
    size_in(text, 1)
}

/// Likewise, where a number without a unit counts `base` bytes.
pub(crate) fn size_in(text: &str, base: u64) -> Result<u64, InvalidQuantity> {
    let wrong =
        || InvalidQuantity { found: quoted(text), expected: "size, as 512M, 4GB or a number of bytes" };
    let (number, unit) = split(text).ok_or_else(wrong)?;
    let unit = unit.to_ascii_lowercase();
    let bare = unit.strip_suffix("ib").filter(|bare| !bare.is_empty()).or(unit.strip_suffix('b'));
    let known = SIZES.iter().find(|(name, _)| *name == bare.unwrap_or(&unit));
    let bytes_each = match known {
        Some(_) if unit.is_empty() => base,
        Some((_, bytes)) => *bytes,
        None => return Err(wrong()),
    };
    let bytes = (number * bytes_each as f64).ceil();
    // Beyond this, a float no longer counts single bytes, and no machine has as much.
    let too_large = || InvalidQuantity { found: quoted(text), expected: "size of at most 8 PiB" };
    if bytes <= (1_u64 << 53) as f64 { Ok(bytes as u64) } else { Err(too_large()) }
}

/// Seconds: `90`, `90s`, `1.5h`, `1h30m`, and as Slurm has them `01:30:00` and `1-00:00:00`. **`10:00` is none**: Slurm means
/// minutes by it and others hours, and a run would be ended long before its time, or long after. So is `25:61:00`, a slip of the finger.
pub fn duration_s(text: &str) -> Result<f64, InvalidQuantity> {
    let expected = if text.split(':').count() == 2 && !text.contains('-') {
        "time without doubt: minutes are 10m or 00:10:00, hours are 10h or 10:00:00"
    } else if text.contains(':') {
        "time, as 01:30:00 or 1-00:00:00, with minutes and seconds below 60"
    } else {
        "time, as 90s, 10m, 1h30m, 2h, 1d, 01:30:00, 1-00:00:00 or a number of seconds"
    };
    let wrong = |expected| InvalidQuantity { found: quoted(text), expected };
    let seconds = in_units(text).or_else(|| on_a_clock(text.trim())).ok_or_else(|| wrong(expected))?;
    if seconds <= SPAN_MAX_S { Ok(seconds) } else { Err(wrong("time of at most 366000 days")) }
}

/// Numbers with units, each smaller than the one before. A number without a unit stands alone: nobody knows what the 30 of `1h30` are.
fn in_units(text: &str) -> Option<f64> {
    let (mut rest, mut sum_s, mut above_s) = (text, 0.0, f64::INFINITY);
    loop {
        let (number, after) = split(rest)?;
        let end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let unit = after[..end].trim_end().to_ascii_lowercase();
        let &(_, seconds_each) = SPANS.iter().find(|(name, _)| *name == unit)?;
        let is_alone = rest.len() == text.len() && end == after.len();
        if seconds_each >= above_s || (unit.is_empty() && !is_alone) {
            return None;
        }
        sum_s += number * seconds_each;
        if end == after.len() {
            return Some(sum_s);
        }
        (rest, above_s) = (&after[end..], seconds_each);
    }
}

/// Hours, minutes and seconds; after days, hours alone or with minutes too.
fn on_a_clock(text: &str) -> Option<f64> {
    let (days, clock) = text.split_once('-').map_or((None, text), |(days, clock)| (Some(days), clock));
    let parts: Vec<&str> = clock.split(':').collect();
    let fits = if days.is_some() { parts.len() <= 3 } else { parts.len() == 3 };
    // Of minutes and seconds there are fewer than 60.
    let is_sound =
        parts[1..].iter().all(|part| part.len() <= 2 && part.parse::<u32>().is_ok_and(|part| part < 60));
    let amounts =
        days.into_iter().map(|days| (days, 86_400.0)).chain(parts.into_iter().zip([3600.0, 60.0, 1.0]));
    let mut sum_s = 0.0;
    for (digits, seconds_each) in amounts {
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        sum_s += digits.parse::<f64>().ok()? * seconds_each;
    }
    (fits && is_sound).then_some(sum_s)
}

/// Operations: `12e6`, `5G`, `1.5T`. A letter stands for a power of 1000, as `gleaner machines` has them.
pub fn operations(text: &str) -> Result<f64, InvalidQuantity> {
    let bare = text.trim();
    let letter = bare.char_indices().next_back().map_or(("", bare), |(at, _)| (&bare[at..], &bare[..at]));
    let power = POWERS.iter().find(|(name, _)| letter.0.eq_ignore_ascii_case(name));
    let (number, each) = power.map_or((bare, 1.0), |(_, each)| (letter.1.trim_end(), *each));
    let plain = number.bytes().all(|byte| byte.is_ascii_digit() || b".eE+".contains(&byte));
    let count = number.parse::<f64>().ok().filter(|_| plain).map(|count| count * each);
    count.filter(|&count| is_length(count)).ok_or_else(|| InvalidQuantity {
        found: quoted(text),
        expected: "number of operations above 0, as 12e6, 5G or 1.5T",
    })
}

/// A number that is not negative, and what stands after it.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number = text[..end].parse().ok()?;
    Some((number, text[end..].trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, expected) in [
            ("0", Some(0)),
            ("1048576", Some(1 << 20)),
            ("10b", Some(10)),
            ("512M", Some(512 << 20)),
            ("4GB", Some(4 << 30)),
            ("4 gib", Some(4 << 30)),
            ("1.5k", Some(1536)),
            ("0.3", Some(1)),
            ("", None),
            ("GB", None),
            ("4X", None),
            ("-1", None),
            ("1e3", None),
            ("9P", None),
            ("4ib", None),
            ("999999999999999999999999999999T", None),
        ] {
            assert_eq!(size_bytes(text).ok(), expected, "{text}");
        }
        let too_large = size_bytes("9P").map_err(|why| why.to_string());
        assert_eq!(too_large, Err("\"9P\" is no size of at most 8 PiB".to_owned()));
        assert_eq!(size_in("2", 1 << 20), Ok(2 << 20));
        assert_eq!(size_in("2K", 1 << 20), Ok(2 << 10));
    }

    #[test]
    fn lengths() {
        for (text, expected) in [
            ("1", Some(1.0)),
            ("12e6", Some(12e6)),
            ("1.5E3", Some(1500.0)),
            ("5G", Some(5e9)),
            ("1.5 t", Some(1.5e12)),
            ("2E", Some(2e18)),
            ("", None),
            ("G", None),
            ("0", None),
            ("-1", None),
            ("inf", None),
            ("nan", None),
            ("1e300", None),
            ("5X", None),
        ] {
            assert_eq!(operations(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn durations() {
        for (text, expected) in [
            ("90", Some(90.0)),
            ("90s", Some(90.0)),
            ("1.5 h", Some(5400.0)),
            ("2D", Some(172_800.0)),
            ("250ms", Some(0.25)),
            ("10m", Some(600.0)),
            ("90m", Some(5400.0)),
            ("1h30m", Some(5400.0)),
            ("1d 2 h 3M 4s", Some(93_784.0)),
            ("0.5h1.5s", Some(1801.5)),
            ("01:00:00", Some(3600.0)),
            ("72:05:09", Some(259_509.0)),
            ("1-00:00:00", Some(86_400.0)),
            ("2-12:30", Some(217_800.0)),
            ("2-12", Some(216_000.0)),
            ("10:00", None),
            ("1h30", None),
            ("90 30", None),
            ("30m1h", None),
            ("1h1h", None),
            ("1:2:3:4", None),
            ("1:600:00", None),
            ("25:59:59", Some(93_599.0)),
            ("25:60:00", None),
            ("00:00:61", None),
            ("1-00:60", None),
            ("1-", None),
            ("1-2:+3", None),
            ("", None),
            ("h", None),
            ("2y", None),
            ("-1s", None),
            ("inf", None),
            ("99999999d", None),
        ] {
            assert_eq!(duration_s(text).ok(), expected, "{text}");
        }
        let unclear = duration_s("10:00").map_err(|why| why.to_string());
        let expected =
            "\"10:00\" is no time without doubt: minutes are 10m or 00:10:00, hours are 10h or 10:00:00";
        assert_eq!(unclear, Err(expected.to_owned()));
        let slip = duration_s("25:61:61").map_err(|why| why.to_string());
        let expected =
            "\"25:61:61\" is no time, as 01:30:00 or 1-00:00:00, with minutes and seconds below 60";
        assert_eq!(slip, Err(expected.to_owned()));
    }
}
