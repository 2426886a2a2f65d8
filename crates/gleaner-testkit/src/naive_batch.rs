//! Batches as a reader of figures 1 and 2 of the second paper would write them: for each assignment, each task looks at
//! each machine, and every sum is taken afresh. They share no code with the policy under test.
//!
//! A machine is ready when the first of its cores is. What figure 2 keeps as B̲ is what the grid's account has
//! left; the rest is worked out from the plans in the grid.

mod view;

use gleaner_core::{Alarm, Availability, Cause, Change, Decision, Grid, Occasion, Policy, Queue, TaskState};
use gleaner_units::{MachineId, Span, TaskId, Time, UserId};
use std::collections::BTreeMap;
use view::{View, Worker};

/// Metric and best metric, table 1 of the paper; and tasks as they come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pick {
    /// As they were submitted.
    First,
    /// The least of the least.
    MinMin,
    /// The largest of the least.
    MaxMin,
    /// The largest difference between the two least.
    Sufferage,
    /// The same, by Maheswaran et al.: in passes over all tasks, for each worker one.
    SufferagePasses,
}

/// Line 9 of figure 2 in its versions, and what the Nimrod/G broker allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// No budget.
    None,
    /// Figure 2.
    B,
    /// With condition (4).
    Bt,
    /// With condition (4), and no machine that is ready only after R.
    BtWithinPeriod,
    /// With conditions (4) and (5), the latter as printed.
    BttPrinted,
    /// With (5) as it is derived.
    BttDerived,
    /// What is left over tasks left.
    Share,
    /// What is left when the others keep an even share.
    LeastShare,
}

/// Which of the machines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// Done first.
    Time,
    /// Cheapest in time for the deadline.
    Cost,
    /// Cheapest, then done first.
    CostTime,
    /// Fastest for the task, MET.
    Fastest,
    /// Free first, OLB.
    FirstFree,
    /// Done first of so many per cent that are fastest for the task, KPB.
    EarliestOfFastest(u32),
}

/// A whole reference policy.
#[derive(Clone, PartialEq, Debug)]
pub struct NaiveBatch {
    /// R.
    pub period: Span,
    /// Which task is next.
    pub pick: Pick,
    /// Where it may go.
    pub rule: Rule,
    /// Where it goes.
    pub goal: Goal,
    /// Whether tasks are planned for classes.
    pub by_class: bool,
    /// So many of the oldest come first.
    pub aging: usize,
    /// By when all should be done.
    pub deadline: Option<Time>,
    /// Whether what is scheduled stays so.
    pub stands: bool,
    /// Whether tasks are scheduled as they come, and not at the end of each period.
    pub at_once: bool,
    /// Of the present batch: when it began, how many tasks are in it, and which were removed from it.
    pub batch: Option<(Time, Meta)>,
}

/// A meta-task: M, and what became of it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Meta {
    all: Vec<TaskId>,
    /// The first ones by age; they are placed before the heuristic begins.
    old: Vec<TaskId>,
    removed: Vec<TaskId>,
    /// Scheduled on machines that are ready only with the next batch or after it, which will take them back: nobody is
    /// told of these.
    beyond: Vec<(TaskId, Queue)>,
    /// What each user had left when it began.
    left: BTreeMap<UserId, f64>,
    /// What was chosen together and is left to schedule, the last first.
    chosen: Vec<(TaskId, Worker)>,
}

impl NaiveBatch {
    fn begin(&mut self, grid: &Grid, now: Time) {
        let mut all: Vec<TaskId> = grid
            .tasks()
            .filter(|(id, task)| {
                task.state() == TaskState::Waiting
                    && grid.plans().queue_of(*id).is_none()
                    && grid.declared_length(*id).is_some()
            })
            .map(|(id, _)| id)
            .collect();
        all.sort_unstable();
        let count = if self.pick == Pick::First { all.len() } else { self.aging.min(all.len()) };
        let payer = |task: TaskId| grid.classes().task_class(grid.task(task).class()).payer;
        let left = |task: TaskId| {
            let accounts = grid.accounts()?;
            Some((payer(task), accounts.of(payer(task)).left(now).count() as f64))
        };
        let left = all.iter().filter_map(|task| left(*task)).collect();
        let old = all[..count].to_vec();
        self.batch =
            Some((now, Meta { all, old, removed: Vec::new(), beyond: Vec::new(), left, chosen: Vec::new() }));
    }

