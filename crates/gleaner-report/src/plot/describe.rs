//! A plot in words, for those who hear it rather than see it.

use super::series::{Plot, Series, Style};
use crate::numbers::significant;

/// More names than this would be a burden to listen to.
const NAMES_MAX: usize = 12;

/// What the axes are and what each series does.
pub(super) fn describe(panels: &[&Plot], names: &[(&str, Style)]) -> String {
    if let [plot] = panels {
        return of_plot(plot);
    }
    let names: Vec<&str> = names.iter().map(|(name, _)| *name).take(NAMES_MAX).collect();
    let mut sentences = vec![format!("{} panels: {}.", panels.len(), names.join(", "))];
    sentences.extend(panels.iter().map(|plot| format!("{}: {}", plot.title, of_plot(plot))));
    sentences.join(" ")
}

fn of_plot(plot: &Plot) -> String {
    let mut sentences = vec![format!("{} against {}.", plot.y.label, plot.x.label)];
    sentences.extend(plot.series.iter().take(NAMES_MAX).map(of_series));
    let more = plot.series.len().saturating_sub(NAMES_MAX);
    if more > 0 {
        sentences.push(format!("And {more} more series."));
    }
    sentences.join(" ")
}

fn of_series(series: &Series) -> String {
    let ys = || series.points.iter().map(|(_, y)| *y).filter(|y| y.is_finite());
    let low = ys().fold(f64::INFINITY, f64::min);
    let high = ys().fold(f64::NEG_INFINITY, f64::max);
    if low > high {
        return format!("{}: no points.", series.name);
    }
    let (low, high) = (significant(low, 4), significant(high, 4));
    format!("{}: {} points from {low} to {high}.", series.name, ys().count())
}
