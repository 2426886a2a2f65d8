//! Which samples of the owner's load become a report, and so a fact that the grid acts on.
//!
//! A report says something new: the load is away from what was last reported by [`LOAD_CHANGE`] or more, and was so
//! in [`LOAD_SAMPLES`] samples one after the other; or the owner has just come back, which is said at once. So there
//! is at most one report in [`LOAD_SAMPLES`] samples, save for the owner's returns; and once the load stays where it
//! is, what is reported is less than [`LOAD_CHANGE`] away from it.

use crate::owner::Owner;

/// How far from the last report a load must be to be reported.
pub const LOAD_CHANGE: f64 = 0.1;
/// In how many samples in a row it must be that far.
pub const LOAD_SAMPLES: u32 = 2;
/// Reports are whole multiples of this.
pub const LOAD_STEP: f64 = 0.05;

/// 0.3 and 0.2 are a whole change apart, whatever binary fractions make of them.
const ROUNDING: f64 = 1e-9;

/// Turns the owner's load, sample by sample, into the few reports that are worth sending.
#[derive(Clone, Debug, Default)]
pub struct LoadFilter {
    reported: Option<f64>,
    far: u32,
    owner_here: bool,
}

impl LoadFilter {
    /// Nothing reported yet: the first sample is.
    pub fn new() -> Self {
        Self::default()
    }

    /// What was last reported.
    pub fn reported(&self) -> Option<f64> {
        self.reported
    }

    /// The load to report because of this sample, if any. `load` is from 0 to 1.
    pub fn observe(&mut self, load: f64, owner: Owner) -> Option<f64> {
        let is_here = matches!(owner, Owner::Here(_));
        let is_back = is_here && !self.owner_here;
        self.owner_here = is_here;
        let is_far = self.reported.is_none_or(|reported| (load - reported).abs() + ROUNDING >= LOAD_CHANGE);
        self.far = if is_far { self.far + 1 } else { 0 };
        let is_due = self.reported.is_none() || self.far >= LOAD_SAMPLES || is_back;
        is_due.then(|| {
            let steps = (load.clamp(0.0, 1.0) / LOAD_STEP).round();
            // Divided, so that 0.15 is the same number as in a text.
            let load = steps / (1.0 / LOAD_STEP).round();
            self.far = 0;
            self.reported = Some(load);
            load
        })
    }
}
