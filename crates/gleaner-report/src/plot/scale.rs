//! How values on one axis become positions: the range and the ticks.

use super::measure::{self, TEXT, width};
use super::series::{Axis, AxisScale};
use super::shown::Extent;
use super::ticks::{self, Tick};
use crate::numbers::power_of_ten;

/// Which way an axis runs, and along how many pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Along {
    /// Labels stand side by side and must not touch.
    Bottom(f64),
    /// Labels stand above each other.
    Left(f64),
}

/// How much of the axis the data leaves free at its ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Room {
    /// None: a line begins at the axis.
    None,
    /// So much on both sides, in the axis' values: markers and bars are not cut.
    Around(f64),
    /// Up to the next round number, and down to zero where that is near.
    Round,
}

/// The longest name of a category, in pixels.
const NAME_MAX: f64 = 120.0;

/// An axis whose range is known.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    log: bool,
    pub(super) ticks: Vec<Tick>,
    left_out: i32,
}

impl Scale {
    pub(super) fn new(axis: &Axis, data: Extent, room: Room, along: Along) -> Self {
        match &axis.scale {
            AxisScale::Categories(names) => Self::of_names(names, along),
            AxisScale::Linear => Self::linear(axis.range, data, room, along),
            AxisScale::Log => Self::log(axis.range, data, room, along),
        }
    }

    fn linear(range: Option<(f64, f64)>, data: Extent, room: Room, along: Along) -> Self {
        let given = range.filter(|(low, high)| low < high && (high - low).is_finite());
        let step = |low: f64, high: f64| ticks::round_step(high - low, label_count(along), data.whole);
        let (low, high) = given.unwrap_or_else(|| match room {
            Room::None => spread(data),
            Room::Around(by) => {
                let (low, high) = spread(data);
                (low - by, high + by)
            }
            Room::Round => {
                let (low, high) = from_zero(spread(data));
                let step = step(low, high);
                ((low / step).floor() * step, (high / step).ceil() * step)
            }
        });
        let mut step = step(low, high);
        let (mut ticks, mut left_out) = ticks::linear(low, high, step);
        while !fits(&ticks, along) {
            step = ticks::round_step(step * 1.5, 1.0, data.whole);
            (ticks, left_out) = ticks::linear(low, high, step);
        }
        Self { low, high, log: false, ticks, left_out }
    }

    fn log(range: Option<(f64, f64)>, data: Extent, room: Room, along: Along) -> Self {
        let given = range.filter(|(low, high)| *low >= f64::MIN_POSITIVE && low < high && high.is_finite());
        let (low, high) = given.unwrap_or_else(|| {
            let (low, high) = if data.is_empty() { (1.0, 10.0) } else { (data.low, data.high) };
            let margin = match room {
                Room::None if high > low => 1.0,
                Room::None | Room::Around(_) | Room::Round => (high / low).powf(0.06).max(1.1),
            };
            ((low / margin).max(f64::MIN_POSITIVE), high * margin)
        });
        let mut count = label_count(along);
        let mut ticks = ticks::log(low, high, count);
        while !fits(&ticks, along) && count >= 1.0 {
            count /= 1.5;
            ticks = ticks::log(low, high, count);
        }
        if ticks.iter().filter(|tick| !tick.label.is_empty()).count() < 2 {
            // Less than a factor of two: powers of ten would leave the axis bare.
            let step = ticks::round_step(high - low, label_count(along) / 2.0, false);
            let (ticks, left_out) = ticks::linear(low, high, step);
            return Self { low, high, log: true, ticks, left_out };
        }
        Self { low, high, log: true, ticks, left_out: 0 }
    }

    fn of_names(names: &[String], along: Along) -> Self {
        let name = |at: usize| measure::fit(&names[at], TEXT, NAME_MAX);
        let mut every = 1;
        let mut ticks = Vec::new();
        while every <= names.len() {
            let shown = (0..names.len()).step_by(every);
            ticks = shown.map(|at| Tick { at: at as f64, label: name(at) }).collect();
            if fits(&ticks, along) && ticks.len() as f64 <= along.pixels() / TEXT {
                break;
            }
            every += 1;
        }
        Self { low: -0.5, high: names.len().max(1) as f64 - 0.5, log: false, ticks, left_out: 0 }
    }

    /// Where `value` stands: 0 at the low end of the axis, 1 at the high end; not limited to these.
    pub(super) fn fraction(&self, value: f64) -> f64 {
        let fraction = if self.log {
            let value = value.max(f64::MIN_POSITIVE);
            (value.ln() - self.low.ln()) / (self.high.ln() - self.low.ln())
        } else {
            (value - self.low) / (self.high - self.low)
        };
        // Far outside is far outside: positions stay small enough to reckon with.
        if fraction.is_nan() { 0.0 } else { fraction.clamp(-1e6, 1e6) }
    }

