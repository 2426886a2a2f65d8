//! The policy of a site among peers, as `OurGrid`'s: its own machines first, then what peers lend; idle machines are lent.
//!
//! A machine is free while fewer tasks are on it than it has cores. **A loan lasts for what the borrower starts at once**: a
//! borrowed machine goes back as soon as its last run is over, so that its lender can say anew who has it next.
//!
//! **Where the whole grid is in reach**, a task starts on a machine of the site's own only after peers were asked for a more
//! powerful one, and none has it; a task for which nobody answers waits for no answer. A machine that comes back where lent
//! machines are taken back is taken at once.

mod copies;
mod hold;
mod line;
mod seeker;

use crate::fleet::{Fleet, OWN_BOUNDS};
use crate::parts::choose::Choose;
use crate::parts::favours::{Favours, Overflow, Peering, Reach, Recalling};
use crate::parts::replicate::Replicate;
use crate::parts::when::Holding;
use crate::wait_for_all::wait_for_all;
use crate::{Score, placement};
use copies::Ended;
use gleaner_core::{
    Alarm, Availability, Cause, Change, Decision, Grid, Lending, Occasion, Policy, Seek, Want,
};
use gleaner_units::{MachineClassId, MachineId, TaskClassId, Time};
use line::Line;
pub(crate) use line::Turn;
use seeker::{Seeker, Wanted};

/// How tasks are placed, and what is lent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sharing {
    /// What a machine is judged by.
    pub(crate) score: Score,
    /// Which of those that were judged is taken.
    pub(crate) choose: Choose,
    /// Who is next of those that wait.
    pub(crate) turn: Turn,
    /// Whether idle machines run tasks once more.
    pub(crate) replicate: Replicate,
    /// Whether a task starts on an idle machine however slow that is.
    pub(crate) hold: Holding,
    /// What makes the site a peer.
    pub(crate) peering: Peering,
}

/// A site among peers.
#[derive(Clone, Debug)]
pub struct Peer {
    recipe: Sharing,
    fleet: Fleet,
    line: Line,
    ended: Ended,
}

impl Peer {
    pub(crate) fn new(recipe: Sharing) -> Self {
        Self { recipe, fleet: Fleet::default(), line: Line::new(recipe.turn), ended: Ended::default() }
    }

    fn reaches_peers(&self, grid: &Grid) -> bool {
        self.recipe.peering.reach == Reach::Grid && grid.loans().is_connected()
    }

    fn find(&self, grid: &Grid, class: TaskClassId, wanted: Wanted) -> Option<MachineId> {
        let Sharing { score, choose, .. } = self.recipe;
        let seeker = Seeker::new((score, choose), grid, class, wanted);
        placement::search(choose, &self.fleet, seeker)
    }

    /// The next of those that wait, for which a machine is free. Costs a search for each class that waits, and O(machines) where
    /// tasks are held back.
    fn start_any(&self, grid: &Grid, now: Time) -> Option<Decision> {
        let place = |class| {
            let on = self.find(grid, class, Wanted::Free)?;
            let is_borrowed = grid.loans().is_borrowed(on);
            let is_clear = !self.reaches_peers(grid) || is_borrowed || Self::is_best(grid, class, on);
            let starts = is_clear && (is_borrowed || self.held_until(grid, now, (class, on)).is_none());
            starts.then_some(on)
        };
        let task = self.line.next(grid, |class| place(class).is_some())?;
        let on = place(grid.task(task).class())?;
        Some(Decision::Start { task, on })
    }

    /// When it is looked at again whether a task starts on this machine, if it had better wait.
    fn held_until(&self, grid: &Grid, now: Time, place: (TaskClassId, MachineId)) -> Option<Time> {
        match self.recipe.hold {
            Holding::Never => None,
            Holding::WhenSlower => hold::better_later(grid, now, place, &self.ended),
        }
    }

