//! A task for each row of a CSV file, whose header names the parameters.

use super::Source;
use super::tasks::{check_names, counted};
use crate::InputError;
use crate::error::Place;
use crate::splitter::{Fields, Splitter};
use gleaner_wire::Words;
use gleaner_wire::job::TaskList;

/// A header, then a row for each task. A field in quotes may hold commas and quotes, but no line end; blank lines count
/// for nothing.
pub fn from_csv(source: &Source) -> Result<TaskList, InputError> {
    let place = source.place();
    let mut splitter = Splitter::new();
    let lines = source.text().lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
    let mut lines = lines.map(|(line, number)| (format!("{line}\n"), place.at_line(number)));
    let Some((header, at)) = lines.next() else {
        return Err(place.error("", "an empty file", "a header, then a row for each task"));
    };
    let names = all(split(&mut splitter, &header, &at)?);
    check_names(&names, &at)?;
    let mut values = Words::default();
    for (line, at) in lines {
        let fields = split(&mut splitter, &line, &at)?;
        if fields.len() != names.len() {
            let found = format!("a row of {}", fields.len());
            return Err(at.error("", found, format!("a field for each of the {} columns", names.len())));
        }
        (0..fields.len()).for_each(|index| values.push(fields.field(index)));
    }
    if values.is_empty() {
        return Err(place.error("", "a header alone", "a row for each task below it"));
    }
    counted(TaskList::Rows { names, values }, &place)
}

fn split<'a>(splitter: &'a mut Splitter, line: &str, at: &Place) -> Result<Fields<'a>, InputError> {
    splitter.split(line).ok_or_else(|| {
        let expected = "a closing quote in the same line: no field may have a line break within";
        at.error("", "a quote that is not closed in its line", expected)
    })
}

fn all(fields: Fields<'_>) -> Vec<String> {
    (0..fields.len()).map(|index| fields.field(index).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_a_task() {
        let read = |text: &str| from_csv(&Source::new("runs.csv", text));
        let tasks = read("scene, rate\nbarn,0.1\n\n\"a, b\",0.2\r\n").expect("two tasks");
        let row = |position| tasks.parameters(position).into_iter().skip(1).collect::<Vec<_>>();
        assert_eq!(tasks.count(), 2);
        assert_eq!(row(0), [("scene", "barn".to_owned()), ("rate", "0.1".to_owned())]);
        assert_eq!(row(1), [("scene", "a, b".to_owned()), ("rate", "0.2".to_owned())]);
        for (text, expected) in [
            ("", "runs.csv: found an empty file; expected a header, then a row for each task"),
            ("a\n", "runs.csv: found a header alone; expected a row for each task below it"),
            ("a,b\n1\n", "runs.csv:2: found a row of 1; expected a field for each of the 2 columns"),
            (
                "a\n\"1\n",
                "runs.csv:2: found a quote that is not closed in its line; expected a closing quote in the same line: \
                 no field may have a line break within",
            ),
            ("a,a\n1,2\n", "runs.csv:1: a: found the parameter twice; expected each parameter once"),
        ] {
            assert_eq!(read(text).expect_err(text).to_string(), expected);
        }
    }
}
