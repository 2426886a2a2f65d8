//! The sheet: title, legend, panels and notes in their places, and the SVG document around them.

use std::convert::Infallible;

use plotters::coord::Shift;
use plotters::element::{Circle, PathElement, Polygon, Rectangle};
use plotters::prelude::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontDesc, FontFamily, FontStyle, ShapeStyle, TextStyle};

use super::canvas::{Canvas, UNITS};
use super::legend::Legend;
use super::measure::{TEXT, TITLE, fit, wrap};
use super::paint::Paint;
use super::panel::{self, Place};
use super::shown::{Shown, names, shown};
use super::{Plot, PlotGrid, Style, Svg, describe};
use crate::escape::escape;

/// Drawing to a string does not fail; plotters' signatures allow for canvases that do.
pub(super) type Drawn<T = ()> = Result<T, DrawingAreaErrorKind<Infallible>>;

const MARGIN: f64 = 14.0;
const TITLE_ROW: f64 = 28.0;
const NOTE_ROW: f64 = 17.0;
const PANEL_GAP: f64 = 18.0;
const ONE: (f64, f64) = (720.0, 360.0);
const SMALL: (f64, f64) = (330.0, 260.0);

pub(super) fn draw_one(plot: &Plot) -> Svg {
    Figure { title: &plot.title, columns: 1, panels: &[plot], size: ONE, titled: false }.draw()
}

pub(super) fn draw_grid(grid: &PlotGrid) -> Svg {
    let panels: Vec<&Plot> = grid.panels.iter().collect();
    let columns = grid.columns.min(panels.len().max(1));
    Figure { title: &grid.title, columns, panels: &panels, size: SMALL, titled: true }.draw()
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

        let mut body = String::new();
        let sheet = Sheet { area: Canvas::new(&mut body, width, height).into_drawing_area() };
        let drawn = self.title(&sheet, inner).and_then(|()| {
            legend.draw(&sheet, MARGIN, MARGIN + title_row)?;
            self.panels(&sheet, below_legend, &shown)?;
            draw_notes(&sheet, &notes, below_panels + 8.0)
        });
        drawn.expect("drawing to a string does not fail");
        drop(sheet);
        self.document(&body, width, height, &names)
    }

    fn title(&self, sheet: &Sheet<'_>, inner: f64) -> Drawn {
        let style = bold(TITLE, Paint::Ink);
        sheet.text(&fit(self.title, TITLE * 1.05, inner), &style, MARGIN, MARGIN + TITLE / 2.0)
    }

    fn panels(&self, sheet: &Sheet<'_>, top: f64, shown: &[Vec<Shown>]) -> Drawn {
        for (at, (plot, shown)) in self.panels.iter().zip(shown).enumerate() {
            let (column, row) = (at % self.columns, at / self.columns);
            let place = Place {
                left: MARGIN + column as f64 * (self.size.0 + PANEL_GAP),
                top: top + row as f64 * (self.size.1 + PANEL_GAP),
                width: self.size.0,
                height: self.size.1,
            };
            let title = if self.titled { plot.title.as_str() } else { "" };
            panel::draw(sheet, plot, title, shown, place)?;
        }
        Ok(())
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
        let title = escape(self.title);
        let description = escape(&describe::describe(self.panels, names));
        let (paper, paper_class) = (Paint::Paper.colour(), Paint::Paper.class());
        let (width, height) = (width.ceil(), height.ceil());
        let class = if self.columns > 1 { "plot grid" } else { "plot" };
        Svg(format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" class="{class}" role="img" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif" stroke-linejoin="round">
<title>{title}</title>
<desc>{description}</desc>
<rect width="100%" height="100%" class="f-{paper_class}" fill="{paper}"/>
{body}</svg>
"#
        ))
    }
}

fn draw_notes(sheet: &Sheet<'_>, notes: &[String], top: f64) -> Drawn {
    for (row, note) in notes.iter().enumerate() {
        let y = top + (row as f64 + 0.5) * NOTE_ROW;
        sheet.text(note, &text(TEXT, Paint::Muted), MARGIN, y)?;
    }
    Ok(())
}

/// plotters' drawing area, addressed in pixels.
pub(super) struct Sheet<'a> {
    pub(super) area: DrawingArea<Canvas<'a>, Shift>,
}

impl Sheet<'_> {
    pub(super) fn text(&self, text: &str, style: &TextStyle<'_>, x: f64, y: f64) -> Drawn {
        self.area.draw_text(text, style, units((x, y)))
    }

    pub(super) fn path(&self, points: &[(f64, f64)], paint: Paint, width: f64) -> Drawn {
        let points: Vec<_> = points.iter().copied().map(units).collect();
        self.area.draw(&PathElement::new(points, stroke(paint, width)))
    }

    pub(super) fn rect(&self, from: (f64, f64), to: (f64, f64), paint: Paint) -> Drawn {
        self.area.draw(&Rectangle::new([units(from), units(to)], paint.token().filled()))
    }

    pub(super) fn circle(&self, centre: (f64, f64), radius: f64, paint: Paint) -> Drawn {
        self.area.draw(&Circle::new(units(centre), radius * UNITS, paint.token().filled()))
    }

    pub(super) fn polygon(&self, corners: &[(f64, f64)], paint: Paint) -> Drawn {
        let corners: Vec<_> = corners.iter().copied().map(units).collect();
        self.area.draw(&Polygon::new(corners, paint.token().filled()))
    }
}

/// A text that begins at its position and is centred in height.
pub(super) fn text(size: f64, paint: Paint) -> TextStyle<'static> {
    styled(size, paint, FontStyle::Normal)
}

/// A text centred at its position.
pub(super) fn centred(size: f64, paint: Paint) -> TextStyle<'static> {
    text(size, paint).pos(Pos::new(HPos::Center, VPos::Center))
}

pub(super) fn bold(size: f64, paint: Paint) -> TextStyle<'static> {
    styled(size, paint, FontStyle::Bold)
}

pub(super) fn stroke(paint: Paint, width: f64) -> ShapeStyle {
    paint.token().stroke_width((width * UNITS) as u32)
}

fn styled(size: f64, paint: Paint, style: FontStyle) -> TextStyle<'static> {
    let font = FontDesc::new(FontFamily::SansSerif, size * UNITS, style);
    TextStyle { font, color: paint.token().to_backend_color(), pos: Pos::new(HPos::Left, VPos::Center) }
}

fn units((x, y): (f64, f64)) -> (i32, i32) {
    ((x * UNITS).round() as i32, (y * UNITS).round() as i32)
}
