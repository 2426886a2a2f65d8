//! The canvas that plotters draws on: writes SVG elements into a string.
//!
//! plotters has an SVG backend of its own; this one exists for what that cannot say: dashes, classes by which a
//! page changes colours in the dark, texts measured without a font, and positions finer than a pixel. plotters
//! counts in whole units, so **a unit is a tenth of a pixel** here, and only this module divides by ten.

use std::convert::Infallible;
use std::fmt::Write as _;

use plotters::prelude::DrawingBackend;
use plotters_backend::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingErrorKind, FontStyle, FontTransform,
};

use super::measure;
use super::paint::Paint;
use crate::escape::escape;

/// Units in a pixel.
pub(super) const UNITS: f64 = 10.0;

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

pub(super) struct Canvas<'a> {
    out: &'a mut String,
    size: (u32, u32),
}

impl<'a> Canvas<'a> {
    /// A canvas of `width` by `height` pixels that appends its elements to `out`.
    pub(super) fn new(out: &'a mut String, width: f64, height: f64) -> Self {
        Self { out, size: ((width * UNITS) as u32, (height * UNITS) as u32) }
    }

    fn put(&mut self, element: &str) {
        self.out.push_str(element);
        self.out.push('\n');
    }
}

impl DrawingBackend for Canvas<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, at: BackendCoord, color: BackendColor) -> Drawn {
        self.draw_rect(at, (at.0 + 1, at.1 + 1), &color, true)
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
        self.draw_path([from, to], style)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        let outline = outline(path);
        if outline.is_empty() {
            return Ok(());
        }
        let stroke = stroke(style);
        self.put(&format!(r#"<path d="{outline}" fill="none" {stroke}/>"#));
        Ok(())
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        (x0, y0): BackendCoord,
        (x1, y1): BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let paint = if fill { filled(style) } else { format!(r#"fill="none" {}"#, stroke(style)) };
        let (x, y, width, height) =
            (px(x0.min(x1)), px(y0.min(y1)), px((x1 - x0).abs()), px((y1 - y0).abs()));
        self.put(&format!(r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" {paint}/>"#));
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        (x, y): BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Drawn {
        let paint = if fill { filled(style) } else { format!(r#"fill="none" {}"#, stroke(style)) };
        let radius = px(radius.cast_signed());
        self.put(&format!(r#"<circle cx="{}" cy="{}" r="{radius}" {paint}/>"#, px(x), px(y)));
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> Drawn {
        let corners: Vec<_> = corners.into_iter().map(|(x, y)| format!("{},{}", px(x), px(y))).collect();
        self.put(&format!(r#"<polygon points="{}" {}/>"#, corners.join(" "), filled(style)));
        Ok(())
    }

    fn draw_text<T: BackendTextStyle>(&mut self, text: &str, style: &T, (x, y): BackendCoord) -> Drawn {
        if text.is_empty() {
            return Ok(());
        }
        let anchor = match style.anchor().h_pos {
            HPos::Left => "start",
            HPos::Center => "middle",
            HPos::Right => "end",
        };
        let drop = match style.anchor().v_pos {
            VPos::Top => "0.8em",
            VPos::Center => "0.35em",
            VPos::Bottom => "-0.2em",
        };
        let (x, y) = (px(x), px(y));
        let size = px(style.size().round() as i32);
        let weight = if matches!(style.style(), FontStyle::Bold) { r#" font-weight="600""# } else { "" };
        let turn = turn(&style.transform()).map(|by| format!(r#" transform="rotate({by} {x} {y})""#));
        let turn = turn.unwrap_or_default();
        let (fill, text) = (filled(&style.color()), escape(text));
        self.put(&format!(
            r#"<text x="{x}" y="{y}" dy="{drop}" text-anchor="{anchor}" font-size="{size}"{weight} {fill}{turn}>{text}</text>"#
        ));
        Ok(())
    }

    fn estimate_text_size<T: BackendTextStyle>(
        &self,
        text: &str,
        style: &T,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        Ok((measure::width(text, style.size()) as u32, style.size() as u32))
    }
}

fn turn(transform: &FontTransform) -> Option<i32> {
    match transform {
        FontTransform::None => None,
        FontTransform::Rotate90 => Some(90),
        FontTransform::Rotate180 => Some(180),
        FontTransform::Rotate270 => Some(270),
    }
}

fn stroke<S: BackendStyle>(style: &S) -> String {
    let paint = Paint::of(style.color());
    let width = px(style.stroke_width().cast_signed());
    let (class, colour) = (paint.class(), paint.colour());
    let dash = paint.dash().map(|dash| format!(r#" stroke-dasharray="{dash}""#)).unwrap_or_default();
    format!(r#"class="s-{class}" stroke="{colour}" stroke-width="{width}"{dash}"#)
}

fn filled<S: BackendStyle>(style: &S) -> String {
    let paint = Paint::of(style.color());
    format!(r#"class="f-{}" fill="{}""#, paint.class(), paint.colour())
}

/// Units as pixels, with a decimal only where there is one.
fn px(units: i32) -> String {
    let (sign, units) = (if units < 0 { "-" } else { "" }, units.unsigned_abs());
    match (units / 10, units % 10) {
        (whole, 0) => format!("{sign}{whole}"),
        (whole, tenth) => format!("{sign}{whole}.{tenth}"),
    }
}

/// The path's commands; empty if it does not lead anywhere. Steps are most of what is drawn, so level and upright
/// parts use the short commands.
fn outline(path: impl IntoIterator<Item = BackendCoord>) -> String {
    let mut commands = String::new();
    let mut last: Option<BackendCoord> = None;
    let mut moved = false;
    for (x, y) in path {
        let written = match last {
            None => write!(commands, "M{} {}", px(x), px(y)),
            Some(last) if last == (x, y) => continue,
            Some((_, at)) if at == y => write!(commands, "H{}", px(x)),
            Some((at, _)) if at == x => write!(commands, "V{}", px(y)),
            Some(_) => write!(commands, "L{} {}", px(x), px(y)),
        };
        written.expect("writing to a string does not fail");
        moved |= last.is_some();
        last = Some((x, y));
    }
    if moved { commands } else { String::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlines_are_short_and_skip_what_does_not_move() {
        assert_eq!(outline([(0, 0), (0, 0), (15, 0), (15, -7), (20, 3)]), "M0 0H1.5V-0.7L2 0.3");
        assert_eq!(outline([(5, 5), (5, 5)]), "");
    }
}
