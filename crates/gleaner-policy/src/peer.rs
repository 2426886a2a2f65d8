//! The policy of a site among peers, as `OurGrid`'s: its own machines first, then what peers lend; idle machines are lent.
//!
//! A machine is free while fewer tasks are on it than it has cores. **A loan lasts for what the borrower starts at once**: a
//! borrowed machine goes back as soon as its last run is over, so that its lender can say anew who has it next.

mod copies;
mod seeker;

use crate::fleet::{Fleet, OWN_BOUNDS};
use crate::parts::choose::Choose;
use crate::parts::favours::{Favours, Overflow, Peering, Recalling};
use crate::parts::replicate::Replicate;
use crate::{Score, placement};
use copies::Ended;
use gleaner_core::{Availability, Cause, Change, Decision, Grid, Lending, Occasion, Policy, Want};
use gleaner_units::{MachineId, TaskClassId, TaskId, Time};
use seeker::{Seeker, Wanted};

/// How tasks are placed, and what is lent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sharing {
    /// What a machine is judged by.
    pub(crate) score: Score,
    /// Which of those that were judged is taken.
    pub(crate) choose: Choose,
    /// Whether idle machines run tasks once more.
    pub(crate) replicate: Replicate,
    /// What makes the site a peer.
    pub(crate) peering: Peering,
}

/// A site among peers.
#[derive(Clone, Debug)]
pub struct Peer {
    recipe: Sharing,
    fleet: Fleet,
    ended: Ended,
}

impl Peer {
    pub(crate) fn new(recipe: Sharing) -> Self {
        Self { recipe, fleet: Fleet::default(), ended: Ended::default() }
    }

    fn find(&self, grid: &Grid, class: TaskClassId, wanted: Wanted) -> Option<MachineId> {
        let Sharing { score, choose, .. } = self.recipe;
        let seeker = Seeker::new((score, choose), grid, class, wanted);
        placement::search(choose, &self.fleet, &seeker)
    }

    fn start(&self, grid: &Grid, task: TaskId) -> Option<Decision> {
        let on = self.find(grid, grid.task(task).class(), Wanted::Free)?;
        Some(Decision::Start { task, on })
    }

    /// The first of those that wait, for which a machine is free. Costs a search for each class that waits.
    fn start_any(&self, grid: &Grid) -> Option<Decision> {
        let task = grid.longest_waiting(|class| self.find(grid, class, Wanted::Free).is_some())?;
        self.start(grid, task)
    }

    /// What waits goes to the shortest queue of the site's own.
    fn queue_up(&self, grid: &Grid) -> Option<Decision> {
        let queue = |class| {
            let shortest =
                Seeker::new((self.recipe.score, self.recipe.choose), grid, class, Wanted::Shortest);
            let least = self.fleet.best(&shortest, f64::NEG_INFINITY);
            if least == f64::NEG_INFINITY { None } else { self.find(grid, class, Wanted::Queue(-least)) }
        };
        let task = grid.longest_waiting(|class| queue(class).is_some())?;
        let on = queue(grid.task(task).class())?;
        Some(Decision::Start { task, on })
    }

    /// A second run on an idle machine of its own, while nothing waits.
    fn copy(&self, grid: &Grid, now: Time) -> Option<Decision> {
        if self.recipe.replicate != Replicate::Idle || grid.has_waiting() {
            return None;
        }
        grid.placed_classes().find_map(|class| {
            let on = self.find(grid, class, Wanted::Lendable)?;
            let task = copies::most_gained(grid, now, (class, on), self.ended)?;
            Some(Decision::Replicate { task, on })
        })
    }

    /// A borrowed machine with nothing on it goes back.
    fn give_back(grid: &Grid, machine: MachineId) -> Option<Decision> {
        let there = grid.machine(machine);
        let is_here = there.availability() == Availability::Open && grid.loans().is_borrowed(machine);
        let is_idle = there.count() == 0 && there.stopping().is_empty();
        (is_here && is_idle).then_some(Decision::Lending(Lending::GiveBack { machine }))
    }

    /// One lent machine for each task that waits.
    fn recall(&self, grid: &Grid) -> Option<Decision> {
        let loans = grid.loans();
        if self.recipe.peering.recall == Recalling::Never || loans.lent() == loans.recalled() {
            return None;
        }
        let comes = loans.recalled() as u64;
        let task = grid.longest_waiting(|class| u64::from(grid.waiting_count(class)) > comes)?;
        let class = grid.task(task).class();
        let machine = loans.first_to_recall(|machine| grid.seconds_per_op(class, machine).is_finite())?;
        Some(Decision::Lending(Lending::Recall { machine }))
    }

