//! The policy for batches: tasks wait until the end of the period in which they came, are then planned together, and
//! start as the machines that they are planned for become free.

use crate::backlog::Backlog;
use crate::batch::{self, Assignment, Batching, Looks};
use crate::forecast::{Forecast, Scale};
use crate::open_machines::OpenMachines;
use crate::parts::budget::Spending;
use crate::parts::lengths::Lengths;
use crate::parts::when::{Replan, When};
use gleaner_core::{Alarm, Cause, Change, Decision, Grid, Occasion, Policy, Queue};
use gleaner_units::{MachineId, TaskClassId, TaskId, Time};
use std::collections::{BTreeSet, VecDeque};

/// Plans all waiting tasks at each multiple of a period.
///
/// A batch lasts for one occasion: it begins with [`Decision::Collect`], by which all that was planned and has not begun
/// comes back, unless plans stand; goes on with a [`Decision::Plan`] for each task that finds a place; and ends with the starts on machines
/// that are free. Until the next, a machine that frees takes the next task of its queue, or of its class's.
#[derive(Clone, Debug)]
pub struct Batcher {
    recipe: Batching,
    lengths: Lengths,
    forecast: Forecast,
    open: OpenMachines,
    backlog: Backlog,
    /// Whether something is planned [in vain](Self::is_in_vain); none where that is to be looked at.
    in_vain: Option<bool>,
    agenda: Option<Agenda>,
}

/// What is left to do of a batch. It follows from the grid, and is kept so that it is worked out once.
#[derive(Clone, Debug)]
struct Agenda {
    at: Time,
    plans: VecDeque<Assignment>,
    /// With a task to start, maybe; from when all is planned.
    machines: Option<VecDeque<MachineId>>,
}

impl Batcher {
    /// The policy that follows `recipe`.
    pub(crate) fn new(recipe: Batching, lengths: Lengths) -> Self {
        Self {
            recipe,
            lengths,
            forecast: Forecast::new(lengths, Scale::Service),
            open: OpenMachines::default(),
            backlog: Backlog::default(),
            in_vain: None,
            agenda: None,
        }
    }

    pub(crate) fn forecast(&self) -> &Forecast {
        &self.forecast
    }

    /// Up to which price the tasks that are paid for as one of a class may go, where the rule has one. Costs O(machines).
    pub(crate) fn price(&self, grid: &Grid, now: Time, class: TaskClassId) -> Option<f64> {
        let accounts = grid.accounts().filter(|_| self.recipe.spending == Spending::MovingPrice)?;
        let payer = |class| accounts.key(grid.classes().demand(class).payer);
        let waits = self.backlog.ops(|other| payer(other) == payer(class));
        let demand = (accounts.of(payer(class)).allocated(now).ops + waits).amount();
        let supply = batch::supply(self.recipe.spending, accounts.budget(), grid, &self.open);
        let price = supply.going(demand, accounts.budget().recharge).price;
        price.is_finite().then_some(price)
    }

    /// The batch of the moment `due`, which may be a while ago where waking takes time.
    fn batch(&mut self, grid: &Grid, now: Time, due: Time) -> Option<Decision> {
        let collects = match self.recipe.replan {
            Replan::Unbegun => grid.plans().collected_at().is_none_or(|at| at < due),
            Replan::Lost => self.is_in_vain(grid) && grid.plans().collected_at() != Some(now),
        };
        if collects {
            self.agenda = None;
            return Some(Decision::Collect);
        }
        self.carry_on(grid, now)
    }

    /// All that waits, as soon as it does.
    fn at_once(&mut self, grid: &Grid, now: Time) -> Option<Decision> {
        if self.is_in_vain(grid) && grid.plans().collected_at() != Some(now) {
            return Some(Decision::Collect);
        }
        let decision = self.carry_on(grid, now);
        if decision.is_none() {
            // What comes next, at this moment even, is worked out by itself.
            self.agenda = None;
        }
        decision
    }

