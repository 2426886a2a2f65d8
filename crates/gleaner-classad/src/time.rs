//! Absolute and relative times: from text, to text, and into the parts of a calendar.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::number::{format_general, truncate_i32};
use crate::value::AbsTime;

pub(crate) const DAY_SECS: i64 = 86_400;
const HOUR_SECS: i64 = 3_600;
const MINUTE_SECS: i64 = 60;

/// A date and a time of day, in no particular zone, as C's `struct tm` holds them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Calendar {
    pub(crate) year: i64,
    /// From 1.
    pub(crate) month: i64,
    pub(crate) day: i64,
    pub(crate) hour: i64,
    pub(crate) minute: i64,
    pub(crate) second: i64,
    /// From Sunday, 0.
    pub(crate) week_day: i64,
    /// From 0.
    pub(crate) year_day: i64,
}

/// Days from 1970-01-01 to a date; months and days out of range carry over.
fn days_to(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = (year + (month - 1).div_euclid(12), (month - 1).rem_euclid(12) + 1);
    // Years that begin in March have their leap day at the end.
    let march_year = year - i64::from(month <= 2);
    let era = march_year.div_euclid(400);
    let year_of_era = march_year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

impl Calendar {
    /// The parts of an instant in UTC.
    pub(crate) fn at(secs: i64) -> Self {
        let days = secs.div_euclid(DAY_SECS);
        let time = secs.rem_euclid(DAY_SECS);
        let shifted = days + 719_468;
        let era = shifted.div_euclid(146_097);
        let day_of_era = shifted.rem_euclid(146_097);
        let year_of_era =
            (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let march_month = (5 * day_of_year + 2) / 153;
        let month = (march_month + 2) % 12 + 1;
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Self {
            year,
            month,
            day: day_of_year - (153 * march_month + 2) / 5 + 1,
            hour: time / HOUR_SECS,
            minute: time % HOUR_SECS / MINUTE_SECS,
            second: time % MINUTE_SECS,
            week_day: (days + 4).rem_euclid(7),
            year_day: days - days_to(year, 1, 1),
        }
    }

    /// The same with the days of week and year counted anew, as HTCondor counts them for `formatTime`.
    pub(crate) fn with_counted_days(self) -> Self {
        // HTCondor's own formula; it takes months and days as they come.
        let fixed = |month: i64, day: i64| {
            let before = self.year - 1;
            let leap = self.year % 4 == 0 && !matches!(self.year % 400, 100 | 200 | 300);
            let adjustment = match (month <= 2, leap) {
                (true, _) => 0,
                (false, true) => -1,
                (false, false) => -2,
            };
            365 * before + before / 4 - before / 100
                + before / 400
                + (367 * month - 362) / 12
                + adjustment
                + day
        };
        let day = fixed(self.month, self.day);
        Self { week_day: day % 7, year_day: day - fixed(1, 1), ..self }
    }
}

/// Seconds east of UTC here at an instant.
pub(crate) fn local_offset(secs: i64) -> i32 {
    Timestamp::from_second(secs).map_or(0, |instant| TimeZone::system().to_offset(instant).seconds())
}

/// A byte of the text that is no digit ends a field; fields have a fixed number of digits.
struct Fields<'t> {
    text: &'t [u8],
    at: usize,
}

impl Fields<'_> {
    fn next(&mut self, digits: usize) -> Option<i64> {
        while self.text.get(self.at).is_some_and(|byte| !byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at + digits > self.text.len() {
            return None;
        }
        let field = &self.text[self.at..self.at + digits];
        self.at += digits;
        Some(
            field
                .iter()
                .take_while(|byte| byte.is_ascii_digit())
                .fold(0, |number, digit| number * 10 + i64::from(digit - b'0')),
        )
    }
}

/// `2004-01-31T12:30:00-06:00`: a year of four digits, then up to five fields of two with anything between them,
/// then an offset or `Z`.
pub(crate) fn parse_absolute(written: &[u8]) -> Option<AbsTime> {
    let (text, offset) = split_offset(written);
    let mut fields = Fields { text: &text, at: 0 };
    let year = fields.next(4)?;
    let mut parts = [1, 0, 0, 0, 0];
    for part in &mut parts {
        if let Some(number) = fields.next(2) {
            *part = number;
        }
    }
    if text.get(fields.at..).is_some_and(|rest| rest.iter().any(u8::is_ascii_digit)) {
        return None;
    }
    let [month, day, hour, minute, second] = parts;
    let local = days_to(year, month, day) * DAY_SECS + hour * HOUR_SECS + minute * MINUTE_SECS + second;
    // C's mktime says -1 for "cannot be", and HTCondor believes it.
    if local - i64::from(local_offset(local)) == -1 {
        return None;
    }
    let offset_secs = offset.unwrap_or_else(|| local_offset(local));
    Some(AbsTime { secs: local - i64::from(offset_secs), offset_secs })
}

fn split_offset(written: &[u8]) -> (Vec<u8>, Option<i32>) {
    let mut text = written.to_vec();
    let trimmed = text.trim_ascii_end().len();
    if trimmed > 1 && matches!(text[trimmed - 1], b'z' | b'Z') {
        text.remove(trimmed - 1);
        return (text, Some(0));
    }
    let length = text.len();
    let is_sign = |byte: u8| matches!(byte, b'+' | b'-');
    if length > 6 && is_sign(text[length - 6]) && text[length - 3] == b':' && !(is_sign(text[length - 5])) {
        text.remove(length - 3);
    } else if !(length > 5 && is_sign(text[length - 5])) {
        return (text, None);
    }
    let digits = &text[text.len() - 4..];
    if !digits.iter().all(u8::is_ascii_digit) {
        return (text, None);
    }
    let pair = |at: usize| i32::from(digits[at] - b'0') * 10 + i32::from(digits[at + 1] - b'0');
    let magnitude = pair(0) * 3_600 + pair(2) * 60;
    let offset = if text[text.len() - 5] == b'-' { -magnitude } else { magnitude };
    text.truncate(text.len() - 5);
    (text, Some(offset))
}

/// Reads a text from its end.
struct Backwards<'t>(&'t [u8]);

