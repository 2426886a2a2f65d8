//! One batch: the waiting tasks are given to machines, or to classes of machines, one after another.
//!
//! The rules are those of the second paper (figures 1 and 2), with [`Spending`](crate::Spending) for the budget; ties go to
//! the lowest task, then to the lowest machine. They are not carried out as the figures have them, which look at every
//! task and machine for each assignment:
//!
//! - Machines of a class differ only in when they are ready, and a class offers the one that is ready first ([`pool`]).
//!   Where a condition depends on that moment too, it offers one for each moment that can matter.
//! - What a machine may take of the tasks in order of length is a stretch of them ([`Conditions::first_allowed`]), and a
//!   shorter task is done earlier on any machine. So Min-Min looks at the shortest of each stretch, Max-Min at the
//!   longest task and at those just before a stretch begins, Sufferage at the ends of the straight pieces of what a
//!   task would lose ([`heuristics`]).
//! - **Planned is what goes to a machine that is expected to be ready before the next batch**: everything else would be
//!   taken back before it could begin, unless plans stand. It has its part in all sums all the same, and the batch ends as soon as nothing
//!   more can come of it ([`Batch::goes_on`]).
//!
//! - With a backlog for many periods most machines are too dear for all that is left. **What may be given none of the tasks left
//!   is not looked at until it may** ([`awake`]): Min-Min looks at the others only.
//! - Where it counts how long machines stay, an end counts as a later one by a function that grows with it and is the same
//!   for all machines of a class ([`weighed`](crate::parts::staying)): shorter tasks and machines that are ready earlier still
//!   come first. What a task would lose is no straight line then, so that Sufferage is refused.
//!
//! **The tasks of the highest priority that has any left are placed as if they were alone**, then those of the next ([`course`]). What the
//! budget is divided among are all of them.
//!
//! Cost: O(machines·log machines), and then for each assignment O(offers + √tasks); where each task has its share of what is left, also
//! O(kinds + √tasks) for each that is left out. What waits is in order already ([`Backlog`]). **What a batch does is a function of the grid alone**, also in the middle of one.

mod awake;
mod baselines;
mod bid;
mod course;
mod heuristics;
mod holding;
mod kinds;
mod lines;
mod looks;
mod pieces;
mod pool;
mod readiness;
mod target;
mod targets;

use crate::backlog::{Backlog, Size, Waiting};
use crate::open_machines::OpenMachines;
use crate::parts::aim::Aim;
use crate::parts::budget::{Level, REACH, Spending};
use crate::parts::order::TaskOrder;
use crate::parts::staying::Staying;
use crate::parts::when::{Holding, Replan, When};
use crate::spending::{CLEARLY, Conditions, Supply};
pub(crate) use course::assignments;
pub(crate) use looks::Looks;

use bid::Bid;
use gleaner_core::{Budget, Grid, Queue, tie_threshold};
use gleaner_units::{MachineClassId, OpsTotal, TaskClassId, TaskId, Time, UserId};
use kinds::Kind;
use pool::Pool;
use std::collections::{BTreeMap, VecDeque};
use target::{Target, highest_tie};

/// A task and its place.
pub(crate) type Assignment = (TaskId, Queue);

/// All tasks that wait are planned together, every so often or as soon as any come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batching {
    /// At each multiple of R, or as tasks come: plans stay then.
    pub(crate) when: When,
    /// Which task is next.
    pub(crate) order: TaskOrder,
    /// Where it goes.
    pub(crate) aim: Aim,
    /// How the budget is spent, where the grid has one.
    pub(crate) spending: Spending,
    /// Machines or classes.
    pub(crate) level: Level,
    /// So many tasks of each batch and priority, those that were submitted first, come before the others, so that none starves.
    pub(crate) aging: u32,
    /// By when everything should be done, for the aims that read it.
    pub(crate) deadline: Option<Time>,
    /// Which plans the next batch makes anew.
    pub(crate) replan: Replan,
    /// Whether tasks go to machines however slow those are.
    pub(crate) hold: Holding,
    /// Whether it counts how long machines stay.
    pub(crate) availability: Staying,
}

