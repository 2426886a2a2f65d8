//! The series themselves: lines, steps, markers, bars and whiskers, cut at the frame and no denser than pixels.

use super::clip::Frame;
use super::measure::TEXT;
use super::paint::Paint;
use super::scale::Scale;
use super::series::{AxisScale, Plot, Style};
use super::shown::{Datum, Shown};
use super::svg::{Lettering, Pen, Point};
use super::thin;

/// Half the size of a marker in pixels.
const MARKER: f64 = 3.6;
const WHISKER: f64 = 3.0;
const ASIDE_MAX: f64 = 2.6;

/// The area between the axes, and how values become places in it.
pub(super) struct Panel<'a> {
    pub(super) x: &'a Scale,
    pub(super) y: &'a Scale,
    pub(super) frame: Frame,
}

impl Panel<'_> {
    pub(super) fn across(&self, x: f64) -> f64 {
        self.frame.left + self.x.fraction(x) * (self.frame.right - self.frame.left)
    }

    pub(super) fn down(&self, y: f64) -> f64 {
        self.frame.bottom - self.y.fraction(y) * (self.frame.bottom - self.frame.top)
    }

    fn place(&self, datum: &Datum) -> Point {
        (self.across(datum.x), self.down(datum.y))
    }
}

/// Draws the series whose points have no names: bars below, then lines, then markers and whiskers.
pub(super) fn draw(pen: &mut Pen, panel: &Panel<'_>, plot: &Plot, shown: &[Shown]) {
    if shown.iter().all(|series| series.runs.is_empty()) {
        let Frame { left, right, top, bottom } = panel.frame;
        let middle = (f64::midpoint(left, right), f64::midpoint(top, bottom));
        pen.text("no data", Lettering::new(TEXT, Paint::Muted).centred(), middle);
        return;
    }
    bars(pen, panel, plot, shown);
    let has_names = |at: usize| !plot.series[at].names.is_empty();
    for (at, (series, aside)) in shown.iter().zip(aside(panel, plot, shown)).enumerate() {
        match series.style {
            Style::Line | Style::Marked | Style::Step => lines(pen, panel, series, aside),
            Style::Points if !has_names(at) => scatter(pen, panel, series, aside),
            Style::Points | Style::Bars => {}
        }
    }
}

/// How far each series stands aside, in pixels: markers at the bars of the series before them, to which they belong; and on named
/// places, error bars would otherwise hide each other.
fn aside(panel: &Panel<'_>, plot: &Plot, shown: &[Shown]) -> Vec<f64> {
    let has_bounds = |series: &Shown| series.data().any(|datum| datum.bounds.is_some());
    let named = matches!(plot.x.scale, AxisScale::Categories(_));
    let crowded = named && shown.iter().filter(|series| has_bounds(series)).count() > 1;
    let place = panel.across(1.0) - panel.across(0.0);
    let apart = if crowded { (place * 0.6 / shown.len() as f64).min(ASIDE_MAX) } else { 0.0 };
    let middle = (shown.len() as f64 - 1.0) / 2.0;
    let (room, wide) = bar_room(panel, plot, &bar_groups(shown));
    let mut drawn = 0;
    let of_series = shown.iter().enumerate().map(|(at, series)| {
        drawn += i32::from(series.style == Style::Bars);
        if drawn > 0 && series.style == Style::Points {
            (f64::from(drawn) - 0.5) * wide - room / 2.0
        } else {
            (at as f64 - middle) * apart
        }
    });
    of_series.collect()
}

fn lines(pen: &mut Pen, panel: &Panel<'_>, series: &Shown, aside: f64) {
    for run in &series.runs {
        let run = thin::by_column(run.clone(), |x| panel.across(x) as i64);
        let mut places: Vec<Point> = run.iter().map(|datum| panel.place(datum)).collect();
        for place in &mut places {
            place.0 += aside;
        }
        for datum in &run {
            whisker(pen, panel, datum, aside, Paint::Solid(series.slot));
        }
        let line = if series.style == Style::Step { stairs(&places) } else { places.clone() };
        for part in panel.frame.parts(&line) {
            pen.path(&part, Paint::Curve(series.slot), 1.6);
        }
        // A point with no neighbour has no line, and must still be seen.
        if series.style == Style::Marked || places.len() == 1 {
            markers(pen, panel, series.slot, &places);
        }
    }
}

fn scatter(pen: &mut Pen, panel: &Panel<'_>, series: &Shown, aside: f64) {
    let all: Vec<Datum> = series.data().copied().collect();
    let cell = |datum: &Datum| (panel.across(datum.x) as i64, panel.down(datum.y) as i64);
    let kept = thin::by_cell(all, cell);
    for datum in &kept {
        whisker(pen, panel, datum, aside, Paint::Solid(series.slot));
    }
    let places: Vec<Point> = kept.iter().map(|d| (panel.across(d.x) + aside, panel.down(d.y))).collect();
    markers(pen, panel, series.slot, &places);
}

