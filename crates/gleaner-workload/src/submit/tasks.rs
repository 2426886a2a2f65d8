//! One command, many tasks: numbers, lines, rows, combinations.

use super::Source;
use crate::InputError;
use crate::error::{Place, quoted};
use gleaner_wire::Words;
use gleaner_wire::job::{LENGTH, TaskList};
use gleaner_wire::limits::{NAME_BYTES_MAX, TASKS_PER_JOB_MAX};
use serde_json::Value;
use std::num::IntErrorKind;

/// The parameter that holds a task's line.
pub const LINE: &str = "GLEANER_LINE";
/// The parameter that holds a task's value, where a list in JSON holds plain values.
pub const ITEM: &str = "GLEANER_ITEM";

/// `FIRST-LAST`, `FIRST-LAST:STEP`, or one number, several of them parted by commas; as `option` or `key` gave it.
pub fn array(given_as: &str, text: &str) -> Result<TaskList, InputError> {
    let place = Place::whole(given_as);
    let Some((first, rest)) = text.split_once(',') else { return counted(range(&place, text)?, &place) };
    let mut numbers = Vec::new();
    for part in std::iter::once(first).chain(rest.split(',')) {
        let part = counted(range(&place, part)?, &place)?;
        numbers.extend((0..part.count()).map(|position| part.number(position)));
        if numbers.len() > TASKS_PER_JOB_MAX as usize {
            return Err(too_many(&place, numbers.len() as u64));
        }
    }
    numbers.sort_unstable();
    match numbers.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(place.error("", format!("{} twice", pair[0]), "each number once")),
        None => Ok(TaskList::Numbers(numbers)),
    }
}

fn range(place: &Place, text: &str) -> Result<TaskList, InputError> {
    let wrong = |expected: &str| place.error("", quoted(text), expected);
    let expected = "FIRST-LAST or FIRST-LAST:STEP, as 1-1000 or 0-90:10, or several such as 1,3,7-9";
    let number = |text: &str| {
        text.trim().parse::<u32>().map_err(|why| match why.kind() {
            IntErrorKind::PosOverflow => wrong("numbers up to 4294967295"),
            _ => wrong(expected),
        })
    };
    let (range, step) = match text.split_once(':') {
        Some((range, step)) => (range, number(step)?),
        None => (text, 1),
    };
    let (first, last) = match range.split_once('-') {
        Some((first, last)) => (number(first)?, number(last)?),
        None => (number(range)?, number(range)?),
    };
    if step == 0 {
        return Err(wrong("a step of at least 1"));
    }
    if first > last {
        return Err(wrong("a first number that is not above the last"));
    }
    Ok(TaskList::Array { first, last, step })
}

/// One task for each line, an empty one too; the last line may do without its end.
pub fn each_line(source: &Source) -> Result<TaskList, InputError> {
    let values: Words = source.text().lines().collect();
    if values.is_empty() {
        return Err(source.place().error("", "no line", "a line for each task"));
    }
    counted(TaskList::Rows { names: vec![LINE.to_owned()], values }, &source.place())
}

/// A list of objects, whose keys are the parameters, or a list of plain values.
pub fn from_json(source: &Source) -> Result<TaskList, InputError> {
    let place = source.place();
    let items: Vec<Value> = serde_json::from_str(source.text()).map_err(|error| {
        let place = if error.line() > 0 { place.at_line(error.line() as u64) } else { place.clone() };
        place.error("", format!("no list in JSON: {error}"), "[{\"NAME\": value, …}, …] or [value, …]")
    })?;
    let names: Vec<String> = match items.first() {
        None => return Err(place.error("", "an empty list", "an entry for each task")),
        Some(Value::Object(first)) => first.keys().cloned().collect(),
        Some(_) => vec![ITEM.to_owned()],
    };
    if names.is_empty() {
        return Err(place.error("[0]", "an object without keys", "a key for each parameter"));
    }
    let is_table = items[0].is_object();
    if is_table {
        check_names(&names, &place)?;
    }
    let mut values = Words::default();
    for (position, item) in items.iter().enumerate() {
        if is_table {
            push_row(&mut values, &names, item, position, &place)?;
        } else {
            let text = plain_text(item).ok_or_else(|| not_plain(&place, &format!("[{position}]"), item))?;
            values.push(&text);
        }
    }
    counted(TaskList::Rows { names, values }, &place)
}