impl<'t> Backwards<'t> {
    fn skip_space(&mut self) {
        self.0 = self.0.trim_ascii_end();
    }

    fn digits(&mut self) -> &'t [u8] {
        let kept = self.0.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |place| place + 1);
        let (rest, digits) = self.0.split_at(kept);
        self.0 = rest;
        digits
    }

    fn take(&mut self, wanted: &[u8]) -> bool {
        match self.0.split_last() {
            Some((last, rest)) if wanted.contains(last) => {
                self.0 = rest;
                true
            }
            _ => false,
        }
    }

    /// The number before one of the given marks, if one of them is next.
    fn before(&mut self, marks: &[u8]) -> i64 {
        self.skip_space();
        if !self.take(marks) {
            return 0;
        }
        self.skip_space();
        std::str::from_utf8(self.digits())
            .ok()
            .and_then(|digits| digits.parse::<i32>().ok())
            .map_or(0, i64::from)
    }
}

/// `[[[days+]hh:]mm:]ss[.fraction]`, also with `d`, `h`, `m`, `s` behind the numbers, and a minus sign before all.
pub(crate) fn parse_relative(written: &[u8]) -> Option<f64> {
    let mut text = Backwards(written);
    let mut secs = 0.0;
    text.skip_space();
    let marked = text.take(b"sS");
    if marked || text.0.last().is_some_and(u8::is_ascii_digit) {
        text.skip_space();
        let end = text.0;
        text.digits();
        if text.take(b".") {
            text.digits();
        }
        let number = &end[text.0.len()..];
        secs = std::str::from_utf8(number).ok().and_then(|number| number.parse().ok()).unwrap_or(0.0);
    }
    let minutes = text.before(b"mM:");
    let hours = text.before(b"hH:");
    let days = text.before(b"dD+");
    text.skip_space();
    let negative = text.take(b"-");
    text.skip_space();
    if !text.0.is_empty() {
        return None;
    }
    let whole = (days * DAY_SECS + hours * HOUR_SECS + minutes * MINUTE_SECS) as f64 + secs;
    Some(if negative { -whole } else { whole })
}

