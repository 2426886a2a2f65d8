//! What of a plot's series can be shown: values cleaned, put in order, given a look, and their extent known.

use super::series::{Axis, AxisScale, Plot, Series, Style};

/// Greater values are left out like infinite ones: differences between them would overflow.
const LARGEST: f64 = 1e300;

/// A point that can be drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Datum {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) bounds: Option<(f64, f64)>,
}

/// A series as it can be drawn: runs of points between which a line is broken.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Shown {
    pub(super) style: Style,
    pub(super) slot: u8,
    pub(super) runs: Vec<Vec<Datum>>,
}

impl Shown {
    pub(super) fn data(&self) -> impl Iterator<Item = &Datum> {
        self.runs.iter().flatten()
    }
}

/// From the lowest to the highest of some values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Extent {
    pub(super) low: f64,
    pub(super) high: f64,
    /// Whether all values are whole numbers: then ticks between them would mean nothing.
    pub(super) whole: bool,
}

impl Extent {
    pub(super) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let none = Self { low: f64::INFINITY, high: f64::NEG_INFINITY, whole: true };
        values.into_iter().fold(none, |extent, v| Self {
            low: extent.low.min(v),
            high: extent.high.max(v),
            whole: extent.whole && v.fract() == 0.0,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.low > self.high
    }
}

/// The names of all series in order of their first appearance: the order of the legend, and a name's place is its
/// slot.
pub(super) fn names<'a>(plots: &[&'a Plot]) -> Vec<(&'a str, Style)> {
    let mut names: Vec<(&str, Style)> = Vec::new();
    for series in plots.iter().flat_map(|plot| &plot.series) {
        if !names.iter().any(|(name, _)| *name == series.name) {
            names.push((&series.name, series.style));
        }
    }
    names
}

/// The plot's series as they can be drawn, and how many points could not.
pub(super) fn shown(plot: &Plot, names: &[(&str, Style)]) -> (Vec<Shown>, usize) {
    let mut skipped = 0;
    let mut all = Vec::new();
    for series in &plot.series {
        let slot = names.iter().position(|(name, _)| *name == series.name).unwrap_or(0);
        let (runs, left_out) = runs(series, &plot.x, &plot.y);
        skipped += left_out;
        all.push(Shown { style: series.style, slot: (slot % 256) as u8, runs });
    }
    (all, skipped)
}

fn runs(series: &Series, x: &Axis, y: &Axis) -> (Vec<Vec<Datum>>, usize) {
    let bounds = series.bounds.iter().copied().map(Some).chain(std::iter::repeat(None));
    let mut data: Vec<Datum> = series
        .points
        .iter()
        .zip(bounds)
        .filter(|((at, _), _)| drawable(*at, x))
        .map(|(&(x, y), bounds)| Datum { x, y, bounds: bounds.filter(|(low, high)| low <= high) })
        .collect();
    match series.style {
        Style::Line | Style::Marked | Style::Step => data.sort_by(|a, b| a.x.total_cmp(&b.x)),
        Style::Points | Style::Bars => {}
    }
    let runs: Vec<Vec<Datum>> = data
        .split(|datum| !drawable(datum.y, y))
        .filter(|run| !run.is_empty())
        .map(<[Datum]>::to_vec)
        .collect();
    let kept: usize = runs.iter().map(Vec::len).sum();
    (runs, series.points.len() - kept)
}

fn drawable(value: f64, axis: &Axis) -> bool {
    let possible = match &axis.scale {
        AxisScale::Linear | AxisScale::Categories(_) => true,
        AxisScale::Log => value >= f64::MIN_POSITIVE,
    };
    possible && value.abs() <= LARGEST
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(y: Axis, points: &[(f64, f64)]) -> (Vec<Vec<f64>>, usize) {
        let plot =
            Plot::new("", Axis::linear(""), y).with(Series::new("a", Style::Line, points.iter().copied()));
        let (shown, skipped) = shown(&plot, &names(&[&plot]));
        (shown[0].runs.iter().map(|run| run.iter().map(|d| d.y).collect()).collect(), skipped)
    }

    #[test]
    fn a_value_that_is_not_finite_breaks_the_line_and_is_counted() {
        let points = [(2.0, 3.0), (0.0, 1.0), (1.0, f64::NAN), (f64::INFINITY, 1.0), (3.0, 4.0)];
        assert_eq!(show(Axis::linear(""), &points), (vec![vec![1.0], vec![3.0, 4.0]], 2));
    }

    #[test]
    fn a_logarithmic_axis_shows_positive_values_only() {
        assert_eq!(show(Axis::log(""), &[(0.0, 1.0), (1.0, 0.0), (2.0, -3.0)]), (vec![vec![1.0]], 2));
    }
}