fn markers(pen: &mut Pen, panel: &Panel<'_>, slot: u8, places: &[Point]) {
    for place in places.iter().filter(|place| panel.frame.contains(**place)) {
        marker(pen, slot, *place);
    }
}

/// The corners of a line that keeps each value until the next.
fn stairs(places: &[Point]) -> Vec<Point> {
    let mut corners = Vec::with_capacity(places.len() * 2);
    for place in places {
        if let Some(&(_, before)) = corners.last() {
            corners.push((place.0, before));
        }
        corners.push(*place);
    }
    corners
}

fn whisker(pen: &mut Pen, panel: &Panel<'_>, datum: &Datum, aside: f64, paint: Paint) {
    let Some((low, high)) = datum.bounds else { return };
    let x = panel.across(datum.x) + aside;
    let (bottom, top) = (panel.down(low), panel.down(high));
    if !panel.frame.contains((x, panel.frame.top)) {
        return;
    }
    let pieces = [
        [(x, bottom), (x, top)],
        [(x - WHISKER, bottom), (x + WHISKER, bottom)],
        [(x - WHISKER, top), (x + WHISKER, top)],
    ];
    for part in pieces.iter().flat_map(|piece| panel.frame.parts(piece)) {
        pen.path(&part, paint, 1.2);
    }
}

fn bars(pen: &mut Pen, panel: &Panel<'_>, plot: &Plot, shown: &[Shown]) {
    let groups = bar_groups(shown);
    let (room, wide) = bar_room(panel, plot, &groups);
    for (at, series) in groups.iter().enumerate() {
        let data: Vec<Datum> = series.data().copied().collect();
        for datum in thin::by_column(data, |x| panel.across(x) as i64) {
            let left = panel.across(datum.x) - room / 2.0 + at as f64 * wide;
            bar(pen, panel, series.slot, &datum, (left, left + wide));
        }
    }
}

fn bar(pen: &mut Pen, panel: &Panel<'_>, slot: u8, datum: &Datum, (left, right): (f64, f64)) {
    let frame = panel.frame;
    let (from, to) = (left.max(frame.left), right.min(frame.right));
    if from >= to {
        return;
    }
    let base = frame.clamp_y(panel.down(panel.y.base()));
    pen.rect((from, frame.clamp_y(panel.down(datum.y))), (to, base), Paint::Solid(slot));
    let aside = f64::midpoint(left, right) - panel.across(datum.x);
    whisker(pen, panel, datum, aside, Paint::Ink);
}

fn bar_groups(shown: &[Shown]) -> Vec<&Shown> {
    shown.iter().filter(|series| series.style == Style::Bars).collect()
}

/// The pixels that the bars at one x share, and those of one of them.
fn bar_room(panel: &Panel<'_>, plot: &Plot, groups: &[&Shown]) -> (f64, f64) {
    let mut xs: Vec<f64> =
        groups.iter().flat_map(|series| series.data()).map(|d| panel.across(d.x)).collect();
    xs.sort_by(f64::total_cmp);
    let gap = xs.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 1e-6);
    let filled = match plot.x.scale {
        AxisScale::Categories(_) => 0.75,
        AxisScale::Linear | AxisScale::Log => 0.94,
    };
    let widest = (panel.frame.right - panel.frame.left) / 4.0;
    let room = (gap.fold(f64::INFINITY, f64::min) * filled).clamp(1.0, widest.max(1.0));
    (room, room / groups.len().max(1) as f64)
}

/// The marker of a series: its shape goes with its slot, and a thin rim parts it from what is below.
pub(super) fn marker(pen: &mut Pen, slot: u8, centre: Point) {
    shape(pen, slot, centre, MARKER + 0.9, Paint::Paper);
    shape(pen, slot, centre, MARKER, Paint::Solid(slot));
}

fn shape(pen: &mut Pen, slot: u8, (x, y): Point, r: f64, paint: Paint) {
    let s = r * 0.9;
    let d = r * 1.3;
    let t = r * 1.15;
    let corners = match slot % 6 {
        0 => return pen.circle((x, y), r, paint),
        1 => vec![(x - s, y - s), (x + s, y - s), (x + s, y + s), (x - s, y + s)],
        2 => vec![(x, y - d), (x + t, y + r * 0.8), (x - t, y + r * 0.8)],
        3 => vec![(x, y - d), (x + d, y), (x, y + d), (x - d, y)],
        4 => vec![(x, y + d), (x + t, y - r * 0.8), (x - t, y - r * 0.8)],
        _ => cross((x, y), r),
    };
    pen.polygon(&corners, paint);
}

/// A plus sign with thick arms.
fn cross((x, y): Point, r: f64) -> Vec<Point> {
    let (long, short) = (r * 1.2, r * 0.42);
    let arms = [
        (-short, -long),
        (short, -long),
        (short, -short),
        (long, -short),
        (long, short),
        (short, short),
        (short, long),
        (-short, long),
        (-short, short),
        (-long, short),
        (-long, -short),
        (-short, -short),
    ];
    arms.iter().map(|(dx, dy)| (x + dx, y + dy)).collect()
}