/// `2004-01-31T12:30:00-06:00`.
pub(crate) fn write_absolute(instant: AbsTime) -> String {
    let at = Calendar::at(instant.secs.saturating_add(i64::from(instant.offset_secs)));
    let sign = if instant.offset_secs > 0 { '+' } else { '-' };
    let offset = instant.offset_secs.unsigned_abs();
    format!(
        "{}-{:02}-{:02}T{:02}:{:02}:{:02}{sign}{:02}:{:02}",
        at.year,
        at.month,
        at.day,
        at.hour,
        at.minute,
        at.second,
        offset / 3_600,
        offset / 60 % 60
    )
}

/// `1+02:03:04`, without the parts before the first that is not zero; fractions are cut off.
pub(crate) fn write_relative(secs: f64) -> String {
    write_relative_text(f64::from(truncate_i32(secs)))
}

/// The same with the fraction, in six digits.
pub(crate) fn write_relative_text(whole: f64) -> String {
    let mut out = String::new();
    if whole < 0.0 {
        out.push('-');
    }
    // HTCondor counts in 32 bits, and a span that does not fit comes out as minus the least.
    let magnitude = truncate_i32(whole.abs());
    let (days, in_day) = (magnitude / 86_400, magnitude % 86_400);
    let (hours, minutes, seconds) = (in_day / 3_600, in_day % 3_600 / 60, in_day % 60);
    let two = |number: i32| if number < 0 { format!("{number}") } else { format!("{number:02}") };
    let fraction = whole.abs() - whole.abs().floor();
    let seconds_written = if fraction == 0.0 {
        two(seconds)
    } else {
        format!("{:0>2}", format_general(f64::from(seconds) + fraction, 6))
    };
    let (hours_written, minutes_written) = (two(hours), two(minutes));
    out + &if days != 0 {
        format!("{days}+{hours_written}:{minutes_written}:{seconds_written}")
    } else if hours != 0 {
        format!("{hours_written}:{minutes_written}:{seconds_written}")
    } else if minutes != 0 {
        format!("{minutes_written}:{seconds_written}")
    } else {
        seconds_written
    }
}

/// The same where it loses nothing, else all in seconds.
pub(crate) fn write_relative_exact(secs: f64) -> String {
    if secs.is_finite() && (secs.fract() != 0.0 || secs.abs() >= 2_147_483_648.0) {
        format!("{secs}")
    } else {
        write_relative(secs)
    }
}

/// What C's `strftime` writes in the C locale, for a time in UTC.
pub(crate) fn format(at: &Calendar, format: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut bytes = format.iter().copied();
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let Some(mut conversion) = bytes.next() else {
            out.push(b'%');
            break;
        };
        let mut skipped = vec![b'%', conversion];
        if matches!(conversion, b'E' | b'O')
            && let Some(next) = bytes.next()
        {
            conversion = next;
            skipped.push(next);
        }
        match formatted(at, conversion) {
            Some(text) => out.extend_from_slice(text.as_bytes()),
            None => out.extend_from_slice(&skipped),
        }
    }
    out
}

const WEEK_DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

