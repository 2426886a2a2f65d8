//! The policy for time-shared and for exclusive machines: a task is placed when it arrives, or else as soon as a machine
//! has room for it, and may be moved later.

use crate::copies::{Copies, voices};
use crate::drawing::draw;
use crate::fleet::{Fleet, OWN_BOUNDS};
use crate::following::Following;
use crate::forecast::{Forecast, Scale};
use crate::parts::ahead::Ahead;
use crate::parts::choose::Choose;
use crate::parts::lengths::Lengths;
use crate::parts::relocate::Relocate;
use crate::parts::replicate::Replicate;
use crate::parts::when::When;
use crate::placement::{Means, Within, place};
use crate::relocation::{Move, View};
use crate::remaining::{Moves, Remaining};
use crate::standing::Standing;
use crate::wait_for_all::wait_for_all;
use crate::{Score, Spending};
use gleaner_core::{Alarm, Cause, Change, Decision, Grid, Occasion, Policy};
use gleaner_units::{MachineId, Ops, RunId, TaskClassId, TaskId, Time};
use std::cmp::Reverse;

/// Each task is placed by itself, as soon as there is a machine for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Matching {
    /// Where a new task goes.
    pub(crate) place: Score,
    /// Which of the machines that were scored it takes.
    pub(crate) choose: Choose,
    /// Whether and how it may move later.
    pub(crate) relocate: Option<Relocate>,
    /// How many runs each task has at a time.
    pub(crate) replicate: Replicate,
    /// How the budget is spent, where the grid has one.
    pub(crate) spending: Spending,
    /// Whose word on lengths is taken: with the users', SOCIAL weighs all tasks alike, and else by what remains of them.
    pub(crate) lengths: Lengths,
    /// Whether machines get tasks ahead.
    pub(crate) ahead: Ahead,
}

/// Places by one score, relocates by another or not at all.
#[derive(Clone, Debug)]
pub struct Matchmaker {
    recipe: Matching,
    fleet: Fleet,
    copies: Copies,
    forecast: Forecast,
    following: Following,
    standing: Standing,
}

impl Matchmaker {
    /// The policy that follows `recipe`.
    pub(crate) fn new(recipe: Matching) -> Self {
        Self {
            recipe,
            fleet: Fleet::default(),
            copies: Copies::of_each(recipe.replicate.count()),
            forecast: Forecast::new(recipe.lengths, Scale::Service),
            following: Following::new(recipe.ahead),
            standing: Standing::new(moves_at_events(&recipe)),
        }
    }

    /// Whether machines get tasks ahead.
    pub(crate) fn sends_ahead(&self) -> bool {
        self.recipe.ahead != Ahead::Never
    }

    /// What lengths are believed by, where anything is weighed by them.
    pub(crate) fn forecast(&self) -> Option<&Forecast> {
        (self.recipe.lengths != Lengths::Declared).then_some(&self.forecast)
    }

    /// Whether a score weighs tasks by what remains of them.
    fn weighs(&self, score: Score) -> bool {
        score == Score::Social && self.recipe.lengths != Lengths::Declared
    }

    fn place(&self, grid: &Grid, now: Time, task: TaskId) -> Option<MachineId> {
        let means = Means::of(self.recipe.spending, (grid, &self.fleet), now, task);
        self.place_apart(grid, now, task, Within { means: means.as_ref(), apart: &[] })
    }

    fn place_apart(&self, grid: &Grid, now: Time, task: TaskId, within: Within<'_>) -> Option<MachineId> {
        let Matching { place: score, choose, .. } = self.recipe;
        if self.weighs(score) || choose.draws() {
            return self.weigh_or_draw(grid, now, task, within);
        }
        place((score, choose), grid, &self.fleet, grid.task(task).class(), within)
    }

    /// Where more than the best score by the index decides.
    #[inline(never)]
    fn weigh_or_draw(&self, grid: &Grid, now: Time, task: TaskId, within: Within<'_>) -> Option<MachineId> {
        let Matching { place: score, choose, .. } = self.recipe;
        if self.weighs(score) {
            let length = self.forecast.known(grid, task).map_or(0.0, Ops::amount);
            let lengths = |run| self.forecast.expected(grid, now, run);
            let remaining = Remaining::new(grid, now, &lengths);
            return remaining.place(&self.fleet, (grid.task(task).class(), length), within);
        }
        draw((score, choose), grid, &self.fleet, task, within)
    }

