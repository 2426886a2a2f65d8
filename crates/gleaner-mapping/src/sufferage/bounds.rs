//! How much the tasks of a block suffer at most, by their rough ends, and exactly where that is known.

#![expect(clippy::inline_always, reason = "what runs in vectors has to be inlined: see `scan`")]

use super::rough::{LANES, Lanes, SLACK};
use fearless_simd::prelude::*;
use fearless_simd::{Simd, mask16x32, u16x32};

pub(super) struct Bounds {
    tasks: Vec<u32>,
    /// What bounds are counted in.
    unit: f64,
    /// A machine concerns a task if its rough end is less: it may be among the best two, exactly or by rough ends. The
    /// most there is where the second end is past all units; 0 where no task is left.
    nears: Vec<Lanes>,
    /// At least 1; the most there is where the second end is past all units; 0 where no task is left.
    upper: Vec<Lanes>,
    /// A bit for each task whose sufferage is known, in rows as above.
    is_known: Vec<u32>,
    /// The best two machines by which it is, and the sufferage.
    known: Vec<([u32; 2], f64)>,
    /// The highest bound, not in units: −∞ where no task is left, infinite where it is the most there is.
    highest: f64,
}

/// The machines that would be done first with a task, and when.
pub(super) struct BestTwo {
    machines: [u32; 2],
    ends: [f64; 2],
}

impl BestTwo {
    pub(super) const NONE: Self = Self { machines: [0; 2], ends: [f64::INFINITY; 2] };

    /// Of equals the later are kept: the lowest is the next that becomes busier.
    #[inline(always)]
    pub(super) fn meet(&mut self, machine: u32, end: f64) {
        if end <= self.ends[0] {
            self.ends = [end, self.ends[0]];
            self.machines = [machine, self.machines[0]];
        } else if end <= self.ends[1] {
            self.ends[1] = end;
            self.machines[1] = machine;
        }
    }

    pub(super) fn sufferage(&self) -> f64 {
        self.ends[1] - self.ends[0]
    }
}

impl Bounds {
    /// Of tasks in so many rows, where nothing is known.
    pub(super) fn new(tasks: &[u32], rows: usize) -> Self {
        let mut upper = vec![Lanes::ZERO; rows];
        for at in 0..tasks.len() {
            upper[at / LANES].0[at % LANES] = 1;
        }
        Self {
            tasks: tasks.to_vec(),
            unit: 1.0,
            nears: vec![Lanes::ZERO; rows],
            upper,
            is_known: vec![0; rows],
            known: vec![([0; 2], 0.0); tasks.len()],
            highest: f64::INFINITY,
        }
    }

    pub(super) fn task(&self, at: usize) -> u32 {
        self.tasks[at]
    }

    pub(super) fn tasks(&self) -> &[u32] {
        &self.tasks
    }

    #[inline(always)]
    pub(super) fn is_left(&self, at: usize) -> bool {
        self.upper[at / LANES].0[at % LANES] > 0
    }

    pub(super) fn left(&self) -> impl Iterator<Item = u32> {
        (0..self.tasks.len()).filter(|at| self.is_left(*at)).map(|at| self.tasks[at])
    }

    /// In rows of [`LANES`] tasks: a machine with a lesser rough end concerns the task.
    pub(super) fn nears(&self) -> &[Lanes] {
        &self.nears
    }

    /// Whether a task's second end could be later than a rough end, or is past all units.
    pub(super) fn could_be_later(&self, at: usize, end: u16) -> bool {
        self.near(at) > end || self.near(at) == u16::MAX
    }

    /// A task's sufferage, if it is known.
    pub(super) fn known(&self, at: usize) -> Option<f64> {
        let is_known = self.is_known[at / LANES] >> (at % LANES) & 1 == 1;
        is_known.then(|| self.known[at].1)
    }

    /// Of the tasks of a row that a machine concerns, those of which nothing is known that holds after it became busier.
    #[inline(always)]
    pub(super) fn not_held(&self, row: usize, concerned: u32, machine: u32) -> u32 {
        let (mut left, mut bits) = (concerned, concerned & self.is_known[row]);
        while bits != 0 {
            let lane = bits.trailing_zeros();
            if !self.known[row * LANES + lane as usize].0.contains(&machine) {
                left &= !(1 << lane);
            }
            bits &= bits - 1;
        }
        left
    }

    /// No machine with a rough end as late as this is among a task's best two.
    pub(super) fn near(&self, at: usize) -> u16 {
        self.nears[at / LANES].0[at % LANES]
    }

