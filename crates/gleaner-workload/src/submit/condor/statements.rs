//! The statements of a submit file: settings, conditions and queues.

use super::lines::Lines;
use super::macros::Scope;
use super::queue::{self, Queue};
use super::setting::Setting;
use super::surroundings::Surroundings;
use crate::InputError;
use crate::error::{Place, quoted};
use crate::submit::Source;
use crate::submit::UnsupportedKey;
use crate::submit::submission::SubmitFileError;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What one `queue` statement queues.
#[derive(Debug)]
pub(super) struct Batch {
    /// All that holds there, by names in lower case.
    pub(super) settings: Arc<BTreeMap<String, Setting>>,
    /// Conditions and queues up to there, as they are written: macros may be used in them alone.
    pub(super) asides: String,
    pub(super) queue: Queue,
}

/// A whole file.
#[derive(Debug)]
pub(super) struct Statements {
    pub(super) batches: Vec<Batch>,
    /// Statements that mean nothing here.
    pub(super) misfits: Vec<UnsupportedKey>,
}

impl Batch {
    /// Where the macros of all its processes are looked up that differ in their number only: `number` stands for it.
    pub(super) fn scope_of_all<'a>(&'a self, number: &str, around: &'a Surroundings<'_>) -> Scope<'a> {
        Scope { process: self.queue.names_with(0, number, number), ..self.scope(0, 0, around) }
    }

    /// Where the macros of one of its processes are looked up.
    pub(super) fn scope<'a>(&'a self, step: u32, process: u32, around: &'a Surroundings<'_>) -> Scope<'a> {
        Scope {
            settings: &self.settings,
            given: around.macros,
            environment: around.environment,
            process: self.queue.names_at(step, &process.to_string()),
            cluster: None,
            looks: Cell::new(0),
            counted: Cell::new(false),
        }
    }
}

/// Reads all statements.
pub(super) fn read(source: &Source, around: &Surroundings<'_>) -> Result<Statements, SubmitFileError> {
    let mut reading = Reading {
        place: source.place(),
        around,
        settings: Arc::default(),
        asides: String::new(),
        conditions: Vec::new(),
        since_queue: Vec::new(),
        found: Statements { batches: Vec::new(), misfits: Vec::new() },
    };
    let mut lines = Lines::of(source.text());
    while let Some((number, line)) = lines.statement() {
        reading.statement(number, line.trim(), &mut lines)?;
    }
    if let Some(&(line, _)) = reading.conditions.last() {
        return Err(reading.place.at_line(line).error("if", "no endif", "an endif for each if").into());
    }
    if reading.found.batches.is_empty() {
        return Err(reading.place.error("", "no queue statement", "queue, at the end of the file").into());
    }
    for (line, key) in reading.since_queue {
        let why = "it comes after the last queue, where nothing uses it".to_owned();
        reading.found.misfits.push(UnsupportedKey { line, key, why });
    }
    Ok(reading.found)
}

struct Reading<'a> {
    place: Place,
    around: &'a Surroundings<'a>,
    settings: Arc<BTreeMap<String, Setting>>,
    asides: String,
    /// The conditions that are open: their lines, and what they came to.
    conditions: Vec<(u64, Branch)>,
    since_queue: Vec<(u64, String)>,
    found: Statements,
}

/// What an `if` has come to so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Branch {
    /// Its lines count.
    Taken,
    /// They do not, but those of a later branch may.
    NotYet,
    /// They do not, and none will.
    Over,
}