    /// Peers know how many workers are wanted. Costs O(task classes).
    fn ask(grid: &Grid) -> Option<Decision> {
        let loans = grid.loans();
        let comes = loans.recalled() as u32;
        let classes = (0..grid.classes().task_classes().len()).map(TaskClassId::new);
        let wants = |class| grid.waiting_count(class).saturating_sub(comes);
        let mut news = classes.filter(|&class| loans.asked(class) != wants(class));
        let class = news.next()?;
        Some(Decision::Lending(Lending::Ask { class, workers: wants(class) }))
    }

    fn may_lend(&self, grid: &Grid) -> bool {
        let loans = grid.loans();
        let supply = match self.recipe.peering.favours {
            Favours::None | Favours::Nof => return true,
            Favours::FdNof => loans.favours().supply(grid.own_machines() as u32),
        };
        loans.lent() < supply as usize
    }

    /// Costs O(peers that want workers).
    fn lend(&self, grid: &Grid) -> Option<Decision> {
        if grid.loans().wants().is_empty() {
            return None;
        }
        let by_favours = self.recipe.peering.favours != Favours::None;
        let lends = |want: &Want| {
            let machine = self.find(grid, want.class, Wanted::Lendable)?;
            Some(Decision::Lending(Lending::Lend { machine, to: want.by }))
        };
        let wish = if grid.has_waiting() || !self.may_lend(grid) {
            None
        } else {
            grid.loans().in_order(by_favours).find_map(lends)
        };
        Some(wish.unwrap_or(Decision::Lending(Lending::Refuse)))
    }

    /// Peers know whether there is something to lend.
    fn offer(&self, grid: &Grid) -> Option<Decision> {
        let has_any = || {
            let classes = grid.classes().task_classes().len();
            classes > 0 && self.find(grid, TaskClassId::FIRST, Wanted::Lendable).is_some()
        };
        let any = !grid.has_waiting() && self.may_lend(grid) && has_any();
        (grid.loans().offers() != any).then_some(Decision::Lending(Lending::Offer { any }))
    }
}

impl Policy for Peer {
    fn observe(&mut self, grid: &Grid, change: &Change) {
        match *change {
            Change::MachineJoined(machine) => self.fleet.join(grid, machine),
            Change::ResidentsChanged(machine)
            | Change::LoadChanged(machine)
            | Change::AvailabilityChanged(machine) => self.fleet.update(grid, machine),
            Change::Finished(task) => self.ended.add(grid, task),
            Change::MachineMeasured(_) | Change::TaskClassMeasured(_) => self.rebuild(grid),
            Change::TaskClassMet(class) if class.index() < OWN_BOUNDS => self.rebuild(grid),
            Change::MachineClassMet(_)
            | Change::TaskClassMet(_)
            | Change::Wait { .. }
            | Change::Planned(..)
            | Change::Unplanned(_)
            | Change::BudgetChanged
            | Change::Started(_)
            | Change::Withdrawn { .. }
            | Change::CatalogueChanged
            | Change::BeliefChanged(_)
            | Change::LoansChanged
            | Change::RoomTaken(_)
            | Change::RoomFreed(..)
            | Change::StaleReply(_)
            | Change::Refused(..)
            | Change::AlarmChanged(_) => {}
        }
    }

    fn propose(&mut self, grid: &Grid, now: Time, occasion: Occasion) -> Option<Decision> {
        let first = match occasion.cause {
            // Before the next task may go there.
            Cause::Freed(machine) | Cause::Vacated(machine) => Self::give_back(grid, machine),
            _ => None,
        };
        let starts = || if grid.has_waiting() { self.start_any(grid) } else { None };
        let then = || match occasion.cause {
            Cause::Joined(machine) | Cause::Opened(machine) => Self::give_back(grid, machine),
            Cause::Wanted => self.lend(grid),
            Cause::NothingLent if self.recipe.peering.queue == Overflow::Machines => self.queue_up(grid),
            _ => None,
        };
        let short = || if grid.has_waiting() { self.recall(grid) } else { None };
        first
            .or_else(starts)
            .or_else(then)
            .or_else(short)
            .or_else(|| Self::ask(grid))
            .or_else(|| self.copy(grid, now))
            .or_else(|| self.offer(grid))
    }

    fn rebuild(&mut self, grid: &Grid) {
        self.fleet = Fleet::of(grid);
        self.ended = Ended::of(grid);
    }

    fn check(&self, grid: &Grid) -> Result<(), String> {
        let ended = Ended::of(grid);
        if self.ended != ended {
            return Err(format!("of tasks that ended {:?} is kept, and it is {ended:?}", self.ended));
        }
        self.fleet.check(grid)
    }
}
