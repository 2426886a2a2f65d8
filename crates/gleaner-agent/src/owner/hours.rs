//! Hours of the week in which tasks may run.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A minute of the owner's local day, from 0 to 1439.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DayMinute(u16);

/// A minute of the owner's local week.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeekMinute {
    /// From 0 for Monday to 6 for Sunday.
    day: u8,
    minute: DayMinute,
}

/// From one minute of the day until just before another, past midnight if the second is earlier; a whole day if they are
/// the same; on all days of the week or on some, of which those count on which they begin. Written `HH:MM-HH:MM`,
/// `mon-fri HH:MM-HH:MM` or `sat,sun HH:MM-HH:MM`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Hours {
    /// A bit for each, Monday's the lowest.
    days: u8,
    from: DayMinute,
    until: DayMinute,
}

const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const ALL_DAYS: u8 = 0x7f;

/// Hours that were not written as hours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{found:?} are no hours: {why}; expected HH:MM-HH:MM, with days of the week before it or not, as in \"mon-fri 18:00-07:30\""
)]
pub struct HoursError {
    found: String,
    /// Which part of it is wrong.
    why: String,
}

impl DayMinute {
    /// The minute at `hour`:`minute`; `None` past 23:59.
    pub fn new(hour: u16, minute: u16) -> Option<Self> {
        (hour < 24 && minute < 60).then_some(Self(hour * 60 + minute))
    }

    fn parse(text: &str) -> Option<Self> {
        let (hour, minute) = text.split_once(':')?;
        let number = |digits: &str| {
            let is_two_digits = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_two_digits.then(|| digits.parse().ok()).flatten()
        };
        Self::new(number(hour)?, number(minute)?)
    }
}

impl WeekMinute {
    /// That minute of a day, from 0 for Monday to 6 for Sunday; `None` past it.
    pub fn new(day: u8, minute: DayMinute) -> Option<Self> {
        (usize::from(day) < DAYS.len()).then_some(Self { day, minute })
    }
}

impl Hours {
    /// Whether a minute is in these hours.
    pub fn contain(self, at: WeekMinute) -> bool {
        let begins_on = |day: u8| self.days & (1 << day) != 0;
        let (today, yesterday) = (begins_on(at.day), begins_on((at.day + 6) % 7));
        if self.from < self.until {
            today && self.from <= at.minute && at.minute < self.until
        } else {
            today && self.from <= at.minute || yesterday && at.minute < self.until
        }
    }
}

/// `mon-fri`, `sat,sun`, or both ways together; a stretch may go past Sunday.
fn days(text: &str) -> Option<u8> {
    let number = |name: &str| DAYS.iter().position(|day| day.eq_ignore_ascii_case(name));
    text.split(',').try_fold(0, |days, part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        let count = (last + DAYS.len() - first) % DAYS.len();
        Some((0..=count).fold(days, |days, step| days | 1 << ((first + step) % DAYS.len())))
    })
}

impl FromStr for Hours {
    type Err = HoursError;

    fn from_str(text: &str) -> Result<Self, HoursError> {
        let short = |part: &str| part.chars().take(40).collect::<String>();
        let wrong = |why: String| HoursError { found: short(text), why };
        let time = |part: &str| {
            let what = "is no time from 00:00, midnight, to 23:59, with two digits each";
            DayMinute::parse(part).ok_or_else(|| wrong(format!("{:?} {what}", short(part))))
        };
        let (days, hours) = match text.split_once(' ') {
            Some((named, hours)) => {
                let what = "names no days from mon to sun";
                (days(named).ok_or_else(|| wrong(format!("{:?} {what}", short(named))))?, hours)
            }
            None => (ALL_DAYS, text),
        };
        let no_times = || wrong("there are no two times with - between them".to_owned());
        let (from, until) = hours.split_once('-').ok_or_else(no_times)?;
        Ok(Self { days, from: time(from)?, until: time(until)? })
    }
}

impl TryFrom<String> for Hours {
    type Error = HoursError;

    fn try_from(text: String) -> Result<Self, HoursError> {
        text.parse()
    }
}

impl From<Hours> for String {
    fn from(hours: Hours) -> Self {
        hours.to_string()
    }
}

impl fmt::Display for DayMinute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

impl fmt::Display for Hours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.days != ALL_DAYS {
            let named = (0..).zip(DAYS).filter(|(day, _)| self.days & (1 << day) != 0);
            write!(f, "{} ", named.map(|(_, name)| name).collect::<Vec<_>>().join(","))?;
        }
        write!(f, "{}-{}", self.from, self.until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_begin_and_end() {
        let table = [
            ("09:00-17:00", "08:59 no, 09:00 yes, 16:59 yes, 17:00 no"),
            ("18:00-07:30", "17:59 no, 18:00 yes, 00:00 yes, 07:29 yes, 07:30 no, 12:00 no"),
            ("00:00-00:00", "00:00 yes, 23:59 yes"),
        ];
        for (hours, cases) in table {
            let parsed: Hours = hours.parse().unwrap();
            assert_eq!(parsed.to_string(), hours);
            for case in cases.split(", ") {
                let (minute, answer) = case.split_once(' ').unwrap();
                let contained = parsed.contain(at(0, minute));
                assert_eq!(contained, answer == "yes", "{hours} at {minute}");
            }
        }
    }

    fn at(day: u8, minute: &str) -> WeekMinute {
        WeekMinute::new(day, DayMinute::parse(minute).unwrap()).unwrap()
    }

    /// Each day of the week at some minute, Monday first: `x` where tasks may run.
    #[test]
    fn days_of_the_week_begin_and_end() {
        for (hours, minute, expected, written) in [
            ("Mon-FRI 09:00-17:00", "12:00", "xxxxx--", "mon,tue,wed,thu,fri 09:00-17:00"),
            ("fri-mon 18:00-07:00", "20:00", "x---xxx", "mon,fri,sat,sun 18:00-07:00"),
            ("fri-mon 18:00-07:00", "06:59", "xx---xx", "mon,fri,sat,sun 18:00-07:00"),
            ("sat,sun 00:00-00:00", "00:00", "-----xx", "sat,sun 00:00-00:00"),
            ("wed,mon-mon 00:00-00:00", "23:59", "x-x----", "mon,wed 00:00-00:00"),
        ] {
            let parsed: Hours = hours.parse().unwrap();
            let days = (0..7).map(|day| if parsed.contain(at(day, minute)) { 'x' } else { '-' });
            assert_eq!(days.collect::<String>(), expected, "{hours} at {minute}");
            assert_eq!(parsed.to_string(), written);
        }
    }

    #[test]
    fn what_is_not_hours_is_refused() {
        for (text, why) in [
            ("", "no two times"),
            ("9:00-17:00", "\"9:00\" is no time"),
            ("09:00", "no two times"),
            ("24:00-01:00", "\"24:00\" is no time from 00:00, midnight,"),
            ("mon-sun 00:00-24:00", "\"24:00\" is no time"),
            ("09:60-10:00", "\"09:60\" is no time"),
            ("09:00-17:00-", "\"17:00-\" is no time"),
            ("+9:00-17:00", "\"+9:00\" is no time"),
            ("é9:00-1", "\"é9:00\" is no time"),
            ("monday 09:00-10:00", "\"monday\" names no days"),
            ("mon- 09:00-10:00", "\"mon-\" names no days"),
            (" 09:00-10:00", "\"\" names no days"),
            ("mon", "no two times"),
        ] {
            let error = text.parse::<Hours>().expect_err(text).to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
