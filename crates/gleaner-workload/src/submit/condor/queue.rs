//! `queue`: how many processes, and what differs from one to the next.

use super::lines::Lines;
use super::macros::{COUNTING, evaluated};
use crate::InputError;
use crate::error::{Place, quoted};
use crate::submit::Source;
use crate::submit::pattern::matching_at;
use gleaner_wire::limits::TASKS_PER_JOB_MAX;
use std::collections::BTreeSet;
use std::path::Path;

/// What a `queue` statement says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Queue {
    pub(super) line: u64,
    /// Processes for each row.
    pub(super) count: u32,
    /// The variables that rows give values to.
    pub(super) names: Vec<String>,
    /// One without values, where there is no list.
    pub(super) rows: Vec<Vec<String>>,
    /// Where each row stands in the list of which a slice takes some.
    places: Vec<usize>,
}

impl Queue {
    /// How many processes in all.
    pub(super) fn steps(&self) -> u32 {
        self.count.saturating_mul(self.rows.len() as u32)
    }

    /// The row of one of the processes.
    pub(super) fn row(&self, step: u32) -> u32 {
        step / self.count
    }

    /// Each name, in lower case, with its value for one of the processes.
    pub(super) fn names_at(&self, step: u32, process: &str) -> Vec<(String, String)> {
        self.names_with(self.row(step), process, &(step % self.count).to_string())
    }

    /// The same where it is said how the numbers are written that differ within a row.
    pub(super) fn names_with(&self, row: u32, process: &str, within: &str) -> Vec<(String, String)> {
        let values = self.names.iter().zip(&self.rows[row as usize]);
        let mut names: Vec<(String, String)> =
            values.map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect();
        let number = |name: &str, number: &str| (name.to_owned(), number.to_owned());
        let row = self.places[row as usize].to_string();
        let [of_all, again, of_row] = COUNTING;
        names.extend([number(of_all, process), number(again, process), number(of_row, within)]);
        names.extend([number("row", &row), number("itemindex", &row)]);
        names
    }
}

const EXPECTED: &str = "queue [N] [NAMES in [SLICE] (…) | from [SLICE] FILE | from [SLICE] (…) | matching [files|dirs|any] [SLICE] PATTERNS]";

/// Reads what follows the word `queue`; a list in parentheses may go on in the lines below.
pub(super) fn read(
    (line, text): (u64, &str),
    place: &Place,
    lines: &mut Lines<'_>,
    folder: &Path,
) -> Result<Queue, InputError> {
    let wrong = || place.error("queue", quoted(text), EXPECTED);
    let Some((before, word, after)) = split_at_word(text) else {
        let (rows, places) = (vec![Vec::new()], vec![0]);
        return bounded(Queue { line, count: count(text, place)?, names: Vec::new(), rows, places }, place);
    };
    let (number, names) = expression_and_names(before);
    let mut names: Vec<String> = words(names).map(str::to_owned).collect();
    if names.is_empty() {
        names.push("Item".to_owned());
    }
    let (slice, after) = match (Slice::read(after), word) {
        (Some(read), _) => read,
        // A pattern may begin with a bracket too.
        (None, Word::Matching) => (Slice::default(), after),
        (None, _) => return Err(wrong()),
    };
    let mut slice = slice;
    let rows: Vec<Vec<String>> = match word {
        Word::In => {
            let list = listed(after, place, lines)?.unwrap_or_else(|| vec![after.to_owned()]).join("\n");
            words(&list).map(|value| row_of(value, names.len())).collect()
        }
        Word::From => {
            let list = match listed(after, place, lines)? {
                Some(list) => list,
                None if after.ends_with('|') => {
                    let why = format!("the command {}", quoted(after));
                    return Err(place.error("queue", why, "from FILE: no program is run to submit"));
                }
                None => joined(Source::file(&folder.join(after))?.text()),
            };
            let rows = list.iter().map(|line| line.trim()).filter(|line| !line.is_empty());
            rows.map(|line| split_row(line, names.len())).collect()
        }
        Word::Matching => {
            let (kind, patterns) = Entries::read(after);
            let (later, patterns) = Slice::read(patterns).unwrap_or((Slice::default(), patterns));
            if later != Slice::default() {
                slice = later;
            }
            let patterns =
                listed(patterns, place, lines)?.unwrap_or_else(|| vec![patterns.to_owned()]).join("\n");
            let found = files(kind, &patterns, folder, place)?;
            if found.of_kind.is_empty() {
                return Err(nothing_matches(kind, &patterns, found.has_others, place));
            }
            found.of_kind.into_iter().map(|name| row_of(&name, names.len())).collect()
        }
    };
    let (places, rows): (Vec<usize>, Vec<Vec<String>>) =
        slice.of(rows.into_iter().enumerate().collect()).into_iter().unzip();
    if rows.is_empty() {
        return Err(place.error("queue", format!("{}, which is no item", quoted(text)), "at least one"));
    }
    bounded(Queue { line, count: count(number, place)?, names, rows, places }, place)
}

