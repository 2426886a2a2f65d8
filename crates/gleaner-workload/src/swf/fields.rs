//! One line's fields, which blanks part, and what they can be.

use crate::InputError;
use crate::error::{Place, quoted};
use gleaner_units::Time;

/// Whole numbers above have no exact floating-point number.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// The fields of a line, one after the other.
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
    place: &'a Place,
    /// What the format calls them; a line has at least as many.
    names: &'static [&'static str],
    /// Of the next one, from 0.
    index: usize,
}

impl<'a> Fields<'a> {
    pub(crate) fn new(line: &'a [u8], place: &'a Place, names: &'static [&'static str]) -> Self {
        Self { rest: line, place, names, index: 0 }
    }

    /// The next one as it is written.
    pub(crate) fn next(&mut self) -> Result<&'a [u8], InputError> {
        let rest = self.rest.trim_ascii_start();
        if rest.is_empty() {
            let expected = format!("{} fields, −1 where one is not known", self.names.len());
            return Err(self.error(format!("{} fields", self.index), &expected));
        }
        let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        let (field, rest) = rest.split_at(end);
        self.rest = rest;
        self.index += 1;
        Ok(field)
    }

    fn error(&self, found: String, expected: &str) -> InputError {
        let at = self.index.min(self.names.len() - 1);
        self.place.error(&format!("field {} ({})", at + 1, self.names[at]), found, expected)
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

    pub(crate) fn amount(&mut self) -> Result<Option<f64>, InputError> {
        let field = self.next()?;
        self.number(field, "a finite number, or −1 where it is not known", f64::MAX)
    }

    pub(crate) fn seconds(&mut self) -> Result<Option<f64>, InputError> {
        let field = self.next()?;
        let expected = "seconds, at most 18446744073, or −1 where they are not known";
        let known = self.number(field, expected, f64::MAX)?;
        if known.is_some_and(|seconds| Time::from_seconds(seconds).is_none()) {
            return Err(self.wrong(field, expected));
        }
        Ok(known)
    }

    pub(crate) fn whole(&mut self) -> Result<Option<u64>, InputError> {
        let field = self.next()?;
        self.whole_in(field, "a whole number, or −1 where it is not known", WHOLE_MAX)
    }

    pub(crate) fn processors(&mut self) -> Result<Option<u32>, InputError> {
        let field = self.next()?;
        let expected = "a whole number of processors, at most 4294967295, or −1 where it is not known";
        Ok(self.whole_in(field, expected, f64::from(u32::MAX))?.map(|count| count as u32))
    }

    /// The first of several job numbers.
    pub(super) fn several(&mut self) -> Result<Option<u64>, InputError> {
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
            Some(number) if number as u64 as f64 != number => Err(self.wrong(field, expected)),
            known => Ok(known.map(|number| number as u64)),
        }
    }
}

/// A finite number. Most are short and whole, or −1, and take no general reader.
fn number(field: &[u8]) -> Option<f64> {
    let below_0 = field.strip_prefix(b"-");
    let digits = below_0.unwrap_or(field);
    if (1..=15).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit) {
        let whole = digits.iter().fold(0, |number, &digit| number * 10 + u64::from(digit - b'0')) as f64;
        return Some(if below_0.is_some() { -whole } else { whole });
    }
    let number: f64 = std::str::from_utf8(field).ok()?.parse().ok()?;
    number.is_finite().then_some(number)
}

/// Whether the columns of a log may still be named: by its first line that is no comment, whose fields are all words.
#[derive(Default)]
pub(crate) struct Columns {
    is_past: bool,
}

impl Columns {
    /// Whether a line that is neither empty nor a comment names them, and is no job.
    pub(crate) fn are_named_by(&mut self, line: &[u8]) -> bool {
        let is_first = !std::mem::replace(&mut self.is_past, true);
        let is_word = |field: &[u8]| field[0].is_ascii_alphabetic();
        is_first && line.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).all(is_word)
    }
}
