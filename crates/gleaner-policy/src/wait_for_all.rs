//! Who looks at all that wait, or run, looks once an instant, when all of it was told: what happens asks for a wake-up at the same
//! moment, which comes last.

use gleaner_core::{Alarm, Decision, Grid};
use gleaner_units::Time;

/// Asks to be woken at this instant, unless that was asked for.
pub(crate) fn wait_for_all(grid: &Grid, now: Time) -> Option<Decision> {
    let earlier = grid.alarm(Alarm::Batch);
    earlier.is_none_or(|at| now < at).then_some(Decision::Wake { alarm: Alarm::Batch, at: now })
}
