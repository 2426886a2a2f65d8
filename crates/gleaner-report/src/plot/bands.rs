//! Rows over time, each a band that is darker where its value is higher. A dozen rows are a band each; of a thousand,
//! neighbours share one, so that both can be read.

use super::measure::{LABEL, MARGIN, TEXT, TITLE, TITLE_ROW, fit, width};
use super::paint::{Paint, SHADES};
use super::svg::{Lettering, Pen, Svg};
use super::ticks;
use crate::numbers;

/// Bands at most.
const BANDS_MAX: usize = 40;
/// Stretches of time.
const BINS: usize = 150;
const BIN: f64 = 4.0;
const HIGH: f64 = 18.0;
const LOW: f64 = 13.0;
const NAME_MAX: f64 = 150.0;

/// Values of rows over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Bands {
    title: String,
    /// What is counted, in a word or two.
    what: String,
    names: Vec<String>,
    end: f64,
    /// By band, then by stretch: the mean over the band's rows.
    means: Vec<Vec<f64>>,
}

impl Bands {
    /// Rows of these names from 0 to `end`, in seconds. A step says that a row has a value from a moment on; before its first
    /// step it has none.
    pub fn new(
        title: impl Into<String>,
        what: impl Into<String>,
        names: Vec<String>,
        end: f64,
        steps: impl IntoIterator<Item = (usize, f64, f64)>,
    ) -> Self {
        let each = names.len().div_ceil(BANDS_MAX).max(1);
        let mut means = vec![vec![0.0; BINS]; names.len().div_ceil(each)];
        let end = if end.is_finite() && end > 0.0 { end } else { 1.0 };
        let mut last = vec![(0.0, 0.0); names.len()];
        let mut stretch = |row: usize, from: f64, until: f64, value: f64| {
            let rows = each.min(names.len() - row / each * each);
            spread(&mut means[row / each], (from / end, until / end), value / rows as f64);
        };
        for (row, at, value) in steps {
            if row < last.len() && at.is_finite() && value.is_finite() {
                let (from, before) = std::mem::replace(&mut last[row], (at, value));
                stretch(row, from, at, before);
            }
        }
        for (row, (from, value)) in last.into_iter().enumerate() {
            stretch(row, from, end, value);
        }
        Self { title: title.into(), what: what.into(), names, end, means }
    }

    /// The bands drawn.
    pub fn svg(&self) -> Svg {
        let labels = self.labels();
        let left =
            MARGIN + labels.iter().map(|name| width(name, TEXT)).fold(0.0, f64::max).min(NAME_MAX) + 8.0;
        let high = if self.means.len() <= 20 { HIGH } else { LOW };
        let top = MARGIN + TITLE_ROW + 22.0;
        let (right, bottom) = (left + BINS as f64 * BIN, top + self.means.len() as f64 * high);
        let most = self.means.iter().flatten().copied().fold(0.0, f64::max);
        let mut pen = Pen::default();
        let title = Lettering::new(TITLE, Paint::Ink).bold();
        pen.text(&fit(&self.title, TITLE * 1.05, right), title, (MARGIN, MARGIN + TITLE / 2.0));
        self.key(&mut pen, most, (left, MARGIN + TITLE_ROW + 6.0));
        for (band, means) in self.means.iter().enumerate() {
            let y = top + band as f64 * high;
            for (from, until, shade) in runs(means, most) {
                let (x0, x1) = (left + from as f64 * BIN, left + until as f64 * BIN);
                pen.rect((x0, y), (x1, y + high - 1.0), Paint::Shade(shade));
            }
            let name = fit(&labels[band], TEXT, NAME_MAX);
            pen.text(&name, Lettering::new(TEXT, Paint::Muted).ending(), (left - 8.0, y + high / 2.0));
        }
        let (ticks, left_out) = ticks::linear(0.0, self.end, ticks::round_step(self.end, 8.0, false));
        for tick in ticks {
            let x = left + tick.at / self.end * (right - left);
            pen.path(&[(x, bottom), (x, bottom + 4.0)], Paint::Axis, 1.0);
            pen.text(
                &tick.label,
                Lettering::new(TEXT, Paint::Muted).centred(),
                (x, bottom + 8.0 + TEXT / 2.0),
            );
        }
        let unit = if left_out == 0 { "time (s)".to_owned() } else { format!("time (10^{left_out} s)") };
        let label = Lettering::new(LABEL, Paint::Ink).centred();
        pen.text(&unit, label, (f64::midpoint(left, right), bottom + 14.0 + TEXT + LABEL / 2.0));
        let size = (right + MARGIN, bottom + 14.0 + TEXT + LABEL + MARGIN);
        let description = format!(
            "{}: {} on {} rows over {}.",
            self.title,
            self.what,
            numbers::grouped(self.names.len() as u64),
            numbers::seconds(self.end)
        );
        Svg::document("plot", (&self.title, &description), size, &pen.elements)
    }

