//! The credits that may be spent, that were spent, and that are held.
//!
//! **The spending of a period is the cost of the tasks charged in it, less what was refunded in it.** [`Charged`] says
//! when a task is charged. The cost of a task is ⌈declared length × price⌉ of its machine. A task is charged once, when
//! it is planned; a start at the same cost costs nothing more, in a later period too. A task whose plan is dropped, or
//! that leaves its machine without an end, gets a full refund; one that is cancelled as soon as no run of it goes on, since until
//! then it may come to its end, which counts and is paid. The refund counts only in the period of the charge, since
//! credits are never saved up.
//!
//! **Spent and held credits together never exceed the recharge**, or what they were when the recharge was made smaller: a
//! charge above what is left is refused. A recharge sets what was spent to zero, and leaves what is held.

use gleaner_units::{Credits, Ops, OpsTotal, Span, TaskId, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// When a task's cost leaves what may be spent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Charged {
    /// As it is planned; what is never planned, as it starts. As figure 2 of the paper counts.
    #[default]
    Planned,
    /// As it starts: plans may add up to more than there is, and wait.
    Started,
    /// As it ends; while it runs, its cost is held.
    Ended,
    /// As it starts; from its plan until then its cost is held.
    Reserved,
}

/// Whose tasks are paid from one account.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Scope {
    /// Everyone's.
    #[default]
    Shared,
    /// One user's: each has a recharge of their own.
    PerUser,
}

/// How much may be spent in each period.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Budget {
    /// B: what there is at the start of each period, whatever the one before left.
    pub recharge: Credits,
    /// R: a period begins at each multiple of it. Never zero.
    pub period: Span,
    /// When a task is charged.
    pub charged: Charged,
    /// Whether that is for all together, or for each user.
    pub scope: Scope,
}

impl Budget {
    /// The start of the period that `now` is in.
    pub fn period_start(&self, now: Time) -> Time {
        Time::from_nanos(self.number_of(now).saturating_mul(self.period.nanos()))
    }

    /// The start of the next period.
    pub fn next_recharge(&self, now: Time) -> Time {
        now.next_multiple_of(self.period)
    }

    fn number_of(&self, now: Time) -> u64 {
        now.nanos() / self.period.nanos()
    }
}

/// A number of tasks in two sums.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Sum {
    /// What they cost.
    pub credits: Credits,
    /// How long they are.
    pub ops: OpsTotal,
}

impl Sum {
    /// One task.
    pub(super) fn of(length: Option<Ops>, credits: Credits) -> Self {
        Self { credits, ops: length.map_or(OpsTotal::ZERO, OpsTotal::from) }
    }

    fn add(&mut self, other: Self) {
        self.credits += other.credits;
        self.ops += other.ops;
    }

    fn take(&mut self, other: Self) {
        self.credits -= other.credits;
        self.ops -= other.ops;
    }
}

/// The number of all periods before the budget was changed: no other has it.
const LONG_OVER: u64 = u64::MAX;

/// What becomes of a task's cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum Stage {
    /// It is counted, and no more: others may spend it.
    Planned,
    /// Nobody else may spend it.
    Held,
    /// It is spent, in the period of that number.
    Spent { period: u64 },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Bill {
    sum: Sum,
    stage: Stage,
}

/// A budget as it is used.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Account {
    budget: Budget,
    /// The recharge, or what was spent and held when it was made smaller.
    most: Credits,
    /// The number of the period that `spent` is of.
    period: u64,
    planned: Sum,
    held: Sum,
    spent: Sum,
    /// Of all periods, for tasks that did not fail.
    paid: Credits,
    /// Of the tasks that are planned or on machines, where they cost anything.
    bills: BTreeMap<TaskId, Bill>,
}

impl Account {
    pub(super) fn new(budget: Budget) -> Self {
        Self {
            budget,
            most: budget.recharge,
            period: 0,
            planned: Sum::default(),
            held: Sum::default(),
            spent: Sum::default(),
            paid: Credits::ZERO,
            bills: BTreeMap::new(),
        }
    }

