//! A row as columns, and back: what comes back is what was written, or damaged.

use crate::store::checksum::checksum;
use crate::store::{Row, Seq, StoredRow, TaskRange};
use gleaner_units::{TaskId, Time};

/// The columns beside the number, the steps and the body.
pub(super) struct Columns {
    pub(super) at: i64,
    pub(super) tasks: String,
    pub(super) checksum: i64,
}

impl Columns {
    pub(super) fn of(seq: Seq, row: &Row) -> Self {
        let at = row.at.nanos().cast_signed();
        let tasks = write_tasks(&row.tasks);
        let checksum = checksum(seq, at, [&tasks, &row.steps, &row.body].map(String::as_bytes));
        Self { at, tasks, checksum }
    }
}

/// The row `seq` from its columns `at, tasks, steps, body, checksum`; `None` if they are not what was written.
pub(super) fn from_columns(seq: Seq, columns: &rusqlite::Row) -> Option<StoredRow> {
    let at: i64 = columns.get(1).ok()?;
    let bytes = |index: usize| columns.get_ref(index).ok()?.as_bytes().ok();
    let texts = [bytes(2)?, bytes(3)?, bytes(4)?];
    let expected: i64 = columns.get(5).ok()?;
    if checksum(seq, at, texts) != expected {
        return None;
    }
    let [tasks, steps, body] = texts.map(str::from_utf8);
    let (tasks, steps, body) = (read_tasks(tasks.ok()?)?, steps.ok()?.to_owned(), body.ok()?.to_owned());
    Some(StoredRow { seq, row: Row { at: Time::from_nanos(at.cast_unsigned()), tasks, steps, body } })
}

fn write_tasks(ranges: &[TaskRange]) -> String {
    let one = |range: &TaskRange| match (range.first().index(), range.last().index()) {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first}-{last}"),
    };
    ranges.iter().map(one).collect::<Vec<_>>().join(",")
}

fn read_tasks(text: &str) -> Option<Vec<TaskRange>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    text.split(',').map(read_range).collect()
}

fn read_range(text: &str) -> Option<TaskRange> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    TaskRange::between(read_task(first)?, read_task(last)?)
}

fn read_task(text: &str) -> Option<TaskId> {
    text.parse::<u32>().ok().map(|number| TaskId::new(number as usize))
}
