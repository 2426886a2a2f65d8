//! Moves: each pair of machines and each task there.

use super::{Candidate, Formula, Naive, Now, Relocation, more};
use gleaner_core::{Cause, Decision, Grid, Occasion, Run, Stage};
use gleaner_units::{MachineId, Time};

/// Which end of a move is given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    From(MachineId),
    To(MachineId),
}

impl Naive {
    pub(super) fn relocate(&self, grid: &Grid, time: Time, occasion: Occasion) -> Option<Decision> {
        let relocation = self.relocate.filter(|relocation| occasion.moves < relocation.moves)?;
        let ends = match occasion.cause {
            Cause::LoadRose(machine) | Cause::Closed(machine) => vec![End::From(machine)],
            Cause::LoadFell(machine)
            | Cause::Freed(machine)
            | Cause::Joined(machine)
            | Cause::Opened(machine) => vec![End::To(machine)],
            // Who is there goes first, if anybody gains by that.
            Cause::Measured(machine) => vec![End::From(machine), End::To(machine)],
            Cause::Submitted(_)
            | Cause::Vacated(_)
            | Cause::Published(_)
            | Cause::Wanted
            | Cause::NothingLent
            | Cause::DataCame
            | Cause::Lost(_)
            | Cause::RuleChanged
            | Cause::Withdrawn
            | Cause::WokeUp { .. } => Vec::new(),
        };
        ends.into_iter().find_map(|end| best(&relocation, grid, time, end))
    }
}

fn best(relocation: &Relocation, grid: &Grid, time: Time, given: End) -> Option<Decision> {
    let now = Now(grid, time);
    let mut candidates: Vec<Candidate> = Vec::new();
    for (from, to) in now.machines().flat_map(|a| now.machines().map(move |b| (a, b))) {
        let other = match given {
            End::From(machine) if machine == from => to,
            End::To(machine) if machine == to => from,
            End::From(_) | End::To(_) => continue,
        };
        for task in now.tasks_on(from) {
            let stages: Vec<Stage> = grid.runs_of(task).map(Run::stage).collect();
            let running = stages.iter().filter(|stage| **stage != Stage::Missing).eq([&Stage::Running]);
            // What is compared is one machine's.
            if grid.is_checked(grid.task(task).class()) {
                continue;
            }
            let liked = now.rank(task, to) >= now.rank(task, from);
            if from == to || !running || !liked || !now.possible(task, to) {
                continue;
            }
            let gain = now.gain(relocation.rule, task, from, to);
            let cost = grid.migration_seconds(from, to);
            let paid = gain * grid.task(task).seconds_run(time);
            let by_number = relocation.rule == Formula::MinNum;
            let cannot_run = now.h(task, from) == f64::INFINITY;
            let mut worth = if by_number {
                gain >= relocation.difference
            } else {
                more(gain, relocation.theta) && (cost == 0.0 || cannot_run || more(paid, cost))
            };
            if grid.classes().task_class(grid.task(task).class()).restarts {
                let idle = grid.machine(from).load() >= 1.0 || cannot_run;
                let again = grid.task(task).seconds_run(time) / (1.0 + gain);
                let enough =
                    if by_number { gain >= relocation.difference } else { more(gain, relocation.theta) };
                worth = enough && (idle || (!by_number && more(paid, cost + again)));
            }
            if worth {
                candidates.push((gain, other, task));
            }
        }
    }
    let (other, task) = relocation.first_of(grid, time, &candidates)?;
    let to = if let End::To(machine) = given { machine } else { other };
    Some(Decision::Relocate { task, to })
}