    /// How much may be spent.
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// What is spent in the period that `now` is in.
    pub fn spent(&self, now: Time) -> Credits {
        self.spent_sum(now).credits
    }

    /// What planned tasks will be charged when they start, or running ones when they end.
    pub fn held(&self) -> Credits {
        self.held.credits
    }

    /// What may still be spent in the period that `now` is in.
    pub fn left(&self, now: Time) -> Credits {
        self.budget.recharge - self.held.credits - self.spent(now)
    }

    /// B̄ with its tasks: what is planned, held, or spent in the period that `now` is in.
    pub fn allocated(&self, now: Time) -> Sum {
        let mut all = self.spent_sum(now);
        all.add(self.held);
        all.add(self.planned);
        all
    }

    /// What was spent ever, less all that was given back.
    pub fn paid(&self) -> Credits {
        self.paid
    }

    fn spent_sum(&self, now: Time) -> Sum {
        if self.budget.number_of(now) == self.period { self.spent } else { Sum::default() }
    }

    pub(super) fn set_budget(&mut self, now: Time, budget: Budget) {
        self.begin_period(now);
        self.budget = budget;
        self.most = budget.recharge.max(self.spent.credits + self.held.credits);
        let before = std::mem::replace(&mut self.period, self.budget.number_of(now));
        // Periods of another length have other numbers.
        for bill in self.bills.values_mut() {
            if let Stage::Spent { period } = &mut bill.stage {
                *period = if *period == before { self.period } else { LONG_OVER };
            }
        }
    }

    /// A task takes its place in a queue; or what is left, if that is too little.
    pub(super) fn plan(&mut self, now: Time, task: TaskId, sum: Sum) -> Result<(), Credits> {
        let left = self.left(now);
        if sum.credits > left {
            return Err(left);
        }
        self.begin_period(now);
        let stage = match self.budget.charged {
            Charged::Planned => Stage::Spent { period: self.period },
            Charged::Reserved => Stage::Held,
            Charged::Started | Charged::Ended => Stage::Planned,
        };
        self.enter(task, Bill { sum, stage });
        Ok(())
    }

    /// Whether so much is left for a task that is to start, with what was taken for it before.
    pub(super) fn can_start(&self, now: Time, task: TaskId, cost: Credits) -> bool {
        self.has_paid(task, cost) || cost <= self.left(now) + self.would_return(now, task)
    }

    /// Whether so much can be paid for a task in some period: it was taken for it already, or a whole recharge is enough.
    pub(super) fn could_start(&self, task: TaskId, cost: Credits) -> bool {
        let is_held = |bill: &Bill| bill.stage == Stage::Held && cost <= bill.sum.credits;
        self.has_paid(task, cost)
            || cost <= self.budget.recharge
            || self.bills.get(&task).is_some_and(is_held)
    }

    /// A task goes to a machine, from its plan, from another machine, or neither; or what is left for it, if that is
    /// too little.
    pub(super) fn start(&mut self, now: Time, task: TaskId, sum: Sum) -> Result<(), Credits> {
        if self.has_paid(task, sum.credits) {
            return Ok(());
        }
        let left = self.left(now) + self.would_return(now, task);
        if sum.credits > left {
            return Err(left);
        }
        self.give_back(now, task);
        let stage = match self.budget.charged {
            Charged::Planned | Charged::Reserved | Charged::Started => Stage::Spent { period: self.period },
            Charged::Ended => Stage::Held,
        };
        self.enter(task, Bill { sum, stage });
        Ok(())
    }

    /// A task ended where it was: what it was charged stays so.
    pub(super) fn end(&mut self, now: Time, task: TaskId) {
        let Some(bill) = self.bills.remove(&task) else { return };
        self.begin_period(now);
        if bill.stage == Stage::Held {
            self.held.take(bill.sum);
            self.spent.add(bill.sum);
            self.paid += bill.sum.credits;
        }
    }

