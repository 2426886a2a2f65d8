//! What is bounded, and how much of it the linear program sees.

use gleaner_units::{Ops, Time};

/// How many breakpoints the linear program sees; the others are rounded down to these.
pub const BREAKPOINTS_MAX: usize = 12;
/// How many kinds of tasks the linear program tells apart.
pub const KINDS_MAX: usize = 32;
/// How many classes of machines the linear program tells apart.
pub const CLASSES_MAX: usize = 128;
/// How many rows the linear program may have before it is made coarser.
pub const ROWS_MAX: usize = 3_000;
/// What is to be bounded. Kinds of tasks and classes of machines are whatever the caller tells apart.
#[derive(Clone, Copy, Debug)]
pub struct Instance<'a> {
    /// h: one row a kind, one column a class; infinite where the kind cannot run.
    pub seconds_per_op: &'a [Vec<f64>],
    /// In any order.
    pub tasks: &'a [BoundTask],
    /// In any order.
    pub machines: &'a [BoundMachine],
}

/// One task of an [`Instance`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BoundTask {
    /// Nothing of it is done before.
    pub arrival: Time,
    /// How much there is to do.
    pub length: Ops,
    /// Its row in [`Instance::seconds_per_op`].
    pub kind: usize,
    /// How many cores it holds while it runs; 1 where cores are shared.
    pub cores: u32,
}

/// One machine of an [`Instance`].
#[derive(Clone, PartialEq, Debug)]
pub struct BoundMachine {
    /// Its column in [`Instance::seconds_per_op`].
    pub class: usize,
    /// How many tasks run at full speed side by side.
    pub cores: u32,
    /// The owner's load from each moment on, from 0 to 1, and 0 before the first; of entries at one moment the last
    /// holds.
    pub loads: Vec<(Time, f64)>,
}
