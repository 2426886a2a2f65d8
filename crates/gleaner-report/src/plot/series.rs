//! What a plot says: its axes and series.
//!
//! A plot is built whole and then drawn: nothing is drawn, cleaned or rounded before [`Plot::svg`]. The name of
//! a series decides its look, so the same scheme looks the same in every panel of a [`PlotGrid`].

/// One pair of axes and the series drawn between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Plot {
    pub(super) title: String,
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) series: Vec<Series>,
    pub(super) notes: Vec<String>,
}

impl Plot {
    /// An empty plot.
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self { title: title.into(), x, y, series: Vec::new(), notes: Vec::new() }
    }

    /// Adds a series; the first ones are drawn first.
    #[must_use]
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// Adds a sentence below the plot, such as what was left out.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }
}

/// Small plots side by side under one title, with one legend for all.
#[derive(Debug, Clone, PartialEq)]
pub struct PlotGrid {
    pub(super) title: String,
    pub(super) columns: usize,
    pub(super) panels: Vec<Plot>,
}

impl PlotGrid {
    /// `panels` row by row. Give their axes equal ranges where panels are to be compared: each panel otherwise
    /// chooses its own.
    pub fn new(title: impl Into<String>, columns: usize, panels: Vec<Plot>) -> Self {
        Self { title: title.into(), columns: columns.max(1), panels }
    }
}

/// One axis: what it measures, and how values become positions.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    pub(super) label: String,
    pub(super) scale: AxisScale,
    pub(super) range: Option<(f64, f64)>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum AxisScale {
    Linear,
    Log,
    Categories(Vec<String>),
}

impl Axis {
    /// An axis in proportion to the value. Name the unit in the label: `time (s)`.
    pub fn linear(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: AxisScale::Linear, range: None }
    }

    /// A logarithmic axis. Values that are not positive are left out and counted below the plot.
    pub fn log(label: impl Into<String>) -> Self {
        Self { label: label.into(), scale: AxisScale::Log, range: None }
    }

    /// Named places: value 0 stands at the first name, 1 at the second.
    pub fn categories<T: Into<String>>(label: impl Into<String>, names: impl IntoIterator<Item = T>) -> Self {
        let names = names.into_iter().map(Into::into).collect();
        Self { label: label.into(), scale: AxisScale::Categories(names), range: None }
    }

    /// From where to where the axis goes, instead of what the data asks for; what lies outside is cut off. Does
    /// nothing for categories, and for a range that is empty, not finite, or not positive on a logarithmic axis.
    #[must_use]
    pub fn range(mut self, low: f64, high: f64) -> Self {
        self.range = Some((low, high));
        self
    }
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A line through the points.
    Line,
    /// A line through the points with a marker at each.
    Marked,
    /// A value that holds until the next point: counts over time. The last point says where it ends.
    Step,
    /// Markers alone; after bars, at those of the series before them.
    Points,
    /// Bars from zero, centred at x. Several such series stand side by side, in the legend's order.
    Bars,
}

/// Points that belong together and have one name and one look.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    pub(super) name: String,
    pub(super) style: Style,
    pub(super) points: Vec<(f64, f64)>,
    pub(super) bounds: Vec<(f64, f64)>,
    /// Of its points, in their order, and what several of them are.
    pub(super) names: Vec<String>,
    pub(super) noun: String,
}

impl Series {
    /// Points in any order: lines and steps go by increasing x. A point whose y is not finite breaks the line.
    pub fn new(name: impl Into<String>, style: Style, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let points = points.into_iter().collect();
        let (bounds, names, noun) = (Vec::new(), Vec::new(), String::new());
        Self { name: name.into(), style, points, bounds, names, noun }
    }

    /// An error bar for each point, from low to high in the values of y (not as distances); points past the end
    /// of `bounds` have none.
    #[must_use]
    pub fn bounds(mut self, bounds: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.bounds = bounds.into_iter().collect();
        self
    }

    /// Markers alone, each with a name beside it. Those on one place are one marker, which says all names when it is pointed
    /// at; more than a few are counted beside it, as so many of `noun`.
    #[must_use]
    pub fn named(
        name: impl Into<String>,
        noun: impl Into<String>,
        points: impl IntoIterator<Item = (String, (f64, f64))>,
    ) -> Self {
        let (names, points): (Vec<String>, Vec<(f64, f64)>) = points.into_iter().unzip();
        Self { names, noun: noun.into(), ..Self::new(name, Style::Points, points) }
    }
}