    fn start(&self, grid: &Grid, now: Time, task: TaskId) -> Option<Decision> {
        let on = self.place(grid, now, task)?;
        Some(Decision::Start { task, on })
    }

    /// Where the first task of a class finds no machine, none of the others would: they are not looked at.
    fn start_first_of(&self, grid: &Grid, now: Time, class: TaskClassId) -> Option<Decision> {
        self.start(grid, now, grid.longest_waiting_of(class)?)
    }

    /// Tasks that no machine could take go first, in order of waiting; only what is new on `machine` can help them. Under a budget
    /// who is too dear for what is left keeps no others waiting.
    fn start_waiting(&self, grid: &Grid, now: Time, machine: MachineId) -> Option<Decision> {
        if self.recipe.spending != Spending::Free {
            return self.start_anywhere(grid, now);
        }
        let task = grid.longest_waiting(|class| grid.can_run(class, machine))?;
        self.start(grid, now, task)
    }

    /// Behind a run that will be over soon, or back from there.
    fn send_ahead(&self, grid: &Grid, now: Time) -> Option<Decision> {
        if !self.sends_ahead() {
            return None;
        }
        let finds_room =
            |task: TaskId| !grid.is_capped(grid.task(task).class()) && self.place(grid, now, task).is_some();
        let sent = self.following.send_ahead(grid, now, finds_room);
        sent.or_else(|| self.following.make_way(grid, now, finds_room))
    }

    /// The tasks of a lost machine are of several classes, and so are those that a recharge helps. Costs a search for
    /// each class that waits.
    fn start_anywhere(&self, grid: &Grid, now: Time) -> Option<Decision> {
        let finds_place = |class| {
            let first = grid.longest_waiting_of(class);
            first.is_some_and(|task| self.place(grid, now, task).is_some())
        };
        self.start(grid, now, grid.longest_waiting(finds_place)?)
    }

    /// Under a budget credits come back, with a recharge or before; and without the cheapest machines others are the cheapest, which are
    /// under no condition. Costs a search for each class that waits.
    fn start_who_is_paid(&self, grid: &Grid, now: Time) -> Option<Decision> {
        if self.recipe.spending == Spending::Free { None } else { self.start_anywhere(grid, now) }
    }

    /// One more run of a task that is to have more: of those with the highest priority, and of these of the one that was
    /// submitted first. Not before all of this instant was told, so that what comes with it has its room first. Costs a
    /// search for each class that is short of runs, and for each set of machines that run such tasks and have them wherever there is room.
    fn replicate(&self, grid: &Grid, now: Time, cause: Cause) -> Option<Decision> {
        if self.copies.has_enough() {
            return None;
        }
        let mut short = self.copies.short().filter(|(class, _)| self.has_room(grid, *class)).peekable();
        short.peek()?;
        if !matches!(cause, Cause::WokeUp { alarm: Alarm::Batch, .. }) {
            return wait_for_all(grid, now);
        }
        if self.start_anywhere(grid, now).is_some() {
            return None;
        }
        let copies = short.filter_map(|(class, tasks)| {
            let (task, on) =
                tasks.first_placed(<[MachineId]>::to_vec, |task| self.place_copy(grid, now, task))?;
            Some((Reverse(grid.classes().demand(class).priority), task, on))
        });
        copies.min().map(|(_, task, on)| Decision::Replicate { task, on })
    }

    /// One more run of a task whose answers do not decide, likewise. Costs a search for each class of such tasks, and for each set
    /// of people who have been asked wherever there is room.
    fn compare(&self, grid: &Grid, now: Time) -> Option<Decision> {
        if self.copies.are_answered() {
            return None;
        }
        let unanswered = self.copies.unanswered().filter(|(class, _)| self.has_room(grid, *class));
        let copies = unanswered.filter_map(|(class, tasks)| {
            let (task, on) =
                tasks.first_placed(|asked| voices(grid, asked), |task| self.place_copy(grid, now, task))?;
            Some((Reverse(grid.classes().demand(class).priority), task, on))
        });
        copies.min().map(|(_, task, on)| Decision::Replicate { task, on })
    }

    /// Whether there may be one more run of a class: it may have more cores, and some machine takes it.
    fn has_room(&self, grid: &Grid, class: TaskClassId) -> bool {
        !grid.is_capped(class) && self.fleet.classes_that_take(grid, class, &[]).next().is_some()
    }

    fn place_copy(&self, grid: &Grid, now: Time, task: TaskId) -> Option<MachineId> {
        let apart = grid.apart_from(task);
        self.place_apart(grid, now, task, Within { means: None, apart: &apart })
    }