/// How often it is worked out whether there is enough to do for more to be planned: that costs O(machines).
const STRIDE: usize = 128;

struct Batch<'a> {
    recipe: &'a Batching,
    /// Seconds from now: what begins later is planned anew before it does.
    stands_s: f64,
    /// Seconds from now to the deadline, if there is one.
    deadline_s: f64,
    /// One for each account that pays for any of the tasks; none where nothing limits where they go.
    conditions_of_each: Vec<Conditions>,
    kinds: Vec<Kind<'a>>,
    /// Of the kinds whose tasks are placed now.
    priority: i32,
    pools: Vec<Pool>,
    made: VecDeque<Assignment>,
    /// How many were taken from the backlog.
    taken: usize,
}

impl<'a> Batch<'a> {
    fn new(recipe: &'a Batching, looks: Looks<'_>, backlog: &'a mut Backlog) -> Self {
        let Looks { grid, now, open, .. } = looks;
        let depth = if recipe.order.is_by_loss() { 2 } else { 1 };
        let mut pools = match recipe.level {
            Level::Machines => pool::of_machines(looks, (recipe.spending, depth)),
            Level::Classes => pool::of_classes(looks),
        };
        if recipe.availability == Staying::Learnt {
            for pool in &mut pools {
                pool.losses_per_s = grid.losses_per_s(now, pool.class);
            }
        }
        let mut kinds = kinds::all(grid, backlog, &pools);
        let conditions_of_each = conditions_of_each(recipe, (grid, open), now, &mut kinds);
        if let (Holding::WhenSlower, When::Every(period)) = (recipe.hold, recipe.when) {
            holding::hold_back(looks, &pools, (period.seconds(), &conditions_of_each), &mut kinds);
        }
        let deadline_s = |deadline: Time| highest_tie(deadline.since(now).seconds());
        let deadline_s = recipe.deadline.map_or(f64::INFINITY, deadline_s);
        Self {
            recipe,
            stands_s: match (recipe.replan, recipe.when) {
                // What is equal but for rounding is not earlier.
                (Replan::Unbegun, When::Every(period)) => tie_threshold(period.seconds()),
                (Replan::Lost, _) | (_, When::AtEvents) => f64::INFINITY,
            },
            deadline_s,
            conditions_of_each,
            kinds,
            priority: 0,
            pools,
            made: VecDeque::new(),
            taken: 0,
        }
    }

    /// Where a task is done first that has a place, and by which bid if that is known.
    fn place(&self, (kind, task): (usize, Waiting), bid: Option<Bid>) -> Target {
        let length = task.length.amount();
        match bid {
            Some(bid) => self.earliest_by(kind, length, &bid),
            None => self.earliest(kind, length).expect("a task that is left has a place"),
        }
    }

    /// Whether anything more may be planned: some task is left, and some machine is ready before the next batch and may
    /// still be given one.
    fn goes_on(&self) -> bool {
        let mut left = self.kinds.iter().filter(|tasks| tasks.span().is_some());
        if self.recipe.level == Level::Classes {
            // The ready time of a class says nothing of the first of its machines.
            return left.next().is_some();
        }
        let is_in_time = |bid: &&Bid| bid.terms.ready_s < self.stands_s;
        match (left.next(), left.next()) {
            (None, _) => false,
            (Some(tasks), None) if self.is_for_the_earliest() && self.taken.is_multiple_of(STRIDE) => {
                self.reaches(tasks, tasks.bids.iter().filter(is_in_time))
            }
            (one, other) => one
                .into_iter()
                .chain(other)
                .chain(left)
                // Where the cheapest are taken first, the dearest are ready.
                .any(|tasks| tasks.bids.iter().rev().any(|bid| is_in_time(&bid))),
        }
    }

