//! A bound for machines that come and go: no schedule does more than all machines at all times, whatever they may be
//! given, and none does work before it is submitted.

use crate::trace::Trace;
use gleaner_units::Time;

/// What rounding may add up to, relative to the bound.
const ROUNDING: f64 = 1e-9;

/// When `work`, in the order of its arrival, could be done at the earliest, in seconds; none where the machines go
/// before. Costs O(pieces · log pieces + work).
pub(super) fn fluid_bound(trace: &Trace, cores: impl Fn(u32) -> u32, work: &[(Time, f64)]) -> Option<f64> {
    let mut fluid = Fluid { now: Time::ZERO, speed: 0.0, backlog: 0.0, done_s: 0.0 };
    let mut work = work.iter().peekable();
    for (time, change) in changes(trace, cores) {
        while let Some((arrival, ops)) = work.next_if(|(arrival, _)| *arrival <= time) {
            fluid.flow(*arrival);
            fluid.backlog += ops;
        }
        fluid.flow(time);
        fluid.speed += change;
        if fluid.backlog == 0.0 && work.peek().is_none() {
            break;
        }
    }
    let all_done = fluid.backlog == 0.0 && work.peek().is_none();
    all_done.then_some(fluid.done_s * (1.0 - ROUNDING))
}

/// When the speed of all machines together changes, and by how much, in order of time.
fn changes(trace: &Trace, cores: impl Fn(u32) -> u32) -> Vec<(Time, f64)> {
    let mut changes = Vec::with_capacity(trace.piece_count() + trace.intervals().len());
    for (index, interval) in trace.intervals().iter().enumerate() {
        let cores = f64::from(cores(interval.machine));
        let mut before = 0.0;
        for piece in trace.pieces(index) {
            changes.push((piece.from, cores * (piece.speed - before)));
            before = piece.speed;
        }
        changes.push((interval.until, -cores * before));
    }
    changes.sort_by_key(|(time, _)| *time);
    changes
}

/// All machines as one, and all work as one heap.
struct Fluid {
    now: Time,
    speed: f64,
    backlog: f64,
    done_s: f64,
}

impl Fluid {
    fn flow(&mut self, until: Time) {
        let capacity = self.speed * until.since(self.now).seconds();
        if self.backlog > capacity {
            self.backlog -= capacity;
        } else if self.backlog > 0.0 {
            self.done_s = self.now.seconds() + self.backlog / self.speed;
            self.backlog = 0.0;
        }
        self.now = until;
    }
}
