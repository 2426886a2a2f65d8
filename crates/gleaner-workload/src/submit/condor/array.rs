//! `queue N` without a look at each of the N processes: one of them is translated with a mark for its number, and where the
//! mark comes out in texts only, and as it went in, the tasks are an array.
//!
//! **What comes out is what folding all processes would give**, or nothing: whatever might differ is left to that. A test
//! compares the two.

use super::statements::Batch;
use super::surroundings::Surroundings;
use super::translate::{Told, translate_all};
use crate::submit::JobDescription;
use crate::submit::fold::{COLUMN, slots};
use crate::submit::submission::Notes;
use gleaner_wire::job::{INDEX, TaskList};
use gleaner_wire::limits::JOB_BYTES_MAX;

/// Stands for the number: nothing that reads a value takes it for anything but a part of a word, and it is
/// as long as any number, so that what fits with it fits with each.
const MARK: &str = "\u{11}\u{12}\u{13}\u{14}\u{11}\u{12}\u{13}\u{14}";
/// The keys whose values go into texts as they are, in pieces or whole.
const PLAIN: [&str; 14] = [
    "executable",
    "arguments",
    "environment",
    "env",
    "transfer_input_files",
    "transfer_output_files",
    "initialdir",
    "initial_dir",
    "input",
    "stdin",
    "output",
    "stdout",
    "error",
    "stderr",
];

/// The job that all processes of the only batch of a file are, if its number is all in which they differ.
pub(super) fn find(batch: &Batch, around: &Surroundings<'_>, notes: &mut Notes) -> Option<JobDescription> {
    let count = batch.queue.steps();
    // A row is one process or has values of its own.
    if count < 2 || batch.queue.rows.len() > 1 || is_written(batch, around) {
        return None;
    }
    let mut told = Told::default();
    let (mut job, with_mark) = translate_all(batch, batch.scope_of_all(MARK, around), &mut told, MARK);
    if !told.refused.is_empty() || !with_mark.iter().all(|key| PLAIN.contains(&key.as_str())) {
        return None;
    }
    let (mut bytes, last) = (0, count - 1);
    for text in slots(&mut job) {
        bytes += bytes_of_all(text, count);
        *text = array_text(text, last)?;
    }
    // A variable whose name has it is no text; all other values go into texts.
    let is_named = job.spec.env.keys().any(|name| name.contains(MARK));
    if bytes > JOB_BYTES_MAX as u64 || is_named {
        return None;
    }
    job.spec.tasks = TaskList::Array { first: 0, last, step: 1 };
    notes.extend(told.notes);
    Some(job)
}

/// Whether somebody wrote the mark themselves.
fn is_written(batch: &Batch, around: &Surroundings<'_>) -> bool {
    let settings = batch.settings.values().map(|setting| &setting.value);
    let given = around.macros.iter().map(|(_, value)| value).chain(around.environment.values());
    settings.chain(given).chain(batch.queue.rows.iter().flatten()).any(|text| text.contains(MARK))
}

/// The text with the task's number for the mark, unless folding all of them would come to something else.
fn array_text(text: &str, last: u32) -> Option<String> {
    if !text.contains(MARK) {
        return (!text.contains(&format!("{{{COLUMN}"))).then(|| text.to_owned());
    }
    // Braces could become a parameter, those behind a `$` are none, and folding looks for the last number wherever it stands.
    let (number, index) = (last.to_string(), format!("{{{INDEX}}}"));
    let found = text.replace(MARK, &index);
    let is_same = text.replace(MARK, &number).replace(&number, &index) == found;
    (is_same && !text.contains('{') && !found.contains("${")).then_some(found)
}

/// How long the texts of all processes are together.
fn bytes_of_all(text: &str, count: u32) -> u64 {
    let marks = text.matches(MARK).count() as u64;
    let plain = text.len() as u64 - marks * MARK.len() as u64;
    plain * u64::from(count) + marks * digits_below(count)
}

/// How many digits the numbers have from 0 to below `count`.
fn digits_below(count: u32) -> u64 {
    let count = u64::from(count);
    let powers = std::iter::successors(Some(10), |power| Some(power * 10)).take_while(|power| *power < count);
    count + powers.map(|power: u64| count - power).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_all_texts() {
        for count in [2_u32, 10, 11, 100, 1_001] {
            for text in ["", "abc", MARK, "a\u{11}\u{12}\u{13}\u{14}\u{11}\u{12}\u{13}\u{14}b"] {
                let texts = (0..count).map(|number| text.replace(MARK, &number.to_string()).len() as u64);
                assert_eq!(bytes_of_all(text, count), texts.sum::<u64>(), "{count} of {text:?}");
            }
        }
    }
}