    fn relocate(&self, grid: &Grid, now: Time, occasion: Occasion) -> Option<Decision> {
        let rule = self.recipe.relocate.as_ref()?;
        if occasion.moves == rule.moves_max {
            return None;
        }
        let weighs = self.weighs(rule.score);
        let view = View { rule, grid, fleet: &self.fleet, now, weighs };
        let (task, to) = match (occasion.cause, rule.when) {
            (Cause::LoadRose(machine) | Cause::Closed(machine), When::AtEvents) => {
                self.search(&view, Search::Push(machine))
            }
            (
                Cause::Joined(machine)
                | Cause::Opened(machine)
                | Cause::LoadFell(machine)
                | Cause::Freed(machine),
                When::AtEvents,
            ) => self.search(&view, Search::Pull(machine)),
            // Slower for some, faster for others: whoever is there may go first.
            (Cause::Measured(machine), When::AtEvents) => self
                .search(&view, Search::Push(machine))
                .or_else(|| self.search(&view, Search::Pull(machine))),
            (Cause::WokeUp { alarm: Alarm::Relocation, due }, When::Every(period))
                if due.is_multiple_of(period) =>
            {
                self.search(&view, Search::Anywhere)
            }
            // Some have stood still for long enough.
            (Cause::WokeUp { alarm: Alarm::Relocation, due }, When::AtEvents) => {
                let mut still = self.standing.since(due, now);
                still.find_map(|machine| self.search(&view, Search::Push(machine)))
            }
            // What is vacated is so by moves: to move again for it would never end.
            (
                Cause::Submitted(_)
                | Cause::Lost(_)
                | Cause::Vacated(_)
                | Cause::Published(_)
                | Cause::Wanted
                | Cause::NothingLent
                | Cause::DataCame
                | Cause::RuleChanged
                | Cause::Withdrawn
                | Cause::WokeUp { .. },
                _,
            )
            | (_, When::Every(_)) => None,
        }?;
        Some(Decision::Relocate { task, to })
    }

    fn search(&self, view: &View<'_>, search: Search) -> Option<Move> {
        if !self.weighs(view.rule.score) {
            return match search {
                Search::Push(from) => view.push(from),
                Search::Pull(to) => view.pull(to),
                Search::Anywhere => view.rebalance(),
            };
        }
        let lengths = |run: RunId| self.forecast.expected(view.grid, view.now, run);
        let remaining = Remaining::new(view.grid, view.now, &lengths);
        let moves = Moves { view: *view, remaining };
        match search {
            Search::Push(from) => moves.push(from),
            Search::Pull(to) => moves.pull(to),
            Search::Anywhere => moves.rebalance(),
        }
    }

    /// A periodic relocator needs to be woken as long as anything runs, another when what stands still has waited for long enough, at a recharge tasks that wait for it, and what was sent
    /// ahead when it has waited for long.
    fn wake(&self, grid: &Grid, now: Time) -> Option<Decision> {
        let rebalance = match self.recipe.relocate {
            Some(Relocate { when: When::Every(period), .. }) if grid.has_placed() => {
                Some(now.next_multiple_of(period))
            }
            Some(Relocate { when: When::AtEvents, .. }) => self.standing.next(now),
            Some(Relocate { when: When::Every(_), .. }) | None => None,
        };
        let accounts = grid.accounts().filter(|_| self.recipe.spending != Spending::Free);
        let recharge = accounts.filter(|_| grid.has_waiting());
        let recharge = recharge.map(|accounts| accounts.budget().next_recharge(now));
        let ahead = self.following.due(now);
        let wanted = [(Alarm::Relocation, rebalance), (Alarm::Recharge, recharge), (Alarm::Ahead, ahead)];
        let mut wanted = wanted.into_iter().filter_map(|(alarm, at)| Some((alarm, at?)));
        let (alarm, at) = wanted.find(|&(alarm, at)| grid.alarm(alarm).is_none_or(|set| at < set))?;
        Some(Decision::Wake { alarm, at })
    }
}

fn moves_at_events(recipe: &Matching) -> bool {
    recipe.relocate.is_some_and(|relocate| relocate.when == When::AtEvents)
}

/// Which moves are looked for.
#[derive(Clone, Copy)]
enum Search {
    /// Away from a machine.
    Push(MachineId),
    /// To a machine.
    Pull(MachineId),
    /// From any machine to any other.
    Anywhere,
}