    /// Whoever is held back is looked at again when the first run that it waits for should be over, whether it is or not.
    fn wake_held(&self, grid: &Grid, now: Time) -> Option<Decision> {
        if self.recipe.hold == Holding::Never || !grid.has_waiting() {
            return None;
        }
        let until = |class| {
            let on = self.find(grid, class, Wanted::Free).filter(|on| !grid.loans().is_borrowed(*on))?;
            self.held_until(grid, now, (class, on))
        };
        let classes = (0..grid.classes().task_classes().len()).map(TaskClassId::new);
        let at = classes.filter(|class| grid.waiting_count(*class) > 0).filter_map(until).min()?;
        let alarm = Alarm::Held;
        grid.alarm(alarm).is_none_or(|set| at < set).then_some(Decision::Wake { alarm, at })
    }

    /// The next of those that wait starts on a machine that was lent for it.
    fn start_there(&self, grid: &Grid, on: MachineId) -> Option<Decision> {
        if !grid.loans().is_borrowed(on) {
            return None;
        }
        let task = self.line.next(grid, |class| grid.can_run(class, on) && grid.machine(on).count() == 0)?;
        Some(Decision::Start { task, on })
    }

    /// A machine of its own that is back serves the tasks that wait. If the peer asked for a better machine first, two peers could
    /// take machines back from each other for ever.
    fn start_back(&self, grid: &Grid, now: Time, on: MachineId) -> Option<Decision> {
        let Peering { recall, reach, .. } = self.recipe.peering;
        let there = grid.machine(on);
        let is_full = there.count() >= there.cores();
        if recall == Recalling::Never || reach == Reach::Site || is_full || grid.loans().is_borrowed(on) {
            return None;
        }
        let starts = |class| grid.can_run(class, on) && self.held_until(grid, now, (class, on)).is_none();
        Some(Decision::Start { task: self.line.next(grid, starts)?, on })
    }

    /// Whether peers said that none has a more powerful machine than this one of our own.
    fn is_best(grid: &Grid, class: TaskClassId, on: MachineId) -> bool {
        let asked = grid.loans().asked(class);
        let above = match asked.seek {
            Seek::First | Seek::MostPowerful => 0.0,
            Seek::Above(other) => power(grid, class, other),
        };
        asked.workers > 0 && asked.in_vain && power(grid, class, grid.machine(on).class()) >= above
    }

    /// Whether no machine is idle for tasks of that class, here or at any peer, as far as we heard.
    fn is_short(&self, grid: &Grid, class: TaskClassId) -> bool {
        let asked = grid.loans().asked(class);
        !self.reaches_peers(grid) || (asked.in_vain && asked.seek == Seek::MostPowerful)
    }

    /// What waits goes to the shortest queue of the site's own.
    fn queue_up(&self, grid: &Grid) -> Option<Decision> {
        let queue = |class| {
            if !self.is_short(grid, class) {
                return None;
            }
            let shortest =
                Seeker::new((self.recipe.score, self.recipe.choose), grid, class, Wanted::Shortest);
            let least = self.fleet.search(&[shortest]).best(f64::NEG_INFINITY);
            if least == f64::NEG_INFINITY { None } else { self.find(grid, class, Wanted::Queue(-least)) }
        };
        let task = self.line.next(grid, |class| queue(class).is_some())?;
        let on = queue(grid.task(task).class())?;
        Some(Decision::Start { task, on })
    }

    /// A second run on an idle machine of its own, while nothing waits.
    fn copy(&self, grid: &Grid, now: Time) -> Option<Decision> {
        if !self.may_copy(grid) {
            return None;
        }
        Self::may_have_more(grid).find_map(|class| {
            let on = self.find(grid, class, Wanted::Lendable)?;
            let task = copies::most_gained(grid, now, (class, on), (self.recipe.turn, &self.ended))?;
            Some(Decision::Replicate { task, on })
        })
    }

