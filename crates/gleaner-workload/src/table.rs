//! A CSV file with a header: columns by name, rows with their line, fields with their meaning.
//!
//! Columns come in any order. A quoted field may hold commas and quotes, but no line end.

use crate::InputError;
use crate::error::{Place, quoted};
use crate::lines::{Lines, NamedBy};
use crate::names::{list, one_of, plain};
use crate::section::Key;
use crate::settings::{ABOVE_0, finite_above_zero, finite_from_zero};
use crate::splitter::{Fields, Splitter};
use crate::submit::size_bytes;
use gleaner_units::Time;
use std::path::Path;

/// Far more than any grid has dimensions; columns are looked up one by one.
const COLUMNS_MAX: usize = 1000;

/// A column of one table, by its position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column(usize);

/// How many rows a table may have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub(crate) rows: u64,
    /// What a row is, in the plural.
    pub(crate) of: &'static str,
}

pub(crate) struct Table {
    file: Place,
    lines: Lines,
    splitter: Splitter,
    header: Place,
    names: Vec<String>,
    limit: Limit,
    rows: u64,
}

/// One row; it is as wide as the header.
pub(crate) struct Row<'a> {
    file: &'a Place,
    line: u64,
    names: &'a [String],
    fields: Fields<'a>,
}

impl Table {
    /// Opens the file at `path`, which the scenario names at `key`, and reads its header.
    pub(crate) fn open(path: &Path, key: &Key<'_>, limit: Limit) -> Result<Self, InputError> {
        Self::named_by(NamedBy::Key(key), path, limit)
    }

    /// Opens the file at `path`, which `named` asks for, and reads its header.
    pub(crate) fn named_by(named: NamedBy<'_>, path: &Path, limit: Limit) -> Result<Self, InputError> {
        let mut lines = Lines::open(path, named)?;
        let mut splitter = Splitter::new();
        let file = lines.file().clone();
        let Some(line) = lines.next()? else {
            return Err(file.error("", "an empty file", format!("a header, then {}", limit.of)));
        };
        let header = file.at_line(line.number);
        let fields = splitter.split(line.text).ok_or_else(|| open_quote(&header))?;
        if fields.len() > COLUMNS_MAX {
            return Err(header.error(
                "",
                format!("{} columns", fields.len()),
                format!("at most {COLUMNS_MAX}"),
            ));
        }
        let names: Vec<String> = (0..fields.len()).map(|index| fields.field(index).to_owned()).collect();
        for (index, name) in names.iter().enumerate() {
            if names[..index].contains(name) {
                return Err(header.error(name, "the column twice", "each column once"));
            }
        }
        Ok(Self { file, lines, splitter, header, names, limit, rows: 0 })
    }

    /// The names in the header.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    pub(crate) fn find(&self, name: &str) -> Option<Column> {
        self.names.iter().position(|known| known == name).map(Column)
    }

    pub(crate) fn column(&self, name: &str) -> Result<Column, InputError> {
        let header = || format!("the columns {}", list(self.names()));
        self.find(name).ok_or_else(|| self.header.error(name, header(), format!("a column {}", plain(name))))
    }

    pub(crate) fn columns(&self, names: &[String]) -> Result<Vec<Column>, InputError> {
        names.iter().map(|name| self.column(name)).collect()
    }

    /// Refuses columns that are not `known`.
    pub(crate) fn check_known(&self, known: &[&str]) -> Result<(), InputError> {
        match self.names().find(|name| !known.contains(name)) {
            Some(name) => {
                Err(self.header.error(name, "an unknown column", one_of(name, known.iter().copied())))
            }
            None => Ok(()),
        }
    }

    /// An error about the header.
    pub(crate) fn header_error(&self, field: &str, found: impl Into<String>, expected: &str) -> InputError {
        self.header.error(field, found, expected)
    }

    /// The next row; none at the end of the file.
    pub(crate) fn next(&mut self) -> Result<Option<Row<'_>>, InputError> {
        let Some(line) = self.lines.next()? else { return Ok(None) };
        let place = || self.file.at_line(line.number);
        let fields = match self.splitter.split(line.text) {
            Some(fields) if fields.len() == self.names.len() => fields,
            Some(fields) if line.ended => return Err(wrong_width(&place(), &self.names, fields.len())),
            None if line.ended => return Err(open_quote(&place())),
            Some(fields) if fields.len() > self.names.len() => {
                return Err(wrong_width(&place(), &self.names, fields.len()));
            }
            Some(_) | None => return Err(cut_off(&place(), self.names.len())),
        };
        self.rows += 1;
        if self.rows > self.limit.rows {
            let Limit { rows, of } = self.limit;
            return Err(place().error("", format!("more than {rows} {of}"), "a smaller table"));
        }
        Ok(Some(Row { file: &self.file, line: line.number, names: &self.names, fields }))
    }

    /// Refuses a table without rows.
    pub(crate) fn check_not_empty(&self) -> Result<(), InputError> {
        if self.rows > 0 {
            return Ok(());
        }
        let of = self.limit.of;
        Err(self.file.error("", format!("no {of}"), format!("{of}, one a line below the header")))
    }
}