impl Policy for Matchmaker {
    fn observe(&mut self, grid: &Grid, change: &Change) {
        self.copies.observe(grid, change);
        self.forecast.observe(grid, change);
        self.following.observe(grid, change);
        self.standing.observe(grid, change);
        match *change {
            Change::MachineJoined(machine) => self.fleet.join(grid, machine),
            Change::ResidentsChanged(machine)
            | Change::LoadChanged(machine)
            | Change::AvailabilityChanged(machine) => self.fleet.update(grid, machine),
            // Seldom: a measurement came out otherwise than the one before. Costs O(machines).
            Change::MachineMeasured(_) | Change::TaskClassesMeasured => self.fleet = Fleet::of(grid),
            // The first classes have bounds of their own in the index. Costs O(machines), and that a few times ever.
            Change::TaskClassMet(class) | Change::TaskClassReplaced(class) if class.index() < OWN_BOUNDS => {
                self.fleet = Fleet::of(grid);
            }
            // The index is about machines; what a task does shows in its machine's residents.
            Change::MachineClassMet(_)
            | Change::TaskClassMet(_)
            | Change::TaskClassReplaced(_)
            | Change::Wait { .. }
            | Change::Planned(..)
            | Change::Unplanned(_)
            | Change::BudgetChanged
            | Change::Started(_)
            | Change::Finished(_)
            | Change::Withdrawn { .. }
            | Change::CatalogueChanged
            | Change::BeliefChanged(_)
            | Change::RoomTaken(_)
            | Change::RoomFreed(..)
            | Change::CapsChanged
            | Change::EndsForgotten
            | Change::LoansChanged
            | Change::AnswerKept(_)
            | Change::FollowerChanged(_)
            | Change::StaleReply(_)
            | Change::Refused(..)
            | Change::AlarmChanged(_) => {}
        }
    }

    fn propose(&mut self, grid: &Grid, now: Time, occasion: Occasion) -> Option<Decision> {
        let urgent = self.compare(grid, now).or_else(|| self.following.overdue(grid, now));
        if urgent.is_some() {
            return urgent;
        }
        let placed = match occasion.cause {
            Cause::Submitted(class) => self.start_first_of(grid, now, class),
            Cause::Opened(machine) | Cause::Measured(machine) => {
                let shrunk = self.following.shrink(grid, machine);
                shrunk.or_else(|| self.start_waiting(grid, now, machine))
            }
            Cause::Joined(machine)
            | Cause::LoadFell(machine)
            | Cause::Freed(machine)
            | Cause::Vacated(machine)
            | Cause::Published(machine) => self.start_waiting(grid, now, machine),
            Cause::Lost(_) | Cause::RuleChanged => self.start_anywhere(grid, now),
            Cause::Closed(machine) => {
                self.following.leave(grid, machine).or_else(|| self.start_who_is_paid(grid, now))
            }
            // While the owner leaves anything, the same machines are the cheapest, and nobody has more to spend.
            Cause::LoadRose(machine) if grid.machine(machine).still_since().is_none() => None,
            Cause::LoadRose(_) | Cause::WokeUp { .. } | Cause::Withdrawn => self.start_who_is_paid(grid, now),
            Cause::Wanted | Cause::NothingLent | Cause::DataCame => None,
        };
        let placed = placed.or_else(|| self.replicate(grid, now, occasion.cause));
        let placed = placed.or_else(|| self.send_ahead(grid, now));
        placed.or_else(|| self.relocate(grid, now, occasion)).or_else(|| self.wake(grid, now))
    }

    fn rebuild(&mut self, grid: &Grid) {
        self.fleet = Fleet::of(grid);
        self.copies = Copies::of(grid, self.recipe.replicate.count());
        self.forecast = Forecast::of(self.recipe.lengths, Scale::Service, grid);
        self.following = Following::of(self.recipe.ahead, grid);
        self.standing = Standing::of(moves_at_events(&self.recipe), grid);
    }

    fn check(&self, grid: &Grid) -> Result<(), String> {
        self.copies.check(grid)?;
        self.following.check(grid)?;
        if self.standing != Standing::of(moves_at_events(&self.recipe), grid) {
            return Err("what stands still is not what the grid says".into());
        }
        if self.forecast != Forecast::of(self.recipe.lengths, Scale::Service, grid) {
            return Err("what is believed of tasks is not what the grid says".into());
        }
        self.fleet.check(grid)
    }
}