    /// The classes of tasks on machines whose users may have more cores.
    fn may_have_more(grid: &Grid) -> impl Iterator<Item = TaskClassId> + '_ {
        grid.placed_classes().filter(move |class| !grid.is_capped(*class))
    }

    fn may_copy(&self, grid: &Grid) -> bool {
        self.recipe.replicate == Replicate::Idle && !grid.has_waiting()
    }

    /// What is decided when all that happens at this moment has happened: which task of a job is the longest, and second runs
    /// on machines that nobody wants.
    fn look_again(&self, grid: &Grid, now: Time, cause: Cause) -> Option<Decision> {
        let is_longest = self.recipe.turn == Turn::Longest && matches!(cause, Cause::Submitted(_));
        let is_woken = matches!(cause, Cause::WokeUp { .. });
        let has_idle =
            || Self::may_have_more(grid).any(|class| self.find(grid, class, Wanted::Lendable).is_some());
        let is_wanted = is_longest || (!is_woken && self.may_copy(grid) && has_idle());
        if is_wanted { wait_for_all(grid, now) } else { None }
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
        let is_more = |class| u64::from(grid.waiting_count(class)) > comes;
        let task = self.line.next(grid, |class| is_more(class) && self.is_short(grid, class))?;
        let class = grid.task(task).class();
        let machine = loans.first_to_recall(|machine| grid.seconds_per_op(class, machine).is_finite())?;
        Some(Decision::Lending(Lending::Recall { machine }))
    }

    /// Peers know how many workers are wanted, and which. Costs O(task classes), and a search for each that waits.
    fn ask(&self, grid: &Grid) -> Option<Decision> {
        let loans = grid.loans();
        let comes = loans.recalled() as u32;
        let mut classes = (0..grid.classes().task_classes().len()).map(TaskClassId::new);
        let seek = |class| {
            if self.recipe.peering.reach == Reach::Site {
                return Seek::First;
            }
            let own = self.find(grid, class, Wanted::Free).filter(|on| !loans.is_borrowed(*on));
            own.map_or(Seek::MostPowerful, |on| Seek::Above(grid.machine(on).class()))
        };
        classes
            .find_map(|class| {
                let workers = grid.waiting_count(class).saturating_sub(comes);
                let asked = loans.asked(class);
                if workers == 0 {
                    return (asked.workers > 0).then_some(Lending::Ask { class, workers, seek: Seek::First });
                }
                let seek = seek(class);
                ((asked.workers, asked.seek) != (workers, seek)).then_some(Lending::Ask {
                    class,
                    workers,
                    seek,
                })
            })
            .map(Decision::Lending)
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
            let is_such = match want.seek {
                Seek::First | Seek::MostPowerful => true,
                Seek::Above(other) => {
                    power(grid, want.class, grid.machine(machine).class()) > power(grid, want.class, other)
                }
            };
            is_such.then_some(Decision::Lending(Lending::Lend { machine, to: want.by }))
        };
        let wish = if grid.has_waiting() || !self.may_lend(grid) {
            None
        } else {
            grid.loans().in_order(by_favours).find_map(lends)
        };
        Some(wish.unwrap_or(Decision::Lending(Lending::Refuse)))
    }

    /// Peers know whether there is something to lend; and where the whole grid is in reach, of which class.
    fn offer(&self, grid: &Grid) -> Option<Decision> {
        let best = || {
            let classes = grid.classes().task_classes().len();
            let on = (classes > 0).then(|| self.find(grid, TaskClassId::FIRST, Wanted::Lendable))??;
            Some(grid.machine(on).class())
        };
        let best = if !grid.has_waiting() && self.may_lend(grid) { best() } else { None };
        let said = grid.loans().offers();
        let is_news = match self.recipe.peering.reach {
            Reach::Site => best.is_some() != said.is_some(),
            Reach::Grid => best != said,
        };
        is_news.then_some(Decision::Lending(Lending::Offer { best }))
    }
}

