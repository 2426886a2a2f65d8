//! The table of a trace.

use crate::InputError;
use crate::ids::UniqueIds;
use crate::lines::NamedBy;
use crate::settings::is_speed;
use crate::table::{Column, Limit, Row, Table};
use gleaner_sim::{Draft, Trace};
use gleaner_units::Time;
use std::path::Path;

const LIMIT: Limit = Limit { rows: 100_000_000, of: "pieces of intervals" };
const EXPECTED_SPEED: &str = "0, or operations a second, from 1e-9 to 1e18";
pub(super) const COLUMNS: [&str; 5] = ["machine", "interval", "from_s", "until_s", "speed"];

/// Reads the table at `path`.
pub fn load(path: impl AsRef<Path>) -> Result<Trace, InputError> {
    let path = path.as_ref();
    named_by(NamedBy::Hand(path), path)
}

pub(crate) fn named_by(named: NamedBy<'_>, path: &Path) -> Result<Trace, InputError> {
    let mut table = Table::named_by(named, path, LIMIT)?;
    table.check_known(&COLUMNS)?;
    let columns = Columns::find(&table)?;
    let mut reading = Reading::default();
    while let Some(row) = table.next()? {
        reading.add(&row, &columns)?;
    }
    table.check_not_empty()?;
    Ok(Trace::of(reading.machines.into_ids(), reading.drafts))
}

struct Columns {
    machine: Column,
    interval: Column,
    from: Column,
    until: Column,
    speed: Column,
}

impl Columns {
    fn find(table: &Table) -> Result<Self, InputError> {
        let [machine, interval, from, until, speed] = COLUMNS.map(|name| table.column(name));
        Ok(Self { machine: machine?, interval: interval?, from: from?, until: until?, speed: speed? })
    }
}

#[derive(Default)]
struct Reading {
    machines: UniqueIds,
    drafts: Vec<Draft>,
    /// By machine: how many intervals it had so far, and where the latest is among the drafts.
    latest: Vec<(u64, usize)>,
}

impl Reading {
    fn add(&mut self, row: &Row<'_>, columns: &Columns) -> Result<(), InputError> {
        let machine = self.machine(row.id(columns.machine)?);
        let (interval, draft) = self.latest[machine];
        let number = number(row, columns.interval, interval)?;
        let from = row.time(columns.from, Time::ZERO)?;
        let until = row.time(columns.until, Time::ZERO)?;
        if until <= from {
            return Err(row.wrong(columns.until, &format!("more than {from}, where the row begins")));
        }
        let speed = row.number(columns.speed, EXPECTED_SPEED, |speed| speed == 0.0 || is_speed(speed))?;
        let draft = if number == interval {
            Times { from, until, before: &self.drafts[draft] }.check_follows(row, columns.from)?;
            draft
        } else {
            if interval > 0 {
                Times { from, until, before: &self.drafts[draft] }.check_after(row, columns.from)?;
            }
            self.latest[machine] = (number, self.drafts.len());
            self.drafts.push(Draft::new(machine as u32, from));
            self.drafts.len() - 1
        };
        self.drafts[draft].go_on(until, speed);
        Ok(())
    }

    fn machine(&mut self, id: &str) -> usize {
        if let Some(known) = self.machines.find(id) {
            return known;
        }
        self.machines.insert(id);
        self.latest.push((0, 0));
        self.latest.len() - 1
    }
}

/// The number of the interval that goes on, or of the next one.
fn number(row: &Row<'_>, column: Column, latest: u64) -> Result<u64, InputError> {
    let number = row.text(column).parse().ok();
    number.filter(|&number| number == latest + 1 || (number == latest && latest > 0)).ok_or_else(|| {
        let goes_on = if latest == 0 { String::new() } else { format!("{latest}, which goes on, or ") };
        row.wrong(column, &format!("{goes_on}{}, this machine's next interval", latest + 1))
    })
}

/// Where a row's time begins and ends, and what its machine had before.
struct Times<'a> {
    from: Time,
    until: Time,
    before: &'a Draft,
}

