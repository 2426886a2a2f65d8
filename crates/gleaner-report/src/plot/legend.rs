//! The legend: rows above the panels, so that it never hides data.

use super::Style;
use super::figure::{Drawn, Sheet, text};
use super::marks::{MARKER, marker};
use super::measure::{TEXT, fit, width};
use super::paint::Paint;

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
    /// `names` laid out in rows of `room` pixels. A single series needs no legend: the axis says what it is.
    pub(super) fn new(names: &[(&str, Style)], room: f64) -> Self {
        let mut entries = Vec::new();
        if names.len() < 2 {
            return Self { entries, rows: 0 };
        }
        let (mut x, mut row) = (0.0, 0);
        for (slot, (name, style)) in names.iter().enumerate() {
            let name = fit(name, TEXT, NAME_MAX);
            let wide = SAMPLE + GAP + width(&name, TEXT);
            if x > 0.0 && x + wide > room {
                (x, row) = (0.0, row + 1);
            }
            entries.push(Entry { name, style: *style, slot: (slot % 256) as u8, x, row });
            x += wide + BETWEEN;
        }
        Self { entries, rows: row + 1 }
    }

    pub(super) fn height(&self) -> f64 {
        if self.rows == 0 { 0.0 } else { self.rows as f64 * ROW + 4.0 }
    }

    pub(super) fn draw(&self, sheet: &Sheet<'_>, left: f64, top: f64) -> Drawn {
        for entry in &self.entries {
            let (x, y) = (left + entry.x, top + (entry.row as f64 + 0.5) * ROW);
            sample(sheet, entry, x, y)?;
            sheet.text(&entry.name, &text(TEXT, Paint::Muted), x + SAMPLE + GAP, y)?;
        }
        Ok(())
    }
}

fn sample(sheet: &Sheet<'_>, entry: &Entry, x: f64, y: f64) -> Drawn {
    let line = [(x, y), (x + SAMPLE, y)];
    let middle = (x + SAMPLE / 2.0, y);
    match entry.style {
        Style::Line | Style::Step => sheet.path(&line, Paint::Curve(entry.slot), 1.8),
        Style::Marked => {
            sheet.path(&line, Paint::Curve(entry.slot), 1.6)?;
            marker(sheet, entry.slot, middle, MARKER)
        }
        Style::Points => marker(sheet, entry.slot, middle, MARKER),
        Style::Bars => sheet.rect((x + 8.0, y - 5.0), (x + 20.0, y + 5.0), Paint::Solid(entry.slot)),
    }
}