/// `NAME=VALUE,VALUE,…`, several of them; a comma within a value is written `\,`.
pub fn sweep(given_as: &str, axes: &[String]) -> Result<TaskList, InputError> {
    let place = Place::whole(given_as);
    let parsed = axes.iter().map(|text| {
        let (name, values) = text
            .split_once('=')
            .ok_or_else(|| place.error("", quoted(text), "NAME=VALUE,VALUE,…, as rate=0.1,0.2"))?;
        Ok((name.trim().to_owned(), at_commas(values)))
    });
    combinations(parsed.collect::<Result<_, _>>()?, &place)
}

/// All combinations, as long as there are not too many.
pub(super) fn combinations(axes: Vec<(String, Vec<String>)>, place: &Place) -> Result<TaskList, InputError> {
    let names: Vec<String> = axes.iter().map(|(name, _)| name.clone()).collect();
    check_names(&names, place)?;
    counted(TaskList::Sweep { axes }, place)
}

fn at_commas(text: &str) -> Vec<String> {
    let mut values = vec![String::new()];
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let value = values.last_mut().expect("there is always one");
        match c {
            '\\' if rest.peek() == Some(&',') => value.extend(rest.next()),
            ',' => values.push(String::new()),
            _ => value.push(c),
        }
    }
    values
}

/// Refuses names that cannot be variables of a task's environment, or that Gleaner sets itself.
pub(super) fn check_names(names: &[String], place: &Place) -> Result<(), InputError> {
    for (position, name) in names.iter().enumerate() {
        if !is_variable(name) {
            let expected = "a name of letters, digits and _ that does not start with a digit";
            return Err(place.error(name, "no name for a parameter", expected));
        }
        if name.starts_with("GLEANER_") && name != LENGTH {
            let expected = "a name without GLEANER_, or GLEANER_LENGTH for the length of each task";
            return Err(place.error(name, "a name that Gleaner keeps for itself", expected));
        }
        if names[..position].contains(name) {
            return Err(place.error(name, "the parameter twice", "each parameter once"));
        }
    }
    Ok(())
}

/// Whether a variable of a task can have this name.
pub(super) fn is_variable(name: &str) -> bool {
    let letters = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    letters && name.len() <= NAME_BYTES_MAX && !name.is_empty() && !name.as_bytes()[0].is_ascii_digit()
}

fn push_row(
    values: &mut Words,
    names: &[String],
    item: &Value,
    position: usize,
    place: &Place,
) -> Result<(), InputError> {
    let Value::Object(row) = item else {
        return Err(place.error(&format!("[{position}]"), kind(item), "an object, as the first entry is"));
    };
    for name in names {
        let field = || format!("[{position}].{name}");
        let value =
            row.get(name).ok_or_else(|| place.error(&field(), "nothing", "the same keys in each object"))?;
        values.push(&plain_text(value).ok_or_else(|| not_plain(place, &field(), value))?);
    }
    match row.keys().find(|key| !names.contains(key)) {
        Some(key) => {
            let field = format!("[{position}].{key}");
            Err(place.error(&field, "a key that the first object has not", "the same keys in each object"))
        }
        None => Ok(()),
    }
}

