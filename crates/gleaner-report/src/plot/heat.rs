//! A table of cells by two things that were varied, shaded by a value: each cell also says it in figures, so that colour is
//! never the only difference.

use super::measure::{LABEL, MARGIN, TEXT, TITLE, TITLE_ROW, fit, width, wrap};
use super::paint::{Paint, SHADES};
use super::svg::{Lettering, Pen, Svg};

const LINE: f64 = 15.0;
const PAD: f64 = 7.0;
const CELL_MIN: f64 = 54.0;
const LABEL_MAX: f64 = 160.0;

/// One cell.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatCell {
    /// What shades it; a cell whose value is not finite is left blank.
    pub value: f64,
    /// What stands in it, line by line.
    pub lines: Vec<String>,
    /// Has a frame.
    pub framed: bool,
}

/// Cells by column and row.
#[derive(Debug, Clone, PartialEq)]
pub struct HeatMap {
    title: String,
    x: (String, Vec<String>),
    y: (String, Vec<String>),
    /// By row, the lowest first.
    rows: Vec<Vec<HeatCell>>,
    notes: Vec<String>,
}

impl HeatMap {
    /// Cells row by row, the lowest first; each axis has a label and a name for each column or row.
    ///
    /// # Panics
    /// Where there are not as many cells as columns and rows say.
    pub fn new(
        title: impl Into<String>,
        x: (impl Into<String>, Vec<String>),
        y: (impl Into<String>, Vec<String>),
        rows: Vec<Vec<HeatCell>>,
    ) -> Self {
        let (x, y) = ((x.0.into(), x.1), (y.0.into(), y.1));
        let whole = rows.len() == y.1.len() && rows.iter().all(|row| row.len() == x.1.len());
        assert!(whole, "a cell for each column of each row");
        Self { title: title.into(), x, y, rows, notes: Vec::new() }
    }

    /// Adds a sentence below.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// The map drawn.
    pub fn svg(&self) -> Svg {
        let cells = || self.rows.iter().flatten();
        let texts = cells().flat_map(|cell| &cell.lines).chain(&self.x.1);
        let cell_width = texts.map(|text| width(text, TEXT) + 2.0 * PAD).fold(CELL_MIN, f64::max);
        let lines = cells().map(|cell| cell.lines.len()).max().unwrap_or(1).max(1);
        let cell_height = lines as f64 * LINE + 2.0 * PAD;
        let names = self.y.1.iter().map(|name| width(name, TEXT)).fold(0.0, f64::max).min(LABEL_MAX);
        let left = MARGIN + LABEL + 8.0 + names + 8.0;
        let top = MARGIN + if self.title.is_empty() { 0.0 } else { TITLE_ROW };
        let (columns, rows) = (self.x.1.len() as f64, self.rows.len() as f64);
        let (right, bottom) = (left + columns * cell_width, top + rows * cell_height);
        let notes: Vec<String> =
            self.notes.iter().flat_map(|note| wrap(note, TEXT, (right - MARGIN).max(300.0))).collect();
        let notes_top = bottom + TEXT + 8.0 + LABEL + 12.0;

        let mut pen = Pen::default();
        let title = Lettering::new(TITLE, Paint::Ink).bold();
        pen.text(&fit(&self.title, TITLE * 1.05, right.max(300.0)), title, (MARGIN, MARGIN + TITLE / 2.0));
        let shade = self.shading();
        for (row, cells) in self.rows.iter().enumerate() {
            let y = bottom - (row as f64 + 1.0) * cell_height;
            for (column, cell) in cells.iter().enumerate() {
                let x = left + column as f64 * cell_width;
                draw(&mut pen, cell, shade(cell.value), (x, y), (cell_width, cell_height));
            }
            let name = fit(&self.y.1[row], TEXT, LABEL_MAX);
            let look = Lettering::new(TEXT, Paint::Muted).ending();
            pen.text(&name, look, (left - 8.0, y + cell_height / 2.0));
        }
        // Frames last: a neighbour's fill would cover a part of them.
        for (row, cells) in self.rows.iter().enumerate() {
            for (column, _) in cells.iter().enumerate().filter(|(_, cell)| cell.framed) {
                let (x, y) = (left + column as f64 * cell_width, bottom - (row as f64 + 1.0) * cell_height);
                let (x1, y1) = (x + cell_width, y + cell_height);
                pen.path(&[(x, y), (x1, y), (x1, y1), (x, y1), (x, y)], Paint::Ink, 2.0);
            }
        }
        let centred = Lettering::new(TEXT, Paint::Muted).centred();
        for (column, name) in self.x.1.iter().enumerate() {
            let x = left + (column as f64 + 0.5) * cell_width;
            pen.text(&fit(name, TEXT, cell_width), centred, (x, bottom + TEXT));
        }
        let label = Lettering::new(LABEL, Paint::Ink).centred();
        pen.text(&self.x.0, label, (f64::midpoint(left, right), bottom + TEXT + 8.0 + LABEL));
        pen.upright(&self.y.0, label, (MARGIN + LABEL / 2.0, f64::midpoint(top, bottom)));
        for (row, note) in notes.iter().enumerate() {
            let y = notes_top + (row as f64 + 0.5) * LINE;
            pen.text(note, Lettering::new(TEXT, Paint::Muted), (MARGIN, y));
        }
        let size = (right.max(300.0) + MARGIN, notes_top + notes.len() as f64 * LINE + MARGIN);
        let description = format!("{} by {} and {}.", self.title, self.x.0, self.y.0);
        Svg::document("plot", (&self.title, &description), size, &pen.elements)
    }

    /// The lowest value is the lightest; values that are alike have one shade.
    fn shading(&self) -> impl Fn(f64) -> Option<u8> + use<> {
        let finite = || self.rows.iter().flatten().map(|cell| cell.value).filter(|value| value.is_finite());
        let low = finite().fold(f64::INFINITY, f64::min);
        let high = finite().fold(f64::NEG_INFINITY, f64::max);
        move |value| {
            let part = (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
            value.is_finite().then(|| (part * f64::from(SHADES - 1)).round() as u8)
        }
    }
}

fn draw(pen: &mut Pen, cell: &HeatCell, shade: Option<u8>, (x, y): (f64, f64), (width, height): (f64, f64)) {
    let paint = shade.map_or(Paint::Paper, Paint::Shade);
    pen.rect((x, y), (x + width, y + height), paint);
    let ink = if shade.is_some() { Paint::OnShade } else { Paint::Muted };
    let first = y + height / 2.0 - (cell.lines.len() as f64 - 1.0) * LINE / 2.0;
    for (line, text) in cell.lines.iter().enumerate() {
        let at = (x + width / 2.0, first + line as f64 * LINE);
        pen.text(&fit(text, TEXT, width), Lettering::new(TEXT, ink).centred(), at);
    }
}
