//! Moments for people.

use gleaner_units::{Span, Time};

const SECONDS_A_DAY: u64 = 86_400;

/// The day of a moment in UTC, as 2026-11-23. By the Gregorian calendar's cycle of 400 years, with years that begin in March.
pub(crate) fn day(at: Time) -> String {
    let days = at.nanos() / 1_000_000_000 / SECONDS_A_DAY + 719_468;
    let (cycle, of_cycle) = (days / 146_097, days % 146_097);
    let year = (of_cycle - of_cycle / 1_460 + of_cycle / 36_524 - of_cycle / 146_096) / 365;
    let of_year = of_cycle - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", cycle * 400 + year + next)
}

/// A moment in UTC, as 2026-11-23 09:37:00 UTC.
pub(crate) fn clock(at: Time) -> String {
    let seconds = at.nanos() / 1_000_000_000 % SECONDS_A_DAY;
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{} {hour:02}:{minute:02}:{second:02} UTC", day(at))
}

/// How long something is, to a tenth of the largest unit that fits.
pub fn long(span: Span) -> String {
    let units = [("days", SECONDS_A_DAY as f64), ("hours", 3_600.0), ("minutes", 60.0), ("seconds", 1.0)];
    let [.., smallest] = units;
    let (unit, seconds) = units.into_iter().find(|(_, unit)| span.seconds() >= *unit).unwrap_or(smallest);
    format!("{} {unit}", (span.seconds() / seconds * 10.0).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_times_are_told_too() {
        for (seconds, expected) in [
            (30 * 86_400, "30 days"),
            (129_600, "1.5 days"),
            (7_200, "2 hours"),
            (90, "1.5 minutes"),
            (5, "5 seconds"),
            (0, "0 seconds"),
        ] {
            assert_eq!(long(Span::from_nanos(seconds * 1_000_000_000)), expected, "{seconds}");
        }
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        for (seconds, expected) in [
            (0, "1970-01-01"),
            (86_399, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_795_392_000, "2026-11-23"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(day(Time::from_nanos(seconds * 1_000_000_000)), expected, "{seconds}");
        }
    }

    #[test]
    fn a_moment_is_told_to_the_second() {
        let told = clock(Time::from_nanos((1_795_392_000 + 9 * 3_600 + 37 * 60 + 5) * 1_000_000_000 + 1));
        assert_eq!(told, "2026-11-23 09:37:05 UTC");
    }
}
