//! Why a job waits: for explanations.

use super::dispatcher::Dispatcher;
use super::pass::{Pass, excluded_for, fitting, is_enough};
use gleaner_core::{Grid, Stage};
use gleaner_units::{TaskId, Time};

/// What keeps a job that waits from starting now, at the site where it waits, if it waits at one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeldBackOverSites {
    /// Too little is free for it; and the moment that is kept for it, if one is: never where nothing is known to end.
    NoRoom(Option<Time>),
    /// Nobody starts before that one, which does not fit.
    Turn(TaskId),
    /// It would delay that one, for which that moment is kept.
    Delays(TaskId, Time),
}

impl Dispatcher {
    /// What keeps a job that waits from starting now, as things stand; none if nothing does. Costs O(jobs that wait) looks.
    pub(crate) fn holds_back(&self, grid: &Grid, now: Time, task: TaskId) -> Option<HeldBackOverSites> {
        let mut copy = self.clone();
        let mut pass = Pass::new(copy.line.in_turn(grid, &copy.rule, now));
        while let Some(next) = pass.todo.pop_front() {
            if grid.runs_of(next).any(|run| run.stage() == Stage::Stopping) {
                continue;
            }
            for home in copy.homes(grid, next) {
                let first = pass.head(home);
                let starts = copy.parts_for(grid, now, &mut pass, home, next).is_some();
                if next != task || starts {
                    continue;
                }
                let (rule, class) = (&copy.rule, grid.task(task).class());
                let cores = grid.classes().demand(class).needs.cores;
                let excluded = excluded_for(grid, rule, (home, task));
                if !is_enough(rule, cores, &fitting(grid, class, copy.rooms.free(), &excluded)) {
                    let of = (grid, rule, &copy.running);
                    let kept = pass.moment_kept(of, now, home, copy.rooms.free());
                    return Some(HeldBackOverSites::NoRoom(
                        kept.filter(|(first, _)| *first == task).map(|kept| kept.1),
                    ));
                }
                let first = first?;
                let of = (grid, rule, &copy.running);
                let kept = pass.moment_kept(of, now, home, copy.rooms.free());
                return Some(match kept {
                    Some((first, at)) => HeldBackOverSites::Delays(first, at),
                    None => HeldBackOverSites::Turn(first),
                });
            }
        }
        None
    }
}
