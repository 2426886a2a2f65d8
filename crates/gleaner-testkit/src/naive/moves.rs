//! Moves: each pair of machines and each task there.

use super::{Candidate, Formula, Naive, Now, Relocation, more};
use gleaner_core::{Alarm, Cause, Decision, Grid, Occasion, Run, Stage};
use gleaner_units::{MachineId, TaskId, Time};

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
            | Cause::Withdrawn => Vec::new(),
            Cause::WokeUp { alarm, due } => {
                let is_due = |at: Time| alarm == Alarm::Relocation && (due..=time).contains(&at);
                let still = moments(grid, time).into_iter().filter(|(at, _)| is_due(*at));
                still.map(|(_, machine)| End::From(machine)).collect()
            }
        };
        ends.into_iter().find_map(|end| best(&relocation, grid, time, end))
    }

    /// When the next that stands still may be moved.
    pub(super) fn wake_for_moves(&self, grid: &Grid, now: Time) -> Option<Decision> {
        let alarm = Alarm::Relocation;
        let still = self.relocate.map_or(Vec::new(), |_| moments(grid, now));
        let at = still.into_iter().map(|(at, _)| at).find(|at| *at > now)?;
        grid.alarm(alarm).is_none_or(|set| at < set).then_some(Decision::Wake { alarm, at })
    }
}

/// From when on a task that would begin anew leaves a machine whose owner uses all of it: it has stood still for as long as it had run
/// before.
fn moment(grid: &Grid, task: TaskId, on: MachineId) -> Option<Time> {
    let since = grid.machine(on).still_since()?;
    let run = grid.runs_of(task).find(|run| run.stage() == Stage::Running && run.on() == on)?;
    Some(since + since.since(run.since()))
}

/// All such moments, with the machines.
fn moments(grid: &Grid, time: Time) -> Vec<(Time, MachineId)> {
    let now = Now(grid, time);
    let on = now.machines().flat_map(|on| now.tasks_on(on).into_iter().map(move |task| (task, on)));
    let restarting = on.filter(|(task, _)| grid.classes().task_class(grid.task(*task).class()).restarts);
    let mut all: Vec<(Time, MachineId)> =
        restarting.filter_map(|(task, on)| Some((moment(grid, task, on)?, on))).collect();
    all.sort_unstable();
    all.dedup();
    all
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
            if grid.is_checked(grid.task(task).class()) || grid.comparison(task).is_some() {
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
                // By what remains, a gain has it already.
                let counted = matches!(relocation.rule, Formula::SocialRemaining(_));
                let again = if counted { 0.0 } else { grid.task(task).seconds_run(time) / (1.0 + gain) };
                let enough =
                    if by_number { gain >= relocation.difference } else { more(gain, relocation.theta) };
                let pays = match moment(grid, task, from) {
                    Some(at) => at <= time,
                    None => !by_number && more(paid, cost + again),
                };
                worth = enough && (cannot_run || pays);
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