    /// Where bars begin.
    pub(super) fn base(&self) -> f64 {
        if self.log { self.low } else { 0.0 }
    }

    /// The width of the widest label in pixels.
    pub(super) fn label_width(&self) -> f64 {
        self.ticks.iter().map(|tick| width(&tick.label, TEXT)).fold(0.0, f64::max)
    }

    /// The axis' label, with the power of ten that the ticks leave out.
    pub(super) fn label(&self, axis: &Axis) -> String {
        if self.left_out == 0 {
            return axis.label.clone();
        }
        format!("{} [× {}]", axis.label, power_of_ten(self.left_out)).trim_start().to_owned()
    }
}

impl Along {
    fn pixels(self) -> f64 {
        match self {
            Self::Bottom(pixels) | Self::Left(pixels) => pixels,
        }
    }
}

fn label_count(along: Along) -> f64 {
    match along {
        Along::Bottom(pixels) => (pixels / 50.0).max(2.0),
        Along::Left(pixels) => (pixels / 45.0).max(2.0),
    }
}

fn fits(ticks: &[Tick], along: Along) -> bool {
    let labels = ticks.iter().filter(|tick| !tick.label.is_empty());
    let (count, widest) =
        labels.fold((0_u32, 0.0_f64), |(n, w), tick| (n + 1, w.max(width(&tick.label, TEXT))));
    match along {
        Along::Bottom(pixels) => count <= 2 || f64::from(count) * (widest + 8.0) <= pixels,
        Along::Left(_) => true,
    }
}

/// The data's range, widened where it is a single value or none.
fn spread(data: Extent) -> (f64, f64) {
    if data.is_empty() {
        return (0.0, 1.0);
    }
    let size = data.low.abs().max(data.high.abs());
    if data.high - data.low > size * 1e-12 && size > 1e-290 {
        return (data.low, data.high);
    }
    let by = if size > 1e-290 { size * 0.05 } else { 1.0 };
    let by = if data.whole { by.max(1.0) } else { by };
    (data.low - by, data.high + by)
}

/// Zero is part of the range where it is near enough not to flatten the data.
fn from_zero((low, high): (f64, f64)) -> (f64, f64) {
    if low > 0.0 && low < high * 0.4 {
        (0.0, high)
    } else if high < 0.0 && high > low * 0.4 {
        (low, 0.0)
    } else {
        (low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(axis: &Axis, values: &[f64], room: Room) -> Scale {
        Scale::new(axis, Extent::of(values.iter().copied()), room, Along::Left(360.0))
    }

    #[test]
    fn ranges_are_round_and_start_at_zero_where_it_is_near() {
        let y = Axis::linear("");
        let range = |values: &[f64]| {
            let scale = scale(&y, values, Room::Round);
            (scale.low, scale.high)
        };
        assert_eq!(range(&[3.0, 97.0]), (0.0, 100.0));
        assert_eq!(range(&[212.0, 238.0]), (210.0, 240.0));
        assert_eq!(scale(&y, &[1.0, 3.0], Room::Round).ticks.len(), 4);
    }

    #[test]
    fn any_data_makes_a_range_that_can_be_drawn() {
        let odd: [&[f64]; 8] = [
            &[],
            &[0.0],
            &[7.5, 7.5],
            &[1e300, -1e300],
            &[5e-324],
            &[1e-300, 2e-300],
            &[1e15, 1e15 + 1.0],
            &[-3.0],
        ];
        for values in odd {
            for axis in [Axis::linear(""), Axis::log(""), Axis::linear("").range(f64::NAN, 1.0)] {
                for room in [Room::None, Room::Around(0.5), Room::Round] {
                    let positive: Vec<f64> = values.iter().map(|v| v.abs().max(f64::MIN_POSITIVE)).collect();
                    let values = if axis.scale == AxisScale::Log { &positive } else { values };
                    let scale = scale(&axis, values, room);
                    assert!(scale.low < scale.high, "{values:?} {axis:?} {room:?}");
                    assert!(scale.ticks.len() <= 101);
                    assert!(values.iter().all(|v| (-0.1..=1.1).contains(&scale.fraction(*v))), "{values:?}");
                }
            }
        }
    }

    #[test]
    fn many_names_are_thinned_to_what_fits() {
        let axis = Axis::categories("", (0..500).map(|i| format!("machine-{i}")));
        let scale = Scale::new(&axis, Extent::of([]), Room::None, Along::Bottom(600.0));
        assert!((2..=10).contains(&scale.ticks.len()));
    }
}
