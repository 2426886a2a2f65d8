use crate::{Change, Decision, Grid, Occasion};
use gleaner_units::Time;

/// A rule by which to schedule. It sees the grid, keeps indices of its own, and wishes; it orders nothing.
pub trait Policy {
    /// Takes note of what became of the grid. Costs O(log n).
    fn observe(&mut self, grid: &Grid, change: &Change);

    /// Takes note of all that one event or decision did, in order.
    fn observe_all(&mut self, grid: &Grid, changes: &[Change]) {
        for change in changes {
            self.observe(grid, change);
        }
    }

    /// The next wish in answer to `occasion`, or nothing when content with it. It is asked again after each
    /// wish, with the effect of the last one in the grid.
    fn propose(&mut self, grid: &Grid, now: Time, occasion: Occasion) -> Option<Decision>;

    /// Forgets all indices and derives them from the grid.
    fn rebuild(&mut self, grid: &Grid);

    /// What differs between the indices as they were kept and as [`rebuild`](Self::rebuild) makes them.
    fn check(&self, grid: &Grid) -> Result<(), String>;
}
