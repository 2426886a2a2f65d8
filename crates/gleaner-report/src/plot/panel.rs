//! One pair of axes: their ranges from the data, their labels and grid, and the series in the area between.

use super::clip::Frame;
use super::marks::{self, Panel};
use super::measure::{LABEL, TEXT, fit};
use super::names;
use super::paint::Paint;
use super::scale::{Along, Room, Scale};
use super::series::{AxisScale, Plot, Style};
use super::shown::{Extent, Shown};
use super::svg::{Lettering, Pen};

const TICK: f64 = 4.0;
const TITLE_ROW: f64 = 27.0;

/// Where a panel stands in the figure, in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Draws `plot` at `place`, with `title` above it if it has one.
pub(super) fn draw(pen: &mut Pen, plot: &Plot, title: &str, shown: &[Shown], place: Area) {
    let above = if title.is_empty() { TEXT / 2.0 } else { TITLE_ROW };
    let below = 2.0 * TICK + TEXT + 6.0 + if plot.x.label.is_empty() { 0.0 } else { LABEL + 4.0 };
    let y = y_scale(plot, shown, place.height - above - below);
    let y_label = y.label(&plot.y);
    let beside = 2.0 * TICK + y.label_width() + 4.0 + if y_label.is_empty() { 0.0 } else { LABEL + 6.0 };
    let right = if plot.x.scale == AxisScale::Linear { 16.0 } else { 4.0 };
    let x = x_scale(plot, shown, place.width - beside - right);
    let frame = Frame {
        left: place.left + beside,
        right: place.left + place.width - right,
        top: place.top + above,
        bottom: place.top + place.height - below,
    };
    let panel = Panel { x: &x, y: &y, frame };

    let heading = fit(title, LABEL * 1.05, place.width);
    pen.text(&heading, Lettering::new(LABEL, Paint::Ink).bold(), (place.left, place.top + LABEL / 2.0));
    axes(pen, &panel);
    let label = Lettering::new(LABEL, Paint::Ink).centred();
    let (middle, foot) = (f64::midpoint(frame.left, frame.right), place.top + place.height - LABEL / 2.0);
    pen.text(&fit(&x.label(&plot.x), LABEL, frame.right - frame.left), label, (middle, foot));
    let beside = (place.left + LABEL / 2.0, f64::midpoint(frame.top, frame.bottom));
    pen.upright(&fit(&y_label, LABEL, place.height - above), label, beside);
    marks::draw(pen, &panel, plot, shown);
    names::draw(pen, &panel, plot, shown);
}

/// Grid lines across the area, the finest below, and the two axes with their ticks.
fn axes(pen: &mut Pen, panel: &Panel<'_>) {
    let Frame { left, right, top, bottom } = panel.frame;
    let look = Lettering::new(TEXT, Paint::Muted);
    let (fine, labelled): (Vec<_>, Vec<_>) = panel.y.ticks.iter().partition(|tick| tick.label.is_empty());
    for (paint, ticks) in [(Paint::Faint, &fine), (Paint::Grid, &labelled)] {
        for at in ticks.iter().map(|tick| panel.down(tick.at)) {
            pen.path(&[(left, at), (right, at)], paint, 1.0);
        }
    }
    pen.path(&[(left, top), (left, bottom), (right, bottom)], Paint::Axis, 1.0);
    for tick in labelled {
        let at = panel.down(tick.at);
        pen.path(&[(left - TICK, at), (left, at)], Paint::Axis, 1.0);
        pen.text(&tick.label, look.ending(), (left - 2.0 * TICK, at));
    }
    for tick in panel.x.ticks.iter().filter(|tick| !tick.label.is_empty()) {
        let at = panel.across(tick.at);
        pen.path(&[(at, bottom), (at, bottom + TICK)], Paint::Axis, 1.0);
        pen.text(&tick.label, look.centred(), (at, bottom + 2.0 * TICK + TEXT / 2.0));
    }
}

fn y_scale(plot: &Plot, shown: &[Shown], height: f64) -> Scale {
    let values = shown.iter().flat_map(Shown::data).flat_map(|datum| {
        let (low, high) = datum.bounds.unwrap_or((datum.y, datum.y));
        [datum.y, low, high]
    });
    let positive_only = plot.y.scale == AxisScale::Log;
    let seen = values.filter(|v| v.abs() <= 1e300 && (!positive_only || *v > 0.0));
    let zero = shown.iter().any(|series| series.style == Style::Bars) && !positive_only;
    Scale::new(&plot.y, Extent::of(seen.chain(zero.then_some(0.0))), Room::Round, Along::Left(height))
}

fn x_scale(plot: &Plot, shown: &[Shown], width: f64) -> Scale {
    let extent = Extent::of(shown.iter().flat_map(Shown::data).map(|datum| datum.x));
    let around = shown.iter().map(|series| match series.style {
        Style::Line | Style::Step => 0.0,
        Style::Marked | Style::Points => (extent.high - extent.low) * 0.025,
        Style::Bars => nearest(series) / 2.0,
    });
    let around = around.fold(0.0, f64::max);
    let room = if around > 0.0 && around.is_finite() { Room::Around(around) } else { Room::None };
    Scale::new(&plot.x, extent, room, Along::Bottom(width))
}

/// The least distance between two bars.
fn nearest(series: &Shown) -> f64 {
    let mut xs: Vec<f64> = series.data().map(|datum| datum.x).collect();
    xs.sort_by(f64::total_cmp);
    xs.windows(2).map(|pair| pair[1] - pair[0]).filter(|gap| *gap > 0.0).fold(f64::INFINITY, f64::min)
}
