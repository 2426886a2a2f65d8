//! The statements of a submit file: settings, conditions and queues.

use super::keys::{is_of_name, references};
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
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What one `queue` statement queues.
#[derive(Debug)]
pub(super) struct Batch {
    /// The file that has it.
    pub(super) place: Place,
    /// All that holds there, by names in lower case.
    pub(super) settings: Arc<BTreeMap<String, Setting>>,
    pub(super) queue: Queue,
}

/// A whole file.
#[derive(Debug)]
pub(super) struct Statements {
    pub(super) batches: Vec<Batch>,
    /// The names in lower case of what conditions and queues refer to: macros may be used in them alone.
    pub(super) referred: BTreeSet<String>,
    /// The names in lower case of all that it says, also where a condition does not hold.
    pub(super) keys: BTreeSet<String>,
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
        conditions: Vec::new(),
        since_queue: Vec::new(),
        found: Statements {
            batches: Vec::new(),
            referred: BTreeSet::new(),
            keys: BTreeSet::new(),
            misfits: Vec::new(),
        },
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
            self.found.referred.extend(references(rest));
            let asked = asked_for(without_negations(rest));
            self.found.referred.extend(asked.map(str::to_ascii_lowercase));
            return Ok(());
        }
        let is_queue = !is_setting && word == "queue";
        let names_files = !is_setting && (word == "include" || word == "use");
        if !is_queue {
            let name = if names_files { word.as_str() } else { parts(text).map_or(text, |(name, ..)| name) };
            self.found.keys.insert(name.to_ascii_lowercase());
        }
        if self.conditions.iter().any(|&(_, branch)| branch != Branch::Taken) {
            return Ok(());
        }
        if is_queue {
            return self.queue(line, rest, lines);
        }
        if names_files {
            self.misfit(line, &word, "one file must say all: put what it names into this one");
            return Ok(());
        }
        self.setting(line, text, lines)
    }

    fn setting(&mut self, line: u64, text: &str, lines: &mut Lines<'_>) -> Result<(), InputError> {
        let place = self.place.at_line(line);
        let Some((name, value, is_block)) = parts(text) else {
            return Err(place.error("", quoted(text), "name = value, queue, if, elif, else or endif"));
        };
        if name.is_empty() || !name.chars().all(is_of_name) {
            return Err(place.error("", quoted(name), "the name of a key or a macro"));
        }
        let lower = name.to_ascii_lowercase();
        let value = if is_block { block(value.trim(), &place, lines)? } else { value.trim().to_owned() };
        let replaced = self.scope().with_own_value(&lower, &value);
        let value = match replaced {
            Ok(replaced) => replaced,
            Err(why) => {
                self.misfit(line, name, &why);
                value
            }
        };
        let is_ignored = self.around.ignored.iter().any(|key| key.eq_ignore_ascii_case(name));
        let setting = Setting { name: name.to_owned(), value, line, is_ignored };
        if !is_ignored {
            self.since_queue.push((line, setting.name.clone()));
        }
        Arc::make_mut(&mut self.settings).insert(lower, setting);
        Ok(())
    }

    fn queue(&mut self, line: u64, text: &str, lines: &mut Lines<'_>) -> Result<(), InputError> {
        let place = self.place.at_line(line);
        self.found.referred.extend(references(text));
        let scope = self.scope();
        let text = scope.expand(text).map_err(|why| place.error("queue", why, "a queue without it"))?;
        let queue = queue::read((line, &text), &place, lines, self.around.folder)?;
        self.found.batches.push(Batch {
            place: self.place.clone(),
            settings: Arc::clone(&self.settings),
            queue,
        });
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
        let bare = without_negations(condition);
        let is_negated = condition[..condition.len() - bare.len()].matches('!').count() % 2 == 1;
        let holds = if let Some(asked) = asked_for(bare) {
            self.is_defined(asked, place)?
        } else {
            let value = self.scope().expand(bare).map_err(|why| place.error("if", why, CONDITION))?;
            truth(&value).ok_or_else(|| place.error("if", quoted(&value), CONDITION))?
        };
        Ok(holds != is_negated)
    }

    /// Whether `defined` holds of the text, with its macros replaced: nothing is not defined, and a name is where its value
    /// is not empty; what is itself true, false or a number is defined.
    fn is_defined(&self, text: &str, place: &Place) -> Result<bool, InputError> {
        let scope = self.scope();
        let has_value = |name: &str| {
            let lower = name.to_ascii_lowercase();
            OF_PROCESSES.contains(&lower.as_str())
                || scope.written(&lower).is_some_and(|value| !value.trim().is_empty())
        };
        // A macro that is not there is what is asked for, and no mistake as elsewhere.
        let only =
            text.strip_prefix("$(").and_then(|rest| rest.strip_suffix(')')).filter(|name| is_word(name));
        if only.is_some_and(|name| !has_value(name)) {
            return Ok(false);
        }
        let value = scope.expand(text).map_err(|why| place.error("if", why, CONDITION))?;
        let value = value.trim();
        if !is_word(value) {
            return Err(place.error("if", format!("defined {}", quoted(value)), CONDITION));
        }
        Ok(has_value(value) || truth(value).is_some())
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

/// What can stand behind `if`.
const CONDITION: &str = "true, false, a number, defined NAME, or one of these after !";
/// What each process has a value for, although none has one yet.
const OF_PROCESSES: [&str; 7] = ["process", "procid", "step", "row", "itemindex", "cluster", "clusterid"];

/// The name that a setting gives a value, what stands behind the `=`, and whether that ends a block.
fn parts(text: &str) -> Option<(&str, &str, bool)> {
    let (name, value) = text.split_once('=')?;
    let of_block = name.strip_suffix('@');
    Some((of_block.unwrap_or(name).trim(), value, of_block.is_some()))
}

fn without_negations(condition: &str) -> &str {
    condition.trim_start_matches(|c: char| c == '!' || c.is_whitespace())
}

/// The text behind `defined`, if the condition begins so.
fn asked_for(condition: &str) -> Option<&str> {
    let (word, rest) = condition.split_at(condition.find(char::is_whitespace).unwrap_or(condition.len()));
    word.eq_ignore_ascii_case("defined").then(|| rest.trim())
}

/// Whether a text can be a name, or a path; nothing can.
fn is_word(text: &str) -> bool {
    text.chars().all(|c| is_of_name(c) || c == '/')
}

fn truth(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "yes" | "t" => Some(true),
        "false" | "no" | "f" => Some(false),
        number => {
            let number: Option<f64> = number.parse().ok();
            number.filter(|number| number.is_finite()).map(|number| number != 0.0)
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