impl<'a> Row<'a> {
    #[inline]
    pub(crate) fn text(&self, column: Column) -> &'a str {
        self.fields.field(column.0)
    }

    /// A field that must not be empty.
    pub(crate) fn id(&self, column: Column) -> Result<&'a str, InputError> {
        let id = self.text(column);
        if id.is_empty() { Err(self.error(column, "an empty field", "a name")) } else { Ok(id) }
    }

    #[inline]
    pub(crate) fn number(
        &self,
        column: Column,
        expected: &str,
        valid: impl Fn(f64) -> bool,
    ) -> Result<f64, InputError> {
        match self.text(column).parse::<f64>() {
            // Adding zero makes −0 into 0: dividing by them differs.
            Ok(number) if valid(number) => Ok(number + 0.0),
            Ok(_) | Err(_) => Err(self.wrong(column, expected)),
        }
    }

    pub(crate) fn above_0(&self, column: Column) -> Result<f64, InputError> {
        self.number(column, ABOVE_0, finite_above_zero)
    }

    /// Bytes, as `1048576` or `4GB`; nothing where the field is empty or the table has no such column.
    pub(crate) fn find_size(&self, column: Option<Column>) -> Result<Option<u64>, InputError> {
        let Some(column) = column.filter(|column| !self.text(*column).is_empty()) else { return Ok(None) };
        let size = size_bytes(self.text(column)).map_err(|wrong| self.wrong(column, wrong.expected));
        size.map(Some)
    }

    /// Cores; 1 where the field is empty or the table has no such column.
    pub(crate) fn cores(&self, column: Option<Column>) -> Result<u32, InputError> {
        let Some(column) = column.filter(|column| !self.text(*column).is_empty()) else { return Ok(1) };
        let cores = self.text(column).parse().ok().filter(|&cores| cores > 0);
        cores.ok_or_else(|| self.wrong(column, "a whole number, 1 or more, below 2^32"))
    }

    /// The fields of `columns` into `vector`.
    #[inline]
    pub(crate) fn vector(
        &self,
        columns: &[Column],
        (expected, valid): (&str, impl Fn(f64) -> bool),
        vector: &mut Vec<f64>,
    ) -> Result<(), InputError> {
        vector.clear();
        for &column in columns {
            vector.push(self.number(column, expected, &valid)?);
        }
        Ok(())
    }

    /// A time that is not before `earliest`, the row above's.
    #[inline]
    pub(crate) fn time(&self, column: Column, earliest: Time) -> Result<Time, InputError> {
        let seconds = self.number(column, "seconds as a finite number, 0 or more", finite_from_zero)?;
        let Some(time) = Time::from_seconds(seconds) else {
            return Err(self.wrong(column, "at most 18446744073 seconds, where time ends"));
        };
        if time < earliest {
            return Err(self.wrong(column, &format!("{earliest} or more, as the row before has that time")));
        }
        Ok(time)
    }

    /// Its line in the file.
    pub(crate) fn place(&self) -> Place {
        self.file.at_line(self.line)
    }

    /// The field in `column` is not what is expected.
    pub(crate) fn wrong(&self, column: Column, expected: &str) -> InputError {
        self.error(column, quoted(self.text(column)), expected)
    }

    /// Refuses work that would end after the end of time even on the fastest machine, worker, site or element.
    pub(crate) fn check_duration(
        &self,
        column: Column,
        seconds: f64,
        machine: &str,
    ) -> Result<(), InputError> {
        if Time::ZERO.after_seconds(seconds) < Time::NEVER {
            return Ok(());
        }
        Err(self.wrong(column, &format!("a length that some {machine} can do in less than 584 years")))
    }

    pub(crate) fn error(
        &self,
        column: Column,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> InputError {
        self.error_in(&self.names[column.0], found, expected)
    }

    pub(crate) fn error_in(
        &self,
        field: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> InputError {
        self.place().error(field, found, expected)
    }
}

fn wrong_width(place: &Place, names: &[String], fields: usize) -> InputError {
    let field = names.get(fields).map_or("", String::as_str);
    place.error(field, format!("{fields} fields"), format!("{}, one a column", names.len()))
}

fn cut_off(place: &Place, width: usize) -> InputError {
    place.error("", "that the file ends in the middle of a row", format!("{width} fields and a line end"))
}

fn open_quote(place: &Place) -> InputError {
    place.error("", "a quote that is not closed", "quoted fields that end on their line")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document;
    use crate::section::Section;

    #[test]
    fn tables_end_at_their_limit() {
        let folder = tempfile::tempdir().expect("a folder");
        let (scenario, path) = (folder.path().join("a.toml"), folder.path().join("a.csv"));
        std::fs::write(&scenario, "table = 1").expect("a file is written");
        std::fs::write(&path, "id\na\nb\nc\n").expect("a file is written");
        let document = document::read(&scenario, &[]).expect("a document");
        let key = Section::root(&document, &["table"]).expect("keys").key("table", "").expect("a key");
        let mut table = Table::open(&path, &key, Limit { rows: 2, of: "letters" }).expect("a table");
        assert!(table.next().is_ok_and(|row| row.is_some()));
        assert!(table.next().is_ok_and(|row| row.is_some()));
        let error = table.next().err().expect("an error");
        assert_eq!((error.line, error.found.as_str()), (Some(4), "more than 2 letters"));
    }
}