    fn plan(&mut self, grid: &Grid, now: Time) -> Option<Decision> {
        if self.batch.as_ref().is_none_or(|(at, _)| *at != now) {
            self.begin(grid, now);
        }
        loop {
            let next = self.batch.as_mut()?.1.chosen.pop();
            let (_, meta) = self.batch.as_ref()?;
            let view = View { grid, now, policy: self, meta };
            if let Some((task, worker)) = next {
                // What was scheduled since it was chosen may have cost too much.
                if !view.allowed(task, worker, &view.workers()) {
                    continue;
                }
                if self.by_class || self.stands || worker.ready < self.period.seconds() {
                    return Some(Decision::Plan { task, on: worker.queue });
                }
                self.batch.as_mut()?.1.beyond.push((task, worker.queue));
                continue;
            }
            let (removed, chosen) = view.turn();
            if removed.is_empty() && chosen.is_empty() {
                return None;
            }
            let (_, meta) = self.batch.as_mut()?;
            meta.removed.extend(removed);
            meta.chosen = chosen;
        }
    }
}

/// The next in rank that can begin there, and can be paid.
fn start(grid: &Grid, now: Time, on: MachineId) -> Option<Decision> {
    let class = grid.machine(on).class();
    let own: Vec<TaskId> = grid.plans().ranked(Queue::Machine(on)).collect();
    let shared: Vec<TaskId> = grid.plans().ranked(Queue::Class(class)).collect();
    let mut ranked = own.into_iter().chain(shared);
    let task =
        ranked.find(|task| grid.can_run(grid.task(*task).class(), on) && grid.can_pay(now, *task, class))?;
    Some(Decision::Start { task, on })
}

/// Whether a machine takes tasks.
fn works(grid: &Grid, id: MachineId) -> bool {
    grid.machine(id).availability() == Availability::Open && grid.machine(id).load() < 1.0
}

impl Policy for NaiveBatch {
    fn observe(&mut self, _: &Grid, _: &Change) {}

    fn propose(&mut self, grid: &Grid, now: Time, occasion: Occasion) -> Option<Decision> {
        let machines = (0..grid.machines().len()).map(MachineId::new);
        let in_vain = grid.tasks().any(|(task, _)| match grid.plans().queue_of(task) {
            None => false,
            Some(Queue::Machine(on)) => !works(grid, on),
            Some(Queue::Class(class)) => !(0..grid.machines().len())
                .map(MachineId::new)
                .any(|on| works(grid, on) && grid.machine(on).class() == class),
        });
        let answer = match occasion.cause {
            Cause::Freed(on) => start(grid, now, on),
            _ if self.at_once && in_vain && grid.plans().collected_at() != Some(now) => {
                self.batch = None;
                return Some(Decision::Collect);
            }
            _ if self.at_once => {
                let answer =
                    self.plan(grid, now).or_else(|| machines.into_iter().find_map(|on| start(grid, now, on)));
                if answer.is_none() {
                    self.batch = None;
                }
                answer
            }
            Cause::WokeUp { due, .. } if due.is_multiple_of(self.period) => {
                let collected_at = grid.plans().collected_at();
                let collects = if self.stands {
                    in_vain && collected_at != Some(now)
                } else {
                    collected_at.is_none_or(|at| at < due)
                };
                if collects {
                    self.batch = None;
                    return Some(Decision::Collect);
                }
                self.plan(grid, now).or_else(|| machines.into_iter().find_map(|on| start(grid, now, on)))
            }
            Cause::Joined(on) | Cause::Opened(on) | Cause::LoadFell(on) | Cause::Vacated(on) => {
                start(grid, now, on)
            }
            Cause::Submitted(_)
            | Cause::Lost(_)
            | Cause::LoadRose(_)
            | Cause::Closed(_)
            | Cause::RuleChanged
            | Cause::WokeUp { .. } => None,
        };
        let period = self.period.nanos();
        let again = self.at_once && in_vain;
        let at = if again { now.nanos() + 1 } else { (now.nanos() / period + 1) * period };
        let at = Time::from_nanos(at);
        let waits = |(id, task): (TaskId, gleaner_core::Task)| {
            task.state() == TaskState::Waiting
                && grid.plans().queue_of(id).is_none()
                && grid.declared_length(id).is_some()
        };
        let wakes = again || !self.at_once || (self.rule != Rule::None && grid.tasks().any(waits));
        answer.or_else(|| {
            (wakes && grid.alarm(Alarm::Batch).is_none())
                .then_some(Decision::Wake { alarm: Alarm::Batch, at })
        })
    }

    fn rebuild(&mut self, _: &Grid) {}

    fn check(&self, _: &Grid) -> Result<(), String> {
        Ok(())
    }
}
