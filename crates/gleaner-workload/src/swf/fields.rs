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
        Ok(self.pass(rest, end))
    }

    /// The next one as it is written, and the finite number that it is, if it is one.
    fn next_number(&mut self) -> Result<(&'a [u8], Option<f64>), InputError> {
        let rest = self.rest.trim_ascii_start();
        if let Some((number, end)) = short_whole(rest) {
            return Ok((self.pass(rest, end), Some(number)));
        }
        let field = self.next()?;
        Ok((field, number(field)))
    }

    fn pass(&mut self, rest: &'a [u8], end: usize) -> &'a [u8] {
        let (field, rest) = rest.split_at(end);
        self.rest = rest;
        self.index += 1;
        field
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
    fn known(
        &mut self,
        (field, number): (&[u8], Option<f64>),
        expected: &str,
        max: f64,
    ) -> Result<Option<f64>, InputError> {
        match number {
            Some(known) if known < 0.0 => Ok(None),
            // Adding zero makes −0 into 0.
            Some(known) if known <= max => Ok(Some(known + 0.0)),
            Some(_) | None => Err(self.wrong(field, expected)),
        }
    }

    pub(crate) fn amount(&mut self) -> Result<Option<f64>, InputError> {
        let read = self.next_number()?;
        self.known(read, "a finite number, or −1 where it is not known", f64::MAX)
    }

    pub(crate) fn seconds(&mut self) -> Result<Option<f64>, InputError> {
        let read = self.next_number()?;
        let expected = "seconds, at most 18446744073, or −1 where they are not known";
        let known = self.known(read, expected, f64::MAX)?;
        if known.is_some_and(|seconds| Time::from_seconds(seconds).is_none()) {
            return Err(self.wrong(read.0, expected));
        }
        Ok(known)
    }

    pub(crate) fn whole(&mut self) -> Result<Option<u64>, InputError> {
        let read = self.next_number()?;
        self.whole_in(read, "a whole number, or −1 where it is not known", WHOLE_MAX)
    }

    pub(crate) fn processors(&mut self) -> Result<Option<u32>, InputError> {
        let read = self.next_number()?;
        let expected = "a whole number of processors, at most 4294967295, or −1 where it is not known";
        Ok(self.whole_in(read, expected, f64::from(u32::MAX))?.map(|count| count as u32))
    }

    /// The first of several job numbers.
    pub(super) fn several(&mut self) -> Result<Option<u64>, InputError> {
        let (field, only) = self.next_number()?;
        let numbers = || field.split(|&byte| byte == b'&').map(number);
        if only.is_none() && numbers().any(|number| number.is_none()) {
            return Err(self.wrong(field, "a job number, several as 4&5&6, or −1 where there is none"));
        }
        let first = only.or_else(|| numbers().next().flatten());
        self.whole_in((field, first), "a job number, or −1 where there is none", WHOLE_MAX)
    }

    fn whole_in(
        &mut self,
        read: (&[u8], Option<f64>),
        expected: &str,
        max: f64,
    ) -> Result<Option<u64>, InputError> {
        match self.known(read, expected, max)? {
            Some(number) if number as u64 as f64 != number => Err(self.wrong(read.0, expected)),
            known => Ok(known.map(|number| number as u64)),
        }
    }
}

/// A whole number of at most 15 digits that a text begins with, as most are, and where it ends. It takes no general reader, and no
/// other look for its end.
fn short_whole(text: &[u8]) -> Option<(f64, usize)> {
    let is_below_0 = text.first() == Some(&b'-');
    let start = usize::from(is_below_0);
    let (mut whole, mut end) = (0_u64, start);
    while let Some(digit) = text.get(end).filter(|byte| byte.is_ascii_digit()) {
        if end - start == 15 {
            return None;
        }
        whole = whole * 10 + u64::from(digit - b'0');
        end += 1;
    }
    let ends = end > start && text.get(end).is_none_or(u8::is_ascii_whitespace);
    let number = whole as f64;
    ends.then_some((if is_below_0 { -number } else { number }, end))
}

/// A finite number.
fn number(field: &[u8]) -> Option<f64> {
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
