//! Holding a task back: an idle machine can be so slow that the faster ones of the site, busy now, would have done all that waits
//! before it has done one task.
//!
//! Nobody says how long a task is: what ended stands for what waits and for what runs ([`Ended`]).

use super::copies::Ended;
use gleaner_core::{Grid, Run, Stage};
use gleaner_units::{MachineId, TaskClassId, Time};

/// When the first of the runs that a held task waits for should be over; nothing where the task had better start on this idle
/// machine of the site's own now. Costs O(machines).
pub(super) fn better_later(
    grid: &Grid,
    now: Time,
    (class, on): (TaskClassId, MachineId),
    ended: &Ended,
) -> Option<Time> {
    let usual = ended.mean(class);
    let here_s = usual * grid.seconds_per_op(class, on);
    if here_s <= 0.0 {
        return None;
    }
    // Of what waits, so many would be done elsewhere before one is here.
    let (mut done, mut first_s) = (0.0, f64::INFINITY);
    for machine in (0..grid.machines().len()).map(MachineId::new) {
        let there_s = usual * grid.seconds_per_op(class, machine);
        if there_s.is_nan() || there_s >= here_s || grid.loans().is_borrowed(machine) {
            continue;
        }
        let alike = grid.machine(machine).runs().filter(|run| grid.task(run.task).class() == class);
        for run in alike.filter_map(|run| grid.find_run(run)) {
            let left_s = left_ops(now, run, usual, there_s / usual) * there_s / usual;
            let more = ((here_s - left_s) / there_s).floor();
            if more >= 1.0 {
                done += more;
                first_s = first_s.min(left_s);
            }
        }
    }
    // Rounding is not to wake it at this very moment, again and again.
    (done >= f64::from(grid.waiting_count(class))).then(|| now.after_seconds(first_s.max(1e-6)))
}

/// The operations that a run has still to do, by what is usual; one that has done more than half of that is taken for twice what
/// it has done.
fn left_ops(now: Time, run: &Run, usual: f64, seconds_per_op: f64) -> f64 {
    let done = match run.stage() {
        Stage::Running => now.since(run.since()).seconds() / seconds_per_op,
        Stage::Held | Stage::Next | Stage::Asked | Stage::Sent | Stage::Stopping | Stage::Missing => 0.0,
    };
    usual.max(2.0 * done) - done
}