    pub(super) fn highest(&self) -> f64 {
        self.highest
    }

    /// Counts in another unit from here on: all rows have to be set anew.
    pub(super) fn recount(&mut self, unit: f64) {
        self.unit = unit;
        self.is_known.fill(0);
    }

    /// Sets the best two rough ends of a row, of which some tasks are no longer known.
    #[inline(always)]
    pub(super) fn set_row<S: Simd>(
        &mut self,
        simd: S,
        row: usize,
        forgotten: u32,
        first: u16x32<S>,
        second: u16x32<S>,
    ) {
        self.is_known[row] &= !forgotten;
        let before = self.upper[row].wide(simd);
        let is_gone = before.simd_eq(0);
        let stays = mask16x32::from_bitmask(simd, self.is_known[row].into()) | is_gone;
        let near = second.saturating_add(SLACK + 1);
        let bounds = second.saturating_sub(first).saturating_add(SLACK);
        let bounds = near.simd_eq(u16::MAX).select(near, bounds);
        stays.select(before, bounds).store_array(&mut self.upper[row].0);
        is_gone.select(u16x32::splat(simd, 0), near).store_array(&mut self.nears[row].0);
    }

    /// Sets the best two rough ends of a task that is left, and no longer known.
    #[inline(always)]
    pub(super) fn set(&mut self, at: usize, first: u16, second: u16) {
        let (row, lane) = (at / LANES, at % LANES);
        self.is_known[row] &= !(1 << lane);
        let near = second.saturating_add(SLACK + 1);
        self.upper[row].0[lane] =
            if near == u16::MAX { near } else { (second - first).saturating_add(SLACK) };
        self.nears[row].0[lane] = near;
    }

    /// Has to be called after bounds were set.
    #[inline(always)]
    pub(super) fn find_highest<S: Simd>(&mut self, simd: S) {
        self.highest = match self.highest_rough(simd) {
            0 => f64::NEG_INFINITY,
            u16::MAX => f64::INFINITY,
            highest => f64::from(highest) * self.unit,
        };
    }

    #[inline(always)]
    fn highest_rough<S: Simd>(&self, simd: S) -> u16 {
        let mut highest = u16x32::splat(simd, 0);
        for bounds in &self.upper {
            highest = highest.max(bounds.wide(simd));
        }
        highest.reduce_max()
    }

    #[inline(always)]
    pub(super) fn place_of_highest<S: Simd>(&self, simd: S) -> usize {
        let highest = self.highest_rough(simd);
        let mut row = 0;
        loop {
            let bits = self.upper[row].wide(simd).simd_eq(highest).to_bitmask();
            if bits != 0 {
                return row * LANES + bits.trailing_zeros() as usize;
            }
            row += 1;
        }
    }

    /// Finds the places of all tasks left whose bounds are at least `limit`.
    #[inline(always)]
    pub(super) fn places_from<S: Simd>(&self, simd: S, limit: f64, places: &mut Vec<usize>) {
        places.clear();
        if self.highest < limit {
            return;
        }
        let limit = ((limit / self.unit) as u16).max(1);
        for (row, bounds) in self.upper.iter().enumerate() {
            push_places(row, bounds.wide(simd).simd_ge(limit).to_bitmask() as u32, places);
        }
    }

    /// Notes the best two machines of a task.
    #[inline(always)]
    pub(super) fn know<S: Simd>(&mut self, simd: S, at: usize, best: &BestTwo) {
        let (row, lane) = (at / LANES, at % LANES);
        self.is_known[row] |= 1 << lane;
        self.known[at] = (best.machines, best.sufferage());
        self.upper[row].0[lane] = ((best.sufferage() / self.unit) as u16).saturating_add(1);
        self.find_highest(simd);
    }

    /// Puts an equal task in a task's place, or none.
    #[inline(always)]
    pub(super) fn replace<S: Simd>(&mut self, simd: S, at: usize, equal: Option<u32>) {
        if let Some(task) = equal {
            self.tasks[at] = task;
        } else {
            self.upper[at / LANES].0[at % LANES] = 0;
            self.nears[at / LANES].0[at % LANES] = 0;
            self.find_highest(simd);
        }
    }
}

/// Adds the places of a row whose bits are set.
#[inline(always)]
pub(super) fn push_places(row: usize, bits: u32, places: &mut Vec<usize>) {
    let mut bits = bits;
    while bits != 0 {
        places.push(row * LANES + bits.trailing_zeros() as usize);
        bits &= bits - 1;
    }
}
