//! A finished drawing, and the pen that makes one: SVG elements, with positions to a tenth of a pixel.

use std::fmt::{self, Write as _};

use super::paint::Paint;
use crate::escape::escape;

/// A place in pixels, y downwards.
pub(super) type Point = (f64, f64);

/// A complete SVG document: a file of its own, or inline in a page. Only this crate makes one, so a report can hold
/// it as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Svg(pub(super) String);

impl Svg {
    /// A drawing of that size on paper, with what it is called and what it shows in words.
    pub(super) fn document(
        class: &str,
        (title, description): (&str, &str),
        (width, height): (f64, f64),
        body: &str,
    ) -> Self {
        let (title, description) = (escape(title), escape(description));
        let (paper, paper_class) = (Paint::Paper.colour(), Paint::Paper.class());
        let (width, height) = (width.ceil(), height.ceil());
        Self(format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" class="{class}" role="img" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'DejaVu Sans', sans-serif" stroke-linejoin="round">
<title>{title}</title>
<desc>{description}</desc>
<rect width="100%" height="100%" class="f-{paper_class}" fill="{paper}"/>
{body}</svg>
"#
        ))
    }

    /// The document's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Svg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<[u8]> for Svg {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl From<Svg> for String {
    fn from(svg: Svg) -> Self {
        svg.0
    }
}

/// How a text looks, and which part of it stands at its place. It is always centred in height.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lettering {
    size: f64,
    paint: Paint,
    anchor: &'static str,
    weight: &'static str,
}

impl Lettering {
    /// Text that begins at its place.
    pub(super) fn new(size: f64, paint: Paint) -> Self {
        Self { size, paint, anchor: "start", weight: "" }
    }

    pub(super) fn centred(self) -> Self {
        Self { anchor: "middle", ..self }
    }

    pub(super) fn ending(self) -> Self {
        Self { anchor: "end", ..self }
    }

    pub(super) fn bold(self) -> Self {
        Self { weight: r#" font-weight="600""#, ..self }
    }
}

/// Writes elements one after another, the later above the earlier.
#[derive(Debug, Default)]
pub(super) struct Pen {
    pub(super) elements: String,
}

impl Pen {
    pub(super) fn text(&mut self, text: &str, look: Lettering, at: Point) {
        self.turned_text(text, look, at, "");
    }

    /// A text that runs upwards.
    pub(super) fn upright(&mut self, text: &str, look: Lettering, at: Point) {
        let turn = format!(r#" transform="rotate(270 {} {})""#, px(at.0), px(at.1));
        self.turned_text(text, look, at, &turn);
    }

    fn turned_text(&mut self, text: &str, look: Lettering, (x, y): Point, turn: &str) {
        let Lettering { size, paint, anchor, weight } = look;
        if !text.is_empty() {
            self.put(format_args!(
                r#"<text x="{}" y="{}" dy="0.35em" text-anchor="{anchor}" font-size="{size}"{weight} {}{turn}>{}</text>"#,
                px(x),
                px(y),
                filled(paint),
                escape(text)
            ));
        }
    }

    /// A line through `points`; nothing if it does not lead anywhere.
    pub(super) fn path(&mut self, points: &[Point], paint: Paint, width: f64) {
        let outline = outline(points);
        if !outline.is_empty() {
            let (class, colour) = (paint.class(), paint.colour());
            let dash = paint.dash().map(|dash| format!(r#" stroke-dasharray="{dash}""#)).unwrap_or_default();
            self.put(format_args!(
                r#"<path d="{outline}" fill="none" class="s-{class}" stroke="{colour}" stroke-width="{width}"{dash}/>"#
            ));
        }
    }

    /// What is drawn is called that when it is pointed at.
    pub(super) fn titled(&mut self, title: &str, draw: impl FnOnce(&mut Self)) {
        self.put(format_args!("<g><title>{}</title>", escape(title)));
        draw(self);
        self.put(format_args!("</g>"));
    }

    /// A filled rectangle between two corners.
    pub(super) fn rect(&mut self, (x0, y0): Point, (x1, y1): Point, paint: Paint) {
        self.put(format_args!(
            r#"<rect x="{}" y="{}" width="{}" height="{}" {}/>"#,
            px(x0.min(x1)),
            px(y0.min(y1)),
            px((x1 - x0).abs()),
            px((y1 - y0).abs()),
            filled(paint)
        ));
    }

    pub(super) fn circle(&mut self, (x, y): Point, radius: f64, paint: Paint) {
        let paint = filled(paint);
        self.put(format_args!(r#"<circle cx="{}" cy="{}" r="{}" {paint}/>"#, px(x), px(y), px(radius)));
    }

    pub(super) fn polygon(&mut self, corners: &[Point], paint: Paint) {
        let corners: Vec<_> = corners.iter().map(|(x, y)| format!("{},{}", px(*x), px(*y))).collect();
        self.put(format_args!(r#"<polygon points="{}" {}/>"#, corners.join(" "), filled(paint)));
    }

    fn put(&mut self, element: fmt::Arguments<'_>) {
        writeln!(self.elements, "{element}").expect("writing to a string does not fail");
    }
}

fn filled(paint: Paint) -> String {
    format!(r#"class="f-{}" fill="{}""#, paint.class(), paint.colour())
}

/// `at` to a tenth of a pixel, and never `-0`.
fn px(at: f64) -> f64 {
    (at * 10.0).round() / 10.0 + 0.0
}

/// The path's commands; empty if it does not lead anywhere. Steps are most of what is drawn, so level and upright
/// parts use the short commands.
fn outline(points: &[Point]) -> String {
    let mut commands = String::new();
    let mut last: Option<Point> = None;
    let mut moved = false;
    for (x, y) in points.iter().map(|(x, y)| (px(*x), px(*y))) {
        match last {
            None => commands.push_str(&format!("M{x} {y}")),
            Some(last) if last == (x, y) => continue,
            Some((_, at)) if at == y => commands.push_str(&format!("H{x}")),
            Some((at, _)) if at == x => commands.push_str(&format!("V{y}")),
            Some(_) => commands.push_str(&format!("L{x} {y}")),
        }
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
        let points = [(0.0, -0.04), (0.04, 0.0), (1.5, 0.0), (1.5, -0.7), (2.0, 0.3)];
        assert_eq!(outline(&points), "M0 0H1.5V-0.7L2 0.3");
        assert_eq!(outline(&[(0.5, 0.5), (0.5, 0.5)]), "");
    }
}
