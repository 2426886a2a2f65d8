//! How the budget is divided among tasks and through time: which machine may a task go to, for what it costs there.
//!
//! The conditions are those of the second paper, with B the recharge, R the period, B̄ what is allocated so far, M the
//! tasks to be served with this budget and M̄ those of them that are. An amount exceeds a limit where it does by more
//! than 1e-12 of it: what is equal but for rounding does not.

mod supply;
mod waking;

use crate::backlog::last_where;
use crate::parts::budget::{Cheapest, Savings, Spending};
use gleaner_core::{Account, Charged};
use gleaner_units::{Credits, Ops, OpsTotal, Time};
pub(crate) use supply::{Going, Supply};
pub(crate) use waking::Waking;

/// How much more than a limit exceeds it, relative to it.
const ROUNDING: f64 = 1e-12;

/// More than all rounding errors together.
pub(crate) const CLEARLY: f64 = 1.0 + 1e-9;

/// Where no rule asks for them.
const NO_PRICES: (f64, f64) = (f64::INFINITY, f64::INFINITY);

/// What the conditions read, between two assignments.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Conditions {
    spending: Spending,
    charged: Charged,
    recharge: f64,
    period_s: f64,
    left: Credits,
    allocated: Credits,
    allocated_ops: OpsTotal,
    /// Credits an operation of the whole budget, expression (3), with what rounding may add.
    limit: f64,
    /// What a mean within the limit allows the tasks allocated so far, with the surplus.
    allowance: f64,
    /// What may be spent beyond the mean.
    surplus: f64,
    /// Up to which price machines are under no condition, and up to which under any.
    prices: (f64, f64),
    tasks_left: usize,
    /// What was left when the batch began, over its tasks.
    share: f64,
}

/// Where a task might go, as far as the conditions care.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// Credits for an operation.
    pub(crate) price: f64,
    /// r−D: seconds until it is free.
    pub(crate) ready_s: f64,
    /// Whether nobody who takes such tasks asks less, but for nothing.
    pub(crate) is_cheapest: bool,
}

impl Conditions {
    /// Of so many tasks that are to be placed on machines that can do so much with a recharge; `None` if nothing limits
    /// where they go.
    pub(crate) fn new(
        spending: Spending,
        account: &Account,
        now: Time,
        (tasks, ops): (usize, OpsTotal),
        supply: &Supply,
    ) -> Option<Self> {
        if spending == Spending::Free {
            return None;
        }
        let budget = account.budget();
        let allocated = account.allocated(now);
        let demand = (allocated.ops + ops).amount();
        let (limit, surplus, prices) = match supply {
            Supply::Unasked => (budget.recharge.amount() / demand, 0.0, NO_PRICES),
            Supply::Within(reach) => (budget.recharge.amount() / demand.min(*reach), 0.0, NO_PRICES),
            Supply::AtPrices(_) => {
                let Going { price, next, average, surplus } = supply.going(demand, budget.recharge);
                (average, at_most(surplus), (price, next))
            }
        };
        let limit = at_most(limit);
        Some(Self {
            spending,
            charged: budget.charged,
            recharge: budget.recharge.amount(),
            period_s: budget.period.seconds(),
            left: account.left(now),
            allocated: allocated.credits,
            allocated_ops: allocated.ops,
            limit,
            allowance: surplus + limit * allocated.ops.amount(),
            surplus,
            prices,
            tasks_left: tasks,
            share: account.left(now).amount() / tasks as f64,
        })
    }

    /// A task was assigned.
    pub(crate) fn spend(&mut self, length: Ops, price: f64) {
        let cost = Credits::cost(length, price);
        self.allocated += cost;
        self.allocated_ops += length.into();
        self.allowance = self.surplus + self.limit * self.allocated_ops.amount();
        match self.charged {
            Charged::Planned | Charged::Reserved => self.left -= cost,
            Charged::Started | Charged::Ended => {}
        }
        self.tasks_left -= 1;
    }

    /// Whether a task may cost more the fewer others are left.
    pub(crate) fn is_by_share(&self) -> bool {
        matches!(self.spending, Spending::Share | Spending::LeastShare)
    }

    /// So many tasks will not be.
    pub(crate) fn set_aside(&mut self, tasks: usize) {
        self.tasks_left -= tasks;
    }

    /// Whether a task may go there.
    #[inline]
    pub(crate) fn allows(&self, length: f64, terms: Terms) -> bool {
        self.pays(length, terms.price)
            && match self.base(terms) {
                Base::Unconditional => true,
                Base::Never => false,
                Base::Counted(base) => self.is_within(base, length, terms.price),
            }
    }

    /// Up to which price a task of that length is under no condition, as soon as there is a whole recharge.
    pub(crate) fn surely_pays(&self, length: f64) -> f64 {
        at_most(self.recharge / length).min(self.prices.0)
    }