fn formatted(at: &Calendar, conversion: u8) -> Option<String> {
    let week_day =
        usize::try_from(at.week_day).ok().and_then(|day| WEEK_DAYS.get(day)).copied().unwrap_or("?");
    let month =
        usize::try_from(at.month - 1).ok().and_then(|month| MONTHS.get(month)).copied().unwrap_or("?");
    let short = |name: &'static str| name.get(..3).unwrap_or(name);
    let clock_hour = if at.hour % 12 == 0 { 12 } else { at.hour % 12 };
    let several = |format: &str| {
        let text = self::format(at, format.as_bytes());
        String::from_utf8_lossy(&text).into_owned()
    };
    Some(match conversion {
        b'a' => short(week_day).to_owned(),
        b'A' => week_day.to_owned(),
        b'b' | b'h' => short(month).to_owned(),
        b'B' => month.to_owned(),
        b'c' => several("%a %b %e %H:%M:%S %Y"),
        b'C' => format!("{:02}", at.year.div_euclid(100)),
        b'd' => format!("{:02}", at.day),
        b'D' | b'x' => several("%m/%d/%y"),
        b'e' => format!("{:2}", at.day),
        b'F' => several("%Y-%m-%d"),
        b'g' => format!("{:02}", iso_week(at).0.rem_euclid(100)),
        b'G' => format!("{}", iso_week(at).0),
        b'H' => format!("{:02}", at.hour),
        b'I' => format!("{clock_hour:02}"),
        b'j' => format!("{:03}", at.year_day + 1),
        b'k' => format!("{:2}", at.hour),
        b'l' => format!("{clock_hour:2}"),
        b'm' => format!("{:02}", at.month),
        b'M' => format!("{:02}", at.minute),
        b'n' => "\n".to_owned(),
        b'p' => (if at.hour >= 12 { "PM" } else { "AM" }).to_owned(),
        b'P' => (if at.hour >= 12 { "pm" } else { "am" }).to_owned(),
        b'r' => several("%I:%M:%S %p"),
        b'R' => several("%H:%M"),
        b's' => format!("{}", unix_secs(at)),
        b'S' => format!("{:02}", at.second),
        b't' => "\t".to_owned(),
        b'T' | b'X' => several("%H:%M:%S"),
        b'u' => format!("{}", (at.week_day + 6).rem_euclid(7) + 1),
        b'U' => format!("{:02}", (at.year_day + 7 - at.week_day).div_euclid(7)),
        b'V' => format!("{:02}", iso_week(at).1),
        b'w' => format!("{}", at.week_day),
        b'W' => format!("{:02}", (at.year_day + 7 - (at.week_day + 6).rem_euclid(7)).div_euclid(7)),
        b'y' => format!("{:02}", at.year.rem_euclid(100)),
        b'Y' => format!("{}", at.year),
        b'z' => {
            let offset = local_offset(unix_secs(at));
            format!(
                "{}{:02}{:02}",
                if offset < 0 { '-' } else { '+' },
                offset.abs() / 3_600,
                offset.abs() / 60 % 60
            )
        }
        b'Z' => {
            let secs = unix_secs(at);
            Timestamp::from_second(secs).map_or_else(
                |_| "UTC".to_owned(),
                |instant| TimeZone::system().to_offset_info(instant).abbreviation().to_owned(),
            )
        }
        b'%' => "%".to_owned(),
        _ => return None,
    })
}

fn unix_secs(at: &Calendar) -> i64 {
    days_to(at.year, at.month, at.day) * DAY_SECS + at.hour * HOUR_SECS + at.minute * MINUTE_SECS + at.second
}

/// The year and number of the ISO week.
fn iso_week(at: &Calendar) -> (i64, i64) {
    let year_days = |year: i64| days_to(year + 1, 1, 1) - days_to(year, 1, 1);
    let week = |year_day: i64| year_day - (year_day - at.week_day + 382).rem_euclid(7) + 3;
    let mut year = at.year;
    let mut days = week(at.year_day);
    if days < 0 {
        year -= 1;
        days = week(at.year_day + year_days(year));
    } else {
        let next = week(at.year_day - year_days(year));
        if next >= 0 {
            year += 1;
            days = next;
        }
    }
    (year, days.div_euclid(7) + 1)
}

/// Seconds of a span that has a fraction, as `splitTime` gives them.
pub(crate) fn seconds_with_fraction(secs: f64) -> f64 {
    let magnitude = secs.abs();
    f64::from(truncate_i32(magnitude) % 60) + (magnitude - magnitude.floor())
}
