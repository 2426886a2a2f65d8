//! Amounts with units, as people write them: `4GB`, `512M`, `90s`, `2h`, `12e6`.

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

/// Seconds: `90`, `90s`, `1.5h`, `2d`.
pub fn duration_s(text: &str) -> Result<f64, InvalidQuantity> {
    let wrong = || InvalidQuantity {
        found: quoted(text),
        expected: "time, as 90s, 10m, 2h, 1d or a number of seconds",
    };
    let (number, unit) = split(text).ok_or_else(wrong)?;
    let (_, seconds_each) = SPANS.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?;
    let seconds = number * seconds_each;
    let too_long = || InvalidQuantity { found: quoted(text), expected: "time of at most 366000 days" };
    if seconds <= SPAN_MAX_S { Ok(seconds) } else { Err(too_long()) }
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

/// A number that is not negative, and the unit after it in lower case.
fn split(text: &str) -> Option<(f64, String)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number = text[..end].parse().ok()?;
    Some((number, text[end..].trim_start().to_ascii_lowercase()))
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
            ("", None),
            ("h", None),
            ("2y", None),
            ("-1s", None),
            ("inf", None),
            ("99999999d", None),
        ] {
            assert_eq!(duration_s(text).ok(), expected, "{text}");
        }
    }
}