/// How many of each, as far as that is said, and the variables behind it.
fn expression_and_names(text: &str) -> (&str, &str) {
    let is_name = |word: &str| {
        !word.starts_with(|c: char| c.is_ascii_digit())
            && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '.')
    };
    let parts = |c: char| c.is_whitespace() || c == ',';
    let mut names = text.len();
    loop {
        let before = text[..names].trim_end_matches(parts);
        let mut letters = before.char_indices().rev();
        let word = letters.find(|(_, c)| parts(*c)).map_or(0, |(at, c)| at + c.len_utf8());
        if before.is_empty() || !is_name(&before[word..]) {
            return (before, &text[names..]);
        }
        names = word;
    }
}

/// The lines of a file; one that ends with a backslash goes on in the next.
fn joined(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut goes_on = false;
    for line in text.lines() {
        let (said, more) = line.strip_suffix('\\').map_or((line, false), |said| (said, true));
        match lines.last_mut().filter(|_| goes_on) {
            Some(last) => last.push_str(said.trim_start()),
            None => lines.push(said.to_owned()),
        }
        goes_on = more;
    }
    lines
}

#[derive(Clone, Copy)]
enum Word {
    In,
    From,
    Matching,
}

/// The first of the words that say where items come from, with what is before and after it.
fn split_at_word(text: &str) -> Option<(&str, Word, &str)> {
    let mut start = 0;
    while start < text.len() {
        let end = text[start..]
            .find(|c: char| c.is_whitespace() || c == ',' || c == '(')
            .map_or(text.len(), |at| start + at);
        let word = match text[start..end].to_ascii_lowercase().as_str() {
            "in" => Some(Word::In),
            "from" => Some(Word::From),
            "matching" => Some(Word::Matching),
            _ => None,
        };
        if let Some(word) = word {
            return Some((&text[..start], word, text[end..].trim()));
        }
        start = end + text[end..].chars().next().map_or(0, char::len_utf8);
    }
    None
}

fn count(text: &str, place: &Place) -> Result<u32, InputError> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(1);
    }
    let number = evaluated(text).filter(|number| (1.0..=f64::from(TASKS_PER_JOB_MAX)).contains(number));
    number.map(|number| number as u32).ok_or_else(|| {
        place.error("queue", quoted(text), format!("a number from 1 to {TASKS_PER_JOB_MAX}, or {EXPECTED}"))
    })
}

fn bounded(queue: Queue, place: &Place) -> Result<Queue, InputError> {
    match queue.steps() {
        0..=TASKS_PER_JOB_MAX => Ok(queue),
        steps => {
            Err(place.error("queue", format!("{steps} processes"), format!("at most {TASKS_PER_JOB_MAX}")))
        }
    }
}

/// The lines of a list in parentheses; none if there is no parenthesis.
fn listed(text: &str, place: &Place, lines: &mut Lines<'_>) -> Result<Option<Vec<String>>, InputError> {
    let Some(inside) = text.strip_prefix('(') else { return Ok(None) };
    if let Some(inside) = inside.strip_suffix(')') {
        return Ok(Some(vec![inside.to_owned()]));
    }
    let mut list = vec![inside.to_owned()];
    while let Some((_, line)) = lines.next() {
        if line.trim_start().starts_with(')') {
            return Ok(Some(list));
        }
        if !line.trim_start().starts_with('#') {
            list.push(line.to_owned());
        }
    }
    Err(place.error("queue", "a list that is not closed", "a line that begins with )"))
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty())
}

/// One value, and nothing for the other names.
fn row_of(value: &str, names: usize) -> Vec<String> {
    let mut row = vec![String::new(); names];
    value.clone_into(&mut row[0]);
    row
}