/// A text as it is, a number or truth value as JSON writes it.
fn plain_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn not_plain(place: &Place, field: &str, value: &Value) -> InputError {
    place.error(field, kind(value), "a text, a number, true or false")
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The list, if it is not longer than a job may be.
pub(super) fn counted(tasks: TaskList, place: &Place) -> Result<TaskList, InputError> {
    let count = tasks.count();
    if count > TASKS_PER_JOB_MAX {
        return Err(too_many(place, u64::from(count)));
    }
    Ok(tasks)
}

fn too_many(place: &Place, count: u64) -> InputError {
    place.error("", format!("{count} tasks"), format!("at most {TASKS_PER_JOB_MAX} in a job"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(tasks: Result<TaskList, InputError>) -> String {
        match tasks {
            Ok(tasks) => (0..tasks.count().min(9))
                .map(|position| {
                    let parameters = tasks.parameters(position);
                    parameters.iter().map(|(_, value)| value.as_str()).collect::<Vec<_>>().join("/")
                })
                .collect::<Vec<_>>()
                .join(" "),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn arrays() {
        for (text, expected) in [
            ("1-3", "1 2 3"),
            ("0-90:40", "0 40 80"),
            ("7", "7"),
            ("3-1", "--array: found \"3-1\"; expected a first number that is not above the last"),
            ("1-3:0", "--array: found \"1-3:0\"; expected a step of at least 1"),
            (
                "a-3",
                "--array: found \"a-3\"; expected FIRST-LAST or FIRST-LAST:STEP, as 1-1000 or 0-90:10, or several such as 1,3,7-9",
            ),
            ("1-4294967296", "--array: found \"1-4294967296\"; expected numbers up to 4294967295"),
            ("1,3,7-9", "1 3 7 8 9"),
            ("8,2-6:2", "2 4 6 8"),
            ("1,1-3", "--array: found 1 twice; expected each number once"),
            (
                "1,",
                "--array: found \"\"; expected FIRST-LAST or FIRST-LAST:STEP, as 1-1000 or 0-90:10, or several such as 1,3,7-9",
            ),
            (
                "0-9999999,10000001-10000002",
                "--array: found 10000002 tasks; expected at most 10000000 in a job",
            ),
            ("0-4294967295", "--array: found 4294967295 tasks; expected at most 10000000 in a job"),
        ] {
            assert_eq!(shown(array("--array", text)), expected);
        }
    }

    #[test]
    fn lines() {
        for (text, expected) in [
            ("a\nb c\r\n", "0/a 1/b c"),
            ("a\n\nb", "0/a 1/ 2/b"),
            ("", "list: found no line; expected a line for each task"),
        ] {
            assert_eq!(shown(each_line(&Source::new("list", text))), expected);
        }
    }

    #[test]
    fn json() {
        for (text, expected) in [
            (r#"[{"a": "x", "b": 1}, {"b": 2.50, "a": true}]"#, "0/x/1 1/true/2.5"),
            (r#"[{"GLEANER_LENGTH": 1e6}, {"GLEANER_LENGTH": 2000000}]"#, "0/1000000.0 1/2000000"),
            (r#"["x", 2]"#, "0/x 1/2"),
            ("[]", "rows: found an empty list; expected an entry for each task"),
            ("[{}]", "rows: [0]: found an object without keys; expected a key for each parameter"),
            (r#"[{"a": 1}, {}]"#, "rows: [1].a: found nothing; expected the same keys in each object"),
            (
                r#"[{"a": 1}, {"a": 1, "c": 2}]"#,
                "rows: [1].c: found a key that the first object has not; expected the same keys in each object",
            ),
            (r#"[{"a": 1}, 2]"#, "rows: [1]: found a number; expected an object, as the first entry is"),
            ("[1, null]", "rows: [1]: found null; expected a text, a number, true or false"),
            (
                r#"[{"a b": 1}]"#,
                "rows: a b: found no name for a parameter; expected a name of letters, digits and _ that does not start with a digit",
            ),
            (
                r#"[{"GLEANER_X": 1}]"#,
                "rows: GLEANER_X: found a name that Gleaner keeps for itself; expected a name without GLEANER_, or GLEANER_LENGTH for the length of each task",
            ),
        ] {
            assert_eq!(shown(from_json(&Source::new("rows", text))), expected);
        }
        let error = from_json(&Source::new("rows", "[\n1,\n")).expect_err("an open list");
        assert_eq!(error.line, Some(3));
    }

    #[test]
    fn sweeps() {
        for (axes, expected) in [
            (vec!["a=1,2", "b=x,y"], "0/1/x 1/1/y 2/2/x 3/2/y"),
            (vec!["a=1\\,5,2"], "0/1,5 1/2"),
            (vec!["a="], "0/"),
            (vec!["a"], "--sweep: found \"a\"; expected NAME=VALUE,VALUE,…, as rate=0.1,0.2"),
            (vec!["a=1", "a=2"], "--sweep: a: found the parameter twice; expected each parameter once"),
        ] {
            let axes: Vec<String> = axes.into_iter().map(str::to_owned).collect();
            assert_eq!(shown(sweep("--sweep", &axes)), expected);
        }
    }
}