    /// The next of what follows from the grid as it is.
    fn carry_on(&mut self, grid: &Grid, now: Time) -> Option<Decision> {
        let Self { recipe, forecast, open, backlog, agenda, .. } = self;
        let stale = agenda.take().filter(|agenda| agenda.at == now);
        let agenda = agenda.insert(stale.unwrap_or_else(|| Agenda {
            at: now,
            plans: batch::assignments(recipe, Looks { grid, now, open, forecast }, backlog),
            machines: None,
        }));
        if let Some((task, on)) = agenda.plans.pop_front() {
            return Some(Decision::Plan { task, on });
        }
        let machines = agenda.machines.get_or_insert_with(|| with_plans(grid, open));
        while let Some(&on) = machines.front() {
            if let Some(task) = next_for(recipe, (grid, now), on) {
                return Some(Decision::Start { task, on });
            }
            machines.pop_front();
        }
        None
    }

    /// Whether something is planned where it cannot begin: nothing that takes tasks is there, or what is there cannot run it, or
    /// asks more than there is in any period. Costs O(planned tasks) where that is to be looked at, and else nothing.
    fn is_in_vain(&mut self, grid: &Grid) -> bool {
        *self.in_vain.get_or_insert_with(|| has_vain_plans(grid, &self.open))
    }

    /// When there may be something to do that follows from no event.
    fn next_wake(&mut self, grid: &Grid, now: Time) -> Option<Time> {
        let when = self.recipe.when;
        match when {
            // Until something comes there is nothing to plan.
            When::Every(period) => grid.has_waiting().then(|| now.next_multiple_of(period)),
            // All is planned anew once in an instant.
            When::AtEvents if self.is_in_vain(grid) => Some(now.next()),
            // More can be paid for then, of what is planned too: that may be charged only as it starts.
            When::AtEvents => {
                let accounts = grid.accounts().filter(|_| self.recipe.spending != Spending::Free)?;
                grid.has_waiting().then(|| accounts.budget().next_recharge(now))
            }
        }
    }
}

/// Likewise. Costs O(planned tasks).
fn has_vain_plans(grid: &Grid, open: &OpenMachines) -> bool {
    grid.plans().queues().any(|queue| {
        let (takes_tasks, on) = match queue {
            Queue::Machine(machine) => (open.has(machine), grid.machine(machine).class()),
            Queue::Class(class) => (open.of_class(class).next().is_some(), class),
        };
        let can_begin = |task: TaskId| {
            let seconds_per_op = grid.classes().seconds_per_op(grid.task(task).class(), on);
            seconds_per_op.is_finite() && grid.could_pay(task, on)
        };
        !takes_tasks || !grid.plans().ranked(queue).all(can_begin)
    })
}

/// The machines for which something is planned, in order. Costs O(machines) where plans are made for classes.
fn with_plans(grid: &Grid, open: &OpenMachines) -> VecDeque<MachineId> {
    let mut machines = BTreeSet::new();
    for queue in grid.plans().queues() {
        match queue {
            Queue::Machine(machine) if open.has(machine) => _ = machines.insert(machine),
            Queue::Machine(_) => {}
            Queue::Class(class) => machines.extend(open.of_class(class)),
        }
    }
    machines.into_iter().collect()
}

/// The first planned task that a machine could begin now, and that can be paid, of those with the highest priority. Where each batch makes
/// all plans anew they are in that order; a plan that stays may be of a time before a more urgent task came. Costs O(classes that wait)
/// then, and O(tasks planned there) where a more urgent one waits than the first that could begin there too.
fn next_for(recipe: &Batching, (grid, now): (&Grid, Time), on: MachineId) -> Option<TaskId> {
    let machine = grid.machine(on);
    if !machine.takes_tasks() {
        return None;
    }
    let queues = [Queue::Machine(on), Queue::Class(machine.class())];
    let ranked = queues.into_iter().flat_map(|queue| grid.plans().ranked(queue));
    let mut able = ranked.filter(|&task| {
        let class = grid.task(task).class();
        grid.can_run(class, on) && !grid.is_capped(class) && grid.can_pay(now, task, machine.class())
    });
    let mut next = able.next()?;
    if recipe.replan == Replan::Unbegun && matches!(recipe.when, When::Every(_)) {
        return Some(next);
    }
    let priority = |task: TaskId| grid.classes().demand(grid.task(task).class()).priority;
    let highest = grid.longest_waiting(|class| grid.can_run(class, on)).map_or(i32::MIN, priority);
    while priority(next) < highest
        && let Some(task) = able.next()
    {
        if priority(task) > priority(next) {
            next = task;
        }
    }
    Some(next)
}

