//! What a plot says ([`series`]), and how it is drawn: each module above those that it uses.

mod bands;
mod clip;
mod describe;
mod figure;
mod heat;
mod legend;
mod marks;
mod measure;
mod names;
mod paint;
mod panel;
mod scale;
mod series;
mod shown;
mod svg;
mod thin;
mod ticks;

pub use bands::Bands;
pub use heat::{HeatCell, HeatMap};
pub use series::{Axis, Plot, PlotGrid, Series, Style};
pub use svg::Svg;