    /// A row's name, or of the rows that share a band the first and the last.
    fn labels(&self) -> Vec<String> {
        let each = self.names.len().div_ceil(BANDS_MAX).max(1);
        let label = |names: &[String]| match names {
            [one] => one.clone(),
            [first, .., last] => {
                let room = NAME_MAX / 2.0 - 8.0;
                format!("{} – {}", fit(first, TEXT, room), fit(last, TEXT, room))
            }
            [] => String::new(),
        };
        self.names.chunks(each).map(label).collect()
    }

    /// What shades mean: from nothing to the most.
    fn key(&self, pen: &mut Pen, most: f64, (x, y): (f64, f64)) {
        let look = Lettering::new(TEXT, Paint::Muted);
        let each = if self.names.len() > BANDS_MAX { ", on average over the machines of a band" } else { "" };
        let (low, high) = (
            "0".to_owned(),
            format!("{} {}{each}", numbers::decimals(most, usize::from(most.fract() > 1e-9)), self.what),
        );
        pen.text(&low, look, (x, y));
        let first = x + width(&low, TEXT) + 8.0;
        for shade in 0..SHADES {
            let x = first + f64::from(shade) * 16.0;
            pen.rect((x, y - 6.0), (x + 15.0, y + 6.0), Paint::Shade(shade));
        }
        pen.text(&high, look, (first + f64::from(SHADES) * 16.0 + 6.0, y));
    }
}

/// Adds a value to the stretches between two parts of the whole time, by how much of each lies between.
fn spread(bins: &mut [f64], (from, until): (f64, f64), value: f64) {
    let count = bins.len() as f64;
    let (from, until) = (from.clamp(0.0, 1.0) * count, until.clamp(0.0, 1.0) * count);
    if value == 0.0 || until <= from {
        return;
    }
    let first = from as usize;
    for (bin, sum) in bins.iter_mut().enumerate().skip(first) {
        let (begin, end) = (bin as f64, bin as f64 + 1.0);
        if begin >= until {
            break;
        }
        *sum += value * (until.min(end) - from.max(begin));
    }
}

/// Neighbours of one shade, as one: from a stretch to before another.
fn runs(means: &[f64], most: f64) -> Vec<(usize, usize, u8)> {
    let shade = |mean: f64| {
        let part = if most > 0.0 { mean / most } else { 0.0 };
        // What is more than nothing is never shown as nothing.
        let least = u8::from(mean > 0.0);
        ((part * f64::from(SHADES - 1)).round() as u8).max(least)
    };
    let mut runs: Vec<(usize, usize, u8)> = Vec::new();
    for (bin, mean) in means.iter().enumerate() {
        let shade = shade(*mean);
        match runs.last_mut() {
            Some((_, until, of)) if *of == shade => *until = bin + 1,
            Some(_) | None => runs.push((bin, bin + 1, shade)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_counts_for_as_long_as_it_stood() {
        let mut bins = vec![0.0; 4];
        spread(&mut bins, (0.125, 0.75), 2.0);
        assert_eq!(bins, [1.0, 2.0, 2.0, 0.0]);
        spread(&mut bins, (0.9, 7.0), 1.0);
        assert!((bins[3] - 0.4).abs() < 1e-9, "{bins:?}");
        let before = bins.clone();
        spread(&mut bins, (0.5, 0.5), 3.0);
        assert_eq!(bins, before);
    }

    #[test]
    fn a_dozen_rows_have_a_band_each_and_of_a_thousand_neighbours_share_one() {
        for (count, bands, first) in [(12, 12, "m<0>"), (1_000, 40, "m<0> – m<24>")] {
            let names = (0..count).map(|row| format!("m<{row}>")).collect();
            let steps = (0..count).flat_map(|row| [(row, 0.0, 1.0), (row, 50.0, 0.0)]);
            let all = Bands::new("Rows", "tasks", names, 100.0, steps);
            assert_eq!(all.means.len(), bands);
            assert_eq!(all.labels()[0], first);
            for means in &all.means {
                assert!(means[..75].iter().all(|mean| (mean - 1.0).abs() < 1e-9), "{means:?}");
                assert!(means[75..].iter().all(|mean| *mean == 0.0), "{means:?}");
            }
            let svg = all.svg();
            assert!(svg.as_str().contains("m&lt;0&gt;") && !svg.as_str().contains("NaN"), "{svg}");
            assert_eq!(runs(&all.means[0], 1.0), [(0, 75, SHADES - 1), (75, BINS, 0)]);
        }
    }

    #[test]
    fn what_cannot_be_drawn_is_left_out() {
        let steps = [(0, f64::NAN, 1.0), (7, 1.0, 1.0), (0, 1.0, f64::INFINITY), (0, 0.0, 0.5)];
        for end in [0.0, f64::NAN, 2.0] {
            let svg = Bands::new("", "", vec!["m".to_owned()], end, steps).svg();
            assert!(!svg.as_str().contains("NaN") && !svg.as_str().contains("inf"), "{svg}");
        }
        let none = Bands::new("Nothing", "tasks", Vec::new(), 10.0, []).svg();
        assert!(!none.as_str().contains("NaN"), "{none}");
    }
}
