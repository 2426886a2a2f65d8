//! How early the last task can end at best, whoever schedules: what a makespan is compared with.
//!
//! The larger of two bounds:
//!
//! - **The longest task.** A task alone on the machine that suits it best at each moment, moving for nothing.
//! - **A linear program.** The machines of a class are one pool, work is divisible and may pause, and a task's
//!   work may start once the task has arrived; only the pools' capacity under the owners' loads limits it.
//!
//! Machines that come and go by a trace have a simpler one (`fluid`).
//!
//! The program is not solved as it stands but through its dual: a *price* for a core-second of each class in each
//! interval between breakpoints (arrivals and load changes). A task's work is worth at least its cheapest place,
//! c = min h·price, so no schedule ends before the capacity's price adds up to the value of all the work. **Any
//! prices give a valid bound**; the program only finds good ones. Validity therefore rests on a few sums over the
//! exact input (`worth`), never on the solver, on thinned breakpoints or on grouped kinds.
//!
//! Invariants:
//!
//! - **No schedule of the simulator's ends earlier**, migration included. Each length is first reduced by what half
//!   a nanosecond does at best, since a finish is rounded to the nearest; the result by the sums' round-off.
//! - **Deterministic**: arithmetic is + − × ÷ √ only, no clock is read, ties go to the first.
//! - The optimum of the program itself where nothing has to be thinned: up to [`BREAKPOINTS_MAX`] breakpoints before
//!   the end, [`KINDS_MAX`] kinds, [`CLASSES_MAX`] classes, and [`ROWS_MAX`] rows. Above, the solver sees fewer
//!   breakpoints and means of groups; its prices, and so the bound, are then a per cent or two below the optimum.
//!
//! Cost: O(tasks·(classes + log changes) + changes·classes·kinds), plus at most [`ROUNDS_MAX`] programs of at most
//! [`ROWS_MAX`] rows, most often one or two: 1 to 4 ms for the first paper's figures, half a second for 500 machines
//! of 100 classes, 10,000 load changes and 5000 tasks of 500 kinds.

mod capacity;
mod fluid;
mod grouping;
mod instance;
mod longest;
mod makespan;
mod prices;
mod work;
mod worth;

pub use instance::{BREAKPOINTS_MAX, BoundMachine, BoundTask, CLASSES_MAX, Instance, KINDS_MAX, ROWS_MAX};
pub use makespan::makespan_bound;

use capacity::Capacity;
use prices::{Answer, Priced};
use work::Work;

/// How often the program is solved again because the bound passed further breakpoints.
pub const ROUNDS_MAX: usize = 6;

/// More than the relative error that the sums of a bound, or of a simulation, can gather.
const ROUND_OFF: f64 = 1e-11;

/// Which of the two bounds is the larger.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BoundBy {
    /// The linear program: capacity is what is short.
    Lp,
    /// One task alone.
    LongestTask,
}

/// No schedule's last finish is before this.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LowerBound {
    /// Seconds since the start of the run (not since the first arrival).
    pub seconds: f64,
    /// What gave it.
    pub by: BoundBy,
}

/// The bound, or `None` where no schedule ends: a kind that runs nowhere, or owners who never leave enough again.
///
/// # Panics
/// If a kind or a class is not in the table.
pub fn lower_bound(instance: &Instance<'_>) -> Option<LowerBound> {
    let table = where_there_are_machines(instance);
    let instance = &Instance { seconds_per_op: &table, ..*instance };
    let capacity = Capacity::of(instance);
    let work = Work::of(instance)?;
    let longest = longest::longest_task(instance, &work, &capacity)?;
    let pooled = pooled(instance, &work, &capacity, longest)?;
    let (seconds, by) =
        if pooled > longest { (pooled, BoundBy::Lp) } else { (longest, BoundBy::LongestTask) };
    Some(LowerBound { seconds: seconds * (1.0 - ROUND_OFF), by })
}

/// h, infinite also where the class has no machine.
fn where_there_are_machines(instance: &Instance<'_>) -> Vec<Vec<f64>> {
    let mut table = instance.seconds_per_op.to_vec();
    let mut manned = vec![false; table.first().map_or(0, Vec::len)];
    if !manned.is_empty() {
        instance.machines.iter().for_each(|machine| manned[machine.class] = true);
    }
    for row in &mut table {
        row.iter_mut().zip(&manned).filter(|(_, manned)| !**manned).for_each(|(h, _)| *h = f64::INFINITY);
    }
    table
}

/// The linear program's bound, at least `floor`, itself a valid bound. Breakpoints up to a valid bound lie in every
/// schedule's past; if the prices push the bound past further ones, they are asked for again with those in view.
fn pooled(instance: &Instance<'_>, work: &Work, capacity: &Capacity, floor: f64) -> Option<f64> {
    let Some(first) = work.first_arrival() else { return Some(floor) };
    let even = Priced::even(first, capacity.classes());
    let mut best = floor.max(worth::earliest_end(instance, work, capacity, &even));
    for _ in 0..ROUNDS_MAX {
        if best.is_infinite() {
            return None;
        }
        let priced = match prices::find(instance, work, capacity, best) {
            Answer::Prices(priced) => priced,
            Answer::NoEnd => return None,
            Answer::Unknown => break,
        };
        let end = worth::earliest_end(instance, work, capacity, &priced);
        let settled = !work.breaks_within(best, end) && !capacity.changes_within(best, end);
        best = best.max(end);
        if settled {
            break;
        }
    }
    best.is_finite().then_some(best)
}