impl Times<'_> {
    /// A piece begins where the one before it ends.
    fn check_follows(&self, row: &Row<'_>, column: Column) -> Result<(), InputError> {
        let end = self.before.until;
        if self.from == end {
            return Ok(());
        }
        let gap = "a gap inside the interval";
        let what = if self.from > end { gap } else { self.too_early("an overlap inside the interval") };
        let found = format!("{}, {what}", row.text(column));
        Err(row.error(column, found, format!("{end}, where this machine's row before ends")))
    }

    /// An interval begins no earlier than the one before it ends.
    fn check_after(&self, row: &Row<'_>, column: Column) -> Result<(), InputError> {
        let end = self.before.until;
        if self.from >= end {
            return Ok(());
        }
        let found =
            format!("{}, {}", row.text(column), self.too_early("an overlap with the interval before"));
        Err(row.error(column, found, format!("{end} or more, where this machine's interval before ends")))
    }

    /// What is over before the row before it begins only stands in the wrong place.
    fn too_early(&self, overlap: &'static str) -> &'static str {
        if self.until <= self.before.latest_from() { "a row out of order" } else { overlap }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is wrong with a table of these rows, as `line column: found`.
    fn complaint(rows: &str) -> String {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("trace.csv");
        std::fs::write(&path, format!("machine,interval,from_s,until_s,speed\n{rows}")).expect("written");
        let error = load(&path).expect_err(rows);
        assert_eq!(error.file, path.display().to_string());
        let line = error.line.map(|line| line.to_string()).unwrap_or_default();
        format!("{line} {}: {}; {}", error.field, error.found, error.expected)
    }

    #[test]
    fn what_is_wrong_is_told_with_line_and_column() {
        let goes_on = "a,1,5,10,5\n";
        let cases = [
            ("", " : no pieces of intervals; pieces of intervals, one a line below the header"),
            ("a,1,0,10\n", "2 speed: 4 fields; 5, one a column"),
            ("a,2,0,10,5\n", "2 interval: \"2\"; 1, this machine's next interval"),
            ("a,1,5,5,5\n", "2 until_s: \"5\"; more than 5.000000000, where the row begins"),
            ("a,1,-1,5,5\n", "2 from_s: \"-1\"; seconds as a finite number, 0 or more"),
            ("a,1,0,NaN,5\n", "2 until_s: \"NaN\"; seconds as a finite number, 0 or more"),
            ("a,1,0,5,-5\n", "2 speed: \"-5\"; 0, or operations a second, from 1e-9 to 1e18"),
            ("a,1,0,5,NaN\n", "2 speed: \"NaN\"; 0, or operations a second, from 1e-9 to 1e18"),
            ("a,1,0,5,inf\n", "2 speed: \"inf\"; 0, or operations a second, from 1e-9 to 1e18"),
            ("a,1,0,5,5e-323\n", "2 speed: \"5e-323\"; 0, or operations a second, from 1e-9 to 1e18"),
            ("a,1,0,5,1e300\n", "2 speed: \"1e300\"; 0, or operations a second, from 1e-9 to 1e18"),
            (",1,0,5,5\n", "2 machine: an empty field; a name"),
        ];
        for (rows, expected) in cases {
            assert_eq!(complaint(rows), expected, "{rows}");
        }
        let second = [
            (
                "a,1,12,20,5\n",
                "3 from_s: 12, a gap inside the interval; 10.000000000, where this machine's row before ends",
            ),
            (
                "a,1,8,20,5\n",
                "3 from_s: 8, an overlap inside the interval; 10.000000000, where this machine's row before ends",
            ),
            (
                "a,2,8,20,5\n",
                "3 from_s: 8, an overlap with the interval before; 10.000000000 or more, where this machine's interval before ends",
            ),
            (
                "a,1,1,4,5\n",
                "3 from_s: 1, a row out of order; 10.000000000, where this machine's row before ends",
            ),
            (
                "a,2,1,5,5\n",
                "3 from_s: 1, a row out of order; 10.000000000 or more, where this machine's interval before ends",
            ),
            ("a,3,20,30,5\n", "3 interval: \"3\"; 1, which goes on, or 2, this machine's next interval"),
            ("a,0,20,30,5\n", "3 interval: \"0\"; 1, which goes on, or 2, this machine's next interval"),
        ];
        for (row, expected) in second {
            assert_eq!(complaint(&format!("{goes_on}{row}")), expected, "{row}");
        }
    }
}
