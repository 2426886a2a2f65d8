//! One pair of axes: their ranges from the data, their labels and grid, and the series in the area between.

use plotters::prelude::{ChartBuilder, LabelAreaPosition};

use super::canvas::UNITS;
use super::clip::Frame;
use super::figure::{Drawn, Sheet, bold, stroke, text};
use super::marks::{self, Panel};
use super::measure::{LABEL, TEXT, fit};
use super::paint::Paint;
use super::scale::{Along, Room, Scale};
use super::shown::{Extent, Shown};
use super::{Kind, Plot, Style};

const TICK: f64 = 4.0;
const TITLE_ROW: f64 = 27.0;

/// Where a panel stands on the sheet, in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Place {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Draws `plot` at `place`, with `title` above it if it has one.
pub(super) fn draw(sheet: &Sheet<'_>, plot: &Plot, title: &str, shown: &[Shown], place: Place) -> Drawn {
    let above = if title.is_empty() { TEXT / 2.0 } else { TITLE_ROW };
    sheet.text(
        &fit(title, LABEL * 1.05, place.width),
        &bold(LABEL, Paint::Ink),
        place.left,
        place.top + LABEL / 2.0,
    )?;
    let below = 2.0 * TICK + TEXT + 6.0 + if plot.x.label.is_empty() { 0.0 } else { LABEL + 4.0 };
    let y = y_scale(plot, shown, place.height - above - below);
    let label = y.label(&plot.y);
    let beside = 2.0 * TICK + y.label_width() + 4.0 + if label.is_empty() { 0.0 } else { LABEL + 6.0 };
    let right = if plot.x.kind == Kind::Linear { 16.0 } else { 4.0 };
    let x = x_scale(plot, shown, place.width - beside - right);
    let frame = axes(
        sheet,
        plot,
        &x,
        &y,
        Place { top: place.top + above, height: place.height - above, ..place },
        Sides { beside, below, right },
    )?;
    marks::draw(&Panel { sheet, x: &x, y: &y, frame }, plot, shown)
}

/// The room around the plotting area, in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sides {
    beside: f64,
    below: f64,
    right: f64,
}

/// Has plotters draw the grid, the axes and their labels. Gives the area between them.
fn axes(sheet: &Sheet<'_>, plot: &Plot, x: &Scale, y: &Scale, place: Place, sides: Sides) -> Drawn<Frame> {
    let unit = |pixels: f64| (pixels * UNITS) as i32;
    let area = sheet
        .area
        .clone()
        .shrink((unit(place.left), unit(place.top)), (unit(place.width - sides.right), unit(place.height)));
    let mut chart = ChartBuilder::on(&area)
        .set_label_area_size(LabelAreaPosition::Left, unit(sides.beside))
        .set_label_area_size(LabelAreaPosition::Bottom, unit(sides.below))
        .build_cartesian_2d(x.clone(), y.clone())?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .bold_line_style(stroke(Paint::Grid, 1.0))
        .light_line_style(stroke(Paint::Faint, 1.0))
        .axis_style(stroke(Paint::Axis, 1.0))
        .set_all_tick_mark_size(unit(TICK))
        .label_style(text(TEXT, Paint::Muted))
        .axis_desc_style(text(LABEL, Paint::Ink))
        .x_desc(fit(&x.label(&plot.x), LABEL, place.width - sides.beside))
        .y_desc(fit(&y.label(&plot.y), LABEL, place.height))
        .draw()?;
    let (across, down) = chart.plotting_area().get_pixel_range();
    let pixels = |units: i32| f64::from(units) / UNITS;
    Ok(Frame {
        left: pixels(across.start),
        right: pixels(across.end - 1),
        top: pixels(down.start),
        bottom: pixels(down.end - 1),
    })
}

fn y_scale(plot: &Plot, shown: &[Shown], height: f64) -> Scale {
    let values = shown.iter().flat_map(Shown::data).flat_map(|datum| {
        let (low, high) = datum.bounds.unwrap_or((datum.y, datum.y));
        [datum.y, low, high]
    });
    let positive_only = plot.y.kind == Kind::Log;
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