    /// A task is planned or runs no more, and has not ended.
    pub(super) fn give_back(&mut self, now: Time, task: TaskId) {
        self.begin_period(now);
        let Some(Bill { sum, stage }) = self.bills.remove(&task) else { return };
        match stage {
            Stage::Planned => self.planned.take(sum),
            Stage::Held => self.held.take(sum),
            Stage::Spent { period } => {
                self.paid -= sum.credits;
                if period == self.period {
                    self.spent.take(sum);
                }
            }
        }
    }

    /// Whether a task was charged so much already.
    fn has_paid(&self, task: TaskId, cost: Credits) -> bool {
        let bill = self.bills.get(&task);
        bill.is_some_and(|bill| matches!(bill.stage, Stage::Spent { .. }) && bill.sum.credits == cost)
    }

    fn would_return(&self, now: Time, task: TaskId) -> Credits {
        match self.bills.get(&task) {
            Some(Bill { sum, stage: Stage::Held }) => sum.credits,
            Some(Bill { sum, stage: Stage::Spent { period } }) if *period == self.budget.number_of(now) => {
                sum.credits
            }
            Some(Bill { stage: Stage::Planned | Stage::Spent { .. }, .. }) | None => Credits::ZERO,
        }
    }

    fn begin_period(&mut self, now: Time) {
        self.spent = self.spent_sum(now);
        self.period = self.budget.number_of(now);
    }

    fn enter(&mut self, task: TaskId, bill: Bill) {
        match bill.stage {
            Stage::Planned => self.planned.add(bill.sum),
            Stage::Held => self.held.add(bill.sum),
            Stage::Spent { .. } => {
                self.spent.add(bill.sum);
                self.paid += bill.sum.credits;
            }
        }
        if bill.sum != Sum::default() {
            self.bills.insert(task, bill);
        }
    }

    /// Whether the sums are those of the bills, and no more is spent and held than may be. What ended tasks were charged has
    /// no bill any more.
    pub(super) fn is_whole(&self) -> bool {
        let sum = |wanted: &dyn Fn(Stage) -> bool| {
            let bills = self.bills.values().filter(|bill| wanted(bill.stage));
            bills.fold(Sum::default(), |mut sum, bill| {
                sum.add(bill.sum);
                sum
            })
        };
        let now = Stage::Spent { period: self.period };
        let open = sum(&|stage| stage == now);
        sum(&|stage| stage == Stage::Planned) == self.planned
            && sum(&|stage| stage == Stage::Held) == self.held
            && open.credits <= self.spent.credits
            && open.ops <= self.spent.ops
            && self.spent.credits + self.held.credits <= self.most
    }

    /// The tasks that anything was charged for, or will be.
    pub(super) fn billed(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.bills.keys().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A budget of 100 credits for each period of so many seconds.
    fn budget(period_s: f64) -> Budget {
        Budget {
            recharge: Credits::new(100),
            period: Span::from_seconds(period_s).expect("a time"),
            charged: Charged::Started,
            scope: Scope::Shared,
        }
    }

    /// Periods of another length have numbers of their own: what was charged in the tenth of the old ones is not given back in the
    /// tenth of the new ones.
    #[test]
    fn what_was_charged_before_the_budget_changed_stays_charged_then() {
        let at = |seconds: f64| Time::from_seconds(seconds).expect("a moment");
        let sum = |credits: u64| Sum { credits: Credits::new(credits), ..Sum::default() };
        let (early, late) = (TaskId::new(0), TaskId::new(1));
        let mut account = Account::new(budget(10.0));
        account.start(at(100.0), early, sum(60)).expect("it is there");
        account.set_budget(at(200.0), budget(100.0));
        account.start(at(1_050.0), late, sum(100)).expect("it is there");
        account.give_back(at(1_050.0), early);
        assert_eq!(account.left(at(1_050.0)), Credits::ZERO, "all of it is spent");
        assert!(account.is_whole());
        // What was charged in the period in which it changes is given back in that one.
        let mut account = Account::new(budget(10.0));
        account.start(at(101.0), early, sum(60)).expect("it is there");
        account.set_budget(at(102.0), budget(1_000.0));
        account.give_back(at(103.0), early);
        assert_eq!(account.spent(at(103.0)), Credits::ZERO);
        assert!(account.is_whole());
    }
}