/// What parts the values of a line that may have blanks and commas within.
const UNIT_SEPARATOR: char = '\u{1f}';

/// All but the last value end at a blank or comma; the last is what is left. Where there are unit separators, all end at those.
fn split_row(line: &str, names: usize) -> Vec<String> {
    if line.contains(UNIT_SEPARATOR) {
        let mut row: Vec<String> =
            line.split(UNIT_SEPARATOR).take(names).map(|value| value.trim().to_owned()).collect();
        row.resize(names, String::new());
        return row;
    }
    let mut rest = line;
    let mut row = Vec::with_capacity(names);
    for _ in 1..names {
        let end = rest.find(|c: char| c.is_whitespace() || c == ',').unwrap_or(rest.len());
        row.push(rest[..end].to_owned());
        rest = rest[end..].trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
    row.push(rest.to_owned());
    row
}

/// `[first:end:step]`, as in Python.
#[derive(Default, PartialEq, Eq)]
struct Slice {
    first: Option<i64>,
    end: Option<i64>,
    step: Option<i64>,
}

impl Slice {
    /// The slice that the text begins with, if it does, and the rest.
    fn read(text: &str) -> Option<(Self, &str)> {
        let Some(inside) = text.strip_prefix('[') else { return Some((Self::default(), text)) };
        let (inside, rest) = inside.split_once(']')?;
        let mut bounds: [Option<i64>; 3] = [None; 3];
        let parts: Vec<&str> = inside.split(':').collect();
        if parts.len() > bounds.len() {
            return None;
        }
        for (bound, part) in bounds.iter_mut().zip(&parts) {
            if !part.trim().is_empty() {
                *bound = Some(part.trim().parse().ok()?);
            }
        }
        let [first, end, step] = bounds;
        // A single number is the item at that place.
        let end = if parts.len() == 1 {
            first.map(|first| first.saturating_add(1)).filter(|&end| end != 0)
        } else {
            end
        };
        step.is_none_or(|step| step > 0).then_some((Self { first, end, step }, rest.trim()))
    }

    fn of<T>(&self, items: Vec<T>) -> Vec<T> {
        let length = i64::try_from(items.len()).expect("items that are in memory");
        let place = |at: i64| (if at < 0 { at + length } else { at }).clamp(0, length) as usize;
        let (first, end) = (self.first.map_or(0, place), self.end.map_or(items.len(), place));
        let step = self.step.unwrap_or(1) as usize;
        items.into_iter().take(end).skip(first).step_by(step).collect()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Entries {
    Files,
    Folders,
    Any,
}

impl Entries {
    fn read(text: &str) -> (Self, &str) {
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match word.to_ascii_lowercase().as_str() {
            "files" => (Self::Files, rest.trim()),
            "dirs" => (Self::Folders, rest.trim()),
            "any" => (Self::Any, rest.trim()),
            _ => (Self::Any, text),
        }
    }
}

/// What matches.
struct Matches {
    /// In the order of the patterns, once each; folders with a slash.
    of_kind: Vec<String>,
    /// Whether something matches that is not of the kind that is asked for.
    has_others: bool,
}

fn files(kind: Entries, patterns: &str, folder: &Path, place: &Place) -> Result<Matches, InputError> {
    let mut seen = BTreeSet::new();
    let mut found = Matches { of_kind: Vec::new(), has_others: false };
    for pattern in words(patterns) {
        for name in matching_at(folder, pattern, place)? {
            let is_folder = folder.join(&name).is_dir();
            let wanted = match kind {
                Entries::Files => !is_folder,
                Entries::Folders => is_folder,
                Entries::Any => true,
            };
            let name = if is_folder { name + "/" } else { name };
            found.has_others |= !wanted;
            if wanted && seen.insert(name.clone()) {
                found.of_kind.push(name);
            }
        }
    }
    Ok(found)
}

fn nothing_matches(kind: Entries, patterns: &str, has_others: bool, place: &Place) -> InputError {
    let (none, only) = match kind {
        Entries::Files => ("no file", ", only folders"),
        Entries::Folders => ("no folder", ", only files"),
        Entries::Any => ("no file or folder", ""),
    };
    let besides = if has_others { only } else { "" };
    let found = format!("{none} that matches {}{besides}", quoted(patterns.trim()));
    place.error("queue", found, "at least one, looked for from the folder in which the job is submitted")
}