    /// Whether each task goes to whichever machine would be done with it first.
    fn is_for_the_earliest(&self) -> bool {
        self.conditions_of_each.is_empty()
            && self.recipe.aim == Aim::Earliest
            && self.recipe.hold == Holding::Never
            && self.recipe.availability == Staying::Ignored
    }

    /// Whether there may be enough to do for one of these bids to be taken, where each task goes to the machine that
    /// would be done first.
    ///
    /// A machine with speed 1/h that is ready at r takes a task of length l only when every other, with h' and r', would
    /// be done later: r' ≥ r + l·h − l·h'. Until then that one has done at least (r + l·h − r')/h' − l operations.
    fn reaches<'b>(&self, tasks: &Kind<'_>, bids: impl Iterator<Item = &'b Bid>) -> bool {
        let Some((shortest, longest)) = tasks.lengths() else { return false };
        // A task of several cores waits for the last of them, and the others do nothing until then.
        if self.kinds.iter().any(|kind| kind.cores > 1) {
            return true;
        }
        let Some(first_s) = bids.map(|bid| bid.end(shortest)).min_by(f64::total_cmp) else { return false };
        let able = self.pools.iter().enumerate().map(|(number, pool)| (pool, tasks.seconds(1.0, number)));
        let able = able.filter(|(_, seconds_per_op)| seconds_per_op.is_finite());
        let before: f64 =
            able.map(|(pool, seconds_per_op)| pool.ops_before(first_s, seconds_per_op, longest)).sum();
        before <= CLEARLY * tasks.ops().amount()
    }

    fn assign_by_aim(&mut self, kind: usize, task: Waiting) {
        if let Some(target) = self.aimed(kind, task.length.amount()) {
            self.assign(kind, task, target);
            return;
        }
        self.leave_out(kind, task);
    }

    /// No machine may take a task now; it is not looked at again in this batch.
    fn leave_out(&mut self, kind: usize, task: Waiting) {
        self.take(kind, task);
        if let Some(conditions) = self.conditions_mut(kind) {
            conditions.set_aside(1);
        }
    }

    fn assign(&mut self, kind: usize, task: Waiting, target: Target) {
        self.take(kind, task);
        let seconds = self.kinds[kind].seconds(task.length.amount(), target.pool);
        let price = self.pools[target.pool].price;
        if let Some(conditions) = self.conditions_mut(kind) {
            conditions.spend(task.length, price);
        }
        let pool = &mut self.pools[target.pool];
        let queue = pool.take(target.place, (self.kinds[kind].cores, seconds));
        self.kinds.iter_mut().for_each(|tasks| tasks.hear(target.pool, pool));
        if target.is_planned(self.stands_s) {
            self.made.push_back((task.id, queue));
        }
    }

    fn take(&mut self, kind: usize, task: Waiting) {
        self.kinds[kind].take(task);
        self.taken += 1;
    }

    /// No machine may take tasks of these sizes now; they are not looked at again in this batch.
    fn set_aside(&mut self, kind: usize, sizes: (Size, Size)) {
        let count = self.kinds[kind].set_aside(sizes);
        if let Some(conditions) = self.conditions_mut(kind) {
            conditions.set_aside(count);
        }
    }

    /// What tasks of a kind are paid from, where anything limits where they go.
    #[inline]
    fn conditions(&self, tasks: &Kind<'_>) -> Option<&Conditions> {
        self.conditions_of_each.get(tasks.conditions)
    }

    fn conditions_mut(&mut self, kind: usize) -> Option<&mut Conditions> {
        self.conditions_of_each.get_mut(self.kinds[kind].conditions)
    }

    /// Looks again at the offers that a task of some kind may take now.
    fn rouse(&mut self) {
        let Self { kinds, conditions_of_each, .. } = self;
        for tasks in kinds {
            tasks.rouse(conditions_of_each.get(tasks.conditions));
        }
    }

    /// None of the tasks left of a kind may take an offer of that number.
    fn sleep(&mut self, kind: usize, number: usize) {
        let tasks = &mut self.kinds[kind];
        if let Some(conditions) = self.conditions_of_each.get(tasks.conditions) {
            tasks.sleep(number, conditions);
        }
    }

    /// The offers among which are all that tasks of these lengths, the shortest and the longest, may take.
    #[inline]
    fn within_means<'b>(&self, tasks: &'b Kind<'_>, lengths: (f64, f64)) -> &'b [Bid] {
        self.conditions(tasks).map_or(&tasks.bids, |conditions| tasks.bids_up_to(conditions.dearest(lengths)))
    }

    #[inline]
    fn allows(&self, tasks: &Kind<'_>, length: f64, bid: &Bid) -> bool {
        length <= bid.longest
            && self.conditions(tasks).is_none_or(|conditions| conditions.allows(length, bid.terms))
    }
}