impl Policy for Batcher {
    fn observe(&mut self, grid: &Grid, change: &Change) {
        if self.forecast.observe(grid, change) {
            self.backlog = Backlog::of(grid, &self.forecast);
            self.agenda = None;
        }
        self.backlog.observe(grid, &self.forecast, change);
        // What is in vain may be so no more whatever happens.
        self.in_vain = self.in_vain.filter(|is_in_vain| !is_in_vain);
        match *change {
            Change::MachineMeasured(machine) => {
                self.open.update(grid, machine);
                self.in_vain = None;
            }
            Change::MachineJoined(machine)
            | Change::AvailabilityChanged(machine)
            | Change::LoadChanged(machine)
            | Change::ResidentsChanged(machine) => {
                if self.open.update(grid, machine) {
                    self.in_vain = None;
                }
            }
            Change::TaskClassesMeasured | Change::BudgetChanged => self.in_vain = None,
            Change::MachineClassMet(_) => self.open.add_class(),
            Change::TaskClassMet(_)
            | Change::TaskClassReplaced(_)
            | Change::Wait { .. }
            | Change::Planned(..)
            | Change::Unplanned(_)
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
        let recipe = self.recipe;
        let start = |on| next_for(&recipe, (grid, now), on).map(|task| Decision::Start { task, on });
        let answer = match (self.recipe.when, occasion.cause) {
            (When::Every(period), Cause::WokeUp { due, .. }) if due.is_multiple_of(period) => {
                self.batch(grid, now, due)
            }
            (
                When::AtEvents,
                Cause::WokeUp { .. }
                | Cause::Submitted(_)
                | Cause::Joined(_)
                | Cause::Opened(_)
                | Cause::Measured(_)
                | Cause::Closed(_)
                | Cause::LoadFell(_)
                | Cause::LoadRose(_)
                | Cause::Vacated(_)
                | Cause::Published(_)
                | Cause::Wanted
                | Cause::NothingLent
                | Cause::DataCame
                | Cause::Lost(_)
                | Cause::Withdrawn
                | Cause::RuleChanged,
            ) => self.at_once(grid, now),
            (
                _,
                Cause::Joined(on)
                | Cause::Opened(on)
                | Cause::Measured(on)
                | Cause::LoadFell(on)
                | Cause::Freed(on)
                | Cause::Vacated(on)
                | Cause::Published(on),
            ) => start(on),
            // Whoever had all the cores that are theirs may have planned tasks anywhere, and so may whoever can be paid with what was
            // given back.
            (_, Cause::RuleChanged | Cause::Withdrawn) => {
                with_plans(grid, &self.open).into_iter().find_map(start)
            }
            (
                _,
                Cause::WokeUp { .. }
                | Cause::Submitted(_)
                | Cause::Wanted
                | Cause::NothingLent
                | Cause::DataCame
                | Cause::Lost(_)
                | Cause::LoadRose(_)
                | Cause::Closed(_),
            ) => None,
        };
        answer.or_else(|| {
            // The alarm of a longer period that was set before is too late.
            let is_earlier = |at: &Time| grid.alarm(Alarm::Batch).is_none_or(|set| *at < set);
            let at = self.next_wake(grid, now).filter(is_earlier)?;
            Some(Decision::Wake { alarm: Alarm::Batch, at })
        })
    }

    fn rebuild(&mut self, grid: &Grid) {
        self.open = OpenMachines::of(grid);
        self.forecast = Forecast::of(self.lengths, Scale::Service, grid);
        self.backlog = Backlog::of(grid, &self.forecast);
        self.in_vain = None;
        self.agenda = None;
    }

    fn check(&self, grid: &Grid) -> Result<(), String> {
        if self.open != OpenMachines::of(grid) {
            return Err("the open machines are not those of the grid".into());
        }
        if self.forecast != Forecast::of(self.lengths, Scale::Service, grid) {
            return Err("what is believed of tasks is not what the grid says".into());
        }
        if self.backlog != Backlog::of(grid, &self.forecast) {
            return Err("the tasks without a place are not those of the grid".into());
        }
        if self.in_vain.is_some_and(|is_in_vain| is_in_vain != has_vain_plans(grid, &self.open)) {
            return Err("whether something is planned in vain is not what the grid says".into());
        }
        Ok(())
    }
}
