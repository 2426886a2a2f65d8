//! Moments and spans as people read them.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A moment in the zone of whoever looks, to the second.
pub(crate) fn clock(at_s: f64) -> String {
    clock_in(at_s, TimeZone::system())
}

fn clock_in(at_s: f64, zone: TimeZone) -> String {
    match Timestamp::from_second(at_s.floor() as i64) {
        Ok(moment) => moment.to_zoned(zone).strftime("%Y-%m-%d %H:%M:%S").to_string(),
        Err(_) => format!("{at_s} s"),
    }
}

/// The present moment by this machine's clock, in seconds since 1970.
pub(crate) fn now_s() -> f64 {
    Timestamp::now().as_millisecond() as f64 / 1e3
}

/// A moment that was written as [`clock`] shows it, with the zone it is in, or in seconds since 1970.
pub(crate) fn parse_moment(text: &str) -> Result<f64, String> {
    if let Ok(seconds) = text.parse::<f64>() {
        return Ok(seconds);
    }
    let here = || {
        let moment = text.parse::<jiff::civil::DateTime>().ok()?;
        Some(moment.to_zoned(TimeZone::system()).ok()?.timestamp())
    };
    let moment = text.parse::<Timestamp>().ok().or_else(here);
    moment
        .map(|moment| moment.as_millisecond() as f64 / 1e3)
        .ok_or_else(|| "expected a moment, as \"2026-11-21 07:30:00\", or seconds since 1970".to_owned())
}

/// The same, for what had happened by then. [`clock`] leaves the fraction away, so a moment without one is the end of its second.
pub(crate) fn parse_end_of_moment(text: &str) -> Result<f64, String> {
    let at_s = parse_moment(text)?;
    Ok(if at_s.fract() == 0.0 && !text.contains('.') { at_s + 0.999_999 } else { at_s })
}

/// A span, to two units.
pub(crate) fn span(seconds: f64) -> String {
    let whole = seconds.max(0.0) as u64;
    match whole {
        0..10 => format!("{:.1}s", seconds.max(0.0)),
        10..60 => format!("{whole}s"),
        60..3600 => format!("{}m {:02}s", whole / 60, whole % 60),
        3600..86_400 => format!("{}h {:02}m", whole / 3600, whole % 3600 / 60),
        _ => format!("{}d {:02}h", whole / 86_400, whole % 86_400 / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_spans() {
        assert_eq!(clock_in(1_795_245_000.9, TimeZone::UTC), "2026-11-21 07:10:00");
        for (seconds, expected) in [
            (0.04, "0.0s"),
            (9.96, "10.0s"),
            (59.0, "59s"),
            (61.0, "1m 01s"),
            (7260.0, "2h 01m"),
            (90_000.0, "1d 01h"),
        ] {
            assert_eq!(span(seconds), expected);
        }
        assert_eq!(parse_moment("12.5"), Ok(12.5));
        assert_eq!(parse_moment("2026-11-21T07:10:00Z"), Ok(1_795_245_000.0));
        assert_eq!(parse_moment("2026-11-21 08:10:00.5+01:00"), Ok(1_795_245_000.5));
        assert!(parse_moment("noon").is_err());
        // What happened in a second is found by what is shown of it.
        let shown = clock_in(1_795_245_000.9, TimeZone::UTC).replace(' ', "T") + "Z";
        assert!(
            parse_end_of_moment(&shown).is_ok_and(|at_s| (1_795_245_000.9..1_795_245_001.0).contains(&at_s))
        );
        assert_eq!(parse_end_of_moment("12.0"), Ok(12.0));
    }
}
