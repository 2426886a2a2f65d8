//! The figure: title, legend, panels and notes in their places, and the SVG document around them.

use super::describe;
use super::legend::Legend;
use super::measure::{MARGIN, TEXT, TITLE, TITLE_ROW, fit, wrap};
use super::paint::Paint;
use super::panel::{self, Area};
use super::series::{Plot, PlotGrid, Style};
use super::shown::{Shown, names, shown};
use super::svg::{Lettering, Pen, Svg};

const NOTE_ROW: f64 = 17.0;
const PANEL_GAP: f64 = 18.0;
const ONE: (f64, f64) = (720.0, 360.0);
const SMALL: (f64, f64) = (330.0, 260.0);

impl Plot {
    /// The plot drawn.
    pub fn svg(&self) -> Svg {
        Figure { title: &self.title, columns: 1, panels: &[self], size: ONE, titled: false }.draw()
    }
}

impl PlotGrid {
    /// The panels drawn.
    pub fn svg(&self) -> Svg {
        let panels: Vec<&Plot> = self.panels.iter().collect();
        let columns = self.columns.min(panels.len().max(1));
        Figure { title: &self.title, columns, panels: &panels, size: SMALL, titled: true }.draw()
    }
}

struct Figure<'a> {
    title: &'a str,
    columns: usize,
    panels: &'a [&'a Plot],
    size: (f64, f64),
    titled: bool,
}

impl Figure<'_> {
    fn draw(&self) -> Svg {
        let names = names(self.panels);
        let (shown, skipped): (Vec<Vec<Shown>>, Vec<usize>) =
            self.panels.iter().map(|plot| shown(plot, &names)).unzip();
        let inner = self.columns as f64 * (self.size.0 + PANEL_GAP) - PANEL_GAP;
        let notes = self.notes(skipped.iter().sum(), inner);
        let legend = Legend::new(&names, inner);
        let title_row = if self.title.is_empty() { 0.0 } else { TITLE_ROW };
        let below_legend = MARGIN + title_row + legend.height() + if self.titled { 6.0 } else { 0.0 };
        let rows = self.panels.len().div_ceil(self.columns) as f64;
        let below_panels = below_legend + rows * (self.size.1 + PANEL_GAP) - PANEL_GAP;
        let (width, height) =
            (inner + 2.0 * MARGIN, below_panels + 8.0 + notes.len() as f64 * NOTE_ROW + MARGIN / 2.0);

        let mut pen = Pen::default();
        let title = fit(self.title, TITLE * 1.05, inner);
        pen.text(&title, Lettering::new(TITLE, Paint::Ink).bold(), (MARGIN, MARGIN + TITLE / 2.0));
        legend.draw(&mut pen, MARGIN, MARGIN + title_row);
        self.panels(&mut pen, below_legend, &shown);
        for (row, note) in notes.iter().enumerate() {
            let y = below_panels + 8.0 + (row as f64 + 0.5) * NOTE_ROW;
            pen.text(note, Lettering::new(TEXT, Paint::Muted), (MARGIN, y));
        }
        self.document(&pen.elements, width, height, &names)
    }

    fn panels(&self, pen: &mut Pen, top: f64, shown: &[Vec<Shown>]) {
        for (at, (plot, shown)) in self.panels.iter().zip(shown).enumerate() {
            let (column, row) = (at % self.columns, at / self.columns);
            let place = Area {
                left: MARGIN + column as f64 * (self.size.0 + PANEL_GAP),
                top: top + row as f64 * (self.size.1 + PANEL_GAP),
                width: self.size.0,
                height: self.size.1,
            };
            let title = if self.titled { plot.title.as_str() } else { "" };
            panel::draw(pen, plot, title, shown, place);
        }
    }

    fn notes(&self, skipped: usize, room: f64) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        for note in self.panels.iter().flat_map(|plot| &plot.notes) {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        match skipped {
            0 => {}
            1 => notes.push("1 point that cannot be drawn is left out.".to_owned()),
            n => notes.push(format!("{n} points that cannot be drawn are left out.")),
        }
        notes.iter().flat_map(|note| wrap(note, TEXT, room)).collect()
    }

    fn document(&self, body: &str, width: f64, height: f64, names: &[(&str, Style)]) -> Svg {
        let class = if self.columns > 1 { "plot grid" } else { "plot" };
        Svg::document(class, (self.title, &describe::describe(self.panels, names)), (width, height), body)
    }
}
