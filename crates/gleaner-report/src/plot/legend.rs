//! The legend: rows above the panels, so that it never hides data.

use super::marks::marker;
use super::measure::{TEXT, fit, width};
use super::paint::Paint;
use super::series::Style;
use super::svg::{Lettering, Pen};

const SAMPLE: f64 = 28.0;
const GAP: f64 = 6.0;
const BETWEEN: f64 = 18.0;
const ROW: f64 = 20.0;
const NAME_MAX: f64 = 220.0;

/// Where each name stands.
pub(super) struct Legend {
    entries: Vec<Entry>,
    rows: usize,
}

struct Entry {
    name: String,
    style: Style,
    slot: u8,
    x: f64,
    row: usize,
}

impl Legend {
    /// `names` laid out in a row of `room` pixels, or in columns where one row is too short. A single series needs
    /// no legend: the axis says what it is.
    pub(super) fn new(names: &[(&str, Style)], room: f64) -> Self {
        if names.len() < 2 {
            return Self { entries: Vec::new(), rows: 0 };
        }
        let fitted: Vec<String> = names.iter().map(|(name, _)| fit(name, TEXT, NAME_MAX)).collect();
        let widths = || fitted.iter().map(|name| SAMPLE + GAP + width(name, TEXT) + BETWEEN);
        let widest = widths().fold(0.0, f64::max);
        let columns = if widths().sum::<f64>() <= room + BETWEEN {
            names.len()
        } else {
            ((room + BETWEEN) / widest) as usize
        };
        let columns = columns.max(1);
        let one_row = columns == names.len();
        let starts: Vec<f64> = widths()
            .scan(0.0, |x, wide| {
                let start = *x;
                *x += wide;
                Some(start)
            })
            .collect();
        let entries = fitted.into_iter().zip(names).enumerate().map(|(at, (name, (_, style)))| Entry {
            name,
            style: *style,
            slot: (at % 256) as u8,
            x: if one_row { starts[at] } else { (at % columns) as f64 * widest },
            row: at / columns,
        });
        Self { entries: entries.collect(), rows: names.len().div_ceil(columns) }
    }

    pub(super) fn height(&self) -> f64 {
        if self.rows == 0 { 0.0 } else { self.rows as f64 * ROW + 4.0 }
    }

    pub(super) fn draw(&self, pen: &mut Pen, left: f64, top: f64) {
        for entry in &self.entries {
            let (x, y) = (left + entry.x, top + (entry.row as f64 + 0.5) * ROW);
            sample(pen, entry, x, y);
            pen.text(&entry.name, Lettering::new(TEXT, Paint::Muted), (x + SAMPLE + GAP, y));
        }
    }
}

fn sample(pen: &mut Pen, entry: &Entry, x: f64, y: f64) {
    let line = [(x, y), (x + SAMPLE, y)];
    let middle = (x + SAMPLE / 2.0, y);
    match entry.style {
        Style::Line | Style::Step => pen.path(&line, Paint::Curve(entry.slot), 1.8),
        Style::Marked => {
            pen.path(&line, Paint::Curve(entry.slot), 1.6);
            marker(pen, entry.slot, middle);
        }
        Style::Points => marker(pen, entry.slot, middle),
        Style::Bars => pen.rect((x + 8.0, y - 5.0), (x + 20.0, y + 5.0), Paint::Solid(entry.slot)),
    }
}
