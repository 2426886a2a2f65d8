//! Hours of the day in which tasks may run.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A minute of the owner's local day, from 0 to 1439.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DayMinute(u16);

/// From one minute of the day until just before another, past midnight if the second is earlier; the whole day if
/// they are the same. Written `HH:MM-HH:MM`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Hours {
    from: DayMinute,
    until: DayMinute,
}

/// Hours that were not written as hours.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} are no hours; write HH:MM-HH:MM, as in 18:00-07:30")]
pub struct HoursError {
    found: String,
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

impl Hours {
    /// Whether `minute` is in these hours.
    pub fn contain(self, minute: DayMinute) -> bool {
        if self.from < self.until {
            self.from <= minute && minute < self.until
        } else {
            self.from <= minute || minute < self.until
        }
    }
}

impl FromStr for Hours {
    type Err = HoursError;

    fn from_str(text: &str) -> Result<Self, HoursError> {
        let parse = || {
            let (from, until) = text.split_once('-')?;
            Some(Self { from: DayMinute::parse(from)?, until: DayMinute::parse(until)? })
        };
        parse().ok_or_else(|| HoursError { found: text.chars().take(40).collect() })
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
                let contained = parsed.contain(DayMinute::parse(minute).unwrap());
                assert_eq!(contained, answer == "yes", "{hours} at {minute}");
            }
        }
    }

    #[test]
    fn what_is_not_hours_is_refused() {
        for text in [
            "",
            "9:00-17:00",
            "09:00",
            "24:00-01:00",
            "09:60-10:00",
            "09:00-17:00-",
            "+9:00-17:00",
            "é9:00-1",
        ] {
            assert!(text.parse::<Hours>().is_err(), "{text}");
        }
    }
}
