//! Plots as SVG and reports as one HTML file, for what people read after a run.
//!
//! - A [`Plot`] (or a [`PlotGrid`] of small ones) becomes an [`Svg`]: a file of its own, or part of a page.
//! - A [`Report`] is a list of [`Block`]s and becomes one HTML page that needs nothing from outside.
//! - [`numbers`] writes numbers the way people read them.
//!
//! Invariants: **the same input gives the same bytes**; **every text is escaped**, whatever a task or a machine is
//! called; **a value that cannot be drawn is left out and counted in a note below the plot**, and never reaches
//! the file as `NaN`; **colour is never the only difference** between two series.
//!
//! What is deliberately not here: reading results (callers bring points), fonts (a viewer's own are used, and widths are
//! estimated), and scripts but for one: a [`Gantt`] brings the page's own chart, and the page's policy lets that alone run.
//!
//! ```
//! use gleaner_report::{Axis, Block, Figure, Plot, Report, Series, Style};
//!
//! let plot = Plot::new("Completions", Axis::linear("time (s)"), Axis::linear("tasks completed"))
//!     .with(Series::new("greedy", Style::Step, [(0.0, 0.0), (1.5, 1.0), (4.0, 2.0)]));
//! let page = Report::new("A run")
//!     .with(Block::heading("Results"))
//!     .with(Figure::new("Tasks completed over time.", plot.svg()))
//!     .html();
//! assert!(page.starts_with("<!DOCTYPE html>"));
//! ```

mod escape;
mod histogram;
pub mod numbers;
mod plot;
mod report;

pub use histogram::histogram;
pub use plot::{Axis, Bands, HeatCell, HeatMap, Plot, PlotGrid, Series, Style, Svg};
pub use report::{Bar, Block, Cell, Figure, Gantt, Report, Table, Verdict};
