//! The 18 fields of a job.

use crate::InputError;
use crate::error::{Place, quoted};
use gleaner_units::Time;
use std::fmt;

/// What the archive calls the fields, from 1.
const NAMES: [&str; 18] = [
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "average CPU time used",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
];
/// Whole numbers above have no exact floating-point number.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// A line of a log. What a log does not know is none; it is written as −1.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Job {
    /// Field 1.
    pub number: Option<u64>,
    /// Field 2, in seconds from the beginning of the log.
    pub submit_s: Option<f64>,
    /// Field 3.
    pub wait_s: Option<f64>,
    /// Field 4.
    pub run_s: Option<f64>,
    /// Field 5, the processors that it had.
    pub processors: Option<u32>,
    /// Field 6, the mean over its processors.
    pub cpu_s: Option<f64>,
    /// Field 7, the mean over its processors, in kilobytes.
    pub memory_kb: Option<f64>,
    /// Field 8.
    pub requested_processors: Option<u32>,
    /// Field 9, what its user estimated.
    pub requested_s: Option<f64>,
    /// Field 10, for each processor, in kilobytes.
    pub requested_memory_kb: Option<f64>,
    /// Field 11: 1 completed, 0 failed, 5 cancelled, 2 to 4 parts of one job.
    pub status: Option<u64>,
    /// Field 12.
    pub user: Option<u64>,
    /// Field 13.
    pub group: Option<u64>,
    /// Field 14, the program by a number.
    pub executable: Option<u64>,
    /// Field 15.
    pub queue: Option<u64>,
    /// Field 16.
    pub partition: Option<u64>,
    /// Field 17, the number of a job that must end first; of several the first.
    pub preceding: Option<u64>,
    /// Field 18, from the preceding job's end to this one's submission.
    pub think_s: Option<f64>,
}

impl Job {
    /// The job in `line`, which is at `place`.
    pub(super) fn parse(line: &[u8], place: &Place) -> Result<Self, InputError> {
        let mut fields = Fields { rest: line, place, index: 0 };
        Ok(Self {
            number: fields.whole()?,
            submit_s: fields.seconds()?,
            wait_s: fields.seconds()?,
            run_s: fields.seconds()?,
            processors: fields.processors()?,
            cpu_s: fields.amount()?,
            memory_kb: fields.amount()?,
            requested_processors: fields.processors()?,
            requested_s: fields.seconds()?,
            requested_memory_kb: fields.amount()?,
            status: fields.whole()?,
            user: fields.whole()?,
            group: fields.whole()?,
            executable: fields.whole()?,
            queue: fields.whole()?,
            partition: fields.whole()?,
            preceding: fields.preceding()?,
            think_s: fields.seconds()?,
        })
    }
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = |field: Option<u64>| Known(field.map(|number| number as f64));
        let processors = |field: Option<u32>| Known(field.map(f64::from));
        let fields = [
            known(self.number),
            Known(self.submit_s),
            Known(self.wait_s),
            Known(self.run_s),
            processors(self.processors),
            Known(self.cpu_s),
            Known(self.memory_kb),
            processors(self.requested_processors),
            Known(self.requested_s),
            Known(self.requested_memory_kb),
            known(self.status),
            known(self.user),
            known(self.group),
            known(self.executable),
            known(self.queue),
            known(self.partition),
            known(self.preceding),
        ];
        fields.iter().try_for_each(|field| write!(f, "{field} "))?;
        Known(self.think_s).fmt(f)
    }
}

/// A field as it is written. Whole numbers are below 2⁵³, so that they are exact.
struct Known(Option<f64>);

impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.unwrap_or(-1.0).fmt(f)
    }
}

/// The fields of a line, one after the other.
struct Fields<'a> {
    rest: &'a [u8],
    place: &'a Place,
    /// Of the next one, from 0.
    index: usize,
}

impl<'a> Fields<'a> {
    fn next(&mut self) -> Result<&'a [u8], InputError> {
        let rest = self.rest.trim_ascii_start();
        if rest.is_empty() {
            return Err(self.error(format!("{} fields", self.index), "18 fields, −1 where one is not known"));
        }
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        let (field, rest) = rest.split_at(end);
        self.rest = rest;
        self.index += 1;
        Ok(field)
    }

    fn error(&self, found: String, expected: &str) -> InputError {
        let at = self.index.min(NAMES.len() - 1);
        self.place.error(&format!("field {} ({})", at + 1, NAMES[at]), found, expected)
    }

    /// The last field is not what is expected.
    fn wrong(&mut self, field: &[u8], expected: &str) -> InputError {
        self.index -= 1;
        self.error(quoted(&String::from_utf8_lossy(field)), expected)
    }

    /// A number, if it is known.
    fn number(&mut self, field: &[u8], expected: &str, max: f64) -> Result<Option<f64>, InputError> {
        match number(field) {
            Some(known) if known < 0.0 => Ok(None),
            // Adding zero makes −0 into 0.
            Some(known) if known <= max => Ok(Some(known + 0.0)),
            Some(_) | None => Err(self.wrong(field, expected)),
        }
    }

    fn amount(&mut self) -> Result<Option<f64>, InputError> {
        let field = self.next()?;
        self.number(field, "a finite number, or −1 where it is not known", f64::MAX)
    }

    fn seconds(&mut self) -> Result<Option<f64>, InputError> {
        let field = self.next()?;
        let expected = "seconds, at most 18446744073, or −1 where they are not known";
        let known = self.number(field, expected, f64::MAX)?;
        if known.is_some_and(|seconds| Time::from_seconds(seconds).is_none()) {
            return Err(self.wrong(field, expected));
        }
        Ok(known)
    }

    fn whole(&mut self) -> Result<Option<u64>, InputError> {
        let field = self.next()?;
        self.whole_in(field, "a whole number, or −1 where it is not known", WHOLE_MAX)
    }

    fn processors(&mut self) -> Result<Option<u32>, InputError> {
        let field = self.next()?;
        let expected = "a whole number of processors, at most 4294967295, or −1 where it is not known";
        Ok(self.whole_in(field, expected, f64::from(u32::MAX))?.map(|count| count as u32))
    }

    fn preceding(&mut self) -> Result<Option<u64>, InputError> {
        let field = self.next()?;
        let mut numbers = field.split(|&byte| byte == b'&');
        let mut next = |fields: &mut Self| match numbers.next() {
            Some(number) if self::number(number).is_none() => {
                Err(fields.wrong(field, "a job number, several as 4&5&6, or −1 where there is none"))
            }
            number => Ok(number),
        };
        let first = next(self)?.unwrap_or_default();
        while next(self)?.is_some() {}
        self.whole_in(first, "a job number, or −1 where there is none", WHOLE_MAX)
    }

    fn whole_in(&mut self, field: &[u8], expected: &str, max: f64) -> Result<Option<u64>, InputError> {
        match self.number(field, expected, max)? {
            Some(number) if number.fract() != 0.0 => Err(self.wrong(field, expected)),
            known => Ok(known.map(|number| number as u64)),
        }
    }
}

/// A finite number. Most are short and whole, and take no general reader.
fn number(field: &[u8]) -> Option<f64> {
    if field.len() <= 15 && field.iter().all(u8::is_ascii_digit) && !field.is_empty() {
        return Some(field.iter().fold(0, |number, &digit| number * 10 + u64::from(digit - b'0')) as f64);
    }
    let number: f64 = std::str::from_utf8(field).ok()?.parse().ok()?;
    number.is_finite().then_some(number)
}