    /// No task of these lengths, the shortest and the longest, may go where an operation costs more, unless it is the
    /// cheapest place.
    pub(crate) fn dearest(&self, (shortest, longest): (f64, f64)) -> f64 {
        let paid = self.left.amount() / shortest;
        // What may be spent beyond the average, by the easiest condition there is.
        let spare = match self.spending {
            Spending::Free | Spending::Cap | Spending::Share | Spending::LeastShare => return CLEARLY * paid,
            Spending::MovingPrice => return (CLEARLY * paid).min(self.prices.1),
            Spending::PerTask(_) | Spending::PerTaskWithinPeriod(_) => {
                self.allowance - self.allocated.amount()
            }
            Spending::PerTaskAndTime(Savings::AsPrinted, _) | Spending::WithinReach => self.allowance,
            Spending::PerTaskAndTime(Savings::AsDerived, _) => {
                self.allowance - self.allocated.amount() + (self.recharge - self.allocated.amount()).max(0.0)
            }
        };
        let spare = spare + (CLEARLY - 1.0) * self.recharge;
        let average = self.limit + spare / if spare > 0.0 { shortest } else { longest };
        CLEARLY * paid.min(average)
    }

    /// Of the lengths from the shortest to the longest the first that may go there; that what is allowed is one stretch
    /// follows from the conditions' being linear.
    pub(crate) fn first_allowed(&self, (shortest, longest): (f64, f64), terms: Terms) -> Option<f64> {
        if !self.pays(shortest, terms.price) {
            return None;
        }
        match self.base(terms) {
            Base::Unconditional => Some(shortest),
            Base::Never => None,
            Base::Counted(base) if self.is_within(base, shortest, terms.price) => Some(shortest),
            // Where an operation costs more than on average, a longer task costs yet more.
            Base::Counted(_) if terms.price > self.limit => None,
            Base::Counted(base) if !self.is_within(base, longest, terms.price) => None,
            Base::Counted(base) => {
                let exceeds = |length: f64| !self.is_within(base, length, terms.price);
                Some(last_where(shortest, longest, exceeds).next().length())
            }
        }
    }

    /// The last of the stretch of lengths that begins with an allowed one.
    pub(crate) fn last_allowed(&self, first: f64, longest: f64, terms: Terms) -> f64 {
        if self.allows(longest, terms) {
            longest
        } else {
            last_where(first, longest, |length| self.allows(length, terms)).length()
        }
    }

    #[inline]
    fn pays(&self, length: f64, price: f64) -> bool {
        let cost = length * price;
        // Rounding a cost up to whole credits makes no difference against whole credits.
        match self.spending {
            Spending::Free => true,
            Spending::Cap
            | Spending::PerTask(_)
            | Spending::PerTaskWithinPeriod(_)
            | Spending::PerTaskAndTime(..)
            | Spending::WithinReach
            | Spending::MovingPrice => self.left_holds(cost),
            Spending::Share => {
                self.left_holds(cost) && cost <= at_most(self.left.amount() / self.tasks_left as f64)
            }
            Spending::LeastShare => {
                let kept = self.share * (self.tasks_left - 1) as f64;
                self.left_holds(cost) && cost <= at_most(self.left.amount() - kept)
            }
        }
    }

    fn left_holds(&self, cost: f64) -> bool {
        cost <= self.left.amount()
    }

    #[inline]
    fn base(&self, terms: Terms) -> Base {
        let (busy, late) = (terms.ready_s > 0.0, terms.ready_s > at_most(self.period_s));
        let due = || self.recharge / self.period_s * terms.ready_s;
        match self.spending {
            Spending::Free | Spending::Cap | Spending::Share | Spending::LeastShare => Base::Unconditional,
            Spending::PerTaskWithinPeriod(_) | Spending::PerTaskAndTime(..)
                if late && self.spending.cheapest() == Cheapest::IfReady =>
            {
                Base::Never
            }
            Spending::MovingPrice if late => Base::Never,
            Spending::MovingPrice => {
                let (price, next) = self.prices;
                if terms.is_cheapest || terms.price <= price {
                    Base::Unconditional
                } else if terms.price <= next {
                    Base::Counted(self.allocated.amount())
                } else {
                    Base::Never
                }
            }
            Spending::PerTask(_)
            | Spending::PerTaskWithinPeriod(_)
            | Spending::PerTaskAndTime(..)
            | Spending::WithinReach
                if terms.is_cheapest && self.spending.cheapest() != Cheapest::AsOthers =>
            {
                Base::Unconditional
            }
            Spending::PerTaskWithinPeriod(_) | Spending::PerTaskAndTime(..) | Spending::WithinReach
                if late =>
            {
                Base::Never
            }
            Spending::PerTaskAndTime(Savings::AsPrinted, _) | Spending::WithinReach if busy => {
                Base::Counted(due())
            }
            Spending::PerTaskAndTime(Savings::AsDerived, _) if busy => {
                Base::Counted(2.0 * self.allocated.amount() - due())
            }
            Spending::PerTask(_)
            | Spending::PerTaskWithinPeriod(_)
            | Spending::PerTaskAndTime(..)
            | Spending::WithinReach => Base::Counted(self.allocated.amount()),
        }
    }

    /// Conditions (4) and (5), by what counts as spent.
    #[inline]
    fn is_within(&self, base: f64, length: f64, price: f64) -> bool {
        base + length * price <= self.allowance + self.limit * length
    }
}

enum Base {
    /// Nothing but the cost itself counts.
    Unconditional,
    /// The machine is not considered.
    Never,
    /// What counts as spent before the task.
    Counted(f64),
}

/// The largest that does not exceed `limit`.
#[inline]
fn at_most(limit: f64) -> f64 {
    limit + ROUNDING * limit.abs()
}
