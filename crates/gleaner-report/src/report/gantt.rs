//! A schedule that a reader can look into: machine × time, with zoom, and a task's facts under the pointer. The chart is the
//! page's own (`web/src/parts/gantt.tsx`), built and committed; its data lie beside it as JSON.

use gleaner_wire::text::is_hidden;
use std::fmt::Write as _;

/// Bars in one chart; more take long to open, and cannot be told apart.
const BARS_MAX: usize = 50_000;
/// Colours for what belongs together.
const HUES: usize = 8;

/// What ran where, and when.
#[derive(Debug, Clone, PartialEq)]
pub struct Gantt {
    caption: String,
    label: String,
    rows: Vec<String>,
    bars: Vec<Bar>,
    left_out: usize,
    /// What a bar is, and a row.
    counted: (&'static str, &'static str),
}

/// A task on a machine.
#[derive(Debug, Clone, PartialEq)]
pub struct Bar {
    /// The machine's place among the rows.
    pub row: usize,
    /// How many rows it takes, where a task may take several; none where rows show tasks side by side.
    pub rows: Option<usize>,
    /// In seconds.
    pub from_s: f64,
    /// Likewise.
    pub to_s: f64,
    /// What belongs together has the same number, and colour.
    pub group: usize,
    /// What it is called.
    pub name: String,
}

impl Gantt {
    /// A chart of these rows and bars. Bars that end before they begin, or are of no row, are left out; of too many the first are shown.
    pub fn new(
        caption: impl Into<String>,
        label: impl Into<String>,
        rows: impl IntoIterator<Item = String>,
        bars: impl IntoIterator<Item = Bar>,
    ) -> Self {
        let rows: Vec<String> = rows.into_iter().collect();
        let is_drawn = |bar: &Bar| {
            bar.row < rows.len() && bar.from_s.is_finite() && bar.to_s.is_finite() && bar.from_s <= bar.to_s
        };
        let mut bars: Vec<Bar> = bars.into_iter().collect();
        let all = bars.len();
        bars.retain(is_drawn);
        bars.sort_by(|one, other| one.from_s.total_cmp(&other.from_s));
        bars.truncate(BARS_MAX);
        let left_out = all - bars.len();
        let counted = ("run", "machine");
        Self { caption: caption.into(), label: label.into(), rows, bars, left_out, counted }
    }

    /// The same where bars and rows are something else than runs and machines.
    #[must_use]
    pub fn counting(self, bar: &'static str, row: &'static str) -> Self {
        Self { counted: (bar, row), ..self }
    }

    /// The sentence below it.
    pub(super) fn caption(&self) -> String {
        match self.left_out {
            0 => self.caption.clone(),
            left_out => format!("{} {left_out} more are not shown.", self.caption),
        }
    }

    /// From its first bar's beginning to the last one's end; nothing where there are none.
    pub(super) fn stretch(&self) -> Option<(f64, f64)> {
        let first = self.bars.first()?.from_s;
        Some((first, self.bars.iter().fold(first, |end, bar| end.max(bar.to_s))))
    }

    /// As the chart reads it, with a clock from one moment to the other, safe within a `script` of HTML and of XML.
    pub(super) fn json(&self, (begin, end): (f64, f64)) -> String {
        let mut json = String::from("{\"label\":");
        text(&mut json, &self.label);
        let (bar, row) = self.counted;
        put(&mut json, format_args!(",\"counted\":[\"{bar}\",\"{row}\"]"));
        json.push_str(",\"rows\":[");
        for (index, row) in self.rows.iter().enumerate() {
            comma(&mut json, index);
            text(&mut json, row);
        }
        json.push_str("],\"bars\":[");
        for (index, bar) in self.bars.iter().enumerate() {
            comma(&mut json, index);
            let Bar { row, rows, from_s, to_s, group, name } = bar;
            put(&mut json, format_args!("[{row},{from_s},{to_s},\"hue-{}\",", group % HUES));
            text(&mut json, name);
            if let Some(rows) = rows {
                put(&mut json, format_args!(",{rows}"));
            }
            json.push(']');
        }
        put(&mut json, format_args!("],\"from\":{begin},\"to\":{end}}}"));
        json
    }
}

fn put(json: &mut String, text: std::fmt::Arguments<'_>) {
    json.write_fmt(text).expect("a String takes all that is written");
}

fn comma(json: &mut String, index: usize) {
    if index > 0 {
        json.push(',');
    }
}

/// A string of JSON in which nothing is markup.
fn text(json: &mut String, text: &str) {
    json.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' | '<' | '>' | '&' | '\'' | '\u{fffe}' | '\u{ffff}' => {
                put(json, format_args!("\\u{:04x}", u32::from(c)));
            }
            // As everywhere in a report; the chart does the same with what it is given.
            c if is_hidden(c) => json.push('\u{fffd}'),
            c => json.push(c),
        }
    }
    json.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(row: usize, from_s: f64, to_s: f64) -> Bar {
        Bar { row, rows: None, from_s, to_s, group: 9, name: "</script>\"\\\u{0}".to_owned() }
    }

    #[test]
    fn what_cannot_be_drawn_is_left_out_and_counted() {
        let bars =
            [bar(0, 3.0, 4.0), bar(1, 0.0, 1.0), bar(0, 0.5, f64::NAN), bar(0, 2.0, 1.0), bar(0, 1.0, 1.5)];
        let gantt = Gantt::new("Runs.", "runs", ["m<1>".to_owned()], bars);
        assert_eq!(gantt.stretch(), Some((1.0, 4.0)));
        assert_eq!(gantt.caption(), "Runs. 3 more are not shown.");
        assert_eq!(
            gantt.json((1.0, 4.0)),
            "{\"label\":\"runs\",\"counted\":[\"run\",\"machine\"],\"rows\":[\"m\\u003c1\\u003e\"],\"bars\":[\
             [0,1,1.5,\"hue-1\",\"\\u003c/script\\u003e\\u0022\\u005c\u{fffd}\"],\
             [0,3,4,\"hue-1\",\"\\u003c/script\\u003e\\u0022\\u005c\u{fffd}\"]],\"from\":1,\"to\":4}"
        );
    }
}
