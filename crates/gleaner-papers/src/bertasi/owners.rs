//! The owners' loads of figures 2 and 4; in figures 1 and 3 no owner is there.

use gleaner_units::Time;

/// An owner's load becomes λ and stays.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OwnerChange {
    /// When.
    pub at: Time,
    /// Which machine of the grid, counted from 0.
    pub machine: usize,
    /// λ from then on.
    pub load: f64,
}

const fn nearly_gone(at_s: u64, machine: usize) -> OwnerChange {
    OwnerChange { at: Time::from_nanos(at_s * 1_000_000_000), machine, load: 0.95 }
}

/// On the synthetic grid: S₃ becomes "essentially unavailable".
pub const FIGURE_2: [OwnerChange; 1] = [nearly_gone(1500, 3)];

/// On the AEOLUS grid, in the order of the caption, which is that of time.
pub const FIGURE_4: [OwnerChange; 4] =
    [nearly_gone(0, 0), nearly_gone(60, 6), nearly_gone(100, 26), nearly_gone(125, 19)];