/// Of each account that pays for any of the tasks, with those as what is to be served; each kind then knows its own.
fn conditions_of_each(
    recipe: &Batching,
    (grid, open): (&Grid, &OpenMachines),
    now: Time,
    kinds: &mut [Kind<'_>],
) -> Vec<Conditions> {
    let Some(accounts) = grid.accounts() else { return Vec::new() };
    let mut sums: BTreeMap<UserId, (usize, OpsTotal)> = BTreeMap::new();
    for tasks in &*kinds {
        let sum = sums.entry(accounts.key(grid.classes().demand(tasks.class).payer)).or_default();
        *sum = (sum.0 + tasks.count(), sum.1 + tasks.ops());
    }
    for tasks in kinds {
        let key = accounts.key(grid.classes().demand(tasks.class).payer);
        tasks.conditions = sums.range(..key).count();
    }
    let supply = supply(recipe.spending, accounts.budget(), grid, open);
    let conditions = |(&key, &sum)| Conditions::new(recipe.spending, accounts.of(key), now, sum, &supply);
    sums.iter().filter_map(conditions).collect()
}

/// What the machines can do in a period, as far as the rule asks.
pub(crate) fn supply(spending: Spending, budget: Budget, grid: &Grid, open: &OpenMachines) -> Supply {
    let period_s = budget.period.seconds();
    match spending {
        Spending::WithinReach => {
            let ops_per_second: f64 = speeds(grid, open).into_iter().map(|(_, speed)| speed).sum();
            let reach = REACH * period_s * ops_per_second;
            // Where there are no machines, nothing is placed, whatever it may cost.
            if reach > 0.0 { Supply::Within(reach) } else { Supply::Unasked }
        }
        Spending::MovingPrice => {
            let price = |class| grid.classes().machine_class(class).price;
            let at_prices =
                speeds(grid, open).into_iter().map(|(class, speed)| (price(class), period_s * speed));
            Supply::at_prices(at_prices.collect())
        }
        Spending::Free
        | Spending::Cap
        | Spending::PerTask(_)
        | Spending::PerTaskWithinPeriod(_)
        | Spending::PerTaskAndTime(..)
        | Spending::Share
        | Spending::LeastShare => Supply::Unasked,
    }
}

/// The operations that the machines of each class do together in a second, of the class of tasks for which that is most in
/// all: it does not depend on which tasks are left. Costs O(machines + task classes × machine classes).
fn speeds(grid: &Grid, open: &OpenMachines) -> Vec<(MachineClassId, f64)> {
    let able: Vec<(MachineClassId, f64)> =
        open.classes().map(|(class, _)| (class, open.capacity(grid, class))).collect();
    let speeds = |task: usize| {
        let row = grid.classes().seconds_per_op_row(TaskClassId::new(task));
        able.iter().map(|(class, capacity)| capacity / row[class.index()])
    };
    let most = (0..grid.classes().task_classes().len()).fold((0.0, None), |most, task| {
        let together: f64 = speeds(task).sum();
        if together > most.0 { (together, Some(task)) } else { most }
    });
    let Some(task) = most.1 else { return Vec::new() };
    able.iter().map(|(class, _)| *class).zip(speeds(task)).filter(|(_, speed)| *speed > 0.0).collect()
}
