use crate::parts::score::sum_of_times;
use gleaner_core::{Grid, Needs};
use gleaner_units::{MachineId, TaskClassId};

/// Of so many task classes, the first that were met, each has its own bound on what a newcomer would cost; what comes
/// later is bounded less sharply. A grid has few classes, and each one more costs 16 bytes a machine; with five, a summary
/// takes two cache lines.
pub const OWN_BOUNDS: usize = 5;

/// Memory is bounded in steps of so many bytes, rounded up.
const MEMORY_STEP: u64 = 1 << 20;

/// What a task needs, in the steps in which [`Summary`] bounds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    slots: u32,
    memory: u32,
}

impl From<Needs> for Size {
    fn from(needs: Needs) -> Self {
        Self { slots: needs.cores, memory: memory_steps(needs.memory) }
    }
}

/// The extremes of some machines of one class, or one machine's own values.
///
/// Machines that are closed, whose owner leaves nothing, or whose slots are all taken cannot take a task: they do not
/// count for the fields that say what a newcomer would find, named `next_*`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Summary {
    /// Largest share of a core that a newcomer of one core would get; −∞ if none can take one.
    pub next_share_max: f64,
    /// Fewest tasks on a machine that can take one; +∞ if none can.
    pub next_count_min: f64,
    /// Smallest (n+1)/(1−λ) on a machine that can take one; +∞ if none can.
    pub next_crowding_min: f64,
    /// Smallest Σh/(1−λ) on a machine that can take one; +∞ if none can.
    pub next_times_min: f64,
    /// Most free slots on a machine that can take a task; `u32::MAX` where there is no bound.
    pub next_slots_max: u32,
    /// Most free memory on a machine that can take a task, in steps of 1 MiB; `u32::MAX` where there is no bound, or one
    /// beyond that.
    pub next_memory_max: u32,
    /// By task class, for the first few: smallest ((n+1)·h + Σh)/(1−λ) on a machine that can take one.
    pub next_burden_min: [f64; OWN_BOUNDS],
    /// Smallest share of a core that a resident gets; +∞ where there are no residents.
    pub share_min: f64,
    /// Most tasks.
    pub count_max: f64,
    /// Largest n/(1−λ).
    pub crowding_max: f64,
    /// Largest Σh/n.
    pub mean_max: f64,
    /// A set bit for each class of task here, by its id modulo 64: a clear bit rules a class out.
    pub present: u64,
}

impl Summary {
    /// Covers no machine; neutral in [`join`](Self::join).
    pub const NONE: Summary = Summary {
        next_share_max: f64::NEG_INFINITY,
        next_count_min: f64::INFINITY,
        next_crowding_min: f64::INFINITY,
        next_times_min: f64::INFINITY,
        next_slots_max: 0,
        next_memory_max: 0,
        next_burden_min: [f64::INFINITY; OWN_BOUNDS],
        share_min: f64::INFINITY,
        count_max: 0.0,
        crowding_max: 0.0,
        mean_max: 0.0,
        present: 0,
    };

    /// One machine. Costs O(task classes on it).
    pub fn of(grid: &Grid, id: MachineId) -> Self {
        let machine = grid.machine(id);
        let n = f64::from(machine.count());
        let mut summary = Summary::NONE;
        for (class, _) in machine.counts() {
            summary.present |= Self::bit(class);
        }
        let times = sum_of_times(grid, machine);
        let free = 1.0 - machine.load();
        if machine.count() > 0 {
            summary.share_min = machine.share(machine.shares());
            summary.count_max = n;
            summary.crowding_max = n / free;
            summary.mean_max = times / n;
        }
        if machine.takes_tasks() {
            let room = machine.free();
            summary.next_slots_max = room.slots.unwrap_or(u32::MAX);
            summary.next_memory_max = room.memory.map_or(u32::MAX, memory_steps);
            summary.next_share_max = machine.share(machine.shares() + 1);
            summary.next_count_min = n;
            summary.next_crowding_min = (n + 1.0) / free;
            summary.next_times_min = times / free;
            let classes = grid.classes();
            let known = classes.task_classes().len();
            for (index, burden) in summary.next_burden_min.iter_mut().enumerate().take(known) {
                let h = classes.seconds_per_op(TaskClassId::new(index), machine.class());
                *burden = ((n + 1.0) * h + times) / free;
            }
        }
        summary
    }

    /// The extremes of both.
    #[must_use]
    #[inline]
    pub fn join(&self, other: &Summary) -> Summary {
        let mut next_burden_min = self.next_burden_min;
        for (least, other) in next_burden_min.iter_mut().zip(other.next_burden_min) {
            *least = smaller(*least, other);
        }
        Summary {
            next_share_max: larger(self.next_share_max, other.next_share_max),
            next_count_min: smaller(self.next_count_min, other.next_count_min),
            next_crowding_min: smaller(self.next_crowding_min, other.next_crowding_min),
            next_times_min: smaller(self.next_times_min, other.next_times_min),
            next_slots_max: self.next_slots_max.max(other.next_slots_max),
            next_memory_max: self.next_memory_max.max(other.next_memory_max),
            next_burden_min,
            share_min: smaller(self.share_min, other.share_min),
            count_max: larger(self.count_max, other.count_max),
            crowding_max: larger(self.crowding_max, other.crowding_max),
            mean_max: larger(self.mean_max, other.mean_max),
            present: self.present | other.present,
        }
    }

    /// Whether a task of that class may be here; certain only where it says no.
    #[inline]
    pub fn may_hold(&self, class: TaskClassId) -> bool {
        self.present & Self::bit(class) != 0
    }

    /// Whether a machine here may have room for a task of that size; certain only where it says no.
    #[inline]
    pub fn may_take(&self, size: Size) -> bool {
        // One branch instead of two: this is asked at every node of every search.
        (size.slots <= self.next_slots_max) & (size.memory <= self.next_memory_max)
    }

    fn bit(class: TaskClassId) -> u64 {
        1 << (class.index() % 64)
    }
}

/// Never more for less.
fn memory_steps(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(MEMORY_STEP)).unwrap_or(u32::MAX)
}

// One instruction each, where `f64::min` and `f64::max` take three to get NaN right. There is none here.

#[inline]
fn smaller(one: f64, other: f64) -> f64 {
    if one < other { one } else { other }
}

#[inline]
fn larger(one: f64, other: f64) -> f64 {
    if one > other { one } else { other }
}
