//! What a batch sees.

use crate::forecast::Forecast;
use crate::open_machines::OpenMachines;
use gleaner_core::Grid;
use gleaner_units::Time;

/// The grid, the moment, who takes tasks, and how long tasks are believed to be.
#[derive(Clone, Copy)]
pub(crate) struct Looks<'a> {
    pub(crate) grid: &'a Grid,
    pub(crate) now: Time,
    pub(crate) open: &'a OpenMachines,
    pub(crate) forecast: &'a Forecast,
}