impl Reading<'_> {
    fn statement(&mut self, line: u64, text: &str, lines: &mut Lines<'_>) -> Result<(), InputError> {
        if text.is_empty() || text.starts_with('#') {
            return Ok(());
        }
        let word_end = text.find(char::is_whitespace).unwrap_or(text.len());
        let (word, rest) = (text[..word_end].to_ascii_lowercase(), text[word_end..].trim());
        let is_setting = rest.starts_with('=') || word.contains('=');
        if !is_setting && self.condition(line, &word, rest)? {
            self.asides += &format!("{rest}\n");
            return Ok(());
        }
        if self.conditions.iter().any(|&(_, branch)| branch != Branch::Taken) {
            return Ok(());
        }
        if !is_setting && word == "queue" {
            return self.queue(line, rest, lines);
        }
        if !is_setting && (word == "include" || word == "use") {
            self.misfit(line, &word, "one file must say all: put what it names into this one");
            return Ok(());
        }
        self.setting(line, text, lines)
    }

    fn setting(&mut self, line: u64, text: &str, lines: &mut Lines<'_>) -> Result<(), InputError> {
        let place = self.place.at_line(line);
        let Some((name, value)) = text.split_once('=') else {
            return Err(place.error("", quoted(text), "name = value, queue, if, elif, else or endif"));
        };
        let (name, is_block) = match name.strip_suffix('@') {
            Some(name) => (name.trim(), true),
            None => (name.trim(), false),
        };
        let valid = |c: char| c.is_ascii_alphanumeric() || "_.+-".contains(c);
        if name.is_empty() || !name.chars().all(valid) {
            return Err(place.error("", quoted(name), "the name of a key or a macro"));
        }
        let lower = name.to_ascii_lowercase();
        let value = if is_block { block(value.trim(), &place, lines)? } else { value.trim().to_owned() };
        let value = self.with_own_value(&lower, &value);
        let is_ignored = self.around.ignored.iter().any(|key| key.eq_ignore_ascii_case(name));
        let setting = Setting { name: name.to_owned(), value, line, is_ignored };
        if !is_ignored {
            self.since_queue.push((line, setting.name.clone()));
        }
        Arc::make_mut(&mut self.settings).insert(lower, setting);
        Ok(())
    }

    /// `value`, in which `$(NAME)` of the name that it is given to is the value up to now.
    fn with_own_value(&self, lower: &str, value: &str) -> String {
        let own = format!("$({lower})");
        let before = self.settings.get(lower).map_or("", |setting| &setting.value);
        let mut replaced = String::new();
        let mut rest = value;
        // Lower case in ASCII keeps every byte in its place.
        while let Some(at) = rest.to_ascii_lowercase().find(&own) {
            replaced += &rest[..at];
            replaced += before;
            rest = &rest[at + own.len()..];
        }
        replaced + rest
    }

    fn queue(&mut self, line: u64, text: &str, lines: &mut Lines<'_>) -> Result<(), InputError> {
        let place = self.place.at_line(line);
        self.asides += &format!("{text}\n");
        let scope = self.scope();
        let text = scope.expand(text).map_err(|why| place.error("queue", why, "a queue without it"))?;
        let queue = queue::read((line, &text), &place, lines, self.around.folder)?;
        let (settings, asides) = (Arc::clone(&self.settings), self.asides.clone());
        self.found.batches.push(Batch { settings, asides, queue });
        self.since_queue.clear();
        Ok(())
    }

    /// Whether the statement is about a condition.
    fn condition(&mut self, line: u64, word: &str, rest: &str) -> Result<bool, InputError> {
        let place = self.place.at_line(line);
        let no_if = || place.error(word, "no if above", "an if for each elif, else and endif");
        match word {
            "if" => {
                let is_open = self.conditions.iter().all(|&(_, branch)| branch == Branch::Taken);
                let branch = match is_open {
                    false => Branch::Over,
                    true if self.holds(rest, &place)? => Branch::Taken,
                    true => Branch::NotYet,
                };
                self.conditions.push((line, branch));
            }
            "elif" => {
                let &(_, before) = self.conditions.last().ok_or_else(no_if)?;
                let branch = match before {
                    Branch::NotYet if self.holds(rest, &place)? => Branch::Taken,
                    Branch::NotYet => Branch::NotYet,
                    Branch::Taken | Branch::Over => Branch::Over,
                };
                self.conditions.last_mut().expect("it was there").1 = branch;
            }
            "else" => {
                let (_, branch) = self.conditions.last_mut().ok_or_else(no_if)?;
                *branch = if *branch == Branch::NotYet { Branch::Taken } else { Branch::Over };
            }
            "endif" => drop(self.conditions.pop().ok_or_else(no_if)?),
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn holds(&self, condition: &str, place: &Place) -> Result<bool, InputError> {
        let expected = "true, false, a number, defined NAME, or one of these after !";
        if let Some(negated) = condition.strip_prefix('!') {
            return Ok(!self.holds(negated.trim(), place)?);
        }
        let lower = condition.to_ascii_lowercase();
        if let Some(name) = lower.strip_prefix("defined ") {
            let given = self.around.macros.iter().any(|(given, _)| given.eq_ignore_ascii_case(name.trim()));
            return Ok(given || self.settings.contains_key(name.trim()));
        }
        let value = self.scope().expand(condition).map_err(|why| place.error("if", why, expected))?;
        match value.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "t" => Ok(true),
            "false" | "no" | "f" => Ok(false),
            number => match number.parse::<f64>() {
                Ok(number) => Ok(number != 0.0),
                Err(_) => Err(place.error("if", quoted(&value), expected)),
            },
        }
    }

    fn scope(&self) -> Scope<'_> {
        Scope {
            settings: &self.settings,
            given: self.around.macros,
            environment: self.around.environment,
            process: Vec::new(),
            cluster: None,
            looks: Cell::new(0),
            counted: Cell::new(false),
        }
    }

    fn misfit(&mut self, line: u64, key: &str, why: &str) {
        if !self.around.ignored.iter().any(|ignored| ignored.eq_ignore_ascii_case(key)) {
            self.found.misfits.push(UnsupportedKey { line, key: key.to_owned(), why: why.to_owned() });
        }
    }
}

/// The lines up to `@END`.
fn block(end: &str, place: &Place, lines: &mut Lines<'_>) -> Result<String, InputError> {
    let mut inside = Vec::new();
    while let Some((_, line)) = lines.next() {
        if line.trim().strip_prefix('@') == Some(end) {
            return Ok(inside.join("\n"));
        }
        inside.push(line);
    }
    Err(place.error("", format!("no @{end}"), "the end of what @= begins"))
}