/// What all cores of a machine of that class do of a task's operations in a second, as [`Score::Power`] has it.
fn power(grid: &Grid, task: TaskClassId, machine: MachineClassId) -> f64 {
    let cores = f64::from(grid.classes().machine_class(machine).cores);
    cores / grid.classes().seconds_per_op_row(task)[machine.index()]
}

impl Policy for Peer {
    fn observe(&mut self, grid: &Grid, change: &Change) {
        self.line.observe(grid, change);
        match *change {
            Change::MachineJoined(machine) => self.fleet.join(grid, machine),
            Change::ResidentsChanged(machine)
            | Change::LoadChanged(machine)
            | Change::AvailabilityChanged(machine) => self.fleet.update(grid, machine),
            Change::Finished(task) => self.ended.add(grid, task),
            // What was learnt of lengths stays as it was learnt.
            Change::MachineMeasured(_) | Change::TaskClassesMeasured => self.fleet = Fleet::of(grid),
            Change::TaskClassMet(class) if class.index() < OWN_BOUNDS => self.fleet = Fleet::of(grid),
            Change::TaskClassReplaced(class) => {
                // It stands for other tasks.
                self.ended.forget(class);
                if class.index() < OWN_BOUNDS {
                    self.fleet = Fleet::of(grid);
                }
            }
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
            | Change::CapsChanged
            | Change::EndsForgotten
            | Change::LoansChanged
            | Change::RoomTaken(_)
            | Change::RoomFreed(..)
            | Change::AnswerKept(_)
            | Change::FollowerChanged(_)
            | Change::StaleReply(_)
            | Change::Refused(..)
            | Change::AlarmChanged(_) => {}
        }
    }

    fn propose(&mut self, grid: &Grid, now: Time, occasion: Occasion) -> Option<Decision> {
        let first = match occasion.cause {
            // Before the next task may go there.
            Cause::Freed(machine) | Cause::Vacated(machine) => Self::give_back(grid, machine),
            Cause::Joined(machine) => self.start_there(grid, machine),
            Cause::Opened(machine) | Cause::Measured(machine) => self.start_back(grid, now, machine),
            Cause::Submitted(_) if self.recipe.turn == Turn::Longest => {
                return self.look_again(grid, now, occasion.cause);
            }
            _ => None,
        };
        let starts = || if grid.has_waiting() { self.start_any(grid, now) } else { None };
        let then = || match occasion.cause {
            Cause::Joined(machine) | Cause::Opened(machine) | Cause::Measured(machine) => {
                Self::give_back(grid, machine)
            }
            Cause::Wanted => self.lend(grid),
            Cause::NothingLent if self.recipe.peering.queue == Overflow::Machines => self.queue_up(grid),
            _ => None,
        };
        let short = || if grid.has_waiting() { self.recall(grid) } else { None };
        let copy = || match occasion.cause {
            Cause::WokeUp { .. } => self.copy(grid, now),
            _ => None,
        };
        first
            .or_else(starts)
            .or_else(then)
            .or_else(short)
            .or_else(|| self.ask(grid))
            .or_else(copy)
            .or_else(|| self.offer(grid))
            .or_else(|| self.look_again(grid, now, occasion.cause))
            .or_else(|| self.wake_held(grid, now))
    }

    fn rebuild(&mut self, grid: &Grid) {
        self.fleet = Fleet::of(grid);
        self.line = Line::of(self.recipe.turn, grid);
        self.ended = Ended::of(grid);
    }

    fn check(&self, grid: &Grid) -> Result<(), String> {
        let (line, ended) = (Line::of(self.recipe.turn, grid), Ended::of(grid));
        if self.line != line {
            return Err(format!("{:?} wait, where {line:?} do", self.line));
        }
        if !self.ended.covers(&ended) {
            return Err(format!("of tasks that ended {:?} is kept, and it is {ended:?}", self.ended));
        }
        self.fleet.check(grid)
    }
}
